// The trends of a choice, and what can be chosen.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import type { Trends } from "@/api/generated";
import { filtersOptions } from "@/api/generated/@tanstack/react-query.gen";
import { eachTrendOptions, joinedTrends } from "@/api/trends";
import type { TrendsSearch } from "@/search";
import { hostLabel } from "./HostSelect";
import { metricsOf } from "./trends-words";

/** `everyMs`: how often the trends are asked for again; absent: when the reader comes back */
export function useTrends(search: TrendsSearch, everyMs: number | false = false) {
  const { host, library } = search;
  const filters = useQuery(filtersOptions()).data;
  const select = useCallback(
    (answers: Trends[]) =>
      joinedTrends(
        answers,
        (line) =>
          (host?.includes(hostLabel(line.host_kind)) ?? true) && (library?.includes(line.library) ?? true),
      ),
    [host, library],
  );
  const trends = useQuery({
    ...trendsOf(search),
    select,
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
  });
  return { filters, trends };
}

export function trendsOf(search: TrendsSearch) {
  return eachTrendOptions(search.case, metricsOf(search));
}
