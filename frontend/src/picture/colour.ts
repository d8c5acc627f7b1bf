// Colours as every program reads them: style sheets mix them in spaces that only browsers know.

export interface Colour {
  /** "#64a8ec" */
  hex: string;
  /** 0: nothing is seen */
  opacity: number;
}

const read = new Map<string, Colour>();
let pixel: CanvasRenderingContext2D | null | undefined;

export function colourOf(css: string): Colour {
  const seen = read.get(css) ?? painted(css);
  read.set(css, seen);
  return seen;
}

/** A browser says by a pixel what a colour of any space is. */
function painted(css: string): Colour {
  if (css === "none") return { hex: "#000000", opacity: 0 };
  pixel ??= Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", {
    willReadFrequently: true,
  });
  if (!pixel) return { hex: css, opacity: 1 };
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = css;
  pixel.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = pixel.getImageData(0, 0, 1, 1).data;
  const hex = [red, green, blue].map((value) => value.toString(16).padStart(2, "0")).join("");
  return { hex: `#${hex}`, opacity: Math.round((100 * alpha) / 255) / 100 };
}
