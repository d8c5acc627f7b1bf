// @vitest-environment happy-dom
// What a newcomer reads: nothing stored, a first look, and cells without a number.
import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type {
  Articles,
  Comparison,
  Cpus,
  Estimate,
  Filters,
  Life,
  Matrix,
  OutcomeView,
  Overview,
  RunDetail,
  RunPage,
  Scaling,
  ScalingLine,
  Trends,
} from "@/api/generated";
import { paths } from "@/paths";
import { answerOf, mockApi } from "@/testing/mock-api";
import { openPage, type Target } from "@/testing/pages";

const COMMAND = "kexbench run quickstart";

function openWith(target: Target, path: string, body: object) {
  return openPage(target, [
    http.get(`*/api/v1/${path}`, () => HttpResponse.json(body)),
    ...mockApi("results"),
  ]);
}

describe("nothing stored", () => {
  it.each([paths.home(), paths.trends(), paths.compare(), paths.runs(), paths.series({ case: "" })])(
    "names a command on $to, and offers no choices of nothing",
    async (page) => {
      openPage(page, mockApi("nothing"));
      expect(await screen.findByText(COMMAND)).toBeDefined();
      expect(screen.queryAllByRole("combobox")).toEqual([]);
    },
  );
});

describe("a first look", () => {
  it("is marked in the list of runs", async () => {
    const { runs } = answerOf<RunPage>("runs");
    const marked = runs.map((run, place) => ({ ...run, first_look: place === 0 }));
    openWith(paths.runs(), "runs", { runs: marked, next_before: null });
    expect(await screen.findAllByText("--quick")).toHaveLength(1);
  });

  it("is marked on its own page", async () => {
    const run = answerOf<RunDetail>("run");
    const { run_id } = run.summary;
    openWith(paths.run(run_id), `runs/${run_id}`, { ...run, summary: { ...run.summary, first_look: true } });
    const heading = await screen.findByRole("heading", { level: 1 });
    expect(within(heading).getByText("--quick")).toBeDefined();
  });

  it("is marked beside an article's figures", async () => {
    const { cases, subjects, host_kind } = answerOf<Matrix>("matrix");
    const about = { name: "a", title: "An article", published: "2011", question: "What?", spec: "a.yaml" };
    const run = { run_id: "r", measured_at: "2026-01-01T12:00:00Z", cases, subjects, reference: null };
    const articles = { articles: [{ ...about, run: { ...run, host_kind, first_look: true } }] };
    openWith(paths.articles(), "articles", articles satisfies { articles: object[] } as Articles);
    expect(await screen.findByText("--quick")).toBeDefined();
  });

  it("says that client and server are missing where no result has them", async () => {
    const filters = answerOf<Filters>("filters");
    const aside = { ...filters.aside, first_looks: 1, shows_first_looks: true };
    const without = filters.metrics.map((metric) =>
      metric.metric === "server_cpu_ns" ? { ...metric, stored: false } : metric,
    );
    openWith(paths.upgrades(), "filters", { ...filters, aside, metrics: without });
    expect((await screen.findByText(/^A first look/)).textContent).toContain(
      "costs of client and server apart are missing",
    );
  });

  it("does not say so where some have them", async () => {
    const filters = answerOf<Filters>("filters");
    const aside = { ...filters.aside, first_looks: 1, shows_first_looks: true };
    openWith(paths.upgrades(), "filters", { ...filters, aside });
    expect((await screen.findByText(/^A first look/)).textContent).not.toContain("missing");
  });
});

describe("the capacity", () => {
  const matrix = answerOf<Matrix>("matrix");
  const lacking = (cases: string[]): Matrix => ({
    ...matrix,
    cells: matrix.cells.map((cell) => (cases.includes(cell.case_id) ? { ...cell, estimate: null } : cell)),
  });
  const [first, second] = matrix.cases;

  it("begins with a case whose server has a cost", async () => {
    openWith(paths.capacity(), "matrix", lacking([first?.id ?? ""]));
    const chosen = await screen.findByRole("combobox", { name: "Case" });
    expect((chosen as HTMLSelectElement).value).toBe(second?.id);
  });

  it("offers later and earlier versions to compare with", async () => {
    openWith(paths.capacity(), "matrix", matrix);
    const other = await screen.findByRole("combobox", { name: "Compare with" });
    expect(within(other).getAllByRole("option")[0]?.textContent).toBe("no other version");
  });

  it("says what is missing where no server has a cost, and how to measure it", async () => {
    openWith(paths.capacity(), "matrix", lacking(matrix.cases.map(({ id }) => id)));
    expect(await screen.findByText(/^2 cases measured, but none has/)).toBeDefined();
    expect(screen.getByText(COMMAND)).toBeDefined();
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

describe("cells without a number", () => {
  it("are one line a reason on the page of a run", async () => {
    const run = answerOf<RunDetail>("run");
    const outcome: OutcomeView = { kind: "disturbed", reason: "busy", detail: null, invocations: 6 };
    const cells = run.cells.map((cell) => ({ ...cell, outcome: null, sides_outcome: outcome }));
    openWith(paths.run(run.summary.run_id), `runs/${run.summary.run_id}`, { ...run, cells });
    const [line, ...others] = await screen.findAllByText(/: disturbed: busy$/);
    expect(others).toEqual([]);
    expect(line?.textContent).toMatch(new RegExp(`^${cells.length} cells without client and server apart`));
    expect(line?.closest("details")?.open).toBe(false);
    expect(line?.closest("details")?.querySelectorAll("li")).toHaveLength(cells.length);
  });

  it("are one line a reason on the page of an upgrade", async () => {
    const comparison = answerOf<Comparison>("compare");
    const missing = ["a", "b", "c"].map((title) => ({
      ...{ case_id: title, title, host_kind: { pool: "local", cpu_model: "a CPU" }, version: "1.1" },
      reason: "crashed",
    }));
    openWith(paths.upgrade("fake", "1.0", "1.1"), "compare", {
      ...comparison,
      upgrade: comparison.upgrade && { ...comparison.upgrade, missing },
    });
    const line = await screen.findByText("1.1, 3 cases: crashed");
    expect(line.closest("details")?.open).toBe(false);
    expect(line.closest("details")?.querySelectorAll("li")).toHaveLength(3);
  });
});

describe("a metric that a run's spec did not ask for", () => {
  it("is said to be one, beside the costs of connections", async () => {
    const run = answerOf<RunDetail>("run");
    const [subject] = run.subjects;
    const client = { value: 1e6, low: null, high: null, invocations: 1 };
    const costs = [{ subject: subject?.name ?? "", client, server: null }];
    const part = { kind: "handshake", label: "handshake", case_id: "a", without: null, transfer_bytes: 0 };
    const connections = [{ title: "A case", parts: [{ ...part, costs }] }];
    openWith(paths.run(run.summary.run_id), `runs/${run.summary.run_id}`, {
      ...run,
      ...{ metric: "start_cpu_ns", cells: [], connections },
    });
    expect(await screen.findByText(/^The spec of this run measured no starts/)).toBeDefined();
    const table = screen.getByRole("table", { name: "A case" });
    const name = `${subject?.library} ${subject?.version}`;
    expect(within(table).getByRole("columnheader", { name })).toBeDefined();
    expect(within(table).getByText("1,000 µs, 1 invocation")).toBeDefined();
  });
});

describe("a case of a library's life without starts", () => {
  it("shows its numbers at once", async () => {
    const life = answerOf<Life>("life");
    const [first, ...others] = life.cases.map((each, place) =>
      place > 0
        ? each
        : { ...each, sections: each.sections.filter(({ group }) => group !== "Start of a process") },
    );
    openWith(paths.life(), "life", { ...life, cases: [first, ...others] });
    const summaries = await screen.findAllByText("Every number of this case");
    expect(others.length).toBeGreaterThan(0);
    expect(summaries.map((summary) => summary.closest("details")?.open)).toEqual([
      true,
      ...others.map(() => false),
    ]);
  });
});

describe("the choices of Trends", () => {
  it("have short names of CPUs, with the whole description on demand", async () => {
    const filters = answerOf<Filters>("filters");
    const cpu = "Intel(R) Xeon(R) Processor, SMT off, on KVM, family 6/207";
    const host_kinds = [{ pool: "local", cpu_model: cpu }];
    openWith(paths.trends(), "filters", { ...filters, host_kinds });
    const box = await screen.findByRole("checkbox", { name: "local: Xeon 6/207" });
    expect(box.closest("label")?.title).toBe(`local: ${cpu}`);
  });
});

describe("the words of CPUs", () => {
  const cpus = answerOf<Cpus>("cpus");
  const [kind] = cpus.host_kinds;

  it("explain ratios where there are several machines", async () => {
    const host_kinds = kind ? [kind, { ...kind, cpu_model: "another" }] : [];
    openWith(paths.cpus(), "cpus", { ...cpus, host_kinds });
    expect(await screen.findByText(/these ratios have no verdict/)).toBeDefined();
    expect(screen.queryByText(/Only one CPU/)).toBeNull();
  });

  it("explain none where there is one", async () => {
    openWith(paths.cpus(), "cpus", { ...cpus, host_kinds: kind ? [kind] : [] });
    expect(await screen.findByText(/Only one CPU has measured this case/)).toBeDefined();
    expect(screen.queryByText(/no verdict/)).toBeNull();
  });

  it("name the build of the newest version, as of the one before", async () => {
    const [row] = cpus.rows;
    const built = row && { ...row, subject: { ...row.subject, version: "3.5.9", source: "debian/trixie" } };
    openWith(paths.cpus(), "cpus", { ...cpus, rows: [built] });
    expect(await screen.findByText(/^3\.5\.9 \(debian\/trixie\)/)).toBeDefined();
  });
});

describe("an upgrade on the first page", () => {
  it("names the sources of both versions", async () => {
    const overview = answerOf<Overview>("overview");
    const [state] = overview.libraries.filter(({ upgrade }) => upgrade);
    const { before, after } = state?.upgrade ?? {};
    openWith(paths.home(), "overview", overview);
    expect(await screen.findByText(`${before?.source} → ${after?.source}`)).toBeDefined();
  });
});

describe("the charts of Series", () => {
  it("are one for each library", async () => {
    const trends = answerOf<Trends>("trends");
    const subjects = trends.subjects.map((subject) => ({ ...subject, library: "openssl" }));
    const lines = trends.lines.flatMap((line) => {
      const points = line.points.map((point) => ({ ...point, subject: point.subject + subjects.length }));
      return [line, { ...line, points, library: "openssl" }];
    });
    const both = { ...trends, lines, subjects: [...trends.subjects, ...subjects] };
    openWith(paths.series({ case: trends.cases[0]?.id ?? "" }), "trends", both);
    await screen.findAllByRole("img", { name: /The table lists the values/ });
    for (const name of ["fake", "OpenSSL"])
      expect(screen.getByRole("heading", { level: 2, name })).toBeDefined();
    expect(screen.getAllByRole("img")).toHaveLength(2);
  });

  it("are of the machine of the first series, where none is chosen", async () => {
    const trends = answerOf<Trends>("trends");
    const elsewhere = { pool: "local", cpu_model: "another CPU" };
    const lines = trends.lines.flatMap((line) => [line, { ...line, host_kind: elsewhere }]);
    openWith(paths.series({ case: trends.cases[0]?.id ?? "" }), "trends", { ...trends, lines });
    const rows = await screen.findAllByRole("rowheader");
    expect(rows).toHaveLength(trends.lines.flatMap(({ points }) => points).length);
  });
});

describe("efficiencies", () => {
  const scaling = answerOf<Scaling>("scaling");
  const line = (efficiency: Estimate | null): ScalingLine => {
    const rate = { value: 1000, low: null, high: null };
    const points = [1, 2].map((threads) => ({ threads, rate, alone: null, efficiency }));
    return { subject: "fake@1.0", points, contention: null, coherency: null, peak_threads: null };
  };
  const [caseView] = answerOf<Matrix>("matrix").cases;
  const open = (efficiency: Estimate | null) =>
    openWith(paths.scaling(), "scaling", {
      ...scaling,
      cases: [{ case: caseView, title: "RSA", lines: [line(efficiency)] }],
    });

  it("are missing for a reason that stands above the tables", async () => {
    open(null);
    expect(await screen.findByText(/^Results of earlier releases have no efficiency/)).toBeDefined();
  });

  it("need no reason where they are measured", async () => {
    open({ value: 0.9, low: null, high: null });
    expect(await screen.findByRole("heading", { name: "Threads" })).toBeDefined();
    expect(screen.queryByText(/^Results of earlier releases/)).toBeNull();
  });
});

describe("the key of Compare", () => {
  const comparison = answerOf<Comparison>("compare");

  it("explains the history where there is one", async () => {
    openPage(paths.compare());
    expect(await screen.findByText(/^History: /)).toBeDefined();
  });

  it("says what server cores are where there are some", async () => {
    const costs = { server_before_ns: 1000, server_after_ns: 1000 };
    const cells = comparison.cells.map((cell) => ({ ...cell, ...costs }));
    openWith(paths.compare(), "compare", { ...comparison, cells });
    expect(await screen.findByText(/^Server cores: how many/)).toBeDefined();
  });

  it("explains no history where there is none", async () => {
    const cells = comparison.cells.map((cell) => ({ ...cell, history: [] }));
    openWith(paths.compare(), "compare", { ...comparison, cells });
    expect(await screen.findByRole("table")).toBeDefined();
    expect(screen.queryByText(/^History/)).toBeNull();
  });
});
