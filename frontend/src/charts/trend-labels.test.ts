import { describe, expect, it } from "vitest";
import { labelsInSight, type TrendLabels, trendLabels } from "./trend-labels";

const LETTER = 7;
const LINE = 12;

function slots(count: number, version: (index: number) => string) {
  return Array.from({ length: count }, (_, x) => ({ x, version: version(x) }));
}

/** Pixels between neighbours that are shown: beside each other, or across the direction of those that stand aslant. */
function leastGap({ texts, rotate }: TrendLabels, places: { x: number }[], width: number): number {
  const slot = width / ((places.at(-1)?.x ?? 0) + 1);
  const shown = texts.flatMap((text, index) => (text ? [{ text, at: (places[index]?.x ?? 0) * slot }] : []));
  const gaps = shown.slice(1).map((label, index) => {
    const before = shown[index];
    if (!before) return Number.POSITIVE_INFINITY;
    const distance = label.at - before.at;
    if (rotate) return distance * Math.sin((rotate * Math.PI) / 180) - LINE;
    const half = (text: string) => (LETTER * text.length) / 2;
    return distance - half(label.text) - half(before.text);
  });
  return Math.min(...gaps);
}

describe("labels below a trend", () => {
  it.each([280, 640, 1200])("never overlap on a plot of %i pixels", (width) => {
    for (const count of [1, 2, 5, 9, 14, 40, 300]) {
      for (const version of [
        (index: number) => `3.0.${index}`,
        (index: number) => `3.6.0-dev 0a1b2c3d4e5${index}`,
      ]) {
        const places = slots(count, version);
        const labels = trendLabels(places, width);
        expect(leastGap(labels, places, width), `${count} of ${version(0)}`).toBeGreaterThanOrEqual(0);
        expect(labels.texts[0]).not.toBe("");
      }
    }
  });

  it("stand level where there is room, and aslant where there is not", () => {
    const two = slots(2, (index) => `3.0.${index}-beta`);
    const texts = ["3.0.0-beta", "3.0.1-beta"];
    expect(trendLabels(two, 600)).toEqual({ texts, rotate: 0, size: 44 });
    const close = trendLabels(two, 100);
    expect(close.texts).toEqual(texts);
    expect(close.rotate).toBeGreaterThan(0);
    expect(close.size).toBeGreaterThan(70 * Math.sin((close.rotate * Math.PI) / 180));
  });
});

describe("labels of a part of the axis", () => {
  const all = slots(200, (index) => `3.${index}.0`);

  it("name more versions the smaller the part is, and none twice", () => {
    const shown = [200, 50, 10].map((amount) => labelsInSight(all, [-0.5, amount - 0.5], 900));
    for (const { xs, texts } of shown) expect(texts).toEqual(xs.map((x) => `3.${x}.0`));
    const share = shown.map(({ xs }, index) => xs.length / ([200, 50, 10][index] ?? 1));
    expect(share).toEqual([...share].sort((a, b) => a - b));
    expect(shown[2]).toMatchObject({ xs: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], rotate: 0 });
  });

  it("are none between two versions", () => {
    expect(labelsInSight(all, [3.2, 3.8], 900).texts).toEqual([]);
  });
});
