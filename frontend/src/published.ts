// A site that `kexbench publish` wrote: there is no service, and the answers to the pages' questions are files.
import type { HostKind } from "@/api/generated";

interface Site {
  version: string;
  /** when the newest result was measured */
  newest: string;
  /** the one that is shown first */
  host_kind: HostKind;
  /** the page that an address without a page opens */
  front: "overview" | "stacks";
}

const marker = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="kexbench-published"]');

/** Absent where a service answers. */
export const site: Site | undefined = marker ? JSON.parse(marker.content) : undefined;

/** Samples are compressed: no other files of a site are as large. */
export const SAMPLES_ENDING = "csv.gz";
const API = "/api/v1/";

type Query = Record<string, string>;

/** The same rule as `file_of` in services/src/kexbench/publishing/files.py, tested with the same examples. */
export function fileOf(route: string, query: Query | URLSearchParams, ending = "json"): string {
  const asked = [...new URLSearchParams(query)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
  return `data/${route}${asked && `/${fnv1a(asked)}`}.${ending}`;
}

function fnv1a(text: string): string {
  let digest = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    digest = BigInt.asUintN(64, (digest ^ BigInt(byte)) * 0x100000001b3n);
  }
  return digest.toString(16).padStart(16, "0");
}

/** The file with the answer to a request, whatever the request leaves to the API's defaults. */
export function fileFor(address: string, { host_kind }: Pick<Site, "host_kind">): string {
  const { pathname, searchParams: query } = new URL(address, "http://site");
  const route = pathname.replace(API, "");
  query.delete("limit"); // lists are published whole
  const metric = { metric: "cpu_ns" };
  const usual: Record<string, Query> = {
    matrix: { ...metric, ...host_kind },
    trends: metric,
    cpus: metric,
  };
  for (const [name, value] of Object.entries(usual[route] ?? {})) {
    if (!query.has(name)) query.set(name, value);
  }
  return fileOf(route, query);
}

/** `fetch` for the API's client. A question whose answer was not published gets a problem, as an unknown one does. */
export function publishedFetch(shown: Site): typeof fetch {
  return async (input) => {
    const request = new Request(input);
    const file = await fetch(fileFor(request.url, shown), { signal: request.signal });
    return file.ok ? file : notPublished();
  };
}

function notPublished(): Response {
  const problem = { title: "Not found", status: 404, detail: "This site has no results of that." };
  return Response.json(problem, { status: 404 });
}

/** A file of samples as a reader wants it. Some servers send what is compressed so that a browser unpacks it by itself. */
export async function publishedSamples(address: string): Promise<Blob> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error("The file with the samples is missing.");
  const content = await answer.blob();
  const [first, second] = new Uint8Array(await content.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return content;
  return await new Response(content.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}

/** The versions that a site compares, by unique name; the last measured pair is the first. */
export type ComparedPairs = [base: string, other: string][];

export const publishedPairsOptions = {
  queryKey: ["published pairs"],
  queryFn: async (): Promise<ComparedPairs> => (await fetch("data/pairs.json")).json(),
};
