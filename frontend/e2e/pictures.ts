// Downloads of a page: a chart as a picture that any program can open.
import { readFile } from "node:fs/promises";
import { type Download, expect, type Locator, type Page } from "@playwright/test";
import { LABELS } from "./labels";

export async function downloaded(page: Page, from: Locator): Promise<Download> {
  const coming = page.waitForEvent("download");
  await from.press("Enter");
  return await coming;
}

/** The first chart of a part of the page, or the one that a text names. */
export async function expectPictures(page: Page, texts: string[], chart: RegExp = /:/) {
  const button = (format: string) =>
    page.getByRole("button", { name: LABELS.downloadPicture(format) }).filter({ visible: true });
  const labels = await button("SVG").evaluateAll((all) =>
    all.map((one) => one.getAttribute("aria-label") ?? ""),
  );
  const place = labels.findIndex((label) => chart.test(label));
  const file = await downloaded(page, button("SVG").nth(place));
  expect(file.suggestedFilename()).toMatch(/^[\w.+-]+\.svg$/);
  const source = await readFile(await file.path(), "utf8");
  expect(source).not.toMatch(/var\(|oklab|color-mix|foreignObject/);
  const { fault, width, height, viewBox, words } = await page.evaluate((text) => {
    const svg = new DOMParser().parseFromString(text, "image/svg+xml");
    const root = svg.documentElement;
    return {
      fault: svg.querySelector("parsererror")?.textContent ?? "",
      width: Number(root.getAttribute("width")),
      height: Number(root.getAttribute("height")),
      viewBox: root.getAttribute("viewBox"),
      words: [...svg.querySelectorAll("text")].map(({ textContent }) => textContent).join(" "),
    };
  }, source);
  expect(fault).toBe("");
  expect(viewBox).toBe(`0 0 ${width} ${height}`);
  for (const text of texts) expect(words).toContain(text);
  const png = await readFile(await (await downloaded(page, button("PNG").nth(place))).path());
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([2 * width, 2 * height]);
}
