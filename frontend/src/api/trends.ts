// Trends of several cases and metrics. Each case and metric is a question of its own: a published site has a file for
// each, and only what a choice adds is asked for.
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { Metric, Subject, Trend, Trends } from "./generated";
import { trendsOptions, trendsQueryKey } from "./generated/@tanstack/react-query.gen";

/** An answer for each case and metric, on all host kinds. `cases`: ids; absent: the first case */
export function eachTrendOptions(cases: string[] | undefined, metrics: Metric[]) {
  const [key] = trendsQueryKey({ query: { case_id: cases, metric: metrics } });
  return queryOptions({
    queryKey: [key, "each"],
    queryFn: ({ client }) => eachTrend(client, cases, metrics),
  });
}

async function eachTrend(
  client: QueryClient,
  cases: string[] | undefined,
  metrics: Metric[],
): Promise<Trends[]> {
  const ask = (metric: Metric, caseId?: string) =>
    client.fetchQuery(
      trendsOptions({ query: { case_id: caseId === undefined ? undefined : [caseId], metric: [metric] } }),
    );
  if (cases) return Promise.all(cases.flatMap((caseId) => metrics.map((metric) => ask(metric, caseId))));
  const [first, ...others] = metrics;
  if (!first) return [];
  const answer = await ask(first);
  const caseId = answer.choices[0]?.id;
  return [answer, ...(await Promise.all(others.map((metric) => ask(metric, caseId))))];
}

/** As one answer, with the shown lines alone. */
export function joinedTrends(answers: readonly Trends[], isShown: (line: Trend) => boolean): Trends {
  const shown = answers.flatMap(({ lines, subjects }) =>
    lines.filter(isShown).map((line) => ({ line, subjects })),
  );
  const used = shown.flatMap(({ line, subjects }) =>
    line.points.flatMap(({ subject }) => subjects[subject] ?? []),
  );
  const subjects = distinct(used, ({ name }) => name).sort((one, other) =>
    orderOf(one) < orderOf(other) ? -1 : 1,
  );
  const places = new Map(subjects.map(({ name }, place) => [name, place]));
  const versions = new Set(subjects.map(versionOf));
  const cases = new Set(shown.map(({ line }) => line.case_id));
  return {
    choices: answers[0]?.choices ?? [],
    cases: distinct(
      answers.flatMap(({ cases }) => cases),
      ({ id }) => id,
    ).filter(({ id }) => cases.has(id)),
    subjects,
    lines: shown.map(({ line, subjects: own }) => ({
      ...line,
      points: line.points.map((point) => ({
        ...point,
        subject: places.get(own[point.subject]?.name ?? "") ?? 0,
      })),
    })),
    left_out: answers.reduce((total, { left_out }) => total + left_out, 0),
    releases: distinct(
      answers.flatMap(({ releases }) => releases),
      versionOf,
    ).filter((release) => versions.has(versionOf(release))),
  };
}

function distinct<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

function versionOf({ library, version }: { library: string; version: string }): string {
  return `${library} ${version}`;
}

/** Sorts by library, then version, as the API does. */
function orderOf({ library, version_key, build_profile, source }: Subject): string {
  return [library, version_key, build_profile, source].join("\0");
}
