import { describe, expect, it } from "vitest";
import { aCase } from "@/testing/build";
import { isOf, variationChoices } from "./variation";

const plain = aCase("plain");
const resumed = { ...aCase("resumed"), kinds: ["resumption" as const, "threads" as const] };
const hybrid = { ...aCase("hybrid"), kinds: ["post-quantum" as const] };

describe("the variation of a case", () => {
  it("is what the API says, and none chosen takes all cases", () => {
    expect(isOf(resumed, "threads")).toBe(true);
    expect(isOf(plain, "threads")).toBe(false);
    expect(isOf(plain, undefined)).toBe(true);
  });
});

describe("the choice of a variation", () => {
  it("says how many cases stand behind each, and offers none without any", () => {
    const choices = variationChoices([plain, resumed, hybrid], undefined);
    expect(choices[0]?.label).toBe("All (3)");
    expect(choices.find((choice) => choice.value === "threads")?.label).toBe("Threads (1)");
    expect(choices.find((choice) => choice.value === "peers")?.disabled).toBe(true);
  });

  it("is not there while all cases are alike, unless one was made", () => {
    expect(variationChoices([plain], undefined)).toEqual([]);
    expect(variationChoices([plain], "threads")).not.toEqual([]);
  });
});
