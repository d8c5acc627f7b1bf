// An upgrade with a planted step and its alert, on a made-up cluster whose callers are known by their names.
import { type APIRequestContext, expect, test } from "@playwright/test";
import type {
  AlertDetail,
  AlertPage,
  CaseExplanation,
  Comparison,
  UpgradePage,
  UpgradeView,
} from "../src/api/generated";
import { LABELS } from "./labels";
import { expectReadable } from "./readable";

const API = "/api/v1";

async function read<T>(request: APIRequestContext, path: string): Promise<T> {
  const answer = await request.get(`${API}${path}`);
  expect(answer.ok(), `${path} answers`).toBe(true);
  return (await answer.json()) as T;
}

async function reported(request: APIRequestContext): Promise<UpgradeView & { comparison: Comparison }> {
  const { upgrades } = await read<UpgradePage>(request, "/upgrades");
  const [upgrade] = upgrades;
  if (!upgrade) throw new Error("the service under test has no upgrade");
  const query = new URLSearchParams({ base: upgrade.before.subject, other: upgrade.after.subject });
  return { ...upgrade, comparison: await read<Comparison>(request, `/compare?${query}`) };
}

async function alerted(request: APIRequestContext): Promise<AlertDetail> {
  const { alerts } = await read<AlertPage>(request, "/alerts");
  const upgrade = alerts.find((alert) => alert.cause.kind === "upgrade");
  if (!upgrade) throw new Error("the service under test has no alert of an upgrade");
  return read<AlertDetail>(request, `/alerts/${upgrade.alert_id}`);
}

function addressOf({ library, before, after }: UpgradeView): string {
  return `/upgrades/${library}/${[before, after].map((end) => encodeURIComponent(end.subject)).join("/")}`;
}

/** Written once more, so that a fault in the pages' own formatting is seen. */
function percentText(ratio: number): string {
  return `${Math.abs(100 * (ratio - 1)).toFixed(1)}%`;
}

test("an upgrade says which cases changed, by how much, and on which side", async ({ page, request }) => {
  const report = await reported(request);
  const moved = report.comparison.cells.filter((cell) => cell.verdict === "more");
  expect(moved.length).toBeGreaterThan(0);
  await page.goto("/");
  await page.getByRole("link", { name: LABELS.upgrades }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(LABELS.upgrades);
  await page.getByRole("link", { name: `${report.before.label} → ${report.after.version}` }).click();
  await expect(page.locator(".answer")).toContainText((report.comparison.upgrade?.sentence ?? "").slice(-20));
  const drawn = page.getByRole("list", { name: LABELS.changedCases }).getByRole("listitem");
  await expect(drawn).toHaveCount(moved.length);
  for (const cell of moved) {
    const row = drawn.filter({ has: page.getByRole("link", { name: cell.title, exact: true }) });
    await expect(row).toContainText(`${percentText(cell.move?.ratio ?? 0)} ${LABELS.moreTime}`);
    await expect(row).toContainText(LABELS.side("server", `+${percentText(cell.server?.ratio ?? 0)}`));
  }
  await page.getByRole("link", { name: LABELS.alertOfUpgrade }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("open");
});

test("an upgrade and its alert name the function that the change is in", async ({ page, request }) => {
  const { library, before, after, ...report } = await reported(request);
  const query = new URLSearchParams({ library, before: before.subject, after: after.subject });
  const [counted] = await read<CaseExplanation[]>(request, `/upgrades/why?${query}`);
  const server = counted?.sides.find(({ side }) => side === "server");
  const place = server?.path.at(-1)?.name ?? "";
  expect(place).not.toBe("");
  const { alert } = await alerted(request);
  for (const path of [addressOf({ library, before, after, ...report }), `/alerts/${alert.alert_id}`]) {
    await page.goto(path);
    await expect(page.getByText(LABELS.mostlyIn(place)), path).toBeVisible();
    await expect(page.locator(".side").getByText(LABELS.noChange).first(), path).toBeVisible();
    const bars = page.getByRole("list", { name: LABELS.functions("server") }).getByRole("listitem");
    await expect(bars.filter({ hasText: place }), path).toHaveCount(1);
    await page.getByText(LABELS.functionTable("server")).press("Enter");
    const row = page.getByRole("region", { name: LABELS.functionTable("server") }).getByRole("row");
    await expect(row.filter({ hasText: place }), path).toBeVisible();
  }
  await expect(page.getByText(LABELS.adds(place))).toBeVisible();
});

test("the flame graph of an upgrade is walked, zoomed and left with the keyboard", async ({
  page,
  request,
}) => {
  const { alert } = await alerted(request);
  await page.goto(`/alerts/${alert.alert_id}`);
  await page.getByText(LABELS.flameGraph("server")).press("Enter");
  const graph = page.getByRole("group", { name: LABELS.calls("server") });
  const boxes = graph.getByRole("button");
  const turn = boxes.filter({ hasText: "server_turn" });
  const hash = boxes.filter({ hasText: "hash" });
  const widthOf = async (box: typeof hash) => (await box.boundingBox())?.width ?? 0;
  await expect(hash).toHaveAccessibleName("hash: 100 → 350 instructions (+250%)");
  await expect(boxes).toHaveCount(3);
  await turn.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await expect(hash).toBeFocused();
  await expect(page.getByText("100 → 350 instructions (+250%)").last()).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(boxes).toHaveCount(2);
  expect(await widthOf(hash)).toBe(await widthOf(turn));
  await page.keyboard.press("Escape");
  await expect(boxes).toHaveCount(3);
  await expect(hash).toBeFocused();
  await hash.click();
  await page.getByRole("button", { name: LABELS.wholeHandshake }).click();
  await expect(boxes).toHaveCount(3);
  await page.getByText(LABELS.callTable("server")).press("Enter");
  const rows = page.getByRole("region", { name: LABELS.callTable("server") }).getByRole("row");
  await expect(rows.filter({ hasText: "hash" })).toContainText("+250");
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "callgrind" }).last().click();
  expect((await saved).suggestedFilename()).toBe("fake-1.1-server.callgrind");
});

test("a column of the matrix leads to its upgrade", async ({ page, request }) => {
  const { before, after } = await reported(request);
  await page.goto("/");
  await page.getByRole("link", { name: after.version, exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(`${before.label} → ${after.version}`);
});

test("an alert is acknowledged only by somebody who has seen all its events", async ({ page, request }) => {
  const { alert } = await alerted(request);
  const dialog = page.getByRole("dialog");
  await page.goto("/alerts");
  await expect(page.getByRole("link", { name: LABELS.alerts })).toContainText(LABELS.openAlerts);
  await page
    .getByRole("heading", { level: 3 })
    .getByRole("link", { name: `${alert.cause.before} → ${alert.cause.after}` })
    .click();
  await expect(page.getByRole("list", { name: LABELS.slowerCases }).getByRole("listitem")).toHaveCount(
    alert.cells.length,
  );
  await page.getByRole("button", { name: LABELS.acknowledge }).click();
  await dialog.getByLabel(LABELS.token).fill("triager");
  await dialog.getByLabel(LABELS.note).fill("I ask upstream");
  const meanwhile = await request.post(`${API}/alerts/${alert.alert_id}/events`, {
    data: { action: "noted", note: "seen before, in spring", saw: alert.version },
    headers: { Authorization: "Bearer triager" },
  });
  expect(meanwhile.ok()).toBe(true);
  await dialog.getByRole("button", { name: LABELS.acknowledge }).click();
  await expect(dialog.getByRole("alert")).toContainText("seen before, in spring");
  await expect(dialog.getByLabel(LABELS.note)).toHaveValue("I ask upstream");
  await expect(page.getByRole("log")).toContainText("seen before, in spring");
  await dialog.getByRole("button", { name: LABELS.acknowledge }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("acknowledged");
  await expect(page.getByRole("log")).toContainText(LABELS.acknowledgedBy("ops:triage"));
  await expect(page.getByRole("log")).toContainText("I ask upstream");
  await page.goto("/alerts?status=open");
  await expect(page.getByText(LABELS.noMatchingAlerts)).toBeVisible();
});

test("an alert's link to its upgrade names subjects, and its page fits a phone", async ({
  page,
  request,
}) => {
  const report = await reported(request);
  const { alert } = await alerted(request);
  await page.setViewportSize({ width: 375, height: 800 });
  await page.goto(`/alerts/${alert.alert_id}`);
  const link = page.getByRole("main").getByRole("link", { name: LABELS.upgradeReport });
  await expect(link).toHaveAttribute("href", addressOf(report));
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
  ).toBeLessThanOrEqual(0);
});

test("the newest screenings are shown, and that no channel is configured", async ({ page }) => {
  await page.goto("/alerts");
  await expect(page.getByRole("heading", { name: LABELS.screenings })).toBeVisible();
  await expect(page.getByText(LABELS.machineChanged)).toBeVisible();
  await expect(page.getByText(LABELS.noChannel)).toBeVisible();
});

test("the pages have no barrier, and none is wider than its window", async ({ page, request }) => {
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
    for (const side of ["client", "server"] as const) {
      const graph = page.getByText(LABELS.flameGraph(side));
      if ((await graph.count()) === 0) continue;
      await graph.click();
      await page.getByRole("group", { name: LABELS.calls(side) }).waitFor();
    }
    await expectReadable(page, path);
  }
});
