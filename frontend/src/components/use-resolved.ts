// An answer with cells, as far as its machine can tell them apart.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Cell, HostKind, Metric, SubjectView } from "@/api/generated";
import { qualificationsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { withinResolution } from "@/charts/resolution";
import { DEFAULT_INVOCATIONS, invocationsOf } from "@/search";

interface WithCells {
  metric: Metric;
  subjects: SubjectView[];
  cells: Cell[];
}

/** `invocations`: of the comparisons that the cells hold. */
export function useResolved<T extends WithCells>(
  answer: T | undefined,
  host: HostKind | null | undefined,
  invocations = DEFAULT_INVOCATIONS,
): T | undefined {
  const { data } = useQuery({
    ...qualificationsOptions({
      query: {
        pool: host?.pool,
        cpu_model: host?.cpu_model,
        invocations: invocationsOf(invocations) ?? DEFAULT_INVOCATIONS,
      },
    }),
    enabled: Boolean(host),
  });
  return useMemo(() => {
    if (!answer || !data) return answer;
    const { cells, subjects, metric } = answer;
    return { ...answer, cells: withinResolution(cells, subjects, metric, data.rows) };
  }, [answer, data]);
}
