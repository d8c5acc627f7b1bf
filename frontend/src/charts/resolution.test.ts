import { describe, expect, it } from "vitest";
import { aCell, aChange, anEstimate, aSubject } from "@/testing/build";
import { withinResolution } from "./resolution";

const subject = aSubject("openssl", "2");
const limits = [{ library: "openssl", case: { id: "rsa" }, cannot_resolve_below: 0.012 }];
const judged = (
  change: Parameters<typeof aChange>[0],
  caseId = "rsa",
  metric: "cpu_ns" | "wall_ns" = "cpu_ns",
) =>
  withinResolution(
    [aCell(caseId, subject, { estimate: anEstimate(1000), change: aChange(change) })],
    [subject],
    metric,
    limits,
  )[0]?.change;

describe("a change on a qualified machine", () => {
  it("is unresolved below what the machine resolves, in either direction, and says so", () => {
    for (const change of [
      { ratio: 1.008, verdict: "more" as const },
      { ratio: 0.992, verdict: "less" as const },
    ]) {
      expect(judged(change)).toMatchObject({
        verdict: "unresolved",
        warnings: ["below the 1.2% that this machine resolves"],
      });
    }
  });

  it("keeps its verdict from the limit on", () => {
    expect(judged({ ratio: 1.02, verdict: "more" })).toMatchObject({ verdict: "more", warnings: [] });
    expect(judged({ ratio: 1.012, verdict: "more" })?.verdict).toBe("more");
  });

  it("stays the same where it claims no difference", () => {
    expect(judged({ ratio: 1.001, verdict: "same" })?.verdict).toBe("same");
  });

  it("is not judged by another case’s or another metric’s limit", () => {
    expect(judged({ ratio: 1.008, verdict: "more" }, "ecdhe")?.verdict).toBe("more");
    expect(judged({ ratio: 1.008, verdict: "more" }, "rsa", "wall_ns")?.verdict).toBe("more");
  });

  it("holds for the client and the server too, each by itself", () => {
    const side = (ratio: number, verdict: "more" | "same") => ({ ratio, low: ratio, high: ratio, verdict });
    const change = judged({
      ratio: 1.02,
      verdict: "more",
      client: side(1.008, "more"),
      server: side(1.04, "more"),
    });
    expect(change).toMatchObject({
      verdict: "more",
      client: { ratio: 1.008, verdict: "unresolved" },
      server: { verdict: "more" },
    });
    expect(judged({ client: side(1.001, "same") })?.client?.verdict).toBe("same");
  });

  it("keeps what else is to be careful about", () => {
    expect(judged({ ratio: 1.008, verdict: "more", paired: false })?.warnings[0]).toBe("not interleaved");
  });
});

it("changes nothing on a machine that is not qualified", () => {
  const cells = [aCell("rsa", subject, { change: aChange({ ratio: 1.008, verdict: "more" }) })];
  expect(withinResolution(cells, [subject], "cpu_ns", [])).toBe(cells);
});
