// How numbers are written. Values come in the metric's unit (ns or bytes) per handshake.
import type { Estimate, Metric } from "@/api/generated";

const NS_PER_S = 1e9;
const NS_PER_US = 1e3;
const MINUS = "\u2212";
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export type Show = "rate" | "cost";
export type Unit = "ns" | "bytes";

export function unitOf(metric: Metric): Unit {
  return metric.endsWith("_bytes") ? "bytes" : "ns";
}

/** At least `digits` significant digits, thousands grouped, integers never rounded away. */
export function significant(value: number, digits = 3): string {
  if (Math.abs(value) >= 10 ** (digits - 1)) return grouped.format(value);
  return value.toLocaleString("en-US", {
    minimumSignificantDigits: digits,
    maximumSignificantDigits: digits,
  });
}

/** "1,774 µs", "17.7 µs". */
export function time(ns: number, digits = 3): string {
  return `${significant(ns / NS_PER_US, digits)} µs`;
}

/** Handshakes per second: "12,345", "98.7". */
export function rate(ns: number): string {
  return significant(NS_PER_S / ns);
}

/** "1,220 B". */
export function bytes(value: number): string {
  return `${grouped.format(value)} B`;
}

/** What stands in a cell: the rate where the metric is a time, else the bytes. */
export function headline(value: number, metric: Metric): string {
  return unitOf(metric) === "bytes" ? bytes(value) : `${rate(value)}/s`;
}

/** A cost as it was measured, with one more digit than the headline. */
export function cost(value: number, metric: Metric): string {
  return unitOf(metric) === "bytes" ? bytes(value) : time(value, 4);
}

/** "[1,770 µs, 1,779 µs]", or why there is none. */
export function interval({ low, high }: Pick<Estimate, "low" | "high">, metric: Metric): string {
  if (low === null || high === null) return "no interval";
  if (unitOf(metric) === "bytes") return `[${grouped.format(low)}, ${grouped.format(high)}] B`;
  return `[${significant(low / NS_PER_US, 4)}, ${significant(high / NS_PER_US, 4)}] µs`;
}

/** The change that a ratio means, always with its sign: 1.02 is "+2.0%". */
export function percent(ratio: number): string {
  const change = (ratio - 1) * 100;
  const size = Math.abs(change);
  const digits = size >= 99.95 ? grouped.format(size) : size.toFixed(1);
  if (digits === "0.0") return "0.0%";
  return `${change < 0 ? MINUS : "+"}${digits}%`;
}

export function percentInterval(low: number | null, high: number | null): string {
  return low === null || high === null ? "no interval" : `[${percent(low)}, ${percent(high)}]`;
}

/** A factor between two costs: "3.14×". */
export function factor(ratio: number): string {
  return `${significant(ratio)}×`;
}

/** A change of cost in words, which no reader takes for a change of rate: "5.1% more time". */
export function changeInWords(ratio: number, metric: Metric): string {
  const size = percent(ratio).replace(/^[+\u2212]/, "");
  return `${size} ${ratio < 1 ? "less" : "more"} ${unitOf(metric) === "bytes" ? "bytes" : "time"}`;
}

/** What a rate of this metric counts. */
export function rateTitle(metric: Metric): string {
  switch (metric) {
    case "cpu_ns":
      return "handshakes per CPU-second, client and server together";
    case "client_cpu_ns":
      return "handshakes per CPU-second of the client";
    case "server_cpu_ns":
      return "handshakes per CPU-second of the server";
    case "wall_ns":
      return "handshakes per second of wall time";
    case "first_ns":
      return "handshakes per second, if each cost as much as the first";
    default:
      return "bytes per handshake";
  }
}

export function dateTime(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

export function memory(value: number): string {
  return `${significant(value / 2 ** 30, 2)} GiB`;
}

/** "gnutls 3.7.9, 3.8.9; openssl 3.5.7" from names of a library and a version each. */
export function byLibrary(names: string[]): string {
  const versions = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const [library = "", version = ""] = name.split(" ");
    versions.set(library, [...(versions.get(library) ?? []), version]);
  }
  return [...versions].map(([library, own]) => `${library} ${own.join(", ")}`).join("; ");
}

export function count(amount: number, one: string, many = `${one}s`): string {
  return `${grouped.format(amount)} ${amount === 1 ? one : many}`;
}
