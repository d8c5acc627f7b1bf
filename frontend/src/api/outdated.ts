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

export function acceptOutdated(client: Client, queries: QueryClient): void {
  let willAskAgain = false;
  client.interceptors.request.use((request) => {
    if (request.method === "GET" && Date.now() >= newestUntil) request.headers.set("Cache-Control", ACCEPTED);
    return request;
  });
  client.interceptors.response.use((response) => {
    if (Number(response.headers.get("Age")) > 0 && !willAskAgain) {
      willAskAgain = true;
      setTimeout(() => {
        willAskAgain = false;
        void queries.invalidateQueries();
      }, AGAIN_MS);
    }
    return response;
  });
}
