// What a part of a page shows, as SVG: boxes, their lines and hatching, words, and the drawings in it.
import { clippedBy, marksOf } from "./canvas";
import { type Attributes, element, paint, text } from "./svg";

interface Extent {
  right: number;
  bottom: number;
}

interface Place extends Extent {
  marks: SVGElement[];
  /** the element's top left corner is the picture's */
  left: number;
  top: number;
}

/** Only for readers of the page: buttons, hints, and what appears below the pointer. */
const NOT_DRAWN = ".tip, .u-over, .visually-hidden, [data-not-drawn]";

export function drawn(root: HTMLElement): { marks: SVGElement[] } & Extent {
  const { left, top } = root.getBoundingClientRect();
  const place: Place = { marks: [], left, top, right: 0, bottom: 0 };
  const restore = scrolledBack(root);
  try {
    walk(root, place, undefined);
  } finally {
    restore();
  }
  return place;
}

/** A frame is drawn whole, from its beginning. */
function scrolledBack(root: HTMLElement): () => void {
  const scrolled = [...root.querySelectorAll<HTMLElement>("*")].filter(({ scrollLeft }) => scrollLeft !== 0);
  const places = scrolled.map((frame) => [frame, frame.scrollLeft] as const);
  for (const frame of scrolled) frame.scrollLeft = 0;
  return () => {
    for (const [frame, at] of places) frame.scrollLeft = at;
  };
}

/** `limit`: what hides the parts of its content that are outside */
function walk(node: Node, place: Place, limit: DOMRect | undefined): void {
  if (node instanceof Text) words(node, place, limit);
  if (!(node instanceof Element) || node.matches(NOT_DRAWN)) return;
  const style = getComputedStyle(node);
  if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return;
  const box = node.getBoundingClientRect();
  if (node instanceof SVGSVGElement) {
    extend(place, box, limit);
    place.marks.push(drawing(node, box, place));
    return;
  }
  if (node instanceof HTMLCanvasElement) {
    extend(place, box, limit);
    const at = `translate(${box.left - place.left} ${box.top - place.top})`;
    place.marks.push(element("g", { transform: at }, [marksOf(node, box.width)]));
    return;
  }
  boxes(style, box, place, limit);
  const hides = style.overflowX === "hidden" || style.overflowX === "clip";
  if (!hides) {
    for (const child of node.childNodes) walk(child, place, limit);
    return;
  }
  if (box.width < 1 || box.height < 1) return;
  const inside: Place = { ...place, marks: [], right: 0, bottom: 0 };
  for (const child of node.childNodes) walk(child, inside, box);
  extend(place, box, limit);
  if (inside.marks.length > 0) place.marks.push(clippedBy(rectangle(box, place, {}), ...inside.marks));
}

function extend(place: Place, box: DOMRect, limit: DOMRect | undefined): void {
  place.right = Math.max(place.right, Math.min(box.right, limit?.right ?? box.right) - place.left);
  place.bottom = Math.max(place.bottom, Math.min(box.bottom, limit?.bottom ?? box.bottom) - place.top);
}

function rectangle({ left, top, width, height }: DOMRect, place: Place, more: Attributes): SVGElement {
  return element("rect", { x: left - place.left, y: top - place.top, width, height, ...more });
}

const SIDES = ["Top", "Right", "Bottom", "Left"] as const;

function boxes(style: CSSStyleDeclaration, box: DOMRect, place: Place, limit: DOMRect | undefined): void {
  if (box.width === 0 || box.height === 0) return;
  const radius = Number.parseFloat(style.borderTopLeftRadius) || 0;
  const round = style.borderTopLeftRadius.endsWith("%") ? (radius / 100) * box.width : radius;
  const rx = round > 0 ? Math.min(round, box.width / 2, box.height / 2) : undefined;
  const fill = paint("fill", style.backgroundColor);
  const hatching = hatched(style.backgroundImage);
  if (fill) place.marks.push(rectangle(box, place, { rx, ...fill }));
  if (hatching) {
    const id = hatching.getAttribute("id");
    place.marks.push(element("g", {}, [hatching, rectangle(box, place, { rx, fill: `url(#${id})` })]));
  }
  let hasLines = false;
  for (const side of SIDES) {
    const width = Number.parseFloat(style[`border${side}Width`]);
    const stroke = width > 0 && paint("stroke", style[`border${side}Color`]);
    if (!stroke || style[`border${side}Style`] === "none") continue;
    hasLines = true;
    place.marks.push(border(side, box, place, { ...stroke, "stroke-width": width }, width / 2));
  }
  if (fill || hatching || hasLines) extend(place, box, limit);
}

function border(
  side: (typeof SIDES)[number],
  box: DOMRect,
  place: Place,
  attributes: Attributes,
  half: number,
): SVGElement {
  const [x1, x2] = [box.left - place.left, box.right - place.left];
  const [y1, y2] = [box.top - place.top, box.bottom - place.top];
  const lines = {
    Top: { x1, x2, y1: y1 + half, y2: y1 + half },
    Bottom: { x1, x2, y1: y2 - half, y2: y2 - half },
    Left: { x1: x1 + half, x2: x1 + half, y1, y2 },
    Right: { x1: x2 - half, x2: x2 - half, y1, y2 },
  };
  return element("line", { ...lines[side], ...attributes });
}

let patterns = 0;

/** A repeated gradient whose colours change at once: stripes. */
function hatched(image: string): SVGElement | undefined {
  const [, angle = "", stops = ""] = /^repeating-linear-gradient\((-?[\d.]+)deg, (.*)\)$/.exec(image) ?? [];
  const found = [...stops.matchAll(/([a-z]+\([^)]*\)) ([\d.]+)px/g)].map(([, colour = "", at]) => ({
    colour,
    at: Number(at),
  }));
  const period = found.at(-1)?.at;
  if (!period) return undefined;
  patterns += 1;
  const stripes = found.flatMap(({ colour, at }, index) => {
    const next = found[index + 1];
    const fill = next && next.at > at && paint("fill", colour);
    return fill ? [element("rect", { x: at, y: 0, width: next.at - at, height: period, ...fill })] : [];
  });
  return element(
    "pattern",
    {
      id: `hatching-${patterns}`,
      patternUnits: "userSpaceOnUse",
      width: period,
      height: period,
      patternTransform: `rotate(${Number(angle) - 90})`,
    },
    stripes,
  );
}

/** Each line of words, as the page breaks them. */
function words(node: Text, place: Place, limit: DOMRect | undefined): void {
  const { parentElement: parent } = node;
  if (!parent || node.data.trim() === "") return;
  const style = getComputedStyle(parent);
  const fill = paint("fill", style.color);
  if (!fill) return;
  for (const { content, box } of linesOf(node)) {
    if (limit && (box.top >= limit.bottom || box.left >= limit.right)) continue;
    extend(place, box, limit);
    const size = Number.parseFloat(style.fontSize);
    place.marks.push(
      text(content, {
        x: box.left - place.left,
        // The box of a line of words has room for the parts below the line, a fifth of the font's size.
        y: (box.top + box.bottom) / 2 - place.top + 0.35 * size,
        textLength: box.width,
        lengthAdjust: "spacingAndGlyphs",
        "font-size": size,
        "font-family": style.fontFamily,
        "font-weight": style.fontWeight === "400" ? undefined : style.fontWeight,
        "font-style": style.fontStyle === "normal" ? undefined : style.fontStyle,
        ...fill,
      }),
    );
  }
}

function linesOf(node: Text): { content: string; box: DOMRect }[] {
  const range = document.createRange();
  const lines: { start: number; end: number; top: number }[] = [];
  // Characters, not words: a long name breaks anywhere.
  for (let at = 0; at < node.length; at += 1) {
    if (/\s/.test(node.data[at] ?? "")) continue;
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const { top } = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last && Math.abs(last.top - top) < 2) last.end = at + 1;
    else lines.push({ start: at, end: at + 1, top });
  }
  return lines.flatMap(({ start, end }) => {
    range.setStart(node, start);
    range.setEnd(node, end);
    const box = range.getBoundingClientRect();
    const content = node.data.slice(start, end).replace(/\s+/g, " ");
    return box.width > 0 ? [{ content, box }] : [];
  });
}

const PAINTS = ["fill", "stroke"] as const;
const KEPT = [
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "font-size",
  "font-family",
  "text-anchor",
] as const;
const USUAL = new Set(["", "none", "butt", "1", "1px", "start"]);

/** A drawing of the page with what its style sheet says written into it. */
function drawing(source: SVGSVGElement, box: DOMRect, place: Place): SVGElement {
  const copy = source.cloneNode(true) as SVGSVGElement;
  const originals = source.querySelectorAll<SVGElement>("*");
  const copies = copy.querySelectorAll<SVGElement>("*");
  originals.forEach((original, index) => {
    const own = copies[index];
    if (own) settle(own, getComputedStyle(original));
  });
  const view = source.viewBox.baseVal;
  const [width, height] = view?.width ? [view.width, view.height] : [box.width, box.height];
  for (const { name } of [...copy.attributes]) copy.removeAttribute(name);
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("x", String(box.left - place.left));
  copy.setAttribute("y", String(box.top - place.top));
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  return copy;
}

function settle(mark: SVGElement, style: CSSStyleDeclaration): void {
  mark.removeAttribute("class");
  mark.removeAttribute("style");
  if (mark.localName === "g" || mark.localName === "title") return;
  for (const kind of PAINTS) {
    const painted = paint(kind, style.getPropertyValue(kind)) ?? { [kind]: "none" };
    for (const [name, value] of Object.entries(painted)) {
      if (value !== undefined) mark.setAttribute(name, String(value));
    }
  }
  for (const name of KEPT) {
    const value = style.getPropertyValue(name);
    if (!USUAL.has(value) && (mark.localName === "text" || !/^(font|text)/.test(name))) {
      mark.setAttribute(name, value);
    }
  }
}
