import { describe, expect, it } from "vitest";
import type { CpuRow } from "@/api/generated";
import { aMove, anEstimate, aSubject } from "@/testing/build";
import { byLibrary, maskText, rateShare, relativeText } from "./cpus-model";

function aRow(cpu: string, library: string, ns: number, row: Partial<CpuRow> = {}): CpuRow {
  return {
    host_kind: { pool: "local", cpu_model: cpu },
    subject: aSubject(library, "1"),
    estimate: anEstimate(ns),
    run_id: "r",
    measured_at: "2026-01-01T00:00:00Z",
    relation: "base",
    relative: null,
    cautions: [],
    change: null,
    cpu_features: [],
    used_features: null,
    ...row,
  };
}

describe("one case on all CPUs", () => {
  it("has a ratio with its interval, or the reason why not", () => {
    expect(relativeText({ relation: "compared", relative: aMove(2) })).toBe("2.00× [1.99, 2.01]");
    expect(relativeText({ relation: "base", relative: null })).toBe("reference");
    expect(relativeText({ relation: "other version", relative: null })).toContain("was not measured");
    expect(relativeText({ relation: "other work", relative: null })).toBe("not comparable");
    expect(relativeText({ relation: "few invocations", relative: null })).toContain("too few");
  });

  it("has the fastest CPU of a library first, with the longest bar", () => {
    const rows = [aRow("A", "openssl", 200), aRow("B", "openssl", 100), aRow("A", "gnutls", 50)];
    const [library, own] = byLibrary(rows)[1] ?? ["", []];
    expect(library).toBe("gnutls");
    const openssl = byLibrary(rows)[0]?.[1] ?? [];
    expect(openssl.map(({ host_kind }) => host_kind.cpu_model)).toEqual(["B", "A"]);
    expect(openssl.map((row) => rateShare(openssl, row))).toEqual([1, 0.5]);
    expect(own).toHaveLength(1);
  });

  it("says what a case takes away", () => {
    expect(maskText({ cpu_features: "native" })).toBeUndefined();
    expect(maskText({ cpu_features: "x86-64-v2" })).toContain("x86-64-v2");
  });
});
