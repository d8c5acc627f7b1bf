// How numbers are written. Values come in the metric's unit (ns, bytes, parts of a million or a count) per handshake.
import type { Estimate, Metric, MetricView, Ratio } from "@/api/generated";

const NS_PER_S = 1e9;
const NS_PER_MS = 1e6;
const NS_PER_US = 1e3;
const PPM_PER_PERCENT = 1e4;
const MINUS = "\u2212";
const NO_CHANGE = "0.0%";
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 2 });
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const grouped = { format: (value: number) => withMinus(whole.format(value)) };

export type Show = "rate" | "cost";
export type Unit = MetricView["unit"];

export function unitOf(metric: Metric): Unit {
  if (metric.endsWith("_ns")) return "ns";
  if (metric.endsWith("_ppm")) return "ppm";
  return metric.endsWith("_bytes") ? "bytes" : "count";
}

/** What a cost of this metric is counted in: "time", "bytes", "branch misses". */
export function nounOf(metric: Metric): string {
  const unit = unitOf(metric);
  if (unit === "ns") return "time";
  return unit === "bytes" ? "bytes" : metric.replace(/^(client|server)_|_ppm$/g, "").replaceAll("_", " ");
}

/** In sentences: "CPU time", "server bytes", "handshake p99 time". */
export function metricWords(metric: Metric): string {
  const text = metric
    .replace(/_(ns|ppm)$/, "")
    .replaceAll("_", " ")
    .replace("cpu", "CPU time");
  return unitOf(metric) !== "ns" || text.includes("time") ? text : `${text} time`;
}

/** The same as the head of a column. */
export function costTitle(metric: Metric): string {
  const noun = nounOf(metric);
  return noun.charAt(0).toUpperCase() + noun.slice(1);
}

/** At least `digits` significant digits, thousands grouped, integers never rounded away. */
export function significant(value: number, digits = 3): string {
  if (Math.abs(value) >= 10 ** (digits - 1)) return grouped.format(value);
  return withMinus(
    value.toLocaleString("en-US", { minimumSignificantDigits: digits, maximumSignificantDigits: digits }),
  );
}

function withMinus(number: string): string {
  return number.replace("-", MINUS);
}

/** "1,774 µs", "17.7 µs". */
export function time(ns: number, digits = 3): string {
  return `${significant(ns / NS_PER_US, digits)} µs`;
}

/** "1,118 ms", "63.23 ms": of what people wait for. */
export function milliseconds(ns: number, digits = 4): string {
  return `${significant(ns / NS_PER_MS, digits)} ms`;
}

/** "[63.21, 63.24]" in milliseconds, or "no interval". */
export function millisecondsInterval({ low, high }: Pick<Estimate, "low" | "high">): string {
  if (low === null || high === null) return "no interval";
  return `[${significant(low / NS_PER_MS, 4)}, ${significant(high / NS_PER_MS, 4)}]`;
}

/** "15.7 kB" of 1000 bytes, as windows are written. */
export function kilobytes(value: number): string {
  return `${(value / 1000).toFixed(1)} kB`;
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

/** Whether the metric is shown as a rate too. A latency is a time, but what waits costs no CPU meanwhile. */
export function isRate(metric: Metric): boolean {
  return unitOf(metric) === "ns" && !/_p\d+_ns$/.test(metric);
}

/** The number of a cell: the rate if the metric has one, otherwise the cost. */
export function headline(value: number, metric: Metric): string {
  return isRate(metric) ? `${rate(value)}/s` : cost(value, metric);
}

/** A cost as it was measured, with one more digit than the headline. */
export function cost(value: number, metric: Metric): string {
  switch (unitOf(metric)) {
    case "ns":
      return time(value, 4);
    case "bytes":
      return bytes(value);
    case "ppm":
      return `${significant(value / PPM_PER_PERCENT)}%`;
    case "count":
      return amount(value);
  }
}

/** "1,482 → 2,663 B" */
export function costs(before: number, after: number, metric: Metric): string {
  return `${cost(before, metric).split(" ")[0]} → ${cost(after, metric)}`;
}

/** "[1,770, 1,779] µs", or "no interval". */
export function interval({ low, high }: Pick<Estimate, "low" | "high">, metric: Metric): string {
  if (low === null || high === null) return "no interval";
  switch (unitOf(metric)) {
    case "ns":
      return `[${significant(low / NS_PER_US, 4)}, ${significant(high / NS_PER_US, 4)}] µs`;
    case "bytes":
      return `[${grouped.format(low)}, ${grouped.format(high)}] B`;
    case "ppm":
      return `[${significant(low / PPM_PER_PERCENT)}, ${significant(high / PPM_PER_PERCENT)}]%`;
    case "count":
      return `[${amount(low)}, ${amount(high)}]`;
  }
}

/** The interval of a headline, in its unit: "[562, 565]/s". */
export function headlineInterval({ low, high }: Pick<Estimate, "low" | "high">, metric: Metric): string {
  if (!isRate(metric) || low === null || high === null) return interval({ low, high }, metric);
  return `[${rate(high)}, ${rate(low)}]/s`;
}

/** The change that a ratio means, with its sign: 1.02 is "+2.0%". A change that rounds to nothing is "0.0%". */
export function percent(ratio: number, decimals = 1): string {
  const change = (ratio - 1) * 100;
  const size = Math.abs(change);
  const digits = size >= 99.95 ? grouped.format(size) : size.toFixed(decimals);
  if (Number(digits) === 0) return `${digits}%`;
  return `${change < 0 ? MINUS : "+"}${digits}%`;
}

/** A change of a count, with its sign: "−137,579", "+1,204", "0". */
export function changeOfCount(change: number): string {
  const digits = grouped.format(Math.abs(change));
  if (digits === "0") return digits;
  return `${change < 0 ? MINUS : "+"}${digits}`;
}

/** The same with at most two digits for an axis: "−200K", "+1.5M". */
export function shortChange(change: number): string {
  if (change === 0) return "0";
  return `${change < 0 ? MINUS : "+"}${compact.format(Math.abs(change))}`;
}

/** "[+1.8%, +2.2%]" */
export function percentInterval({ low, high }: Pick<Ratio, "low" | "high">): string {
  return `[${percent(low)}, ${percent(high)}]`;
}

/** "+2.0% [+1.8%, +2.2%]", or "+2.0%" of an exact number. */
export function moveText(move: Ratio): string {
  const change = percent(move.ratio);
  return move.low === move.high ? change : `${change} ${percentInterval(move)}`;
}

/** The interval of a rate or a factor: "[1,230, 1,260]", "[3.10, 3.18]". */
export function plainInterval({ low, high }: Pick<Estimate, "low" | "high">): string {
  return low === null || high === null ? "no interval" : `[${significant(low)}, ${significant(high)}]`;
}

/** A factor between two costs: "3.14×". */
export function factor(ratio: number): string {
  return `${significant(ratio)}×`;
}

/** A change of cost in words, so that nobody takes it for a change of rate: "5.1% more time". */
export function changeInWords(ratio: number, metric: Metric): string {
  const size = unsigned(ratio);
  if (size === undefined) return `0.0% change in ${nounOf(metric)}`;
  return `${size} ${ratio < 1 ? lessOf(metric) : "more"} ${nounOf(metric)}`;
}

/** A machine's change of speed, from the ratio of the sentinel's cost: 1.018 is "1.8% slower". */
export function machineChange(ratio: number): string {
  const size = unsigned(ratio);
  if (size === undefined) return "unchanged";
  return `${size} ${ratio < 1 ? "faster" : "slower"}`;
}

/** The size of a change without its sign; undefined if it rounds to nothing. */
function unsigned(ratio: number): string | undefined {
  const text = percent(ratio);
  return text === NO_CHANGE ? undefined : text.slice(1);
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

export function dateTime(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** With seconds, for events that may follow within a minute. */
export function dateTimeSeconds(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

/** The pool of a machine without a cluster. */
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
  return [...versions].map(([library, ofLibrary]) => `${library} ${ofLibrary.join(", ")}`).join("; ");
}

/** "10 invocations" of a cell. */
export function invocations({ invocations }: Pick<Estimate, "invocations">): string {
  return count(invocations ?? 0, "invocation");
}

export function count(amount: number, singular: string, many = `${singular}s`): string {
  return `${grouped.format(amount)} ${amount === 1 ? singular : many}`;
}

/** A date alone, such as 2026-12-01: "1 Dec 2026", wherever the reader is. */
export function day(date: string): string {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString("en-GB", { dateStyle: "medium", timeZone: "UTC" });
}
