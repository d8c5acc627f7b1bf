// A published site, opened from a plain file server in a folder of its own: two libraries and a counted upgrade.
import { readFile } from "node:fs/promises";
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";
import { LABELS } from "./labels";

const WIDTHS = [420, 900, 1440];
let failures: string[];

test.beforeEach(({ page }) => {
  failures = [];
  page.on("response", (answer) => {
    if (answer.status() >= 400) failures.push(`${answer.status()} ${answer.url()}`);
  });
  page.on("requestfailed", (request) => failures.push(`${request.failure()?.errorText} ${request.url()}`));
  page.on("pageerror", (error) => failures.push(error.message));
});

test.afterEach(() => {
  expect(failures).toEqual([]);
});

async function openTrend(page: Page) {
  await page.goto("./");
  await page.locator('a[data-place="0 1"]').click();
  await expect(page.locator(".plot canvas")).toBeVisible();
}

async function openUpgrade(page: Page) {
  await page.goto("./");
  await page.getByRole("link", { name: LABELS.upgrades }).click();
  await page.getByRole("link", { name: "fake 1.0 → 1.1" }).click();
  await expect(page.locator(".answer")).toBeVisible();
}

test("a cell opens its trend, whose samples can be downloaded", async ({ page }) => {
  await openTrend(page);
  const rows = page.locator("table.numbers tbody tr");
  await expect(rows).toHaveCount(4);
  const coming = page.waitForEvent("download");
  await page.getByRole("link", { name: LABELS.downloadSamples }).click();
  const download = await coming;
  expect(download.suggestedFilename()).toBe("kexbench-samples.csv");
  const [head, ...lines] = (await readFile(await download.path(), "utf8")).trim().split("\n");
  expect(head).toContain("case_id");
  expect(lines).toHaveLength(40);
});

test("a table can be saved as it is read", async ({ page }) => {
  await openTrend(page);
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: LABELS.saveTable }).click();
  const [head, ...lines] = (await readFile(await (await coming).path(), "utf8")).trim().split("\r\n");
  const titles = await page.locator("table.numbers thead th").allTextContents();
  expect(head).toBe(titles.join(","));
  expect(lines).toHaveLength(4);
  expect(lines.filter((line) => /,slower,/.test(line))).toHaveLength(1);
});

test("the choices of a page work", async ({ page }) => {
  await page.goto("./");
  const columns = page.locator("table.heatmap thead tr").nth(1).getByRole("columnheader");
  await expect(columns).toHaveCount(4);
  await page.getByRole("checkbox", { name: "fake" }).uncheck();
  await expect(columns).toHaveCount(1);
  await page.getByRole("checkbox", { name: "fake" }).check();
  await page.getByLabel(LABELS.metric).selectOption("server_cpu_ns");
  await expect(page).toHaveURL(/#\/\?.*metric=server_cpu_ns/);
  await expect(columns).toHaveCount(4);
  await page.getByText(LABELS.table, { exact: true }).click();
  await expect(page.locator("table.numbers")).toBeVisible();
});

test("an upgrade says what changed and in which functions", async ({ page }) => {
  await openUpgrade(page);
  await expect(page.getByRole("list", { name: LABELS.changedCases }).getByRole("listitem")).toHaveCount(2);
  await expect(page.getByText(LABELS.mostlyIn("hash"))).toBeVisible();
  await page.getByText(LABELS.flameGraph("server"), { exact: true }).click();
  await expect(page.getByRole("link", { name: "callgrind" }).first()).toBeVisible();
  const coming = page.waitForEvent("download");
  await page.getByRole("link", { name: "callgrind" }).first().click();
  expect(await readFile(await (await coming).path(), "utf8")).toContain("# callgrind format");
});

test("an upgrade without counted instructions has no section about functions", async ({ page }) => {
  await page.goto("./#/upgrades");
  await page.getByRole("link", { name: "fake 1.1 → 1.2" }).click();
  await expect(page.locator(".answer")).toBeVisible();
  await expect(page.getByRole("heading", { name: "Why" })).toHaveCount(0);
});

test("what needs a service is not there", async ({ page }) => {
  await page.goto("./");
  await expect(page.locator("table.heatmap")).toBeVisible();
  await expect(page.getByRole("navigation").getByRole("link")).toHaveText(["Overview", "Upgrades"]);
  await openTrend(page);
  await expect(page.locator('a[href*="/runs"]')).toHaveCount(0);
  await openUpgrade(page);
  await expect(page.locator('a[href*="/runs"], a[href*="/alerts"], button:has-text("Find")')).toHaveCount(0);
  await page.goto("./#/queue");
  await expect(page.getByRole("heading", { name: LABELS.notFound })).toBeVisible();
});

test("the link to the content keeps the page", async ({ page }) => {
  await page.goto("./#/upgrades");
  await expect(page.getByRole("heading", { level: 1, name: LABELS.upgrades })).toBeVisible();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator("#content")).toBeFocused();
  await expect(page.getByRole("heading", { level: 1, name: LABELS.upgrades })).toBeVisible();
});

test("no page has a barrier, and none is wider than its window", async ({ page }) => {
  for (const open of [openTrend, openUpgrade, () => page.goto("./")]) {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await open(page);
      await page.locator("table.heatmap, .plot canvas, .answer").first().waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
  }
});
