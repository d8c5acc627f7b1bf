import * as v from "valibot";
import { describe, expect, it } from "vitest";
import type { CpuNeed, MixPartView } from "@/api/generated";
import { capacitySearch, parseSearch, stringifySearch } from "@/search";
import { mixText, partRows, partsOf, writtenParts } from "./capacity-model";

const parts = [
  { share: "70", caseId: "tlsv1.3_a" },
  { share: "30", caseId: "tlsv1.2_b~c" },
];

describe("the mix in the address", () => {
  it("survives the way into the address and back", () => {
    const search = { part: writtenParts(parts), rate: 2000, used: 50, version: "openssl@3.5.7~s~p" };
    const read = v.parse(capacitySearch, parseSearch(stringifySearch(search)));
    expect(read).toEqual(search);
    expect(partsOf(read.part, "usual")).toEqual(parts);
  });

  it("is one case where the address has none", () => {
    expect(partsOf(undefined, "usual")).toEqual([{ share: "100", caseId: "usual" }]);
  });

  it("leaves out what is usual, and what is no number", () => {
    expect(
      v.parse(capacitySearch, { rate: "10000", used: "60", machine: "32", cost: "connection", to: "" }),
    ).toEqual({});
    expect(v.parse(capacitySearch, { rate: "fast", used: "-1", machine: "Infinity", cost: "both" })).toEqual(
      {},
    );
    expect(v.parse(capacitySearch, { cost: "handshake" })).toEqual({ cost: "handshake" });
  });
});

describe("the mix as the API reads it", () => {
  it("has shares instead of percentages", () => {
    expect(JSON.parse(mixText({ rate: 2000, used: 50, machine: 16, cost: "handshake" }, parts))).toEqual({
      apiVersion: "kexbench.dev/v1",
      kind: "TrafficMix",
      connectionsPerSecond: 2000,
      utilisation: 0.5,
      coresPerMachine: 16,
      cost: "handshake",
      parts: [
        { share: 0.7, caseId: "tlsv1.3_a" },
        { share: 0.3, caseId: "tlsv1.2_b~c" },
      ],
    });
    expect(JSON.parse(mixText({}, parts))).toMatchObject({ connectionsPerSecond: 10000, cost: "connection" });
  });
});

describe("the parts of an answer", () => {
  const part = (cost: number, low: number | null): MixPartView => ({
    case_id: "a",
    title: "TLS 1.3 A",
    share: 0.7,
    load_share: 0.4321,
    cpu_ns: { value: cost, low, high: low === null ? null : cost + 1000 },
    invocations: 10,
    run_id: "one",
  });

  it("have the costs of all versions side by side", () => {
    const change = { case_id: "a", verdict: "less" };
    const cpu = {
      versions: [{ parts: [part(65_120, 64_120)] }, { parts: [part(41_000, null)] }],
      part_changes: [change],
    } as unknown as CpuNeed;
    expect(partRows(cpu)).toEqual([
      {
        caseId: "a",
        title: "TLS 1.3 A",
        share: "70%",
        costs: [
          { cost: "65.12 µs", interval: "[64.12, 66.12] µs", load: "43% of CPU time" },
          { cost: "41.00 µs", interval: "no interval", load: "43% of CPU time" },
        ],
        change,
      },
    ]);
  });
});
