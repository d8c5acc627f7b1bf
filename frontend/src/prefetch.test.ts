// @vitest-environment happy-dom
import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import type { Overview } from "@/api/generated";
import { overviewQueryKey } from "@/api/generated/@tanstack/react-query.gen";
import { client } from "@/api/generated/client.gen";
import { paths } from "@/paths";
import { prefetchAnswers } from "@/prefetch";
import { router } from "@/router";
import { answerOf, mockApi, mockFetch } from "@/testing/mock-api";
import type { Target } from "@/testing/pages";

const asked: string[] = [];
const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
const LAST = paths.queue();
/** Those of a page, also on a busy machine. */
const SCRIPTS_ARRIVE = { timeout: 30_000 };

beforeAll(() => {
  const answer = mockFetch(mockApi("results"));
  const fetch: typeof globalThis.fetch = (input) => {
    const { pathname, search } = new URL(new Request(input).url);
    asked.push(pathname.replace("/api/v1", "") + search);
    return answer(input);
  };
  client.setConfig({ fetch, baseUrl: location.origin });
  prefetchAnswers(router, queries);
});

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  queries.clear();
  asked.length = 0;
  document.body.innerHTML = "";
});

function pointAt(target: Target, event: string, around = "p"): void {
  const link = document.createElement("a");
  link.href = router.buildLocation(target).href;
  link.append(document.createElement("b"));
  const place = document.createElement(around === "p" ? "p" : "table");
  if (around !== "p") place.setAttribute("role", around);
  place.append(link);
  document.body.append(place);
  link.firstElementChild?.dispatchEvent(new Event(event, { bubbles: true }));
}

/** What was asked for, once a link has been pointed at whose answer is fetched in any case. */
async function askedAtLast(): Promise<string[]> {
  pointAt(LAST, "pointerover");
  vi.advanceTimersByTime(100);
  vi.useRealTimers();
  await vi.waitFor(() => expect(asked).toContain("/queue"), SCRIPTS_ARRIVE);
  return asked.filter((address) => address !== "/queue");
}

it.each([
  [
    paths.upgrade("fake", "1.0", "1.1", { cpu: "a CPU" }),
    "/compare?base=fake%401.0&base_cpu_model=a%20CPU&other=fake%401.1&other_cpu_model=a%20CPU",
  ],
  [paths.run("20260101-000000-aaaaaaaa"), "/runs/20260101-000000-aaaaaaaa"],
  [paths.alert("one"), "/alerts/one"],
  [paths.series({ case: "rsa", library: ["fake"] }), "/trends?case_id=rsa&levels=true"],
  [paths.trends(), "/trends?metric=cpu_ns"],
  [paths.cpus(), "/cpus"],
])(
  "fetches what a page asks first when the pointer or the focus rests on its link",
  async (target, address) => {
    for (const event of ["pointerover", "focusin"]) {
      pointAt(target, event);
      vi.advanceTimersByTime(100);
    }
    vi.useRealTimers();
    await vi.waitFor(() => expect(asked).toEqual([address]), SCRIPTS_ARRIVE);
  },
);

it("fetches nothing for a link that is passed over", async () => {
  pointAt(paths.alert("one"), "pointerover");
  vi.advanceTimersByTime(99);
  expect(await askedAtLast()).toEqual([]);
});

it("fetches nothing for cells of a matrix", async () => {
  pointAt(paths.series({ case: "rsa" }), "pointerover", "grid");
  vi.advanceTimersByTime(100);
  expect(await askedAtLast()).toEqual([]);
});

it("fetches nothing for addresses that are no pages", async () => {
  const link = document.createElement("a");
  for (const href of ["/api/v1/openapi.json", "https://example.org/alerts/one"]) {
    link.href = href;
    document.body.append(link);
    link.dispatchEvent(new Event("pointerover", { bubbles: true }));
    vi.advanceTimersByTime(100);
    document.body.dispatchEvent(new Event("pointerover", { bubbles: true }));
  }
  expect(await askedAtLast()).toEqual([]);
});

it("fetches nothing while a run is measured here", async () => {
  const overview = answerOf<Overview>("overview");
  const under_way = [{} as Overview["under_way"][number]];
  queries.setQueryData(overviewQueryKey(), { ...overview, under_way });
  pointAt(paths.alert("one"), "pointerover");
  vi.advanceTimersByTime(100);
  queries.setQueryData(overviewQueryKey(), { ...overview, under_way: [] });
  expect(await askedAtLast()).toEqual([]);
});
