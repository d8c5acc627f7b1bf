import { describe, expect, it } from "vitest";
import { aCase } from "@/testing/build";
import { isOf, variationChoices, variationsOf } from "./variation";

const plain = aCase("plain");
const resumed = { ...aCase("resumed"), resumption: "psk-dhe" as const, threads: 2 };
const hybrid = { ...aCase("hybrid"), group: "X25519MLKEM768" };

describe("the variations of a case", () => {
  it("are none where everything beyond the first dimensions is usual", () => {
    expect(variationsOf(plain)).toEqual(["plain"]);
    expect(variationsOf({ ...plain, threads: 1, resumption: "none", peer: "-", fips: false })).toEqual([
      "plain",
    ]);
  });

  it("can be several", () => {
    expect(variationsOf(resumed)).toEqual(["resumption", "threads"]);
  });

  it("see post-quantum in the group and in the certificate’s key", () => {
    expect(variationsOf(hybrid)).toEqual(["post-quantum"]);
    expect(variationsOf({ ...plain, key_exchange: "ECDHE-ML-DSA-65" })).toEqual(["post-quantum"]);
  });

  it.each([
    { chain_length: 3 },
    { client_authentication: true },
    { hello_retry: true },
    { ocsp_bytes: 500 },
    { fips: true },
    { cpu_features: "no-sha" as never },
  ])("call %o another variation", (variation) => {
    expect(variationsOf({ ...plain, ...variation })).toEqual(["other"]);
  });

  it("see the peer", () => {
    expect(isOf({ ...plain, peer: "server:openssl@system" }, "peers")).toBe(true);
    expect(isOf(plain, "peers")).toBe(false);
    expect(isOf(plain, undefined)).toBe(true);
  });
});

describe("the choice of a variation", () => {
  it("says how many cases stand behind each, and offers none without any", () => {
    const choices = variationChoices([plain, resumed, hybrid], undefined);
    expect(choices[0]?.label).toBe("All (3)");
    expect(choices.find((one) => one.value === "threads")?.label).toBe("Threads (1)");
    expect(choices.find((one) => one.value === "peers")?.disabled).toBe(true);
  });

  it("is not there while all cases are alike, unless one was made", () => {
    expect(variationChoices([plain], undefined)).toEqual([]);
    expect(variationChoices([plain], "threads")).not.toEqual([]);
  });
});
