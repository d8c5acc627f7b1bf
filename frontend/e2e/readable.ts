// What every page is held to: whoever reads it, in whatever window.
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

const WIDTHS = [375, 820, 1440];
const SCHEMES = ["light", "dark"] as const;

/** The page that is open is no wider than its window, and axe finds no barrier in either scheme. Window and scheme
 * change while it is open, as those of people do: opening it anew for each takes many times as long. */
export async function expectReadable(page: Page, place = page.url()) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const excess = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    await expect.poll(excess, `${place} at ${width}`).toBeLessThanOrEqual(0);
  }
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const axe = new AxeBuilder({ page }).options({ resultTypes: ["violations"] });
    const { violations } = await axe.analyze();
    expect(violations.map(({ id, nodes }) => [place, colorScheme, id, nodes[0]?.html])).toEqual([]);
  }
}
