import { describe, expect, it } from "vitest";
import { joinedBuilds } from "./builds";

const at = (x: number, build: string) => ({ x, build });

describe("the line through the versions of a library", () => {
  it("goes through every version in order, and is dashed where the build changes", () => {
    const [old, near, newer, newest] = [at(0, "a"), at(1, "b"), at(2, "a"), at(3, "a")] as const;
    // In the order of the answer: build by build.
    expect(joinedBuilds([old, newer, newest, near])).toEqual({
      runs: [[old], [near], [newer, newest]],
      joins: [
        [old, near],
        [near, newer],
      ],
    });
  });

  it("is solid within one build", () => {
    const places = [at(0, "a"), at(1, "a"), at(2, "a")];
    expect(joinedBuilds(places)).toEqual({ runs: [places], joins: [] });
  });

  it("draws another build of a version beside it, and is dashed only where no build is of both versions", () => {
    const [first, second, other, third] = [at(0, "a"), at(1, "a"), at(1, "b"), at(2, "b")] as const;
    expect(joinedBuilds([first, second, other, third])).toEqual({
      runs: [
        [first, second],
        [other, third],
      ],
      joins: [],
    });
    expect(joinedBuilds([first, second, other, at(2, "a")]).runs).toEqual([
      [first, second, at(2, "a")],
      [other],
    ]);
  });
});
