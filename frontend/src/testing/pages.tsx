// Whole pages in tests, with the mock API instead of a service.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { cleanup, configure, render } from "@testing-library/react";
import type { RequestHandler } from "msw";
import { afterEach } from "vitest";
import { client } from "@/api/generated/client.gen";
import type { paths } from "@/paths";
import { makeRouter, router } from "@/router";
import { mockApi, mockFetch } from "./mock-api";

// The first page of a test file waits for its scripts, which takes longer than the second that is usual.
configure({ asyncUtilTimeout: 30_000 });
afterEach(cleanup);

export type Target = ReturnType<(typeof paths)[keyof typeof paths]>;

export function openPage(target: Target, api: RequestHandler[] = mockApi("results")) {
  client.setConfig({ fetch: mockFetch(api), baseUrl: location.origin });
  const { href } = router.buildLocation(target);
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  return render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={makeRouter(createMemoryHistory({ initialEntries: [href] }))} />
    </QueryClientProvider>,
  );
}
