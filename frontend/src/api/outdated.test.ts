import { type Query, QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient } from "./generated/client";
import { acceptOutdated, wantNewest } from "./outdated";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The options of a generated query. */
function named(operation: string) {
  return { url: `/${operation}`, _id: operation };
}

/** A client whose service answers with these ages, one after the other, and the requests that it sent. */
function asking(...ages_s: number[]) {
  const requests: Request[] = [];
  const queries = new QueryClient();
  const again = vi.fn();
  vi.spyOn(queries, "invalidateQueries").mockImplementation(async (filters) => {
    const isAsked = (operation: string) =>
      filters?.predicate?.({ queryKey: [{ _id: operation }] } as unknown as Query);
    again(["matrix", "runs", "alerts"].filter(isAsked));
  });
  const client = createClient({
    baseUrl: "http://service",
    fetch: async (input) => {
      requests.push(new Request(input));
      return Response.json({}, { headers: { Age: String(ages_s.shift() ?? 0) } });
    },
  });
  acceptOutdated(client, queries);
  const accepts = () => requests.map(({ headers }) => headers.get("Cache-Control"));
  return { client, again, accepts };
}

test("a page that gets outdated answers asks for these again, once", async () => {
  const { client, again, accepts } = asking(1, 2);
  await Promise.all(["matrix", "runs"].map((operation) => client.get(named(operation))));
  await client.get(named("alerts"));
  expect(accepts()).toEqual(["max-stale", "max-stale", "max-stale"]);
  expect(again).not.toHaveBeenCalled();
  await vi.runAllTimersAsync();
  expect(again.mock.calls).toEqual([[["matrix", "runs"]]]);
});

test("a page that gets the newest answer does not ask again", async () => {
  const { client, again } = asking(0);
  await client.get({ url: "/matrix" });
  await vi.runAllTimersAsync();
  expect(again).not.toHaveBeenCalled();
});

test("a page that was loaded again accepts no answer from before", async () => {
  vi.spyOn(performance, "getEntriesByType").mockReturnValue([
    { type: "reload" } as PerformanceNavigationTiming,
  ]);
  const { client, accepts } = asking();
  await client.get({ url: "/alerts" });
  expect(accepts()).toEqual(["max-stale=0"]);
});

test("after a change made here, no answer from before it is accepted", async () => {
  const { client, accepts } = asking();
  wantNewest();
  await client.get({ url: "/alerts" });
  await client.post({ url: "/alerts" });
  for (const passed_ms of [6_900, 60_000]) {
    vi.advanceTimersByTime(passed_ms);
    await client.get({ url: "/alerts" });
  }
  expect(accepts()).toEqual(["max-stale=0", null, "max-stale=6", "max-stale=66"]);
});
