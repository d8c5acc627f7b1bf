// A site that `kexbench publish` wrote: there is no service, and the answers to the pages' questions are files.
import type { HostKind, Matrix } from "@/api/generated";
import type { ComparedPairs } from "./published-joins";

interface Site {
  version: string;
  /** when the newest result was measured */
  newest: string;
  /** the one that is shown first */
  host_kind: HostKind;
}

/** The published answer about a case, which has the lines of every library. */
interface Series {
  lines: { library: string }[];
}

const marker = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="kexbench-published"]');

/** Absent where a service answers. */
export const site: Site | undefined = marker ? JSON.parse(marker.content) : undefined;

/** Samples are compressed: no other files of a site are as large. */
export const SAMPLES_ENDING = "csv.gz";
const API = "/api/v1/";
const OF_HOST = ["matrix", "series"];
const JOINED = ["trends", "cpus", "compare"] as const;
export type Joined = (typeof JOINED)[number];

type Query = Record<string, string>;

/** The same rule as `file_of` in services/src/kexbench/publishing/files.py, tested with the same examples. */
export function fileOf(route: string, query: Query, ending = "json"): string {
  const asked = Object.entries(query)
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
  const { route, query } = asked(address);
  query.delete("limit"); // lists are published whole
  if (!OF_HOST.includes(route)) return fileOf(route, Object.fromEntries(query));
  query.delete("library"); // published for all libraries, see `ofLibraries`
  return fileOf(route, { metric: "cpu_ns", ...host_kind, ...Object.fromEntries(query) });
}

function asked(address: string): { route: string; query: URLSearchParams } {
  const { pathname, searchParams } = new URL(address, "http://site");
  return { route: pathname.replace(API, ""), query: searchParams };
}

/** `fetch` for the API's client. A question whose answer was not published gets a problem, as an unknown one does. */
export function publishedFetch(shown: Site): typeof fetch {
  return async (input) => {
    const request = new Request(input);
    const { route, query } = asked(request.url);
    const load = async <T>(route: string, query: Query): Promise<T | undefined> => {
      const file = await fetch(fileOf(route, query), { signal: request.signal });
      return file.ok ? await file.json() : undefined;
    };
    if (isJoined(route)) {
      const answer = await (await import("./published-joins")).JOINS[route](query, load);
      return answer ? Response.json(answer) : notPublished();
    }
    const file = await fetch(fileFor(request.url, shown), { signal: request.signal });
    if (!file.ok) return notPublished();
    const libraries = query.getAll("library");
    if (!OF_HOST.includes(route) || libraries.length === 0) return file;
    return Response.json(ofLibraries((await file.json()) as Matrix | Series, libraries));
  };
}

function isJoined(route: string): route is Joined {
  return JOINED.some((joined) => joined === route);
}

function notPublished(): Response {
  const problem = { title: "Not found", status: 404, detail: "This site has no results of that." };
  return Response.json(problem, { status: 404 });
}

/** What the API answers where only some libraries are chosen: files for each choice of several would be many. */
export function ofLibraries<T extends Matrix | Series>(answer: T, libraries: string[]): T {
  if ("lines" in answer) {
    return { ...answer, lines: answer.lines.filter(({ library }) => libraries.includes(library)) };
  }
  const subjects = answer.subjects.filter(({ library }) => libraries.includes(library));
  const shown = new Set(subjects.map(({ name }) => name));
  const cells = answer.cells.filter(({ subject }) => shown.has(subject));
  const cases = new Set(cells.map(({ case_id }) => case_id));
  return { ...answer, subjects, cells, cases: answer.cases.filter(({ id }) => cases.has(id)) };
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

/** The versions that a site can compare. */
export const publishedPairsOptions = {
  queryKey: ["published pairs"],
  queryFn: async (): Promise<ComparedPairs> => (await fetch(fileOf("compare", {}))).json(),
};
