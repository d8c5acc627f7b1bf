import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { aCase, aSubject } from "@/testing/build";
import type { Subject, Trend, Trends } from "./generated";
import { client } from "./generated/client.gen";
import { eachTrendOptions, joinedTrends } from "./trends";

const [HERE, THERE] = ["CPU A", "CPU B"].map((cpu_model) => ({ pool: "local", cpu_model })) as [
  Trend["host_kind"],
  Trend["host_kind"],
];
const versions: [Subject, Subject, Subject] = [
  { ...aSubject("gnutls", "3.8"), name: "gnutls@3.8" },
  { ...aSubject("openssl", "3.0"), name: "openssl@3.0" },
  { ...aSubject("openssl", "3.5"), name: "openssl@3.5" },
];
const [gnutls, old, current] = versions;

/** `lines`: the host kind of each, and the versions on it */
function trendsOf(caseId: string, metric: Trend["metric"], lines: [Trend["host_kind"], Subject[]][]): Trends {
  const subjects = versions.filter((version) => lines.some(([, own]) => own.includes(version)));
  return {
    choices: [
      { id: "rsa", title: "RSA" },
      { id: "ecdsa", title: "ECDSA" },
    ],
    cases: [aCase(caseId)],
    subjects,
    lines: lines.map(([host_kind, own]) => ({
      case_id: caseId,
      host_kind,
      metric,
      library: own[0]?.library ?? "",
      build_profile_label: "shared",
      points: own.map((subject) => ({
        subject: subjects.indexOf(subject),
        run_id: "r",
        measured_at: "2026-01-01T00:00:00Z",
        value: Number(subject.version),
        low: null,
        high: null,
        invocations: 6,
        levels: null,
      })),
      change_points: [],
      through_sentinel: false,
    })),
    left_out: 1,
    releases: subjects.map(({ version }) => ({
      library: "openssl" as const,
      version,
      released: null,
      security: [],
    })),
  };
}

const shownVersions = ({ lines, subjects }: Trends) =>
  lines.map(({ points }) => points.map(({ subject, value }) => [subjects[subject]?.name, value] as const));

it("lines of several answers keep their versions", () => {
  const answers = [
    trendsOf("rsa", "cpu_ns", [[HERE, [old, current]]]),
    trendsOf("ecdsa", "cpu_ns", [
      [HERE, [gnutls]],
      [THERE, [current]],
    ]),
  ];
  const all = joinedTrends(answers, () => true);
  expect(all.subjects).toEqual(versions);
  expect(all.cases.map(({ id }) => id)).toEqual(["rsa", "ecdsa"]);
  expect(all.left_out).toBe(2);
  expect(all.releases.map(({ version }) => version)).toEqual(["3.0", "3.5"]);
  expect(shownVersions(all)).toEqual([
    [
      ["openssl@3.0", 3],
      ["openssl@3.5", 3.5],
    ],
    [["gnutls@3.8", 3.8]],
    [["openssl@3.5", 3.5]],
  ]);
});

it("lines that are not shown leave no version and no case", () => {
  const answers = [
    trendsOf("rsa", "cpu_ns", [[HERE, [old]]]),
    trendsOf("ecdsa", "cpu_ns", [[THERE, [current]]]),
  ];
  const shown = joinedTrends(answers, ({ host_kind }) => host_kind.cpu_model === "CPU B");
  expect(shown.subjects).toEqual([current]);
  expect(shown.cases.map(({ id }) => id)).toEqual(["ecdsa"]);
  expect(shown.choices).toHaveLength(2);
  expect(shownVersions(shown)).toEqual([[["openssl@3.5", 3.5]]]);
});

const usualFetch = client.getConfig().fetch;
afterEach(() => client.setConfig({ fetch: usualFetch }));

/** What was asked of the API. */
async function askedFor(...choice: Parameters<typeof eachTrendOptions>): Promise<string[]> {
  const asked: string[] = [];
  const answer = vi.fn(async (request: Request) => {
    asked.push(new URL(request.url).search);
    return Response.json(trendsOf("rsa", "cpu_ns", []));
  });
  client.setConfig({ fetch: answer as unknown as typeof fetch, baseUrl: "http://service" });
  await new QueryClient().fetchQuery(eachTrendOptions(...choice));
  return asked;
}

it("each case and metric is asked for alone", async () => {
  expect(await askedFor(["rsa", "ecdsa"], ["client_cpu_ns", "server_cpu_ns"])).toEqual([
    "?case_id=rsa&metric=client_cpu_ns",
    "?case_id=rsa&metric=server_cpu_ns",
    "?case_id=ecdsa&metric=client_cpu_ns",
    "?case_id=ecdsa&metric=server_cpu_ns",
  ]);
});

it("without a chosen case, all metrics are of the first case of the first metric", async () => {
  expect(await askedFor(undefined, ["cpu_ns", "client_cpu_ns"])).toEqual([
    "?metric=cpu_ns",
    "?case_id=rsa&metric=client_cpu_ns",
  ]);
});
