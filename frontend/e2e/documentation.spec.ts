// The documentation as `make docs` built it, from a plain file server.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";

const WIDTHS = [360, 768, 1280];
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
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(path);
      await page.locator(ready).first().waitFor();
      expect(await page.evaluate(wide)).toEqual([]);
      expect(await barriers(new AxeBuilder({ page }))).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await barriers(new AxeBuilder({ page }).withRules("color-contrast"))).toEqual([]);
    expect(failures).toEqual([]);
  });
}
