// Who uses the page: the person who is logged in, if this service has a login.
import { useQuery } from "@tanstack/react-query";
import { meOptions } from "@/api/generated/@tanstack/react-query.gen";
import { site } from "@/published";

export function useMe() {
  return useQuery({ ...meOptions(), enabled: !site, staleTime: 60_000, retry: false }).data;
}

/** Where to log in, to come back to this page. */
export function loginAddress(login: string): string {
  return `${login}?next=${encodeURIComponent(window.location.pathname + window.location.search)}`;
}
