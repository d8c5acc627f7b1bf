import { expect, it } from "vitest";
import { aCell, anEstimate, aSubject } from "@/testing/build";
import { isUncounted } from "./NoCells";

const subject = aSubject("openssl", "1");
const unsupported = aCell("a", subject, {
  outcome: { kind: "unsupported", reason: "no such group", detail: null, invocations: 2 },
});

it("is uncounted where no cell has a number of the metric, although some have reasons", () => {
  expect(isUncounted({ metric: "client_cycles", cells: [unsupported] })).toBe(true);
  expect(isUncounted({ metric: "client_cycles", cells: [] })).toBe(true);
});

it("is counted where any cell has one, and shows the reasons of the usual metric", () => {
  const counted = aCell("b", subject, { estimate: anEstimate(1) });
  expect(isUncounted({ metric: "client_cycles", cells: [unsupported, counted] })).toBe(false);
  expect(isUncounted({ metric: "cpu_ns", cells: [unsupported] })).toBe(false);
});

it("shows the reasons of the metric that a counted run has by default", () => {
  const cells = [unsupported];
  expect(isUncounted({ metric: "counted_instructions", cells }, "counted_instructions")).toBe(false);
  expect(isUncounted({ metric: "cpu_ns", cells }, "counted_instructions")).toBe(true);
});
