// Elements of a picture.
import { colourOf } from "./colour";

const SVG = "http://www.w3.org/2000/svg";
export type Attributes = Record<string, string | number | undefined>;

export function element(name: string, attributes: Attributes = {}, children: Node[] = []): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, typeof value === "number" ? rounded(value) : value);
  }
  made.append(...children);
  return made;
}

/** Undefined where nothing would be seen. */
export function paint(kind: "fill" | "stroke", css: string): Attributes | undefined {
  const { hex, opacity } = colourOf(css);
  if (opacity === 0) return undefined;
  return { [kind]: hex, [`${kind}-opacity`]: opacity === 1 ? undefined : opacity };
}

/** Without the control characters that XML forbids. */
export function text(content: string, attributes: Attributes): SVGElement {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
  return element("text", attributes, [new Text(content.replace(/[\u0000-\u001f\ufffe\uffff]/g, " "))]);
}

export function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
