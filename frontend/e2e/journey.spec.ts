// One way through the pages, each step by clicking: a new user commits a spec, watches its run, reads what the upgrade
// costs, acknowledges the alert, takes the numbers along and publishes them.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";
import { LABELS } from "./labels";

const AUTHOR = ["-c", "user.name=Ada Example", "-c", "user.email=ada@example.org"];
/** Until a run, its confirmation run and the judgement of both are done on a busy machine. */
const JUDGED = { timeout: 120_000 };

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: services/tests/e2e/test_journey.py sets it`);
  return value;
}

function kexbench(...words: string[]): string {
  return execFileSync(setting("KEXBENCH_COMMAND"), words, { encoding: "utf8" }).trim();
}

function commitSpec() {
  const clone = setting("KEXBENCH_E2E_CLONE");
  mkdirSync(join(clone, "bench-specs"));
  writeFileSync(join(clone, "bench-specs", "journey.yaml"), setting("KEXBENCH_E2E_SPEC"));
  for (const words of [
    ["add", "--all"],
    ["commit", "--quiet", "--message", "Measure the made-up library"],
    ["push", "--quiet", "origin", "HEAD:main"],
  ]) {
    execFileSync("git", [...AUTHOR, ...words], { cwd: clone });
  }
}

async function hasNoBarrier(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(
    violations.map(({ id, nodes }) => [id, nodes[0]?.html]),
    page.url(),
  ).toEqual([]);
}

test("from a commit to a published site", async ({ page }) => {
  test.setTimeout(300_000);
  const heading = page.getByRole("heading", { level: 1 });
  const pages = page.getByRole("navigation", { name: LABELS.pages });
  const failures: string[] = [];
  page.on("pageerror", (error) => failures.push(error.message));

  await test.step("an empty service says how to begin, and the first commit appears by itself", async () => {
    await page.goto("/");
    await expect(page.getByText(LABELS.noResults)).toBeVisible();
    await hasNoBarrier(page);
    await pages.getByRole("link", { name: LABELS.commitsPage }).click();
    await expect(page.getByText("repositories.yaml")).toBeVisible();
    await hasNoBarrier(page);
    commitSpec();
    await expect(page.getByRole("heading", { name: "Measure the made-up library" })).toBeVisible();
  });

  await test.step("its run is watched live", async () => {
    const stream = page.waitForResponse("**/runs/*/stream");
    await page.getByRole("link", { name: "bench-specs/journey.yaml" }).click();
    expect((await stream).headers()["content-type"]).toContain("text/event-stream");
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    await expect(page.getByRole("progressbar", { name: LABELS.progress }).first()).toBeVisible(JUDGED);
    await expect(page.getByText(/^measured \d+ of 80 invocations/m)).toBeVisible(JUDGED);
    await expect(page.getByText(LABELS.noEarlierRun)).toBeVisible();
    await hasNoBarrier(page);
    await expect(heading).toHaveText("journey finished", JUDGED);
    expect(await page.evaluate(() => "isSamePage" in window), "without loading the page again").toBe(true);
    await expect(page.locator("table.heatmap")).toBeVisible();
    await hasNoBarrier(page);
  });

  await test.step("the upgrade is read, and one of its cases on all CPUs", async () => {
    await page.getByRole("link", { name: "fake 1.0 → 1.1" }).click();
    await expect(page.locator(".answer")).toContainText("Slower in both cases", JUDGED);
    await hasNoBarrier(page);
    await page.getByRole("list", { name: LABELS.changedCases }).getByRole("link").first().click();
    await expect(page.locator(".plot canvas")).toBeVisible();
    await hasNoBarrier(page);
    await page.getByRole("link", { name: LABELS.onAllCpus }).click();
    await expect(heading).toHaveText(LABELS.cpus);
    await expect(page.getByRole("table")).toContainText("1.1");
    await hasNoBarrier(page);
  });

  await test.step("the alert is acknowledged", async () => {
    await pages.getByRole("link", { name: LABELS.alerts }).click();
    await page.getByRole("heading", { level: 3 }).getByRole("link", { name: "1.0 → 1.1" }).click(JUDGED);
    await expect(heading).toContainText("open");
    await hasNoBarrier(page);
    await page.getByRole("button", { name: LABELS.acknowledge }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toContainText("kexbench token");
    await hasNoBarrier(page);
    await dialog.getByLabel(LABELS.token).fill(kexbench("token"));
    await dialog.getByLabel(LABELS.note).fill("I ask upstream");
    await dialog.getByRole("button", { name: LABELS.acknowledge }).click();
    await expect(heading).toContainText("acknowledged");
  });

  await test.step("the points behind it are saved", async () => {
    await page.getByRole("list", { name: LABELS.slowerCases }).getByRole("link").first().click();
    const coming = page.waitForEvent("download");
    await page.getByRole("link", { name: LABELS.downloadSamples }).click();
    const [head, ...points] = readFileSync(await (await coming).path(), "utf8")
      .trim()
      .split("\n");
    expect(head).toContain("case_id");
    expect(points.length).toBeGreaterThan(0);
  });

  await test.step("the results are published with the command that every page names", async () => {
    const command = page.getByRole("contentinfo").getByText(LABELS.publish);
    const [, verb = ""] = ((await command.textContent()) ?? "").split(" ");
    kexbench(verb, setting("KEXBENCH_E2E_SITE"));
    const site = setting("KEXBENCH_E2E_SITE_URL");
    const streams: string[] = [];
    page.on("request", (asked) => void (asked.url().endsWith("/stream") && streams.push(asked.url())));
    await page.goto(site);
    await expect(page.locator("table.heatmap")).toContainText("more time");
    await hasNoBarrier(page);
    await page.getByRole("link", { name: "fake 1.0 → 1.1" }).click();
    await expect(page.locator(".answer")).toContainText("Slower in both cases");
    await hasNoBarrier(page);
    expect(streams).toEqual([]);
  });
  expect(failures).toEqual([]);
});
