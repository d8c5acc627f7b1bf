// What every page is held to: whoever reads it, in whatever window.
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

/** From the widest down: what has not shrunk yet is seen as too wide, and waited for. */
const WIDTHS = [1440, 1280, 820, 375];

/** The page that is open is no wider than its window, and axe finds no barrier, neither in the widest nor in the
 * narrowest window, each in another scheme. Window and scheme change while the page is open, as they do for people: to
 * open it anew for each would take many times as long. */
export async function expectReadable(page: Page, place = page.url()) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const excess = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    await expect.poll(excess, `${place} at ${width}`).toBeLessThanOrEqual(0);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await expectNoBarrier(page, place);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "dark" });
  await expectNoBarrier(page, place);
}

/** Legacy mode takes half the time. It does not look into frames, which no page has. */
async function expectNoBarrier(page: Page, place: string) {
  const axe = new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).setLegacyMode();
  const { violations } = await axe.analyze();
  expect(violations.map(({ id, nodes }) => [place, id, nodes[0]?.html])).toEqual([]);
}
