import { expect, it } from "vitest";
import { costText } from "./connection-costs";

const estimate = { value: 254_000, low: 251_000, high: 257_000, invocations: 10 };

it("writes a part's CPU time with half its interval", () => {
  expect(costText({ kind: "verification", transfer_bytes: 0 }, estimate)).toBe("254 µs ±3.0 µs");
  expect(
    costText({ kind: "tickets", transfer_bytes: 0 }, { ...estimate, low: null, high: null, invocations: 1 }),
  ).toBe("254 µs, 1 invocation");
});

it("writes a transfer as data per CPU-second", () => {
  const transfer = { kind: "transfer" as const, transfer_bytes: 1_000_000 };
  expect(costText(transfer, { value: 200_000, low: 190_000, high: 210_000, invocations: 10 })).toBe(
    "5,000 MB/s ±251 MB/s",
  );
});
