// How numbers are written. Values come in the metric's unit (ns, bytes or a count) per handshake.
import type { Estimate, Metric, MetricView } from "@/api/generated";

const NS_PER_S = 1e9;
const NS_PER_US = 1e3;
const MINUS = "\u2212";
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export type Show = "rate" | "cost";
export type Unit = MetricView["unit"];

export function unitOf(metric: Metric): Unit {
  if (metric.endsWith("_ns")) return "ns";
  return metric.endsWith("_bytes") ? "bytes" : "count";
}

/** What a cost of this metric is counted in: "time", "bytes", "branch misses". */
export function nounOf(metric: Metric): string {
  const unit = unitOf(metric);
  if (unit === "ns") return "time";
  return unit === "bytes" ? "bytes" : metric.replace(/^(client|server)_/, "").replaceAll("_", " ");
}

/** The same as the head of a column. */
export function costTitle(metric: Metric): string {
  const noun = nounOf(metric);
  return noun.charAt(0).toUpperCase() + noun.slice(1);
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

/** "12", "12,345", "2.50": most counts of one handshake are whole numbers. */
export function amount(value: number): string {
  return Number.isInteger(value) ? grouped.format(value) : significant(value);
}

/** What stands in a cell: the rate where the metric is a time, else the cost. */
export function headline(value: number, metric: Metric): string {
  return unitOf(metric) === "ns" ? `${rate(value)}/s` : cost(value, metric);
}

/** A cost as it was measured, with one more digit than the headline. */
export function cost(value: number, metric: Metric): string {
  switch (unitOf(metric)) {
    case "ns":
      return time(value, 4);
    case "bytes":
      return bytes(value);
    case "count":
      return amount(value);
  }
}

/** "[1,770 µs, 1,779 µs]", or why there is none. */
export function interval({ low, high }: Pick<Estimate, "low" | "high">, metric: Metric): string {
  if (low === null || high === null) return "no interval";
  switch (unitOf(metric)) {
    case "ns":
      return `[${significant(low / NS_PER_US, 4)}, ${significant(high / NS_PER_US, 4)}] µs`;
    case "bytes":
      return `[${grouped.format(low)}, ${grouped.format(high)}] B`;
    case "count":
      return `[${amount(low)}, ${amount(high)}]`;
  }
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

/** The interval of a rate or a factor: "[1,230, 1,260]", "[3.10, 3.18]". */
export function plainInterval({ low, high }: Pick<Estimate, "low" | "high">): string {
  return low === null || high === null ? "no interval" : `[${significant(low)}, ${significant(high)}]`;
}

/** A factor between two costs: "3.14×". */
export function factor(ratio: number): string {
  return `${significant(ratio)}×`;
}

/** A change of cost in words, which no reader takes for a change of rate: "5.1% more time". */
export function changeInWords(ratio: number, metric: Metric): string {
  return `${unsigned(ratio)} ${ratio < 1 ? lessOf(metric) : "more"} ${nounOf(metric)}`;
}

/** How the machine itself moved, from the ratio of a frozen subject's cost: 1.018 is "1.8% slower". */
export function moveInWords(ratio: number): string {
  return `${unsigned(ratio)} ${ratio < 1 ? "faster" : "slower"}`;
}

function unsigned(ratio: number): string {
  return percent(ratio).replace(/^[+\u2212]/, "");
}

/** "less time", and "fewer" of what can be counted. */
export function lessOf(metric: Metric): string {
  return unitOf(metric) === "count" ? "fewer" : "less";
}

/** A share without a sign: 0.0042 is "0.42%". */
export function share(value: number, digits = 2): string {
  return `${significant(value * 100, digits)}%`;
}

export function shareInterval(
  { low, high }: { low: number | null; high: number | null },
  digits = 2,
): string {
  return low === null || high === null ? "no interval" : `[${share(low, digits)}, ${share(high, digits)}]`;
}

/** Handshakes per second: "12,345/s" of a rate, not of a cost. */
export function perSecond(value: number): string {
  return `${significant(value)}/s`;
}

/** What a cell of this metric says. */
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
    case "elapsed_ns":
      return "handshakes per second of wall time, all threads together";
    case "first_ns":
      return "handshakes per second, if each cost as much as the first";
    case "client_bytes":
      return "bytes that the client sends in a handshake";
    case "server_bytes":
      return "bytes that the server sends in a handshake";
    case "heap_peak_bytes":
      return "bytes of heap at the peak of a handshake, both sides together";
    case "client_held_bytes":
      return "bytes of heap that an open connection holds at the client";
    case "server_held_bytes":
      return "bytes of heap that an open connection holds at the server";
    case "round_trips":
      return "round trips before application data";
    case "client_records":
      return "records that the client sends in a handshake";
    case "server_records":
      return "records that the server sends in a handshake";
    default:
      return `${nounOf(metric)} of the ${metric.startsWith("client_") ? "client" : "server"} in a handshake`;
  }
}

export function dateTime(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** Of what may follow within a minute. */
export function dateTimeSeconds(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

/** The pool of a machine that measures by itself. */
export const LOCAL = "local";

/** An estimate of time: "45 s", "12 min", "3 h". */
export function duration(seconds: number): string {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  return seconds < 100 * 60 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

export function memory(value: number): string {
  return `${significant(value / 2 ** 30, 2)} GiB`;
}

/** "gnutls 3.7.9, 3.8.9; openssl 3.5.7" from names of a library and a version each, or from references. */
export function byLibrary(names: string[]): string {
  const versions = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const [library = "", version = ""] = name.split(/[ @](.*)/);
    versions.set(library, [...(versions.get(library) ?? []), version]);
  }
  return [...versions].map(([library, own]) => `${library} ${own.join(", ")}`).join("; ");
}

export function count(amount: number, one: string, many = `${one}s`): string {
  return `${grouped.format(amount)} ${amount === 1 ? one : many}`;
}

/** A date alone, such as 2026-12-01: "1 Dec 2026", wherever the reader is. */
export function day(date: string): string {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString("en-GB", { dateStyle: "medium", timeZone: "UTC" });
}
