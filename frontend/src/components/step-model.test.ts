import { describe, expect, it } from "vitest";
import { aCell, aChange, anEndOf, aSubject } from "@/testing/build";
import { stepsOf } from "./step-model";

describe("the steps of a run", () => {
  it("name what changed along with the library, and those without are left out", () => {
    const [before, after, later] = ["3.7.9", "3.8.9", "3.8.10"].map((version) =>
      aSubject("gnutls", version),
    ) as [ReturnType<typeof aSubject>, ReturnType<typeof aSubject>, ReturnType<typeof aSubject>];
    const nettle = { what: "nettle", before: "3.8.1", after: "3.10.1" };
    const change = aChange({ before: anEndOf(before), components: [nettle] });
    const cells = [
      aCell("a", after, { change }),
      aCell("b", after, { change }),
      aCell("a", later, { change: aChange({ before: anEndOf(after) }) }),
    ];
    const priors = new Map([
      [after.name, before],
      [later.name, after],
    ]);
    expect(stepsOf(priors, [before, after, later], cells)).toEqual([
      { title: "GnuTLS 3.7.9 → 3.8.9", dependencies: "nettle 3.8.1 → 3.10.1" },
    ]);
  });
});
