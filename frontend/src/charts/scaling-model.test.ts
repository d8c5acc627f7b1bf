import { describe, expect, it } from "vitest";
import type { ScalingLine } from "@/api/generated";
import { anEstimate, aSubject } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import { coherencyGap, loadModel, scalingModel } from "./scaling-model";

const gnutls = aSubject("gnutls", "3");
const older = aSubject("openssl", "1");
const newer = aSubject("openssl", "2");
const subjects = [gnutls, older, newer];

const aScalingLine = (subject: string, rates: [threads: number, rate: number][]): ScalingLine => ({
  subject,
  points: rates.map(([threads, rate]) => ({
    threads,
    rate: anEstimate(rate, rate * 0.9, rate * 1.1),
    alone: threads > 1 ? anEstimate(rate / threads + 10) : null,
    efficiency: null,
  })),
  contention: { value: 0.1, low: 0.05, high: 0.2 },
  coherency: null,
  peak_threads: null,
});

describe("the model of scaling curves", () => {
  it("has one curve a subject that was measured, coloured by library and marked by version", () => {
    const lines = [aScalingLine(newer.name, [[1, 100]]), aScalingLine(gnutls.name, [[1, 50]])];
    const model = scalingModel({ lines }, subjects);
    expect(model.curves.map(({ subject, hue, shape }) => [subject.library, hue, shape])).toEqual([
      ["gnutls", 0, 0],
      ["openssl", 1, 1],
    ]);
  });

  it("draws the ideal of the threads alone, from one to the most", () => {
    const lines = [
      aScalingLine(older.name, [
        [1, 100],
        [2, 180],
        [4, 300],
      ]),
    ];
    expect(scalingModel({ lines }, subjects).curves[0]?.ideal).toEqual({
      from: { at: 1, rate: 85 },
      to: { at: 4, rate: 340 },
    });
  });

  it("draws no ideal where earlier releases measured no thread alone", () => {
    const line = aScalingLine(older.name, [
      [1, 100],
      [4, 300],
    ]);
    const lines = [{ ...line, points: line.points.map((point) => ({ ...point, alone: null })) }];
    expect(scalingModel({ lines }, subjects).curves[0]?.ideal).toBeNull();
  });

  it("starts the axis at 0 and ends it above every interval and ideal, in round steps", () => {
    const lines = [
      aScalingLine(older.name, [
        [1, 1000],
        [2, 1700],
      ]),
    ];
    const model = scalingModel({ lines }, subjects);
    expect(model.ticks).toEqual([0, 500, 1000, 1500, 2000]);
    expect(model.top).toBe(2000);
    expect(model.places).toEqual([1, 2]);
  });
});

describe("the model of a web server's rates", () => {
  it("draws connections at once, without an ideal that one process could not reach", () => {
    const points = [1, 8, 32].map((concurrency) => ({
      concurrency,
      rate: anEstimate(100 * concurrency),
      server_share: 0.9,
      client_share: 0.5,
    }));
    const greatest = points[2];
    if (!greatest) throw new Error("there are three points");
    const line = { subject: older.name, points, greatest, remark: null };
    const model = loadModel({ lines: [line] }, subjects);
    expect(model.places).toEqual([1, 8, 32]);
    expect(model.top).toBe(4000);
    expect(model.curves.map(({ ideal }) => ideal)).toEqual([null]);
  });
});

describe("a missing coherency", () => {
  const line = aScalingLine("s", [[1, 100]]);

  it("has a reason", async () => {
    await expectGolden("scaling-model", {
      "two thread counts": coherencyGap(line) ?? "",
      "no fit": coherencyGap({ ...line, contention: null }) ?? "",
    });
    expect(coherencyGap({ ...line, coherency: { value: 0, low: 0, high: 0.1 } })).toBeNull();
  });
});
