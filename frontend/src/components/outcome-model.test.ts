import { expect, it } from "vitest";
import type { Cell, OutcomeView } from "@/api/generated";
import { aCase, aCell, anEstimate, aSubject } from "@/testing/build";
import { reasonsOf } from "./outcome-model";

const disturbed: OutcomeView = {
  kind: "disturbed",
  reason: "other programs ran",
  detail: null,
  invocations: 6,
};
const subject = aSubject("openssl", "3.5.9");

function reasons(cells: Partial<Cell>[]) {
  const cases = cells.map((_, index) => aCase(`case ${index}`));
  const full = cells.map((cell, index) => aCell(`case ${index}`, subject, cell));
  return reasonsOf({ cases, subjects: [subject], cells: full });
}

it("cells that share a reason are one line, and each is named below it", () => {
  const cell = { estimate: anEstimate(1), outcome: null, sides_outcome: disturbed };
  const [reason, ...others] = reasons(Array.from({ length: 30 }, () => cell));
  expect(others).toEqual([]);
  expect(reason?.words).toBe(
    "30 cells without client and server apart in some or all invocations: disturbed: other programs ran",
  );
  expect(reason?.cells).toHaveLength(30);
  expect(reason?.cells[7]).toBe("case 7, openssl 3.5.9 (debian/trixie): 6 invocations");
});

it("no number, and fewer invocations than planned, are different losses", () => {
  const crashed: OutcomeView = { kind: "crashed", reason: "it ended", detail: "SIGSEGV", invocations: 1 };
  const words = reasons([
    { estimate: null, outcome: crashed },
    { estimate: anEstimate(1), outcome: crashed },
    { estimate: anEstimate(1), outcome: null },
  ]);
  expect(words).toEqual([
    {
      words: "1 cell without a result: crashed: it ended",
      cells: ["case 0, openssl 3.5.9 (debian/trixie): 1 invocation; SIGSEGV"],
    },
    {
      words: "1 cell with fewer invocations than planned: crashed: it ended",
      cells: ["case 1, openssl 3.5.9 (debian/trixie): 1 invocation; SIGSEGV"],
    },
  ]);
});
