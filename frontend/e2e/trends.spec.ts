// Trends on other websites, and their zoom: two services, of which one lets KEXBENCH_E2E_ELSEWHERE show charts in a
// frame, and a published site.
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";
import type { Trends } from "../src/api/generated";
import { LABELS } from "./labels";

const { KEXBENCH_E2E_ELSEWHERE: ELSEWHERE = "", KEXBENCH_E2E_REFUSING: REFUSING = "" } = process.env;
const { KEXBENCH_E2E_SITE_URL: SITE = "" } = process.env;
const WIDTHS = [320, 900, 1440];
const ROWS = "table.history tbody tr";

/** What the page Trends offers for other websites, pasted into a page of one. */
async function pasted(page: Page, trends: string) {
  await page.goto(trends);
  await page.getByText(LABELS.embed, { exact: true }).click();
  const html = await page.getByRole("textbox", { name: LABELS.frameHtml }).inputValue();
  await page.goto(`${ELSEWHERE}/wiki.html`);
  await page.evaluate((text) => {
    document.body.innerHTML = text;
  }, html);
}

test("a website that the service knows shows the chart, which leads to the whole page", async ({
  page,
  context,
}) => {
  await pasted(page, "/trends?split=cpu&show=cost");
  const frame = page.frameLocator("iframe");
  await expect(frame.locator(".plot canvas")).toHaveCount(2);
  await expect(frame.getByRole("navigation")).toHaveCount(0);
  const opening = context.waitForEvent("page");
  await frame.getByRole("link", { name: /kexbench/ }).click();
  const whole = await opening;
  await expect(whole).toHaveURL(/\/trends\?split=cpu&show=cost$/);
  await expect(whole.locator(ROWS).first()).toBeVisible();
});

test("a website that the service does not know shows nothing of it", async ({ page }) => {
  const refused = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"));
  await pasted(page, `${REFUSING}/trends`);
  await refused;
  expect(page.frames().filter((frame) => frame.url().startsWith(REFUSING))).toEqual([]);
});

test("no website shows a page that changes something", async ({ page }) => {
  await page.goto(`${ELSEWHERE}/wiki.html`);
  const service = test.info().project.use.baseURL;
  const refused = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"));
  await page.evaluate((address) => {
    document.body.innerHTML = `<iframe src="${address}/trends"></iframe>`;
  }, service);
  await refused;
  await page.goto("/embed/none");
  for (const link of [LABELS.allResults, LABELS.allRunsOf]) {
    await page.getByRole("link", { name: link }).click();
    await expect(page.getByText(LABELS.notFound)).toBeVisible();
  }
  await expect(page.getByRole("navigation")).toHaveCount(0);
});

test("any website shows a chart of a published site", async ({ page, context }) => {
  await pasted(page, `${SITE}#/trends?split=cpu`);
  const frame = page.frameLocator("iframe");
  await expect(frame.locator(".plot canvas")).toHaveCount(2);
  const opening = context.waitForEvent("page");
  await frame.getByRole("link", { name: /kexbench/ }).click();
  const whole = await opening;
  await expect(whole).toHaveURL(`${SITE}#/trends?split=cpu`);
  await expect(whole.locator(ROWS).first()).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`a chart alone has no barrier in the ${colorScheme} scheme, and is as wide as its frame`, async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme });
    for (const base of ["/", `${SITE}#/`]) {
      for (const [choice, shown] of [
        ["", ".plot canvas"],
        ["?split=cpu&show=relative", ".plot canvas"],
        ["?library=none", ".note"],
      ] as const) {
        await page.goto(`${base}embed/trends${choice}`);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 480 });
          await page.locator(shown).first().waitFor();
          const needed = () => page.evaluate(() => document.documentElement.scrollWidth);
          await expect.poll(needed).toBeLessThanOrEqual(width);
        }
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(violations.map(({ id, nodes }) => [choice, id, nodes[0]?.html])).toEqual([]);
      }
    }
    await expect(page.getByText(LABELS.noSeries)).toBeVisible();
  });
}

test("the chart keeps its zoom when new results arrive", async ({ page }) => {
  let zoomed = () => {};
  const zooming = new Promise<void>((resolve) => {
    zoomed = resolve;
  });
  let answers = 0;
  await page.route("**/api/v1/trends*", async (route) => {
    const response = await route.fetch();
    answers += 1;
    // As while a run is stored: the page asks again for an answer that is old.
    if (answers === 1) return await route.fulfill({ response, headers: { ...response.headers(), age: "1" } });
    await zooming;
    const trends = (await response.json()) as Trends;
    for (const point of trends.lines.flatMap(({ points }) => points)) point.value *= 2;
    await route.fulfill({ response, json: trends });
  });
  await page.goto("/trends");
  const chart = page.locator(".plot [role=img]");
  await expect(chart.locator("canvas")).toBeVisible();
  const cost = await page.locator(ROWS).first().textContent();
  await chart.focus();
  // The first of three versions is in the left half, and zoomed in the right half.
  expect(await versionAt(page, 0.64)).not.toBe("1.0");
  for (const [key, times] of [
    ["+", 6],
    ["ArrowLeft", 20],
  ] as const) {
    for (let time = 0; time < times; time += 1) await page.keyboard.press(key);
  }
  await expect.poll(() => versionAt(page, 0.64)).toBe("1.0");
  zoomed();
  await expect.poll(() => page.locator(ROWS).first().textContent()).not.toBe(cost);
  await expect.poll(() => versionAt(page, 0.64)).toBe("1.0");
  await page.setViewportSize({ width: 700, height: 900 });
  await expect.poll(() => versionAt(page, 0.64)).toBe("1.0");
  await page.keyboard.press("0");
  await expect.poll(() => versionAt(page, 0.17)).toBe("1.0");
});

/** The version that the chart names where the pointer is, at some height above a part of the horizontal axis. */
async function versionAt(page: Page, share: number): Promise<string> {
  const area = await page.locator(".plot .u-over").boundingBox();
  for (let y = 10; area && y < area.height; y += 20) {
    await page.mouse.move(area.x + share * area.width, area.y + y);
    const named = await page.locator(".plot .tip b").allInnerTexts();
    if (named[0]) return named[0];
  }
  return "";
}
