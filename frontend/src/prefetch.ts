// Fetches the first answer of a page when the pointer or the focus rests on a link to it.
import type { QueryClient, UseQueryOptions } from "@tanstack/react-query";
import type { AnyRouter } from "@tanstack/react-router";
import type { Overview } from "./api/generated";
import { overviewQueryKey } from "./api/generated/@tanstack/react-query.gen";
import { parseSearch } from "./search";

const REST_MS = 100;
/** Who passes over the cells of a matrix wants few of their answers, and a machine that measures must not be loaded. */
const MATRIX = "[role=grid]";

interface PageModule {
  /** of what is chosen by the page's address */
  firstAnswer?: (choice: object) => UseQueryOptions | undefined;
}

export function prefetchAnswers(router: AnyRouter, queries: QueryClient): void {
  let pointed: HTMLAnchorElement | null = null;
  let timer: ReturnType<typeof setTimeout>;
  const point = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>("a[href]") : null;
    if (link === pointed) return;
    pointed = link;
    clearTimeout(timer);
    if (link && !link.closest(MATRIX))
      timer = setTimeout(() => void fetchAnswer(link, router, queries), REST_MS);
  };
  document.addEventListener("pointerover", point);
  document.addEventListener("focusin", point);
}

async function fetchAnswer({ href }: HTMLAnchorElement, router: AnyRouter, queries: QueryClient) {
  const { origin, pathname, search } = new URL(href);
  if (origin !== location.origin || href === location.href || isMeasuring(queries)) return;
  const match = router.matchRoutes(pathname, parseSearch(search)).at(-1);
  const module = (await match?.staticData.load?.()) as PageModule | undefined;
  const options = module?.firstAnswer?.({ ...match?.search, ...match?.params });
  if (options && options.enabled !== false) await queries.prefetchQuery(options);
}

/** As far as this page knows. */
function isMeasuring(queries: QueryClient): boolean {
  const overview = queries.getQueryData<Overview>(overviewQueryKey());
  return overview !== undefined && overview.under_way.length > 0;
}
