import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { client } from "./api/generated/client.gen";
import { acceptOutdated } from "./api/outdated";
import { prefetchAnswers } from "./prefetch";
import { publishedFetch, site } from "./published";
import { router } from "./router";
import "./styles.css";

// One retry: an answer that says what is wrong should reach the reader soon.
const queries = new QueryClient({
  defaultOptions: { queries: { staleTime: 10_000, retry: 1, retryDelay: 500 } },
});

if (site) client.setConfig({ fetch: publishedFetch(site) });
else {
  acceptOutdated(client, queries);
  prefetchAnswers(router, queries);
}
if (import.meta.env.MODE === "mock") {
  const { mockApi, mockFetch } = await import("./testing/mock-api");
  client.setConfig({ fetch: mockFetch(mockApi("results")) });
}

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
