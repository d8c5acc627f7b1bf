import { expect, it } from "vitest";
import { heatModel } from "@/charts/heatmap-model";
import { aCase, aCell, anEstimate, aSubject } from "@/testing/build";
import { cellRows } from "./cell-rows";

const older = aSubject("openssl", "1");
const newer = aSubject("openssl", "2");
const model = heatModel({
  metric: "cpu_ns",
  cases: [aCase("a"), aCase("b")],
  subjects: [older, newer],
  cells: [
    aCell("a", older, { estimate: anEstimate(300) }),
    aCell("b", older, { estimate: anEstimate(100) }),
    aCell("b", newer, { outcome: { kind: "error", reason: "no", detail: null, invocations: 1 } }),
  ],
});
const places = (choice: Parameters<typeof cellRows>[1]) =>
  cellRows(model, choice).map((cell) => `${cell.caseView.id}${cell.subject.version}`);

it("keeps the heatmap’s order by default, and leaves out cells that were not measured", () => {
  expect(places({})).toEqual(["a1", "b1", "b2"]);
});

it("sorts both ways, with rows that have no value last", () => {
  expect(places({ sort: "cost" })).toEqual(["b1", "a1", "b2"]);
  expect(places({ sort: "cost", order: "desc" })).toEqual(["a1", "b1", "b2"]);
});
