// The client's and the server's cost of each subject, side by side. Pure.
import type { Matrix, Series } from "@/api/generated";
import { versionText } from "@/subjects";

export interface Split {
  subject: string;
  label: string;
  clientNs: number;
  serverNs: number;
}

export function splitsOf(client: Series, server: Series): Split[] {
  const serverNs = new Map(
    server.lines.flatMap((line) =>
      line.points.map((point) => [point.subject, point.estimate.value] as const),
    ),
  );
  return client.lines
    .flatMap((line) => line.points.map((point) => ({ line, point })))
    .sort((a, b) => order(a.line.library, b.line.library) || order(a.point.version_key, b.point.version_key))
    .flatMap(({ line, point }) => {
      const other = serverNs.get(point.subject);
      if (other === undefined) return [];
      const label = `${line.library} ${versionText(point)} (${line.build_profile_label})`;
      return [{ subject: point.subject, label, clientNs: point.estimate.value, serverNs: other }];
    });
}

/** "openssl 3.5.4 (debian shared) has no client/server split: other programs ran", for each subject without a split. */
export function withoutSplit(
  matrix: Pick<Matrix, "cells" | "subjects"> | undefined,
  caseId: string,
): string[] {
  const named = new Map((matrix?.subjects ?? []).map((subject) => [subject.subject, subject]));
  return (matrix?.cells ?? []).flatMap(({ case_id, subject, estimate, outcome }) => {
    const view = named.get(subject);
    if (case_id !== caseId || estimate || !outcome || !view) return [];
    const name = `${view.library} ${versionText(view)} (${view.build_profile_label})`;
    return [`${name} has no client/server split: ${outcome.reason}`];
  });
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
