// The client's and the server's cost of each subject, side by side. Pure.
import type { Matrix, Subject, Trends } from "@/api/generated";
import { versionText } from "@/subjects";

export interface Split {
  subject: string;
  label: string;
  clientNs: number;
  serverNs: number;
}

/** In version order. `trends`: of a case on a machine, in both metrics */
export function splitsOf({ lines, subjects }: Pick<Trends, "lines" | "subjects">): Split[] {
  const costs = (side: Trends["lines"][number]["metric"]) =>
    new Map(
      lines
        .filter(({ metric }) => metric === side)
        .flatMap(({ points }) => points.map(({ subject, value }) => [subject, value])),
    );
  const [client, server] = [costs("client_cpu_ns"), costs("server_cpu_ns")];
  return subjects.flatMap((subject, place) => {
    const [clientNs, serverNs] = [client.get(place), server.get(place)];
    if (clientNs === undefined || serverNs === undefined) return [];
    return [{ subject: subject.name, label: labelOf(subject), clientNs, serverNs }];
  });
}

/** "openssl 3.5.4 (debian shared) has no client/server split: other programs ran", for each subject without a split. */
export function withoutSplit(
  matrix: Pick<Matrix, "cells" | "subjects"> | undefined,
  caseId: string,
): string[] {
  const named = new Map((matrix?.subjects ?? []).map((subject) => [subject.name, subject]));
  return (matrix?.cells ?? []).flatMap(({ case_id, subject, estimate, outcome }) => {
    const view = named.get(subject);
    if (case_id !== caseId || estimate || !outcome || !view) return [];
    return [`${labelOf(view)} has no client/server split: ${outcome.reason}`];
  });
}

function labelOf(subject: Subject): string {
  return `${subject.library} ${versionText(subject)} (${subject.build_profile_label})`;
}
