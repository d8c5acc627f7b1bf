// @vitest-environment happy-dom
import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Matrix, Overview, Problem, UpgradeReport } from "@/api/generated";
import { paths } from "@/paths";
import { answerOf, mockApi, mockProblem } from "@/testing/mock-api";
import { openPage } from "@/testing/pages";

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

describe("the report of an upgrade", () => {
  it("has the verdict of every cell", async () => {
    const { cells, library, before, after } = answerOf<UpgradeReport>("upgrade_report");
    openPage(paths.upgrade(library, before.version, after.version));
    expect(await screen.findByRole("heading", { level: 1, name: "fake 1.0 → 1.1" })).toBeDefined();
    const region = await screen.findByRole("region", { name: "Table of changed cases", hidden: true });
    for (const { title } of cells) expect(within(region).getByText(title)).toBeDefined();
  });

  it("shows what is wrong with a question, and what to do", async () => {
    const problem = answerOf<Problem>("problem/upgrade_report");
    openPage(paths.upgrade("fake", "1.0", "9.9"), [mockProblem("upgrade_report"), ...mockApi("results")]);
    const alert = await screen.findByRole("alert");
    expect(within(alert).getByText(problem.detail)).toBeDefined();
    expect(within(alert).getByText(problem.remedy ?? "")).toBeDefined();
    expect(screen.queryByRole("table")).toBeNull();
  });
});

describe("the list of runs", () => {
  it("says how to begin where nothing is stored", async () => {
    openPage(paths.runs(), mockApi("nothing"));
    expect(await screen.findByText("No runs yet")).toBeDefined();
  });
});
