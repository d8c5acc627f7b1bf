// @vitest-environment happy-dom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { aCase, aCell, aChange, anEstimate, aSubject } from "@/testing/build";
import { heatModel } from "./heatmap-model";
import { Legend } from "./Legend";

afterEach(cleanup);

const [older, newer] = [aSubject("openssl", "1"), aSubject("openssl", "2")];

function legendOf(cells: Parameters<typeof heatModel>[0]["cells"], isDense = false): string {
  const model = heatModel({ cases: [aCase("rsa")], subjects: [older, newer], cells, metric: "cpu_ns" });
  return render(<Legend metric="cpu_ns" model={model} isDense={isDense} />).container.textContent ?? "";
}

const alone = aCell("rsa", older, { estimate: anEstimate(1) });
const changed = (verdict: "more" | "unresolved", warnings: string[] = []) =>
  aCell("rsa", newer, { estimate: anEstimate(1), change: aChange({ verdict, warnings }) });

it("explains no sign that no cell has", () => {
  expect(legendOf([alone])).not.toMatch(/change|unresolved|no result|†|20%/);
  const text = legendOf([alone, changed("more")]);
  expect(text).toMatch(/20% more time/);
  expect(text).not.toMatch(/unresolved|no result|†/);
});

it("explains each sign that a cell has", () => {
  const text = legendOf([alone, changed("unresolved", ["different build profile"])]);
  expect(text).toMatch(/unresolved: not significant.*† comparison with a caveat/);
  expect(text).not.toMatch(/20%/);
});

it("explains only the signs of narrow columns that are shown", () => {
  const text = legendOf([alone, changed("unresolved")], true);
  expect(text).toContain("? unresolved");
  expect(text).not.toMatch(/×|≠|=/);
});

it("explains cells with too few invocations, and no caveat of a cell that is not compared", () => {
  const outcome = { kind: "crashed" as const, reason: "signal 11", detail: null, invocations: 2 };
  const text = legendOf([{ ...alone, outcome }, aCell("rsa", newer, { estimate: anEstimate(1) })]);
  expect(text).toContain("too few invocations: not compared with the version before");
  expect(text).not.toContain("†");
});
