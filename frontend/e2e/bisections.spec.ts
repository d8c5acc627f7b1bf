// A bisection on a made-up cluster that has its answer.
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";

const WIDTHS = [420, 800, 1280];
const SHOTS = process.env.KEXBENCH_SCREENSHOTS;

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
