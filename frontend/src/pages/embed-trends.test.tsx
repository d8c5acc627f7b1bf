// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Trends } from "@/api/generated";
import { paths } from "@/paths";
import { answerOf, mockApi, mockProblem } from "@/testing/mock-api";
import { openPage } from "@/testing/pages";

const SEARCH = { library: ["fake"], x: "measured", split: "library" } as const;

describe("the chart for other websites", () => {
  it("has a title, the charts and a link to the whole page, and nothing else to use", async () => {
    const { lines } = answerOf<Trends>("trends");
    const libraries = new Set(lines.map(({ library }) => library));
    openPage(paths.embedTrends({ ...SEARCH, library: [...SEARCH.library] }));
    const charts = await screen.findAllByRole("img");
    expect(charts).toHaveLength(libraries.size);
    const title = screen.getByRole("heading", { level: 1 }).textContent ?? "";
    for (const chart of charts) expect(chart.getAttribute("aria-label")).toContain(title);
    const links = screen.getAllByRole("link");
    expect(links.map((link) => [link.getAttribute("href"), link.getAttribute("target")])).toEqual([
      ["/trends?library=fake&x=measured&split=library", "_blank"],
    ]);
    for (const role of ["navigation", "banner", "contentinfo", "table", "button", "combobox"]) {
      expect(screen.queryByRole(role)).toBeNull();
    }
  });

  it("says so if there is nothing", async () => {
    openPage(paths.embedTrends(), mockApi("nothing"));
    expect(await screen.findByText("No series")).toBeDefined();
    expect(screen.queryByRole("img")).toBeNull();
  });

  it("says why there is no answer", async () => {
    openPage(paths.embedTrends(), [mockProblem("trends"), ...mockApi("results")]);
    expect(await screen.findByRole("alert")).toBeDefined();
    expect(screen.getByRole("link", { name: /kexbench/ })).toBeDefined();
  });
});

describe("the page Trends", () => {
  it("offers the HTML of a frame with its choices", async () => {
    openPage(paths.trends({ ...SEARCH, library: [...SEARCH.library] }));
    const html = await screen.findByRole<HTMLTextAreaElement>("textbox", {
      name: "HTML of the frame",
      hidden: true,
    });
    const title = screen.getAllByRole("heading", { level: 2 })[0]?.textContent;
    const address = `${location.origin}/embed/trends?library=fake&amp;x=measured&amp;split=library`;
    expect(html.value).toContain(`src="${address}" title="${title}"`);
    expect(screen.getByText("KEXBENCH_EMBED_ORIGINS")).toBeDefined();
  });
});
