import { expect, test } from "vitest";
import { firstFrom } from "./crowd";

test("the first place at or after a value is found", () => {
  const places = [1, 2, 2, 5].map((x) => ({ x }));
  expect([0, 1, 1.5, 2, 3, 5, 6].map((x) => firstFrom(places, x))).toEqual([0, 0, 1, 1, 3, 3, 4]);
  expect(firstFrom([], 1)).toBe(0);
});
