// What an upgrade came to, in one sentence.
import { useQuery } from "@tanstack/react-query";
import type { UpgradeView } from "@/api/generated";
import { upgradeReportOptions } from "@/api/generated/@tanstack/react-query.gen";
import { storyOf } from "./upgrade-model";

export function UpgradeStory({ upgrade: { library, before, after } }: { upgrade: UpgradeView }) {
  const report = useQuery(
    upgradeReportOptions({ query: { library, before: before.subject, after: after.subject } }),
  ).data;
  if (!report) return null;
  const isSlower = report.cells.some((cell) => cell.verdict === "more");
  return <p className={isSlower ? "said bad" : "said"}>{storyOf(report)}</p>;
}
