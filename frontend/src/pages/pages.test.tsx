// @vitest-environment happy-dom
import { act, fireEvent, render, screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import type {
  AlertPage,
  RunsAside as Aside,
  Comparison,
  Filters,
  Matrix,
  Overview,
  Problem,
  Trends,
  UnderConfirmation,
  UpgradePage,
  UpgradeView,
} from "@/api/generated";
import { sentenceOf } from "@/api/problem";
import { compareTitle } from "@/components/compared-ends";
import { paths } from "@/paths";
import { answerOf, mockApi, mockProblem } from "@/testing/mock-api";
import { openPage } from "@/testing/pages";
import { Loading } from "@/ui/Notes";

describe("the home page", () => {
  it("has a cell for each result of the matrix", async () => {
    const { cells } = answerOf<Matrix>("matrix");
    openPage(paths.home());
    const grid = await screen.findByRole("grid");
    const shown = [...grid.querySelectorAll("[data-cell]")].map((cell) => cell.getAttribute("data-cell"));
    expect(shown).toEqual(expect.arrayContaining(cells.map((cell) => `${cell.case_id} ${cell.subject}`)));
    expect(shown).toHaveLength(cells.length);
  });

  it("leads to named views, with their choices", async () => {
    const { views } = answerOf<Overview>("overview");
    openPage(paths.home());
    for (const { name, link } of views) {
      const shown = await screen.findByRole("link", { name });
      expect(shown.getAttribute("href")).toBe(link);
    }
    expect(views).not.toEqual([]);
  });

  it("says how to begin where nothing is stored", async () => {
    openPage(paths.home(), mockApi("nothing"));
    expect(await screen.findByText("No results yet")).toBeDefined();
    expect(screen.queryByRole("grid")).toBeNull();
  });
});

describe("first looks", () => {
  const stored = (aside: Partial<Aside>) =>
    http.get("*/api/v1/filters", () => {
      const filters = answerOf<Filters>("filters");
      return HttpResponse.json({ ...filters, aside: { ...filters.aside, first_looks: 2, ...aside } });
    });
  const newest = [{ run_id: "look", spec_name: "quickstart", measured_at: "2026-01-01T12:00:00Z" }];
  const pages = [
    paths.home(),
    paths.trends(),
    paths.cpus(),
    paths.compare(),
    paths.upgrades(),
    paths.upgrade("fake", "1.0", "1.1"),
    paths.alerts(),
    paths.forwardSecrecy(),
    paths.scaling(),
    paths.capacity(),
    paths.stacks(),
    paths.networkPaths(),
    paths.life(),
    paths.series({ case: answerOf<Trends>("trends").cases[0]?.id ?? "" }),
  ];

  it.each(pages)("are said to be what is shown, with links, on $to", async (page) => {
    openPage(page, [stored({ shows_first_looks: true, newest }), ...mockApi("results")]);
    const link = await screen.findByRole("link", { name: /^quickstart, / });
    expect(link.getAttribute("href")).toBe("/runs/look");
    expect(screen.getByText(/^First looks/)).toBeDefined();
  });

  it.each(pages)("are counted with other runs where they are left out of $to", async (page) => {
    openPage(page, [stored({ others: 1, newest }), ...mockApi("results")]);
    const summary = await screen.findByText(/^Not shown here/);
    expect(summary.textContent).toBe(
      "Not shown here: 2 first looks (--quick) and 1 run for another question",
    );
  });

  it("are named up to a number, and counted beyond it", async () => {
    const looks = ["1", "2", "3", "4", "5", "6", "7"].map((run_id) => ({ ...newest[0], run_id }));
    openPage(paths.trends(), [
      stored({ newest: looks as Aside["newest"], first_looks: 9 }),
      ...mockApi("results"),
    ]);
    expect(await screen.findAllByRole("link", { name: /^quickstart, /, hidden: true })).toHaveLength(5);
    expect(screen.getByText("4 more")).toBeDefined();
  });

  it.each([paths.compare(), paths.upgrade("fake", "1.0", "1.1")])(
    "are not counted as left out where $to rests on them",
    async (page) => {
      const [run_id = ""] = answerOf<Comparison>("compare").cells[0]?.run_ids ?? [];
      const [look] = newest;
      openPage(page, [
        stored({ newest: [{ ...look, run_id }, ...newest] as Aside["newest"] }),
        ...mockApi("results"),
      ]);
      expect((await screen.findByText(/^From a first look/)).querySelector("a")?.href).toContain(run_id);
      const summary = await screen.findByText(/^Not shown here/);
      expect(summary.textContent).toBe("Not shown here: 1 first look (--quick)");
      expect(summary.closest("details")?.querySelector("a")?.href).not.toContain(run_id);
    },
  );
});

describe("the list of alerts", () => {
  it("names suspicions that a run is confirming, although there are no alerts", async () => {
    const [{ before, after }] = answerOf<UpgradePage>("upgrades").upgrades.slice(-1) as [UpgradeView];
    const confirming: UnderConfirmation = {
      ...{
        library: "fake",
        metrics: ["cpu_ns"],
        before,
        after,
        spec_name: "nightly",
        cells: 2,
        screened_run: "found",
      },
      ...{ confirmation_run: "decides", state: "running", expected_end_at: "2026-01-01T12:00:00Z" },
    };
    const page = { ...answerOf<AlertPage>("empty/alerts"), confirming: [confirming] };
    openPage(paths.alerts(), [
      http.get("*/api/v1/alerts", () => HttpResponse.json(page)),
      ...mockApi("nothing"),
    ]);
    expect(await screen.findByText("No alerts")).toBeDefined();
    const item = screen.getByRole("link", { name: "A run of its own" }).closest("li");
    expect(item?.textContent).toMatch(/^fake 1.0 → 1.1 looks slower in 2 cases.*until about/);
    expect(screen.getByRole("link", { name: "A run of its own" }).getAttribute("href")).toBe("/runs/decides");
  });
});

describe("a comparison", () => {
  const comparison = answerOf<Comparison>("compare");
  const open = (answer: Partial<Comparison>) =>
    openPage(paths.compare(), [
      http.get("*/api/v1/compare", () => HttpResponse.json({ ...comparison, ...answer })),
      ...mockApi("results"),
    ]);
  const common = { name: "What the changes have in common" };

  it("of an upgrade leads to its report, and names the machine once", async () => {
    open({});
    expect(await screen.findByRole("link", common)).toBeDefined();
    expect(screen.getByText(/^On/).textContent).toMatch(/^On [^;]*\.$/);
  });

  it("names how many machines it has", async () => {
    const { cells } = comparison;
    const kind = { pool: "elsewhere", cpu_model: "a CPU" };
    const there = cells.map((cell) => ({ ...cell, host_kind: kind, other_host_kind: kind }));
    open({ cells: [...cells, ...there] });
    expect((await screen.findByText(/^On 2 machines: /)).textContent).toMatch(/; elsewhere: a CPU\.$/);
  });

  it("that is no upgrade has no such report", async () => {
    open({ upgrade: null });
    expect(await screen.findByRole("table")).toBeDefined();
    expect(screen.queryByRole("link", common)).toBeNull();
  });
});

describe("the report of an upgrade", () => {
  it("has the verdict of every cell", async () => {
    const comparison = answerOf<Comparison>("compare");
    const title = compareTitle(comparison, (cpu) => cpu);
    openPage(paths.upgrade("fake", "1.0", "1.1"));
    expect(await screen.findByRole("heading", { level: 1, name: title })).toBeDefined();
    const region = await screen.findByRole("region", { name: title });
    for (const cell of comparison.cells) expect(within(region).getByText(cell.title)).toBeDefined();
  });

  it("shows what is wrong with a question, and what to do", async () => {
    const problem = answerOf<Problem>("problem/compare");
    openPage(paths.upgrade("fake", "1.0", "9.9"), [mockProblem("compare"), ...mockApi("results")]);
    const alert = await screen.findByRole("alert");
    expect(within(alert).getByText(sentenceOf(problem.detail))).toBeDefined();
    expect(within(alert).getByText(sentenceOf(problem.remedy ?? ""))).toBeDefined();
    expect(screen.queryByRole("table")).toBeNull();
  });
});

describe("an unknown address", () => {
  it("has a heading", async () => {
    openPage(paths.view({ name: "gone", link: "/gone" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Page not found" })).toBeDefined();
  });
});

describe("a page that waits", () => {
  it("says for what after two seconds, and nothing before", () => {
    vi.useFakeTimers();
    render(<Loading what="the matrix" />);
    const status = screen.getByRole("status");
    expect(status.firstElementChild?.className).toBe("visually-hidden");
    act(() => vi.advanceTimersByTime(2000));
    expect(status.firstElementChild?.className).toBe("");
    expect(status.textContent).toMatch(/^Loading the matrix: /);
    vi.useRealTimers();
  });
});

describe("where there is little room", () => {
  it("the filters are behind a line, and the pages behind a button that names this one", async () => {
    const wide = window.matchMedia;
    const query = Object.assign(new EventTarget(), { matches: true }) as MediaQueryList;
    const narrow = vi
      .spyOn(window, "matchMedia")
      .mockImplementation((text) => (text === "(max-width: 40rem)" ? query : wide(text)));
    openPage(paths.home());
    await screen.findByRole("grid");
    const filters = screen.getByText("Filters").closest("details");
    expect(filters?.open).toBe(false);
    expect(filters?.querySelector("form")).not.toBeNull();
    const menu = screen.getByRole("button", { name: /^Pages: Overview/ });
    expect(menu.getAttribute("aria-expanded")).toBe("false");
    fireEvent.click(menu);
    expect(menu.getAttribute("aria-expanded")).toBe("true");
    narrow.mockRestore();
  });
});

describe("code that may scroll", () => {
  it.each([paths.upgrades(), paths.runs(), paths.alerts()])("is reached by keyboard on $to", async (page) => {
    const { container } = openPage(page, mockApi("nothing"));
    await screen.findAllByText(/^kexbench run/);
    const blocks = [...container.querySelectorAll("pre")];
    expect(blocks.map(({ tabIndex }) => tabIndex)).toEqual(blocks.map(() => 0));
  });
});

describe("the list of runs", () => {
  it("says how to begin where nothing is stored", async () => {
    openPage(paths.runs(), mockApi("nothing"));
    expect(await screen.findByText("No runs yet")).toBeDefined();
  });
});
