// A chart as a file: what the page shows, below its title and where the numbers are from.
import { drawn } from "./html";
import { element, paint, text } from "./svg";

export interface Caption {
  title: string;
  /** what was measured, where and when */
  facts: string[];
}

const MARGIN = 16;
const LEAST_WIDTH = 360;
const TITLE = { size: 17, weight: 600, line: 24 };
const FACT = { size: 13, weight: 400, line: 19 };
/** Twice the pixels, for screens and paper of a high resolution. */
const SCALE = 2;
/** Browsers draw nothing on a larger canvas. */
const MOST_PIXELS = 16_000;

export function svgOf(chart: HTMLElement, caption: Caption): string {
  const { marks, right, bottom } = drawn(chart);
  const inner = Math.max(LEAST_WIDTH, Math.ceil(right));
  const style = getComputedStyle(document.body);
  const lines = [
    ...broken(caption.title, inner, TITLE, style.fontFamily).map((words) => ({ ...TITLE, words })),
    ...caption.facts.flatMap((fact) =>
      broken(fact, inner, FACT, style.fontFamily).map((words) => ({ ...FACT, words })),
    ),
  ];
  let y = MARGIN;
  const heading = lines.map(({ words, size, weight, line }) => {
    y += line;
    return text(words, {
      x: MARGIN,
      y: y - 0.3 * line,
      "font-size": size,
      "font-weight": weight,
      "font-family": style.fontFamily,
      ...paint("fill", style.color),
    });
  });
  const width = inner + 2 * MARGIN;
  const height = Math.ceil(y + MARGIN / 2 + bottom + MARGIN);
  const picture = element(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": caption.title },
    [
      element("rect", { width, height, ...paint("fill", style.backgroundColor) }),
      ...heading,
      element("g", { transform: `translate(${MARGIN} ${y + MARGIN / 2})` }, marks),
    ],
  );
  return new XMLSerializer().serializeToString(picture);
}

export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { width, height } = image;
  const scale = Math.min(SCALE, MOST_PIXELS / Math.max(width, height));
  const canvas = Object.assign(document.createElement("canvas"), {
    width: Math.round(scale * width),
    height: Math.round(scale * height),
  });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((resolve, reject) => {
    canvas.toBlob(
      (png) => (png ? resolve(png) : reject(new Error("the browser made no picture"))),
      "image/png",
    );
  });
}

/** Lines that are not wider than the picture. */
function broken(words: string, width: number, font: typeof TITLE, family: string): string[] {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return [words];
  context.font = `${font.weight} ${font.size}px ${family}`;
  const lines: string[] = [];
  for (const word of words.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && context.measureText(`${last} ${word}`).width <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
