// A cluster's machines: one is fine, one differs, one is silent, and one is set aside.
import { expect, test } from "@playwright/test";
import { expectReadable } from "./readable";

test("the machines that need attention come first, and are found by their state", async ({ page }) => {
  await page.goto("/fleet");
  const names = page.locator(".fleet tbody th");
  await expect(names).toHaveText([/^node-b/, /^node-c/, /^node-d/, /^node-a/]);
  await expect(page.getByRole("row", { name: /^node-b/ })).toContainText("% slower than its");
  await expect(page.getByRole("row", { name: /^node-c/ })).toContainText("Silent: no result for 11 days");
  await expect(page.getByRole("row", { name: /^node-d/ })).toContainText("its fan failed");
  await page.getByRole("link", { name: "1 is silent" }).click();
  await expect(names).toHaveText([/^node-c/]);
  await page.reload();
  await expect(names).toHaveText([/^node-c/]);
});

test("they are sorted by a column", async ({ page }) => {
  await page.goto("/fleet");
  await page.getByRole("button", { name: "Node", exact: true }).click();
  await expect(page).toHaveURL(/sort=name/);
  await expect(page.locator(".fleet tbody th")).toHaveText([/^node-a/, /^node-b/, /^node-c/, /^node-d/]);
});

test("the page has no barrier, and is no wider than its window", async ({ page }) => {
  for (const path of ["/fleet", "/fleet?state=warning"]) {
    await page.goto(path);
    await page.locator(".answer").waitFor();
    await expectReadable(page, path);
  }
});
