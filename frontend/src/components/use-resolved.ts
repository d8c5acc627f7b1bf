// An answer with cells, as far as its machine can tell them apart.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Cell, HostKind, Metric, SubjectView } from "@/api/generated";
import { qualificationsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { QUALIFIED, withinResolution } from "@/charts/resolution";
import { DEFAULT_INVOCATIONS, invocationsOf } from "@/search";

interface WithCells {
  metric: Metric;
  subjects: SubjectView[];
  cells: Cell[];
}

/**
 * `invocations`: of the comparisons that the cells hold. Nothing until the limits are known, lest a change be shown
 * and taken back; the plain answer where they can't be had.
 */
export function useResolved<T extends WithCells>(
  answer: T | undefined,
  host: HostKind | null | undefined,
  invocations = DEFAULT_INVOCATIONS,
): T | undefined {
  const { data, isLoading } = useQuery({
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
    if (!answer) return undefined;
    const { cells, subjects, metric } = answer;
    if (!data) return isLoading && metric === QUALIFIED ? undefined : answer;
    return { ...answer, cells: withinResolution(cells, subjects, metric, data.rows) };
  }, [answer, data, isLoading]);
}
