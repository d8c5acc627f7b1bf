// How a part of a connection's cost is written.
import type { Estimate, PartView } from "@/api/generated";
import { invocations, significant, time } from "@/format";

type Costed = Pick<PartView, "kind" | "transfer_bytes">;

/** "254 µs ±3.0 µs"; of a transfer "4,710 MB/s ±40 MB/s"; with too few invocations for an interval "254 µs, 1 invocation". */
export function costText(part: Costed, estimate: Estimate): string {
  const { value, low, high } = estimate;
  const text = (cost: number, digits = 3) =>
    part.kind === "transfer" ? `${significant(cost, digits)} MB/s` : time(cost, digits);
  const shown = (cost: number) => (part.kind === "transfer" ? (part.transfer_bytes * 1000) / cost : cost);
  if (low === null || high === null) return `${text(shown(value))}, ${invocations(estimate)}`;
  return `${text(shown(value))} ±${text(Math.abs(shown(high) - shown(low)) / 2, 2)}`;
}
