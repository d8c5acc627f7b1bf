// Series as a published site has them.
import type { Estimate } from "@/api/generated";
import type { Series, SeriesLine } from "@/published-joins";
import { aCase } from "./build";

export function aLine(
  library: string,
  profile: string,
  points: [version: string, estimate: Estimate][],
): SeriesLine {
  return {
    library,
    build_profile_label: profile,
    points: points.map(([version, estimate]) => ({
      subject: `${library}@${version}~${profile}`,
      run_id: "r",
      measured_at: "2026-01-01T00:00:00Z",
      estimate,
    })),
    change_points: [],
    through_sentinel: false,
  };
}

export function aSeries(lines: SeriesLine[]): Series {
  return { case: aCase("c"), host_kind: { pool: "local", cpu_model: "a CPU" }, metric: "cpu_ns", lines };
}
