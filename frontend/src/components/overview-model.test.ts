import { describe, expect, it } from "vitest";
import type { LibraryState } from "@/api/generated";
import { anEnd } from "@/testing/build";
import { ago, staleReasons, worstOf } from "./overview-model";

const NOW = Date.parse("2026-03-01T12:00:00Z");

function aState(state: Partial<LibraryState>): LibraryState {
  return {
    library: "openssl",
    newest: anEnd("3.5.4"),
    measured_at: "2026-03-01T00:00:00Z",
    upgrade: null,
    unmeasured: [],
    ...state,
  };
}

describe("the overview's words", () => {
  it("says how long ago", () => {
    expect(ago("2026-03-01T00:00:00Z", NOW)).toBe("today");
    expect(ago("2026-02-28T00:00:00Z", NOW)).toBe("yesterday");
    expect(ago("2026-02-01T00:00:00Z", NOW)).toBe("28 days ago");
  });

  it("calls a library stale if nothing was measured for long, or not its newest versions", () => {
    expect(staleReasons(aState({}), NOW)).toEqual([]);
    expect(staleReasons(aState({ measured_at: "2026-01-01T00:00:00Z" }), NOW)).toHaveLength(1);
    expect(staleReasons(aState({ unmeasured: ["3.6.0", "3.6.1"] }), NOW)).toEqual([
      "Newer versions that are not measured: 3.6.0, 3.6.1",
    ]);
    const many = ["1", "2", "3", "4", "5", "6"];
    expect(staleReasons(aState({ unmeasured: many }), NOW)[0]).toContain("3, 4, 5, 6 and 2 more");
  });

  it("colours a library by the worst change of its newest upgrade", () => {
    const upgrade = (counts: Record<string, number>) => ({
      library: "openssl" as const,
      cells: 11,
      before: anEnd("3.5.3"),
      after: anEnd("3.5.4"),
      measured_at: "2026-03-01T00:00:00Z",
      sentence: "",
      counts,
    });
    expect(worstOf(aState({}))).toBe("");
    expect(worstOf(aState({ upgrade: upgrade({ more: 1, less: 9 }) }))).toBe("more");
    expect(worstOf(aState({ upgrade: upgrade({ less: 9, same: 2 }) }))).toBe("less");
  });
});
