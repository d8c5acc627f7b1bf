import { expect, it } from "vitest";
import type { Comparison, CpuRow, Cpus, Subject, Trends } from "@/api/generated";
import { type CaseOnCpus, type ComparedPairs, JOINS, type Load, type TrendIndex } from "./published-joins";
import { aCase, anEstimate, aSubject } from "./testing/build";
import { aLine, aSeries } from "./testing/published-series";

const [A, B] = ["CPU A", "CPU B"].map((cpu_model) => ({ pool: "local", cpu_model }));
if (!A || !B) throw new Error("two CPUs");
const old = { ...aSubject("openssl", "1"), name: "openssl@1~p" };
const current = { ...aSubject("openssl", "2"), name: "openssl@2~p" };
const other = { ...aSubject("gnutls", "3"), name: "gnutls@3~p" };
const index: TrendIndex = {
  choices: [
    { id: "rsa", title: "RSA" },
    { id: "ecdsa", title: "ECDSA" },
  ],
  subjects: [other, old, current],
  releases: [{ library: "openssl", version: "2", released: "2026-01-01", security: [] }],
  measured: [
    { host_kind: A, case_ids: ["rsa", "ecdsa"] },
    { host_kind: B, case_ids: ["rsa"] },
  ],
};
const seriesOf = (library: string, versions: string[]) =>
  aLine(
    library,
    "p",
    versions.map((version) => [version, anEstimate(Number(version))]),
  );

/** The files of a site. A file that was not written fails the test: a site must not ask for it. */
function siteOf(files: Record<string, unknown>): Load {
  return async <T>(route: string, query: Record<string, string>) => {
    const name = [route, ...Object.values(query)].join(" ");
    if (!(name in files)) throw new Error(`${name} was not published`);
    return files[name] as T;
  };
}

async function joined<T>(route: keyof typeof JOINS, query: string, load: Load): Promise<T> {
  return (await JOINS[route](new URLSearchParams(query), load)) as T;
}

it("joins trends from the series that were published, and from no others", async () => {
  const load = siteOf({
    "trends cpu_ns": index,
    "series rsa cpu_ns local CPU A": {
      ...aSeries([seriesOf("openssl", ["1", "2"])]),
      case: aCase("rsa"),
      host_kind: A,
    },
    "series rsa cpu_ns local CPU B": {
      ...aSeries([seriesOf("gnutls", ["3"])]),
      case: aCase("rsa"),
      host_kind: B,
    },
    "series ecdsa cpu_ns local CPU A": {
      ...aSeries([seriesOf("openssl", ["2"])]),
      case: aCase("ecdsa"),
      host_kind: A,
    },
  });
  const first = await joined<Trends>("trends", "", load);
  expect(first.lines.map(({ host_kind, library }) => [host_kind.cpu_model, library])).toEqual([
    ["CPU A", "openssl"],
    ["CPU B", "gnutls"],
  ]);
  expect(first.subjects).toEqual([other, old, current]);
  expect(first.lines[0]?.points.map(({ subject, value }) => [subject, value])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  const both = await joined<Trends>("trends", "case_id=ecdsa&case_id=rsa&library=openssl", load);
  expect(both.cases.map(({ id }) => id)).toEqual(["rsa", "ecdsa"]);
  expect(both.subjects).toEqual([old, current]);
  expect(both.releases).toHaveLength(1);
  expect((await joined<Trends>("trends", "cpu_model=CPU B", load)).lines).toHaveLength(1);
});

it("shows a case relative to the chosen CPU", async () => {
  const row = (cpu_model: string, subject: Subject) => ({ pool: "local", cpu_model, subject }) as CpuRow;
  const [base, compared] = [
    { relation: "base" as const, relative: null, cautions: [] },
    {
      relation: "compared" as const,
      relative: { ratio: 2, low: 1.9, high: 2.1 },
      cautions: ["another build"],
    },
  ];
  const onCpus: CaseOnCpus = {
    case: aCase("rsa"),
    host_kinds: [A, B],
    rows: [row("CPU A", current), row("CPU B", other)],
    relations: [
      [base, compared],
      [compared, base],
    ],
  };
  const load = siteOf({ "trends cpu_ns": index, "cpus rsa cpu_ns": onCpus });
  const relations = (cpus: Cpus) => cpus.rows.map(({ relation }) => relation);
  expect(relations(await joined("cpus", "", load))).toEqual(["base", "compared"]);
  const toB = await joined<Cpus>("cpus", "case_id=rsa&cpu_model=CPU B&pool=local", load);
  expect([toB.base, relations(toB)]).toEqual([B, ["compared", "base"]]);
  expect(relations(await joined("cpus", "library=gnutls", load))).toEqual(["compared"]);
  expect(await joined("cpus", "case_id=unknown", load)).toBeUndefined();
});

it("compares the published pairs alone, the last measured one first", async () => {
  const pairs: ComparedPairs = { subjects: [old, current], pairs: [[old.name, current.name]] };
  const cell = (cpu_model: string) => ({
    pool: "local",
    cpu_model,
    other_host_kind: { pool: "local", cpu_model },
  });
  const end = (subject: Subject) => ({
    subject,
    pool: null,
    cpu_model: null,
    run_id: null,
    host_kinds: [A, B],
  });
  const answer = { base: end(old), other: end(current), cells: [cell("CPU A"), cell("CPU B")] };
  const load = siteOf({ compare: pairs, [`compare ${old.name} ${current.name}`]: answer });
  const all = await joined<Comparison>("compare", "", load);
  expect([all.cells.length, all.base?.subject, all.subjects]).toEqual([2, old, [old, current]]);
  const onB = await joined<Comparison>("compare", "base_cpu_model=CPU B&other_cpu_model=CPU B", load);
  expect([onB.cells.length, onB.base?.cpu_model]).toEqual([1, "CPU B"]);
  const swapped = `base=${current.name}&other=${old.name}`;
  expect(await joined("compare", swapped, load)).toMatchObject({
    base: null,
    cells: [],
    subjects: [old, current],
  });
});
