import { expect, test } from "vitest";
import { expectGolden } from "@/testing/golden";
import { ratioText, swapText } from "./ReferenceSection";

test("a ratio has its interval if there is one", () => {
  expect(ratioText({ ratio: 0.453, low: 0.449, high: 0.456 })).toBe("0.45 [0.45, 0.46]");
  expect(ratioText({ ratio: 0.453, low: 0.453, high: 0.453 })).toBe("0.45");
});

test("a comparison with published results in words", async () => {
  const swap = {
    faster_here: "a",
    slower_here: "b",
    ratio: { ratio: 1.6, low: 1.5, high: 1.7 },
    faster_cpu_ns: { client: 212_000, server: 115_000 },
    slower_cpu_ns: { client: 142_000, server: 384_000 },
  };
  const titles = new Map([
    ["a", "ECDSA"],
    ["b", "RSA"],
  ]);
  await expectGolden("ReferenceSection", {
    "no ratio": ratioText(null),
    "two cases rank differently": swapText(swap, titles),
    "without a client/server split": swapText({ ...swap, slower_cpu_ns: null }, titles),
  });
});
