// The result of an upgrade in one sentence. Loaded when scrolled into view, because it compares all cells.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { UpgradeView } from "@/api/generated";
import { compareOptions } from "@/api/generated/@tanstack/react-query.gen";
import { count } from "@/format";
import { hostsOf, storyOf } from "./compared-ends";

const FRESH_MS = 5 * 60_000;

export function UpgradeStory({ upgrade: { before, after } }: { upgrade: UpgradeView }) {
  const place = useRef<HTMLParagraphElement>(null);
  const [isSeen, setSeen] = useState(false);
  const comparison = useQuery({
    ...compareOptions({ query: { base: before.subject, other: after.subject } }),
    enabled: isSeen,
    staleTime: FRESH_MS,
  }).data;
  useEffect(() => {
    const watcher = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true));
    if (place.current) watcher.observe(place.current);
    return () => watcher.disconnect();
  }, []);
  const hosts = hostsOf(comparison?.cells ?? []).length;
  const isSlower = comparison?.cells.some((cell) => cell.verdict === "more");
  return (
    <p ref={place} className={isSlower ? "said bad" : "said"}>
      {comparison?.upgrade ? storyOf(comparison.upgrade) : "…"}
      {hosts > 1 && ` Measured on ${count(hosts, "machine")}.`}
    </p>
  );
}
