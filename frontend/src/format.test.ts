import { describe, expect, it } from "vitest";
import { expectGolden } from "@/testing/golden";
import * as format from "./format";

describe("numbers", () => {
  it("have three significant digits, and integers are never rounded away", () => {
    expect(format.time(1_774_321)).toBe("1,774 µs");
    expect(format.time(17_743)).toBe("17.7 µs");
    expect(format.time(1_700)).toBe("1.70 µs");
    expect(format.time(999_960)).toBe("1,000 µs");
  });

  it("are rates with grouped thousands where the metric is a time, and bytes where it is bytes", () => {
    expect(format.headline(81_000, "cpu_ns")).toBe("12,346/s");
    expect(format.headline(20_000_000, "wall_ns")).toBe("50.0/s");
    expect(format.headline(1220, "server_bytes")).toBe("1,220 B");
  });

  it("are plain counts where they are neither, whole ones without decimals", () => {
    expect(format.headline(2, "round_trips")).toBe("2");
    expect(format.headline(2_345_678, "client_instructions")).toBe("2,345,678");
    expect(format.cost(12.5, "server_records")).toBe("12.5");
    expect(format.interval({ low: 12, high: 12.5 }, "server_records")).toBe("[12, 12.5]");
    expect(format.headline(39_123, "throughput_spread_ppm")).toBe("3.91%");
    expect(format.interval({ low: 21_000, high: 330_000 }, "throughput_spread_ppm")).toBe("[2.10, 33.0]%");
  });

  it("below zero have a minus, not a hyphen", () => {
    expect(format.time(-23_000)).toBe("−23.0 µs");
    expect(format.amount(-1204)).toBe("−1,204");
  });

  it("know the unit of every metric by its name", () => {
    expect(format.unitOf("elapsed_ns")).toBe("ns");
    expect(format.unitOf("heap_peak_bytes")).toBe("bytes");
    expect(format.unitOf("server_cache_misses")).toBe("count");
    expect(format.unitOf("throughput_spread_ppm")).toBe("ppm");
    expect(format.costTitle("throughput_spread_ppm")).toBe("Throughput spread");
    expect(format.metricWords("throughput_spread_ppm")).toBe("throughput spread");
    expect(format.costTitle("server_cache_misses")).toBe("Cache misses");
  });

  it("are shares without a sign", () => {
    expect(format.share(0.0042)).toBe("0.42%");
    expect(format.share(0.971, 3)).toBe("97.1%");
    expect(format.shareInterval({ low: 0, high: 0.12 })).toBe("[0.0%, 12%]");
    expect(format.shareInterval({ low: null, high: null })).toBe("no interval");
  });

  it("carry their interval in the unit of the cost, or say that there is none", () => {
    expect(format.interval({ low: 1_770_000, high: 1_779_400 }, "cpu_ns")).toBe("[1,770, 1,779] µs");
    expect(format.interval({ low: 1220, high: 1221 }, "client_bytes")).toBe("[1,220, 1,221] B");
    expect(format.interval({ low: null, high: null }, "cpu_ns")).toBe("no interval");
  });
});

it("the interval of a headline has the headline’s unit", () => {
  const estimate = { low: 1_770_000, high: 1_779_400 };
  expect(format.headlineInterval(estimate, "cpu_ns")).toBe("[562, 565]/s");
  expect(format.headlineInterval(estimate, "handshake_p50_ns")).toBe("[1,770, 1,779] µs");
  expect(format.headlineInterval({ low: null, high: null }, "cpu_ns")).toBe("no interval");
});

describe("changes", () => {
  it("always carry their sign, except nothing", () => {
    expect(format.percent(1.0512)).toBe("+5.1%");
    expect(format.percent(0.93)).toBe("−7.0%");
    expect(format.percent(1.0004)).toBe("0.0%");
    expect(format.percent(0.9996)).toBe("0.0%");
    expect(format.percent(2.9)).toBe("+190%");
    expect(format.percent(0.9393, 2)).toBe("−6.07%");
    expect(format.percent(1.00001, 2)).toBe("0.00%");
  });

  it("of counts are whole and carry their sign", () => {
    expect(format.changeOfCount(-137_579.05)).toBe("−137,579");
    expect(format.changeOfCount(1204)).toBe("+1,204");
    expect(format.changeOfCount(-0.4)).toBe("0");
    expect([-200_000, 0, 1_500_000, 50].map(format.shortChange)).toEqual(["−200K", "0", "+1.5M", "+50"]);
  });

  it("have an interval of signed percents", () => {
    expect(format.percentInterval({ low: 0.99, high: 1.02 })).toBe("[−1.0%, +2.0%]");
  });
});

describe("names", () => {
  it("of a run's subjects are gathered by library", () => {
    const names = ["gnutls 3.7.9", "openssl 1.1.1w", "openssl 3.5.7", "openssl 3.5.7"];
    expect(format.byLibrary(names)).toBe("gnutls 3.7.9; openssl 1.1.1w, 3.5.7");
    const references = ["openssl@crate/3.5.5", "openssl@git:https://host/me@home#main"];
    expect(format.byLibrary(references)).toBe("openssl crate/3.5.5, git:https://host/me@home#main");
  });

  it("are counted in the singular and the plural", () => {
    expect(format.count(1, "case")).toBe("1 case");
    expect(format.count(1200, "case")).toBe("1,200 cases");
  });
});

it("changes and metrics in words", async () => {
  await expectGolden("format", {
    "more of a time": format.changeInWords(1.0512, "cpu_ns"),
    "less of a time": format.changeInWords(0.93, "wall_ns"),
    "more bytes": format.changeInWords(1.1, "server_bytes"),
    "fewer allocations": format.changeInWords(0.9, "client_allocations"),
    "a change that rounds to nothing": format.changeInWords(0.9996, "cpu_ns"),
    "a machine became slower, or faster": [1.018, 0.94].map(format.machineChange),
    durations: [45, 600, 10_800].map(format.duration),
    "without an interval": format.interval({ low: null, high: null }, "cpu_ns"),
  });
});
