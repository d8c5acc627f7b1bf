import { describe, expect, it } from "vitest";
import { aCase, aCell, aChange, anEstimate, aSubject } from "@/testing/build";
import { heatModel } from "./heatmap-model";
import { flipped, groupOf, matrixView } from "./matrix-view";

const older = aSubject("openssl", "1");
const newer = aSubject("openssl", "2");
const empty = aSubject("gnutls", "3");
const rsa = aCase("rsa", "TLS 1.2 RSA, RSA 2048");
const wide = aCase("wide", "TLS 1.2 RSA, RSA 2048, chain of 3");
const ecdsa = { ...aCase("ecdsa"), key_exchange: "ECDHE-ECDSA", rsa_bits: 0, curve: "P-256" } as const;
const absent = aCase("absent");

function moved(id: string, ratio: number, verdict: "more" | "less" | "unresolved") {
  return aCell(id, newer, { estimate: anEstimate(1e6 * ratio), change: aChange({ ratio, verdict }) });
}

const model = heatModel({
  metric: "cpu_ns",
  cases: [rsa, wide, ecdsa, absent],
  subjects: [empty, older, newer],
  cells: [
    ...[rsa, wide, ecdsa].map(({ id }) => aCell(id, older, { estimate: anEstimate(1e6) })),
    moved("rsa", 1.1, "more"),
    moved("wide", 0.5, "less"),
    moved("ecdsa", 1.001, "unresolved"),
    aCell("absent", older, {
      outcome: { kind: "unsupported", reason: "none", detail: null, invocations: 1 },
    }),
  ],
});

describe("the view of a matrix", () => {
  it("leaves out cases and versions without numbers, and says how many", () => {
    const view = matrixView(model, {}, "cpu_ns");
    expect(view.model.rows.map((row) => row.caseView.id)).toEqual(["rsa", "wide", "ecdsa"]);
    expect(view.model.subjects).toEqual([older, newer]);
    expect(view.hidden).toEqual({ cases: 1, versions: 1, older: 0 });
    expect(matrixView(model, { empty: "shown" }, "cpu_ns").hidden).toEqual({
      cases: 0,
      versions: 0,
      older: 0,
    });
  });

  it("groups cases by key exchange and certificate", () => {
    expect(matrixView(model, {}, "cpu_ns").groups).toEqual(["RSA, RSA 2048", "ECDHE-ECDSA, P-256"]);
    expect(groupOf({ ...rsa, rsa_bits: 0 })).toBe("RSA");
  });

  it("shows a closed group as one line, in which what got worse counts first", () => {
    const { lines = [] } = matrixView(model, { open: ["none"] }, "cpu_ns");
    expect(
      lines.map((line) => (line.kind === "case" ? line.row.caseView.id : [line.group, line.isOpen])),
    ).toEqual([["RSA, RSA 2048", false], "ecdsa"]);
    const [, cell] = lines[0]?.kind === "group" ? lines[0].cells : [];
    expect(cell).toMatchObject({ tone: "more", headline: "+10.0%", note: "1 slower, 1 faster" });
    expect(cell?.sentence).toBe(
      "RSA, RSA 2048, openssl 2: 1 slower, 1 faster; 10.0% more time; from 1 (debian/trixie).",
    );
  });

  it("says once what the titles of a group's cases have in common", () => {
    const titlesOf = (...titles: string[]) => {
      const cases = titles.map((title, index) => ({
        ...aCase(String(index), `TLS 1.2 RSA, RSA 2048${title}`),
      }));
      const cells = cases.map(({ id }) => aCell(id, older, { estimate: anEstimate(1e6) }));
      const all = heatModel({ metric: "cpu_ns", cases: [...cases, ecdsa], subjects: [older], cells });
      const { lines = [] } = matrixView(all, { open: ["RSA, RSA 2048"], empty: "shown" }, "cpu_ns");
      return lines.slice(0, -1).map((line) => (line.kind === "case" ? line.title : line.common));
    };
    expect(titlesOf(", chain of 2", ", chain of 3")).toEqual(["TLS 1.2", ["chain of 2"], ["chain of 3"]]);
    expect(titlesOf("", ", chain of 3")).toEqual(["", ["TLS 1.2"], ["TLS 1.2", "chain of 3"]]);
  });

  it("shows a spec's cases, and costs relative to a case, without groups", () => {
    expect(matrixView(model, { spec: "quick" }, "cpu_ns").lines).toBeUndefined();
    expect(matrixView(model, { versus: "rsa" }, "cpu_ns").lines).toBeUndefined();
  });

  it("keeps in the URL which groups are open, and that none is", () => {
    expect(flipped(["a", "b"], 2, undefined, "a")).toEqual(["b"]);
    expect(flipped(["a", "b"], 2, ["b"], "b")).toEqual(["none"]);
    expect(flipped(["a", "b"], 2, ["none"], "b")).toEqual(["b"]);
    expect(flipped(["a", "b"], 100, undefined, "b")).toEqual(["b"]);
  });

  it("shows the newest versions of each library where there are many, and all of them densely", () => {
    const many = Array.from({ length: 30 }, (_, number) => aSubject("openssl", `${number + 10}`));
    const cells = many.map((subject) => aCell("rsa", subject, { estimate: anEstimate(1e6) }));
    const large = heatModel({ metric: "cpu_ns", cases: [rsa], subjects: many, cells });
    const view = matrixView(large, {}, "cpu_ns");
    expect(view.model.subjects.map(({ version }) => version).at(-1)).toBe("39");
    expect([view.model.subjects.length, view.hidden.older, view.isDense]).toEqual([10, 20, false]);
    const all = matrixView(large, { versions: "all" }, "cpu_ns");
    expect([all.model.subjects.length, all.isDense]).toEqual([30, true]);
  });
});
