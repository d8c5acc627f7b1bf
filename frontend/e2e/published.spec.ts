// A published site, opened from a plain file server in a folder of its own: two libraries and a counted upgrade.
import { readFile } from "node:fs/promises";
import { expect, type Page, test } from "@playwright/test";
import { LABELS } from "./labels";
import { openByMenu } from "./menu";
import { downloaded, expectPictures } from "./pictures";
import { expectReadable } from "./readable";

let failures: string[];

test.beforeEach(({ page }) => {
  failures = [];
  page.on("response", (answer) => {
    if (answer.status() >= 400) failures.push(`${answer.status()} ${answer.url()}`);
  });
  page.on("requestfailed", (request) => {
    const { errorText = "" } = request.failure() ?? {};
    // A page that is left does not wait for its answers.
    if (errorText !== "net::ERR_ABORTED") failures.push(`${errorText} ${request.url()}`);
  });
  page.on("pageerror", (error) => failures.push(error.message));
});

test.afterEach(() => {
  expect(failures).toEqual([]);
});

async function openTrend(page: Page) {
  await page.goto("./");
  await page.locator('a[data-place="0 1"]').click();
  await expect(page.locator(".plot canvas")).toHaveCount(2); // of each library
}

async function openUpgrade(page: Page) {
  await page.goto("./");
  await openByMenu(page, LABELS.upgrades);
  await page.getByRole("link", { name: "fake 1.0 → 1.1" }).click();
  await expect(page.locator(".answer")).toBeVisible();
}

test("a cell opens its trend, whose samples can be downloaded", async ({ page }) => {
  await openTrend(page);
  const rows = page.locator("table.numbers tbody tr");
  await expect(rows).toHaveCount(4);
  const download = await downloaded(page, page.getByRole("link", { name: LABELS.downloadSamples }));
  expect(download.suggestedFilename()).toBe("kexbench-samples.csv");
  const [head, ...lines] = (await readFile(await download.path(), "utf8")).trim().split("\n");
  expect(head).toContain("case_id");
  expect(lines).toHaveLength(40);
});

test("a table can be saved as it is read", async ({ page }) => {
  await openTrend(page);
  const download = await downloaded(page, page.getByRole("button", { name: LABELS.saveTable }));
  const [head, ...lines] = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
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
  const profile = await downloaded(page, page.getByRole("link", { name: "callgrind" }).first());
  expect(await readFile(await profile.path(), "utf8")).toContain("# callgrind format");
});

test("every kind of chart can be saved as a picture", async ({ page }) => {
  const cpu = "local: Example CPU 9000";
  await page.goto("./");
  await expect(page.locator("table.heatmap")).toBeVisible();
  await expectPictures(page, ["Cost of TLS handshakes", cpu, "fake 1.0, 1.1, 1.2", "5.0% more time"]);
  await openTrend(page);
  await expectPictures(page, ["Measured on", cpu, "handshakes per CPU-second (higher is better)", "1.2"]);
  await expectPictures(page, ["client"], /client and server/);
  await openUpgrade(page);
  await expectPictures(page, ["fake 1.0 → 1.1", cpu, "Bars: 95% confidence intervals."], /Changed cases/);
  await expectPictures(page, ["hash", "Measured on"], /functions of the server/);
  await page.getByText(LABELS.flameGraph("server"), { exact: true }).click();
  await expect(page.getByRole("group", { name: LABELS.calls("server") })).toBeVisible();
  await expectPictures(page, ["hash"], /calls of the server/);
});

test("a picture has the colours of the scheme that is seen", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await openTrend(page);
  const file = await downloaded(
    page,
    page.getByRole("button", { name: LABELS.downloadPicture("SVG") }).first(),
  );
  expect(await readFile(await file.path(), "utf8")).toContain('fill="#12171d"');
});

test("trends join the series of cases and machines", async ({ page }) => {
  await openTrend(page);
  await page.getByRole("link", { name: LABELS.withOthers }).click();
  const rows = page.getByRole("region", { name: LABELS.series }).locator("tbody tr");
  await expect(rows).toHaveCount(3); // of fake on two CPUs, and of openssl
  await page.getByRole("button", { name: LABELS.allCases(2) }).click();
  await expect(rows).toHaveCount(5);
  await page.getByRole("checkbox", { name: "openssl" }).uncheck();
  await expect(rows).toHaveCount(3);
  await expect(rows.getByRole("link")).toHaveCount(3);
  await page.getByRole("combobox", { name: LABELS.chartFor }).selectOption("case");
  await expect(page.locator(".plot canvas")).toHaveCount(2);
  await expectPictures(page, ["fake 1.0, 1.1, 1.2", "Measured from"]);
  await rows.getByRole("link").first().click();
  await expect(page.locator("table.numbers.history tbody tr").first()).toBeVisible();
});

test("CPUs are compared with any of them", async ({ page }) => {
  await openTrend(page);
  await page.getByRole("link", { name: LABELS.onAllCpus }).click();
  const rows = page.locator("table.cpus tbody tr");
  await expect(
    rows.filter({ has: page.getByRole("cell", { name: LABELS.reference, exact: true }) }),
  ).toHaveCount(2); // of both libraries
  await expect(rows.filter({ hasText: "2.00×" })).toHaveCount(1);
  await page.getByRole("combobox", { name: "Reference" }).selectOption({ index: 1 });
  await expect(
    rows.filter({ has: page.getByRole("cell", { name: LABELS.reference, exact: true }) }),
  ).toHaveCount(1);
  await page.getByRole("checkbox", { name: "openssl" }).uncheck();
  await expect(rows).toHaveCount(2);
  await page.getByRole("combobox", { name: "Reference" }).selectOption({ index: 0 });
  await page.getByRole("combobox", { name: LABELS.oneCase, exact: true }).selectOption({ index: 1 });
  await expect(rows).toHaveCount(1);
});

test("comparisons are those of the published upgrades", async ({ page }) => {
  await page.goto("./");
  await page.getByRole("link", { name: LABELS.compare, exact: true }).click();
  const [base, other] = [LABELS.baseline, LABELS.comparedWith].map((end) =>
    page.getByRole("group", { name: end, exact: true }).getByLabel(LABELS.version),
  );
  if (!base || !other) throw new Error("two ends");
  await expect(base.locator("option")).toHaveText([/1\.0/, /1\.1/]);
  await expect(other.locator("option")).toHaveText([/1\.1/, /1\.2/]);
  await base.selectOption({ index: 0 });
  await expect(other.locator("option:checked")).toHaveText(/1\.1/);
  const rows = page.locator("table.compare tbody tr");
  await expect(rows.filter({ hasText: "slower" })).toHaveCount(2);
  await other.selectOption({ index: 1 });
  await expect(base.locator("option:checked")).toHaveText(/1\.1/);
  await expect(rows.filter({ hasText: "slower" })).toHaveCount(0);
  const download = await downloaded(page, page.getByRole("button", { name: LABELS.saveTable }));
  const [head, ...lines] = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  expect(head).toContain("ratio");
  expect(lines).toHaveLength(2);
  await page.getByRole("link", { name: LABELS.commonFactors }).click();
  await page.getByRole("link", { name: LABELS.compareOthers }).click();
  await expect(rows).toHaveCount(2);
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
  await expect(page.getByRole("navigation").getByRole("link")).toHaveText([
    "Overview",
    LABELS.trends,
    LABELS.cpus,
    LABELS.compare,
    LABELS.upgrades,
    LABELS.stacks,
    LABELS.paths,
    LABELS.life,
  ]);
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
  const addresses = ["./", "./#/trends", "./#/cpus", "./#/compare"];
  const pages = addresses.map((address) => async (page: Page) => void (await page.goto(address)));
  for (const open of [openTrend, openUpgrade, ...pages]) {
    await open(page);
    await page.locator("table.heatmap, .plot canvas, .answer, table.numbers").first().waitFor();
    await expectReadable(page);
  }
});
