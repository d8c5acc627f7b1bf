import type { Page } from "@playwright/test";
import { LABELS } from "./labels";

/** Opens a page by the navigation, which a narrow window has behind a button. */
export async function openByMenu(page: Page, name: string) {
  const menu = page.getByRole("button", { name: LABELS.menu });
  await page.getByRole("link", { name: "kexbench", exact: true }).waitFor();
  if (await menu.isVisible()) await menu.click();
  await page.getByRole("navigation", { name: LABELS.pages }).getByRole("link", { name, exact: true }).click();
}
