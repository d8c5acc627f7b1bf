import { expect, test } from "vitest";
import { expectGolden } from "@/testing/golden";
import { ratioText, swapText } from "./ReferenceSection";

test("a ratio has its interval if there is one", () => {
  expect(ratioText({ ratio: 0.453, ratio_low: 0.449, ratio_high: 0.456 })).toBe("0.45 [0.45, 0.46]");
  expect(ratioText({ ratio: 0.453, ratio_low: null, ratio_high: null })).toBe("0.45");
});

test("a comparison with published results in words", async () => {
  const swap = {
    faster_here: "a",
    slower_here: "b",
    ratio: 1.6,
    ratio_low: 1.5,
    ratio_high: 1.7,
    faster_costs: { client_cpu_ns: 212_000, server_cpu_ns: 115_000 },
    slower_costs: { client_cpu_ns: 142_000, server_cpu_ns: 384_000 },
  };
  const titles = new Map([
    ["a", "ECDSA"],
    ["b", "RSA"],
  ]);
  await expectGolden("ReferenceSection", {
    "no ratio": ratioText({ ratio: null }),
    "two cases rank differently": swapText(swap, titles),
    "without a client/server split": swapText({ ...swap, slower_costs: null }, titles),
  });
});
