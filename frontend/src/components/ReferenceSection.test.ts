import { expect, test } from "vitest";
import { ratioText, swapText } from "./ReferenceSection";

test("a ratio stands with its interval, or says that there is none", () => {
  expect(ratioText({ ratio: 0.453, ratio_low: 0.449, ratio_high: 0.456 })).toBe("0.45 [0.45, 0.46]");
  expect(ratioText({ ratio: 0.453, ratio_low: null, ratio_high: null })).toBe("0.45");
  expect(ratioText({ ratio: null })).toBe("no ratio");
});

test("a swap says what both cases cost on either side", () => {
  const swap = {
    faster_here: "a",
    slower_here: "b",
    ratio: 1.6,
    ratio_low: 1.5,
    ratio_high: 1.7,
    faster_costs: { client_cpu_ns: 212_000, server_cpu_ns: 115_000 },
    slower_costs: { client_cpu_ns: 142_000, server_cpu_ns: 384_000 },
  };
  expect(swapText(swap, new Map([["a", "ECDSA"]]))).toBe(
    "ECDSA is 1.60 times as fast as b; it costs 327 µs (client 212 µs, server 115 µs) against " +
      "526 µs (client 142 µs, server 384 µs).",
  );
  expect(swapText({ ...swap, slower_costs: null }, new Map())).toBe(
    "a is 1.60 times as fast as b; it costs 327 µs (client 212 µs, server 115 µs) against " +
      "an unknown amount, client and server not told apart.",
  );
});
