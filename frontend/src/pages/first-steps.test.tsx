// @vitest-environment happy-dom
// What a newcomer reads: nothing stored, a first look, and cells without a number.
import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type {
  Articles,
  Comparison,
  Filters,
  Matrix,
  OutcomeView,
  RunDetail,
  RunPage,
  UpgradeReport,
} from "@/api/generated";
import { paths } from "@/paths";
import { answerOf, mockApi } from "@/testing/mock-api";
import { openPage, type Target } from "@/testing/pages";

const COMMAND = "kexbench run bench-specs/quickstart.yaml";

function openWith(target: Target, path: string, body: object) {
  return openPage(target, [
    http.get(`*/api/v1/${path}`, () => HttpResponse.json(body)),
    ...mockApi("results"),
  ]);
}

describe("nothing stored", () => {
  it.each([paths.home(), paths.trends(), paths.compare(), paths.runs()])(
    "names a command on $to",
    async (page) => {
      openPage(page, mockApi("nothing"));
      expect(await screen.findByText(COMMAND)).toBeDefined();
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
    const report = answerOf<UpgradeReport>("upgrade_report");
    const missing = ["a", "b", "c"].map((title) => ({
      ...{ case_id: title, title, pool: "local", cpu_model: "a CPU", version: "1.1" },
      reason: "crashed",
    }));
    openWith(paths.upgrade("fake", "1.0", "1.1"), "upgrades/report", { ...report, missing });
    const line = await screen.findByText("1.1, 3 cases: crashed");
    expect(line.closest("details")?.open).toBe(false);
    expect(line.closest("details")?.querySelectorAll("li")).toHaveLength(3);
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

describe("the key of Compare", () => {
  const comparison = answerOf<Comparison>("compare");

  it("explains the history where there is one", async () => {
    openPage(paths.compare());
    expect(await screen.findByText(/^History: /)).toBeDefined();
  });

  it("explains no history where there is none", async () => {
    const cells = comparison.cells.map((cell) => ({ ...cell, history: [] }));
    openWith(paths.compare(), "compare", { ...comparison, cells });
    expect(await screen.findByRole("table")).toBeDefined();
    expect(screen.queryByText(/^History/)).toBeNull();
  });
});
