// A service that is made of examples: for each operation of openapi.json that reads, what a service with fake libraries
// answered. For developing and for tests of whole pages.
import { getResponse, HttpResponse, http, type RequestHandler } from "msw";
import type { Problem } from "@/api/generated";

interface OpenApi {
  paths: Record<string, { get?: { operationId: string } }>;
}

const SCHEMA = "../../../bench-specs/schema";
const files = import.meta.glob<unknown>(
  ["../../../bench-specs/schema/openapi.json", "../../../bench-specs/schema/examples/answers/**/*.json"],
  { eager: true, import: "default" },
);
const { paths } = files[`${SCHEMA}/openapi.json`] as OpenApi;

/** `stored`: what the service has in its store. */
export function mockApi(stored: "results" | "nothing"): RequestHandler[] {
  const folder = stored === "nothing" ? "empty/" : "";
  return Object.entries(paths).flatMap(([path, { get }]) =>
    get ? http.get(address(path), () => answer(`${folder}${get.operationId}`)) : [],
  );
}

/** `fetch` for the API's client. */
export function mockFetch(handlers: RequestHandler[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    return (await getResponse(handlers, request)) ?? notMocked(`${request.method} ${request.url}`);
  };
}

/** An operation that answers with its example of a problem. */
export function mockProblem(operation: string): RequestHandler {
  const [path = ""] = Object.entries(paths).find(([, { get }]) => get?.operationId === operation) ?? [];
  return http.get(address(path), () => answer(`problem/${operation}`));
}

/** An example by its file's name, such as "matrix" or "empty/matrix". */
export function answerOf<Body>(name: string): Body {
  return files[`${SCHEMA}/examples/answers/${name}.json`] as Body;
}

function address(path: string): string {
  return `*${path.replace(/\{(\w+)\}/g, ":$1")}`;
}

function answer(name: string): Response {
  const body = answerOf<Problem | object | undefined>(name);
  if (!body) return notMocked(name);
  return name.startsWith("problem/") ? problem(body as Problem) : HttpResponse.json(body as object);
}

function notMocked(what: string): Response {
  return problem({
    type: "about:blank",
    title: "Not Implemented",
    status: 501,
    detail: `No example of ${what}.`,
  });
}

function problem(body: Problem): Response {
  return HttpResponse.json(body, {
    status: body.status,
    headers: { "Content-Type": "application/problem+json" },
  });
}
