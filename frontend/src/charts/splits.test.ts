import { describe, expect, it } from "vitest";
import { aCell, anEstimate, aSubject, aTrend } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import { splitsOf, withoutSplit } from "./splits";

const flat = anEstimate(1_000_000, 990_000, 1_010_000);

describe("the client's and the server's share", () => {
  it("joins the two by subject and leaves out what only one side has", () => {
    const [first, second] = ["1", "2"].map((version) => aSubject("openssl", version));
    const lines = [
      aTrend({ metric: "client_cpu_ns" }, [
        [0, 100],
        [1, 110],
      ]),
      aTrend({ metric: "server_cpu_ns" }, [[1, 300]]),
    ];
    const subjects = [first, second].flatMap((subject) => subject ?? []);
    expect(splitsOf({ subjects, lines })).toEqual([
      {
        subject: "openssl@2",
        label: "openssl 2 (debian shared x86_64)",
        clientNs: 110,
        serverNs: 300,
      },
    ]);
  });
});

describe("subjects without a split", () => {
  it("are named with the reason, for this case only", async () => {
    const spoilt = aSubject("openssl", "3.5.4");
    const outcome = {
      kind: "disturbed" as const,
      reason: "other programs ran",
      detail: null,
      invocations: 7,
    };
    const measured = { estimate: flat };
    const matrix = {
      subjects: [spoilt, aSubject("openssl", "3.0.17")],
      cells: [
        aCell("a", spoilt, { estimate: null, outcome }),
        aCell("a", aSubject("openssl", "3.0.17"), measured),
        aCell("b", spoilt, { estimate: null, outcome }),
      ],
    };
    await expectGolden("splits", { "one disturbed subject": withoutSplit(matrix, "a") });
    expect(withoutSplit(undefined, "a")).toEqual([]);
  });
});
