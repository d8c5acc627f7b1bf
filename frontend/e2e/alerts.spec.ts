// An upgrade with a planted step and its alert, on a made-up cluster whose callers are known by their names.
import AxeBuilder from "@axe-core/playwright";
import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import type { AlertDetail, AlertPage, UpgradePage, UpgradeReport } from "../src/api/generated";

const API = "/api/v1";
const WIDTHS = [420, 800, 1280];

async function read<T>(request: APIRequestContext, path: string): Promise<T> {
  const answer = await request.get(`${API}${path}`);
  expect(answer.ok(), `${path} answers`).toBe(true);
  return (await answer.json()) as T;
}

async function reported(request: APIRequestContext): Promise<UpgradeReport> {
  const { upgrades } = await read<UpgradePage>(request, "/upgrades");
  const [one] = upgrades;
  if (!one) throw new Error("the service under test has no upgrade");
  const query = new URLSearchParams({
    library: one.library,
    before: one.before.subject,
    after: one.after.subject,
  });
  return read<UpgradeReport>(request, `/upgrades/report?${query}`);
}

async function alerted(request: APIRequestContext): Promise<AlertDetail> {
  const { alerts } = await read<AlertPage>(request, "/alerts");
  const upgrade = alerts.find((one) => one.cause.kind === "upgrade");
  if (!upgrade) throw new Error("the service under test has no alert of an upgrade");
  return read<AlertDetail>(request, `/alerts/${upgrade.alert_id}`);
}

function addressOf({ library, before, after }: UpgradeReport): string {
  return `/upgrades/${library}/${[before, after].map((end) => encodeURIComponent(end.subject)).join("/")}`;
}

/** Written once more, so that a fault in the pages' own formatting is seen. */
function percentText(ratio: number): string {
  return `${Math.abs(100 * (ratio - 1)).toFixed(1)}%`;
}

test("an upgrade is found and says what moved, by how much, and on which side", async ({ page, request }) => {
  const report = await reported(request);
  const moved = report.cells.filter((cell) => cell.verdict === "more");
  expect(moved.length).toBeGreaterThan(0);
  await page.goto("/");
  await page.getByRole("link", { name: "Upgrades" }).click();
  await page.getByRole("link", { name: `${report.before.label} → ${report.after.version}` }).click();
  await expect(page.locator(".answer")).toContainText(report.sentence.slice(-20));
  const drawn = page.getByRole("list", { name: "Cases that moved" }).getByRole("listitem");
  await expect(drawn).toHaveCount(moved.length);
  for (const cell of moved) {
    const row = drawn.filter({ has: page.getByRole("link", { name: cell.title, exact: true }) });
    await expect(row).toContainText(`${percentText(cell.move?.ratio ?? 0)} more time`);
    await expect(row).toContainText(`server: +${percentText(cell.server?.ratio ?? 0)}`);
  }
  await page.getByRole("link", { name: "Its alert" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("open");
});

test("a column of the matrix leads to its upgrade", async ({ page, request }) => {
  const { before, after } = await reported(request);
  await page.goto("/");
  await page.getByRole("link", { name: after.version, exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(`${before.label} → ${after.version}`);
});

test("an alert is acknowledged by who has seen all of it", async ({ page, request }) => {
  const { alert } = await alerted(request);
  const dialog = page.getByRole("dialog");
  await page.goto("/alerts");
  await expect(page.getByRole("link", { name: "Alerts" })).toContainText("1 open");
  await page
    .getByRole("heading", { level: 3 })
    .getByRole("link", { name: `${alert.cause.before} → ${alert.cause.after}` })
    .click();
  await expect(page.getByRole("list", { name: "What costs more" }).getByRole("listitem")).toHaveCount(
    alert.cells.length,
  );
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await dialog.getByLabel("Access token").fill("submitter");
  await dialog.getByLabel("Note").fill("I ask upstream");
  const meanwhile = await request.post(`${API}/alerts/${alert.alert_id}/events`, {
    data: { action: "noted", note: "seen before, in spring", saw: alert.version },
    headers: { Authorization: "Bearer submitter" },
  });
  expect(meanwhile.ok()).toBe(true);
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await expect(dialog.getByRole("alert")).toContainText("noted: seen before, in spring");
  await expect(dialog.getByLabel("Note")).toHaveValue("I ask upstream");
  await expect(page.getByRole("log")).toContainText("seen before, in spring");
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("acknowledged");
  await expect(page.getByRole("log")).toContainText("ci:pipeline acknowledged it");
  await expect(page.getByRole("log")).toContainText("I ask upstream");
  await page.goto("/alerts?status=open");
  await expect(page.getByText("None of these")).toBeVisible();
});

test("the newest events and judgements are told, and nobody is said to be told who was not", async ({
  page,
}) => {
  await page.goto("/alerts");
  await expect(page.getByRole("heading", { name: "Judged lately" })).toBeVisible();
  await expect(page.getByText("the machine’s doing")).toBeVisible();
  await expect(page.getByText("No channel is configured")).toBeVisible();
});

async function barriers(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => [id, nodes[0]?.html]);
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`the pages have no serious barrier and fit, in the ${colorScheme} scheme`, async ({
    page,
    request,
  }) => {
    await page.emulateMedia({ colorScheme });
    const report = await reported(request);
    const { alert } = await alerted(request);
    for (const [path, ready] of [
      ["/upgrades", ".runs li"],
      [addressOf(report), ".moves li"],
      ["/alerts?status=all", ".runs li"],
      [`/alerts/${alert.alert_id}`, ".moves li"],
      ["/scorecard", ".note, table"],
    ] as const) {
      await page.goto(path);
      await page.locator(ready).first().waitFor();
      await expect(page.locator("footer")).toContainText("ok");
      expect(await barriers(page), path).toEqual([]);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const excess = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(excess, `${path} at ${width}`).toBeLessThanOrEqual(0);
      }
    }
  });
}
