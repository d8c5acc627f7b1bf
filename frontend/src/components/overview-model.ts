// The overview in words: what is stale, and how long ago something was measured. Pure.
import type { LibraryState } from "@/api/generated";
import { count } from "@/format";

const DAY_MS = 24 * 60 * 60_000;
/** Libraries release about every month; results older than this are probably those of an old release. */
const STALE_DAYS = 30;

/** "today", "yesterday", "12 days ago" */
export function ago(iso: string, now: number): string {
  const days = daysSince(iso, now);
  if (days < 1) return "today";
  return days === 1 ? "yesterday" : `${count(days, "day")} ago`;
}

/** Why the newest results of a library may not be those of its newest version. */
export function staleReasons({ unmeasured, measured_at }: LibraryState, now: number): string[] {
  return [
    ...(daysSince(measured_at, now) > STALE_DAYS
      ? ["Stale: nothing was measured for a month or longer"]
      : []),
    ...(unmeasured.length > 0 ? [`Newer versions that are not measured: ${listed(unmeasured)}`] : []),
  ];
}

/** The worst that happened: decides the colour of a library's entry. */
export function worstOf({ upgrade }: LibraryState): "more" | "less" | "" {
  if (upgrade?.counts?.more) return "more";
  return upgrade?.counts?.less ? "less" : "";
}

const MOST = 4;

function listed(versions: string[]): string {
  const more = versions.length - MOST;
  return more > 0 ? `${versions.slice(-MOST).join(", ")} and ${more} more` : versions.join(", ");
}

function daysSince(iso: string, now: number): number {
  return Math.max(0, Math.floor((now - new Date(iso).getTime()) / DAY_MS));
}
