// The client's and the server's cost of each subject, side by side. Pure.
import type { Series } from "@/api/generated";
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

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
