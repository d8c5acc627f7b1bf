// A bisection on a made-up cluster that has its answer.
import { expect, test } from "@playwright/test";
import type { BisectionPage } from "../src/api/generated";
import { LABELS } from "./labels";
import { expectReadable } from "./readable";

test("an answer is read with its commits, and its runs are a link away", async ({ page, request }) => {
  const answer = (await (await request.get("/api/v1/bisections")).json()) as BisectionPage;
  await page.goto("/bisections");
  const main = page.getByRole("main");
  await expect(main.getByRole("listitem").first()).toContainText(answer.bisections[0]?.detail ?? "no answer");
  await expectReadable(page);
  await page.goto("/runs"); // those that were never built are named by the addresses of their sources
  await expect(main.getByText("make: it fails").first()).toBeVisible();
  await expectReadable(page);
  await page.goto("/bisections");
  await main.getByRole("link", { name: "fake: v1 to main" }).last().click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("fake: v1 to main found");
  const rows = page.getByRole("region", { name: LABELS.commits }).getByRole("row");
  await expect(rows.filter({ hasText: "Change 41" })).toContainText("%");
  await expect(rows.filter({ hasText: LABELS.unbuildable }).first()).toContainText("make: it fails");
  await expectReadable(page);
  await main.getByRole("link", { name: LABELS.bothEnds }).click();
  await expect(page.getByText("run 0 of bisection")).toBeVisible();
});
