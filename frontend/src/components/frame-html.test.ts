import { expect, it } from "vitest";
import { frameHtml } from "./frame-html";

it("writes an address and a title that mean the same in HTML", () => {
  const address = 'https://example.org/embed/trends?library=a&library=b&base="1"';
  const title = `<b>"3" & 'x'`;
  const html = frameHtml(address, title, 1);
  expect(html).toContain("?library=a&amp;library=b&amp;base=&quot;1&quot;");
  expect(html).toContain(`title="&lt;b&gt;&quot;3&quot; &amp; 'x'"`);
  expect(html).toMatch(/^<iframe [^<>]*><\/iframe>$/);
});

it("is as high as its charts", () => {
  const heightOf = (charts: number) => Number(/height="(\d+)"/.exec(frameHtml("", "", charts))?.[1]);
  expect(heightOf(4) - heightOf(3)).toBe(heightOf(2) - heightOf(1));
  expect(heightOf(2)).toBeGreaterThan(1.7 * heightOf(1));
});
