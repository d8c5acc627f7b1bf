// The trends of a choice, and what can be chosen.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Filters } from "@/api/generated";
import { filtersOptions, trendsOptions } from "@/api/generated/@tanstack/react-query.gen";
import type { TrendsSearch } from "@/search";
import { hostLabel } from "./HostSelect";
import { metricsOf } from "./trends-words";

/** `everyMs`: how often the trends are asked for again; absent: when the reader comes back */
export function useTrends(search: TrendsSearch, everyMs: number | false = false) {
  const filters = useQuery(filtersOptions()).data;
  const trends = useQuery({
    ...trendsOf(search, filters),
    // The machines of the URL are named by labels, which only the filters resolve.
    enabled: search.host === undefined || filters !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
  });
  return { filters, trends };
}

export function trendsOf(search: TrendsSearch, filters?: Filters) {
  const hosts = filters?.host_kinds.filter((kind) => search.host?.includes(hostLabel(kind))) ?? [];
  const query = {
    case_id: search.case,
    library: search.library,
    metric: metricsOf(search),
    pool: hosts.length > 0 ? [...new Set(hosts.map(({ pool }) => pool))] : undefined,
    cpu_model: hosts.length > 0 ? [...new Set(hosts.map(({ cpu_model }) => cpu_model))] : undefined,
  };
  return trendsOptions({ query });
}
