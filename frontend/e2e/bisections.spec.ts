// Bisections on a made-up cluster: one that has its answer, and one that is begun from the page of a comparison.
import AxeBuilder from "@axe-core/playwright";
import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import type { RunPage } from "../src/api/generated";

const API = "/api/v1";
const WIDTHS = [420, 800, 1280];
const SHOTS = process.env.KEXBENCH_SCREENSHOTS;

async function comparison(request: APIRequestContext): Promise<string> {
  const { runs } = (await (await request.get(`${API}/runs?limit=100`)).json()) as RunPage;
  return runs.find(({ trigger }) => trigger === "api")?.run_id ?? "";
}

async function barriers(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return found.map(({ id, nodes }) => [id, nodes[0]?.html]);
}

async function fits(page: Page, name: string) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(excess, `${name} at ${width}`).toBeLessThanOrEqual(0);
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-${width}.png`, fullPage: true });
  }
}

test("an answer is read with its commits, and its runs are a link away", async ({ page }) => {
  await page.goto("/bisections");
  const main = page.getByRole("main");
  await expect(main.getByRole("listitem").first()).toContainText(
    "is the first commit whose handshakes cost more",
  );
  await fits(page, "bisections");
  await main.getByRole("link", { name: "fake: v1 to main" }).last().click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("fake: v1 to main found");
  const rows = page.getByRole("region", { name: "Commits in their order" }).getByRole("row");
  await expect(rows.filter({ hasText: "Change 41" })).toContainText("%");
  await expect(rows.filter({ hasText: "cannot be measured" }).first()).toContainText("make: it fails");
  expect(await barriers(page)).toEqual([]);
  await fits(page, "bisection");
  await main.getByRole("link", { name: "Run 0: both ends" }).click();
  await expect(page.getByText("run 0 of bisection")).toBeVisible();
});

test("one is begun where two commits differ, and cancelled", async ({ page, request }) => {
  await page.goto(`/runs/${await comparison(request)}`);
  await page.getByRole("button", { name: /^Find the commit between/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Good, the earlier commit").fill("v2");
  await dialog.getByLabel("Access token").fill("nobody");
  await dialog.getByRole("button", { name: "Find the commit" }).click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  expect(await barriers(page)).toEqual([]);
  await fits(page, "dialog");
  await dialog.getByLabel("Access token").fill("submitter");
  await dialog.getByRole("button", { name: "Find the commit" }).click();
  const heading = page.getByRole("heading", { level: 1 });
  await expect(heading).toContainText("fake: v2 to 0000");
  await expect(page.getByRole("status")).toHaveText("Its commits are being looked for.");
  await fits(page, "asked");
  await page.getByRole("button", { name: "Cancel bisection" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel bisection" }).click();
  await expect(heading).toContainText("cancelled");
  await expect(page.getByRole("button", { name: "Resume bisection" })).toBeVisible();
});
