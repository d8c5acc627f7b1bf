import { describe, expect, it } from "vitest";
import { aCall } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import {
  changeText,
  costText,
  drawnOf,
  type FlameBox,
  flameOf,
  nameOf,
  neighbourOf,
  reachable,
} from "./flame-model";

const SLIGHT = aCall("slight", 0.5, 0.5);
const HASH = aCall("hash", 40, 140);
const ROOT = aCall("server_turn", 200, 300, [
  aCall("sign", 100, 200, [HASH, aCall("gone", 40, 0)]),
  aCall("key", 100, 100, [SLIGHT]),
]);
const boxes = flameOf(ROOT);
const named = (name: string): FlameBox => {
  const box = boxes.find(({ node }) => node.name === name);
  if (!box) throw new Error(name);
  return box;
};
const namesOf = (drawn: { box: FlameBox }[]) => drawn.map(({ box }) => box.node.name);

describe("a flame graph", () => {
  it("gives each call the width of its instructions in both versions, below its caller", () => {
    expect(boxes.map(({ node, level, start, width }) => [node.name, level, start, width])).toEqual([
      ["server_turn", 0, 0, 1],
      ["sign", 1, 0, 0.6],
      ["hash", 2, 0, 0.36],
      ["gone", 2, 0.36, expect.closeTo(0.08)],
      ["key", 1, 0.6, 0.4],
      ["slight", 2, 0.6, expect.closeTo(0.002)],
    ]);
    expect(named("hash").parent).toBe(named("sign"));
  });

  it("colours changes by their size, and no change not at all", () => {
    expect(boxes.map(({ tone, strength }) => [tone, strength])).toEqual([
      ["more", 1],
      ["more", 1],
      ["more", 1],
      ["less", 0.4],
      ["same", 0],
      ["same", 0],
    ]);
    const noise = flameOf(aCall("server_turn", 1_000_000, 1_000_100));
    expect(noise.map(({ tone }) => tone)).toEqual(["same"]);
    expect(flameOf(aCall("server_turn", 0, 0)).map(({ tone }) => tone)).toEqual(["same"]);
  });

  it("draws the zoomed call over the whole width, with its callers and what it calls", () => {
    const drawn = drawnOf(boxes, named("sign"));
    expect(drawn.map(({ box, start, width, isCaller }) => [box.node.name, start, width, isCaller])).toEqual([
      ["server_turn", 0, 1, true],
      ["sign", 0, 1, false],
      ["hash", 0, expect.closeTo(0.6), false],
      ["gone", expect.closeTo(0.6), expect.closeTo(40 / 300), false],
    ]);
  });

  it("leaves out what would be a hair line until it is zoomed into", () => {
    const many = flameOf(aCall("server_turn", 1000, 1000, [aCall("key", 999, 999), aCall("slight", 1, 1)]));
    const [whole] = many;
    expect(whole && namesOf(drawnOf(many, whole))).toEqual(["server_turn", "key"]);
  });
});

describe("the arrow keys", () => {
  const drawn = drawnOf(boxes, named("server_turn"));
  const walk = (from: string, key: string) => neighbourOf(drawn, named(from), `Arrow${key}`)?.node.name;

  it("lead to the caller, the first call and along the level", () => {
    expect(walk("hash", "Up")).toBe("sign");
    expect(walk("sign", "Down")).toBe("hash");
    expect(walk("sign", "Right")).toBe("key");
    expect(walk("key", "Left")).toBe("sign");
    expect(walk("gone", "Right")).toBe("slight");
  });

  it("lead nowhere at the edges", () => {
    expect(walk("server_turn", "Up")).toBeUndefined();
    expect(walk("hash", "Down")).toBeUndefined();
    expect(walk("sign", "Left")).toBeUndefined();
    expect(walk("key", "Right")).toBeUndefined();
    expect(neighbourOf(drawn, named("sign"), "a")).toBeUndefined();
  });

  it("start at the nearest caller of a box that a zoom hides", () => {
    expect(reachable(drawn, named("hash")).node.name).toBe("hash");
    const zoomed = drawnOf(boxes, named("key"));
    expect(reachable(zoomed, named("hash")).node.name).toBe("server_turn");
  });
});

it("a call in words", async () => {
  const calls = {
    "more instructions": aCall("tls_process_key_exchange", 1_200_000.4, 1_500_000),
    "a new call": aCall("new_call", 0, 1234.5),
    "a call that is gone": aCall("old_call", 1234.5, 0),
    "another name": { ...aCall("rsa_private", 10, 10), later_name: "ossl_rsa_private" },
  };
  await expectGolden(
    "flame-model",
    Object.fromEntries(
      Object.entries(calls).map(([situation, call]) => [
        situation,
        [`${nameOf(call)}: ${costText(call, "instructions")}`, changeText(call)],
      ]),
    ),
  );
});
