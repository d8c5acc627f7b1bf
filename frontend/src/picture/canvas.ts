// The lines and words of a chart on a canvas: it is drawn once more, and what is drawn is written down.
import { redraws } from "./redraws";
import { type Attributes, element, paint, rounded, text } from "./svg";

const FULL = 2 * Math.PI;

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

/** A path as the data of an SVG path. Angles of arcs are those of a whole circle: the charts have no others. */
class Path {
  data = "";
  moveTo(x: number, y: number) {
    this.data += `M${rounded(x)} ${rounded(y)}`;
  }
  lineTo(x: number, y: number) {
    this.data += `${this.data ? "L" : "M"}${rounded(x)} ${rounded(y)}`;
  }
  rect(x: number, y: number, width: number, height: number) {
    this.data += `M${rounded(x)} ${rounded(y)}h${rounded(width)}v${rounded(height)}h${rounded(-width)}Z`;
  }
  arc(x: number, y: number, radius: number, from: number, to: number) {
    if (Math.abs(to - from) < FULL) throw new Error("only whole circles are written down");
    const [r, across] = [rounded(radius), rounded(2 * radius)];
    this.data += `M${rounded(x - radius)} ${rounded(y)}a${r} ${r} 0 1 0 ${across} 0a${r} ${r} 0 1 0 -${across} 0Z`;
  }
  closePath() {
    this.data += "Z";
  }
}

/** A browser's path that can also be read. */
class NotedPath extends Path2D {
  readonly noted = new Path();
  constructor(other?: Path2D | string) {
    super(other);
    if (other instanceof NotedPath) this.noted.data = other.noted.data;
  }
  override moveTo(x: number, y: number) {
    super.moveTo(x, y);
    this.noted.moveTo(x, y);
  }
  override lineTo(x: number, y: number) {
    super.lineTo(x, y);
    this.noted.lineTo(x, y);
  }
  override rect(x: number, y: number, width: number, height: number) {
    super.rect(x, y, width, height);
    this.noted.rect(x, y, width, height);
  }
  override arc(x: number, y: number, radius: number, from: number, to: number) {
    super.arc(x, y, radius, from, to);
    this.noted.arc(x, y, radius, from, to);
  }
  override closePath() {
    super.closePath();
    this.noted.closePath();
  }
}

/** What a context is told to draw. It draws it as well, so the page stays as it is. */
class Notes {
  readonly marks: SVGElement[] = [];
  private path = new Path();
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
        this.path = new Path();
      },
      moveTo: (x, y) => {
        original.moveTo.call(context, x, y);
        this.path.moveTo(x, y);
      },
      lineTo: (x, y) => {
        original.lineTo.call(context, x, y);
        this.path.lineTo(x, y);
      },
      rect: (x, y, width, height) => {
        original.rect.call(context, x, y, width, height);
        this.path.rect(x, y, width, height);
      },
      arc: (x, y, radius, from, to) => {
        original.arc.call(context, x, y, radius, from, to);
        this.path.arc(x, y, radius, from, to);
      },
      fill: (...given: unknown[]) => {
        Reflect.apply(original.fill, context, given);
        this.draw("path", { d: pathOf(given[0]).data }, paint("fill", String(context.fillStyle)));
      },
      stroke: (...given: unknown[]) => {
        Reflect.apply(original.stroke, context, given);
        const stroke = paint("stroke", String(context.strokeStyle));
        const dash = context.getLineDash().map(rounded).join(" ") || undefined;
        this.draw(
          "path",
          { d: pathOf(given[0]).data, fill: "none" },
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
        this.clips.push(pathOf(given[0]).data);
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
