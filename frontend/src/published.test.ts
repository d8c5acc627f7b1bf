import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Matrix } from "@/api/generated";
import { fileFor, fileOf, ofLibraries } from "./published";
import { aCase, aCell, anEstimate, aSubject } from "./testing/build";
import { aLine, aSeries } from "./testing/published-series";

const EXAMPLES = "../bench-specs/schema/examples/published-files.json";
const SITE = { host_kind: { pool: "local", cpu_model: "a CPU" } };

interface Example {
  route: string;
  query: Record<string, string>;
  ending: string;
  file: string;
}

it("names files as `kexbench publish` does", () => {
  const examples = JSON.parse(readFileSync(EXAMPLES, "utf8")) as Example[];
  for (const { route, query, ending, file } of examples) {
    expect(fileOf(route, query, ending)).toBe(file);
  }
});

it("asks for one file, whether the defaults are spelt out or not", () => {
  const spelt = fileOf("matrix", { metric: "cpu_ns", pool: "local", cpu_model: "a CPU" });
  for (const query of [
    "",
    "?metric=cpu_ns",
    "?pool=local&cpu_model=a%20CPU",
    "?library=openssl&library=gnutls",
  ]) {
    expect(fileFor(`/api/v1/matrix${query}`, SITE)).toBe(spelt);
  }
  expect(fileFor("/api/v1/matrix?metric=wall_ns", SITE)).not.toBe(spelt);
  expect(fileFor("https://example.org/api/v1/upgrades?limit=30", SITE)).toBe("data/upgrades.json");
  expect(fileFor("/api/v1/upgrades?library=openssl&limit=30", SITE)).toBe(
    fileOf("upgrades", { library: "openssl" }),
  );
});

it("shows some libraries of a matrix, without the cases that only others have", () => {
  const [openssl, gnutls] = [aSubject("openssl", "3.0"), aSubject("gnutls", "3.8")];
  const [both, alone] = [aCase("both"), aCase("alone")];
  const matrix: Matrix = {
    ...SITE,
    metric: "cpu_ns",
    cases: [both, alone],
    subjects: [gnutls, openssl],
    cells: [aCell("both", gnutls, {}), aCell("both", openssl, {}), aCell("alone", gnutls, {})],
  };
  const shown = ofLibraries(matrix, ["openssl"]);
  expect(shown.cases).toEqual([both]);
  expect(shown.subjects).toEqual([openssl]);
  expect(shown.cells).toEqual([aCell("both", openssl, {})]);
});

it("shows some libraries of a trend", () => {
  const lines = ["openssl", "gnutls"].map((library) => aLine(library, "p", [["1", anEstimate(1)]]));
  expect(ofLibraries(aSeries(lines), ["gnutls"]).lines).toEqual([lines[1]]);
});
