import { describe, expect, it } from "vitest";
import { originText, placeOf, shortOrigin, versionText } from "./subjects";
import { aSubject } from "./testing/build";

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

  it("are one place each on the axis, commits of one version too", () => {
    const [one, two] = ["1", "2"].map((hash) => ({
      ...aSubject("openssl", "3.6.0-dev"),
      commit: aCommitOf(hash, "2026-11-21"),
    }));
    const places = [one, two, one].map((subject) => subject && placeOf(subject));
    expect(new Set(places).size).toBe(2);
  });
});
