// A bisection on a made-up cluster that has its answer.
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";
import type { BisectionPage } from "../src/api/generated";
import { LABELS } from "./labels";

const WIDTHS = [420, 800, 1280];
const SHOTS = process.env.KEXBENCH_SCREENSHOTS;

async function barriers(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => [id, nodes[0]?.html]);
}

async function fits(page: Page, name: string) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(excess, `${name} at ${width}`).toBeLessThanOrEqual(0);
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-${width}.png`, fullPage: true });
  }
}

test("an answer is read with its commits, and its runs are a link away", async ({ page, request }) => {
  const answer = (await (await request.get("/api/v1/bisections")).json()) as BisectionPage;
  await page.goto("/bisections");
  const main = page.getByRole("main");
  await expect(main.getByRole("listitem").first()).toContainText(answer.bisections[0]?.detail ?? "no answer");
  await fits(page, "bisections");
  await page.goto("/runs"); // those that were never built are named by the addresses of their sources
  await expect(main.getByText("make: it fails").first()).toBeVisible();
  await fits(page, "runs");
  await page.goto("/bisections");
  await main.getByRole("link", { name: "fake: v1 to main" }).last().click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("fake: v1 to main found");
  const rows = page.getByRole("region", { name: LABELS.commits }).getByRole("row");
  await expect(rows.filter({ hasText: "Change 41" })).toContainText("%");
  await expect(rows.filter({ hasText: LABELS.unbuildable }).first()).toContainText("make: it fails");
  expect(await barriers(page)).toEqual([]);
  await fits(page, "bisection");
  await main.getByRole("link", { name: LABELS.bothEnds }).click();
  await expect(page.getByText("run 0 of bisection")).toBeVisible();
});
