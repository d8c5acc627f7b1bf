// While a run is stored, answers may lack what came in the last seconds. They arrive at once, and are asked for again.
import type { QueryClient } from "@tanstack/react-query";
import type { Client } from "./generated/client";

const ACCEPTED = "max-stale=5";
const AGAIN_MS = 2_000;
/** Longer than an answer may be outdated. */
const NEWEST_MS = 6_000;

let newestUntil = 0;

/** Call it after something was changed here: then the next answers have the change. */
export function wantNewest(): void {
  newestUntil = Date.now() + NEWEST_MS;
}

/** Generated queries have it in their key, and hand the key on as options. */
function operationOf(options: unknown): string {
  return (options as { _id?: string })._id ?? "";
}

export function acceptOutdated(client: Client, queries: QueryClient): void {
  const outdated = new Set<string>();
  client.interceptors.request.use((request) => {
    if (request.method === "GET" && Date.now() >= newestUntil) request.headers.set("Cache-Control", ACCEPTED);
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
