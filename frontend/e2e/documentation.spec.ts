// The documentation as `make docs` built it, from a plain file server.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";

/** From the widest down: what has not shrunk yet is seen as too wide, and waited for. */
const WIDTHS = [1280, 768, 360];
const PAGES = [
  { path: "./", ready: "article" },
  { path: "start.html", ready: "article img" },
  { path: "use/compare-two-builds.html", ready: "article pre" },
  { path: "reference/command-line/compare.html", ready: "article table" },
  { path: "reference/fields/spec.html", ready: "article table" },
  { path: "reference/settings.html", ready: "article table" },
  { path: "search.html?q=certificate", ready: "ul.search li" },
];

/** The parts that something sticks out of. The theme hides what is wider than the window, or has the text scroll. */
const wide = () =>
  ["html", "body", ".content"].filter((part) => {
    const box = document.querySelector(part);
    return !box || box.scrollWidth > box.clientWidth;
  });

for (const { path, ready } of PAGES) {
  test(`${path} has no barrier and is not wider than its window`, async ({ page }) => {
    const failures: string[] = [];
    page.on("pageerror", (error) => failures.push(error.message));
    page.on("response", (answer) => {
      if (answer.status() >= 400) failures.push(`${answer.status()} ${answer.url()}`);
    });
    const barriers = async (axe: AxeBuilder) =>
      (await axe.analyze()).violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
    await page.goto(path);
    await page.locator(ready).first().waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await expect.poll(() => page.evaluate(wide), `at ${width}`).toEqual([]);
    }
    expect(await barriers(new AxeBuilder({ page }))).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await barriers(new AxeBuilder({ page }).withRules("color-contrast"))).toEqual([]);
    expect(failures).toEqual([]);
  });
}
