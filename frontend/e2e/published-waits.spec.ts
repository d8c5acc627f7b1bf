// The page of paths of a published site.
import { expect, test } from "@playwright/test";
import { LABELS } from "./labels";
import { expectReadable } from "./readable";

test("waits over paths are shown, and narrowed in the address", async ({ page }) => {
  await page.goto("./");
  await page.getByRole("link", { name: LABELS.paths, exact: true }).click();
  const groups = page.locator("th[scope=rowgroup]");
  await expect(groups).toHaveText([/^2 ms/, /^50 ms/]);
  await expect(page.locator(".answer")).toContainText("a handshake takes 4 to 6 ms");
  await expect(page.getByText("15.8 kB of 14.5 kB").first()).toBeVisible();
  await page.getByRole("combobox", { name: LABELS.path }).selectOption("2ms");
  await expect(groups).toHaveText([/^2 ms/]);
  await expect(page).toHaveURL(/path=2ms/);
  await expect(page.locator("table a")).toHaveCount(0);
  await expectReadable(page);
});
