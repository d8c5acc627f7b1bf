// The page of paths, whatever is stored: its numbers are those of the API, and everybody can read it.
import { expect, type Page, test } from "@playwright/test";
import type { Paths } from "../src/api/generated";
import { LABELS } from "./labels";
import { expectReadable } from "./readable";

async function openPaths(page: Page): Promise<Paths> {
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === "/api/v1/paths");
  await page.goto("/paths");
  const answer = (await (await answered).json()) as Paths;
  await page.locator("table.by-path, .note").first().waitFor();
  return answer;
}

test("what was measured is shown, or how to measure it", async ({ page }) => {
  const { cases, sentence } = await openPaths(page);
  if (cases.length === 0) {
    await expect(page.locator(".note")).toContainText("kexbench run paths");
    return;
  }
  await expect(page.locator(".answer")).toHaveText(sentence);
  const cells = cases.flatMap(({ cells }) => cells).filter(({ run_id }) => run_id);
  const [waits, flights] = [page.locator("table.by-path").first(), page.locator("table.by-path").last()];
  const numbers = cells.filter(({ handshake }) => handshake);
  await expect(waits.locator("tbody tr:has(td.bars)")).toHaveCount(numbers.length);
  const reasons = cases.flatMap(({ cells, path }) => {
    const showsAll = path.numbers.splitHello || !cells.some(({ handshake }) => handshake);
    return cells.filter(
      ({ run_id, handshake, outcome }) =>
        run_id && !handshake && (showsAll || outcome?.kind !== "unsupported"),
    );
  });
  await expect(waits.locator("td.why-none")).toHaveCount(reasons.length);
  for (const { handshake, outcome } of cells) {
    const text = handshake
      ? waits.getByText(millisecondsText(handshake.p50.value))
      : page.getByText(outcome?.reason ?? "no number");
    await expect(text.first()).toBeVisible();
  }
  const over = cells
    .flatMap(({ predicted }) => predicted?.flights ?? [])
    .filter(({ size_bytes, limit_bytes }) => size_bytes > limit_bytes);
  expect(over.length).toBeGreaterThan(0);
  await expect(flights.locator(".excess").first()).toContainText("round trip");
});

test("a path is chosen in the address", async ({ page }) => {
  const { cases } = await openPaths(page);
  test.skip(cases.length === 0, "nothing is stored");
  await page.getByRole("combobox", { name: LABELS.path }).selectOption("2ms");
  await expect(page.locator("th[scope=rowgroup]")).toHaveText([/^2 ms/]);
  await page.reload();
  await expect(page.locator("th[scope=rowgroup]")).toHaveText([/^2 ms/]);
});

test("the page has no barrier, and is no wider than its window", async ({ page }) => {
  await openPaths(page);
  await expectReadable(page);
});

/** Written once more, so that a fault in the page's own formatting is seen. */
function millisecondsText(ns: number): string {
  const ms = ns / 1e6;
  const digits =
    ms >= 1000 ? { maximumFractionDigits: 0 } : { minimumSignificantDigits: 4, maximumSignificantDigits: 4 };
  return `${ms.toLocaleString("en-US", digits)} ms`;
}
