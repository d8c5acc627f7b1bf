import { expect, it } from "vitest";
import type { QualificationRow } from "@/api/generated";
import { aCase } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import { inOrder, limitedBy, resolutionInWords } from "./machine-model";

const aRow = (row: Partial<QualificationRow>): QualificationRow => ({
  library: "openssl",
  case: aCase("rsa"),
  run_id: "r",
  measured_at: "2026-01-01T00:00:00Z",
  invocations: 30,
  cv: 0.004,
  pair_sd: 0.003,
  group: 10,
  smallest_detectable_change: 0.004,
  false_positives: { value: 0.012, low: 0.008, high: 0.02 },
  relinks: 4,
  layout_floor: 0.003,
  cannot_resolve_below: 0.004,
  ...row,
});
const limits = (...values: number[]) => values.map((cannot_resolve_below) => aRow({ cannot_resolve_below }));

it("the resolution of a machine in words", async () => {
  await expectGolden("machine-model", {
    "an odd number of cases": resolutionInWords(limits(0.1, 0.004, 0.002)),
    "an even number of cases: the upper median": resolutionInWords(limits(0.002, 0.004)),
    "one case": resolutionInWords(limits(0.01)),
  });
  expect(resolutionInWords([])).toBe("");
});

it("orders by library, then the worst case first", () => {
  const rows = [
    aRow({ cannot_resolve_below: 0.01 }),
    aRow({ cannot_resolve_below: 0.03 }),
    aRow({ library: "gnutls" }),
  ];
  expect(inOrder(rows).map((row) => [row.library, row.cannot_resolve_below])).toEqual([
    ["gnutls", 0.004],
    ["openssl", 0.03],
    ["openssl", 0.01],
  ]);
});

it("names what limits the resolution", () => {
  expect(limitedBy(aRow({ layout_floor: 0.02 }))).toBe("layout");
  expect(limitedBy(aRow({ layout_floor: null }))).toBe("noise");
});
