import { describe, expect, it } from "vitest";
import { seriesModel } from "@/charts/series-model";
import { originText, placeOf, shortOrigin, versionText } from "./subjects";
import { aLine, anEstimate, aSeries, aSubject } from "./testing/build";

function aCommitOf(hash: string, day: string) {
  const moment = `${day}T10:00:00Z`;
  return { hash: hash.repeat(40), committed_at: moment, authored_at: moment, subject: "Fix a leak" };
}

describe("subjects", () => {
  it("are a version and where it is from", () => {
    const subject = aSubject("openssl", "3.5.7");
    expect([versionText(subject), originText(subject)]).toEqual(["3.5.7", "debian/trixie"]);
  });

  it("are of a commit its short hash, day and first line", () => {
    const subject = { ...aSubject("openssl", "3.6.0-dev"), commit: aCommitOf("a", "2026-11-21") };
    expect(versionText(subject)).toBe("3.6.0-dev aaaaaaa");
    expect(originText(subject)).toBe("2026-11-21, Fix a leak");
    expect(shortOrigin(subject)).toBe("2026-11-21");
  });

  it("are one place each on the axis, commits of one version in the order of their history", () => {
    const line = aLine("openssl", "git", [
      ["b", anEstimate(1)],
      ["a", anEstimate(2)],
    ]);
    line.points.forEach((point, index) => {
      point.version = "3.6.0-dev";
      point.commit = aCommitOf(index === 0 ? "2" : "1", "2026-11-21");
    });
    const { slots, lines } = seriesModel(aSeries([line]), "cost");
    expect(slots.map((slot) => slot.version)).toEqual(["3.6.0-dev 1111111", "3.6.0-dev 2222222"]);
    expect(lines[0]?.points.map((point) => point.x)).toEqual([1, 0]);
    expect(new Set(line.points.map(placeOf)).size).toBe(2);
  });
});
