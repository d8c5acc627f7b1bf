// The lines and words of a chart on a canvas: it is drawn once more, and what is drawn is written down.
import { type Path, pathRound } from "d3-path";
import { redraws } from "./redraws";
import { type Attributes, element, paint, rounded, text } from "./svg";

/** A canvas whose chart cannot draw itself again is kept as pixels. */
export function marksOf(canvas: HTMLCanvasElement, width: number): SVGElement {
  const redraw = redraws.get(canvas);
  const context = canvas.getContext("2d");
  if (!redraw || !context) {
    return element("image", {
      href: canvas.toDataURL(),
      width,
      height: (width * canvas.height) / canvas.width,
    });
  }
  const notes = new Notes(context);
  const Original = globalThis.Path2D;
  globalThis.Path2D = NotedPath;
  Object.assign(context, notes.overrides());
  try {
    redraw();
  } finally {
    globalThis.Path2D = Original;
    for (const name of Object.keys(notes.overrides())) Reflect.deleteProperty(context, name);
  }
  return element("g", { transform: `scale(${width / canvas.width})` }, notes.marks);
}

const COMMANDS = ["moveTo", "lineTo", "rect", "arc", "closePath"] as const;

/** The commands that paths are made with: `original` obeys them as before, and they are written down. */
function noting<T extends Path2D | CanvasRenderingContext2D>(target: T, original: T, noted: () => Path) {
  const commands = COMMANDS.map((name) => {
    const command = (...given: unknown[]) => {
      Reflect.apply(original[name], target, given);
      const path = noted();
      // On a canvas the first line of a path only moves.
      Reflect.apply(path[name === "lineTo" && `${path}` === "" ? "moveTo" : name], path, given);
    };
    return [name, command];
  });
  return Object.fromEntries(commands);
}

/** A browser's path that can also be read. */
class NotedPath extends Path2D {
  readonly noted = pathRound(2);
  constructor(other?: Path2D | string) {
    super(other);
    if (other instanceof NotedPath) Object.assign(this.noted, other.noted);
    const { noted } = this;
    Object.assign(
      this,
      noting(this, Path2D.prototype, () => noted),
    );
  }
}

/** What a context is told to draw. It draws it as well, so the page stays as it is. */
class Notes {
  readonly marks: SVGElement[] = [];
  private path = pathRound(2);
  private clips: string[] = [];
  private saved: string[][] = [];
  private readonly original = CanvasRenderingContext2D.prototype;

  constructor(private readonly context: CanvasRenderingContext2D) {}

  overrides(): Partial<CanvasRenderingContext2D> {
    const { context, original } = this;
    const pathOf = (path: unknown) => (path instanceof NotedPath ? path.noted : this.path);
    return {
      beginPath: () => {
        original.beginPath.call(context);
        this.path = pathRound(2);
      },
      ...noting(context, original, () => this.path),
      fill: (...given: unknown[]) => {
        Reflect.apply(original.fill, context, given);
        this.draw("path", { d: `${pathOf(given[0])}` }, paint("fill", String(context.fillStyle)));
      },
      stroke: (...given: unknown[]) => {
        Reflect.apply(original.stroke, context, given);
        const stroke = paint("stroke", String(context.strokeStyle));
        const dash = context.getLineDash().map(rounded).join(" ") || undefined;
        this.draw(
          "path",
          { d: `${pathOf(given[0])}`, fill: "none" },
          stroke && {
            ...stroke,
            "stroke-width": context.lineWidth,
            "stroke-dasharray": dash,
            "stroke-linecap": context.lineCap === "butt" ? undefined : context.lineCap,
            "stroke-linejoin": context.lineJoin === "miter" ? undefined : context.lineJoin,
          },
        );
      },
      clip: (...given: unknown[]) => {
        Reflect.apply(original.clip, context, given);
        this.clips.push(`${pathOf(given[0])}`);
      },
      save: () => {
        original.save.call(context);
        this.saved.push([...this.clips]);
      },
      restore: () => {
        original.restore.call(context);
        this.clips = this.saved.pop() ?? [];
      },
      fillText: (words, x, y) => {
        original.fillText.call(context, words, x, y);
        this.write(words, x, y);
      },
    };
  }

  private write(words: string, x: number, y: number) {
    const { font, textAlign, textBaseline, fillStyle } = this.context;
    const fill = paint("fill", String(fillStyle));
    if (!fill || words.trim() === "") return;
    const [, size = "12", family] = /([\d.]+)px (.+)$/.exec(font) ?? [];
    const down = { top: 0.8, hanging: 0.8, middle: 0.35, bottom: -0.2, ideographic: -0.2, alphabetic: 0 };
    const anchor = { center: "middle", right: "end", end: "end", left: undefined, start: undefined };
    this.add(
      text(words, {
        x,
        y: y + down[textBaseline] * Number(size),
        transform: this.transform(),
        "font-size": size,
        "font-family": family,
        "font-weight": /\bbold\b/.test(font) ? "bold" : undefined,
        "text-anchor": anchor[textAlign],
        ...fill,
      }),
    );
  }

  private draw(name: string, attributes: Attributes, painted: Attributes | undefined) {
    const { globalAlpha: opacity } = this.context;
    if (!painted || attributes.d === "") return;
    this.add(
      element(name, {
        ...attributes,
        ...painted,
        opacity: opacity === 1 ? undefined : opacity,
        transform: this.transform(),
      }),
    );
  }

  private transform(): string | undefined {
    const matrix = this.context.getTransform();
    if (matrix.isIdentity) return undefined;
    const { a, b, c, d, e, f } = matrix;
    return `matrix(${[a, b, c, d].map((value) => value.toFixed(4)).join(" ")} ${rounded(e)} ${rounded(f)})`;
  }

  private add(mark: SVGElement) {
    let clipped = mark;
    for (const data of this.clips) clipped = clippedBy(element("path", { d: data }), clipped);
    this.marks.push(clipped);
  }
}

let clips = 0;

/** Ids are unique in a page, since a picture may stand in one with others. */
export function clippedBy(shape: SVGElement, ...marks: SVGElement[]): SVGElement {
  clips += 1;
  const id = `clip-${clips}`;
  return element("g", {}, [
    element("clipPath", { id }, [shape]),
    element("g", { "clip-path": `url(#${id})` }, marks),
  ]);
}
