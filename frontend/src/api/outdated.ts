// While a run is stored, answers may lack what came in the last minute. They arrive at once, and are asked for again.
import type { QueryClient } from "@tanstack/react-query";
import type { Client } from "./generated/client";

const AGAIN_MS = 2_000;

let changedAt: number | undefined;

/** Call it after something was changed here: then the next answers have the change. */
export function wantNewest(): void {
  changedAt = Date.now();
}

function accepted(): string {
  if (changedAt === undefined) return "max-stale"; // as old as the service allows
  return `max-stale=${Math.floor((Date.now() - changedAt) / 1000)}`;
}

/** Generated queries have it in their key, and hand the key on as options. */
function operationOf(options: unknown): string {
  return (options as { _id?: string })._id ?? "";
}

/** Who loads a page again wants the newest answers. */
function isReloaded(): boolean {
  const [loading] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return loading?.type === "reload";
}

export function acceptOutdated(client: Client, queries: QueryClient): void {
  if (isReloaded()) wantNewest();
  const outdated = new Set<string>();
  client.interceptors.request.use((request) => {
    if (request.method === "GET") request.headers.set("Cache-Control", accepted());
    return request;
  });
  client.interceptors.response.use((response, _, options) => {
    if (Number(response.headers.get("Age")) > 0) {
      if (outdated.size === 0) setTimeout(askAgain, AGAIN_MS);
      outdated.add(operationOf(options));
    }
    return response;
  });

  function askAgain() {
    const operations = new Set(outdated);
    outdated.clear();
    void queries.invalidateQueries({ predicate: ({ queryKey }) => operations.has(operationOf(queryKey[0])) });
  }
}
