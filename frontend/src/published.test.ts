import { readFileSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { fileFor, fileOf, publishedFetch } from "./published";

const EXAMPLES = "../bench-specs/schema/examples/published-files.json";
const SITE = {
  version: "1",
  newest: "2026-01-01T00:00:00Z",
  host_kind: { pool: "local", cpu_model: "a CPU" },
  front: "overview" as const,
};

interface Example {
  route: string;
  query: Record<string, string>;
  ending: string;
  file: string;
}

afterEach(() => vi.unstubAllGlobals());

it("names files as `kexbench publish` does", () => {
  const examples = JSON.parse(readFileSync(EXAMPLES, "utf8")) as Example[];
  for (const { route, query, ending, file } of examples) {
    expect(fileOf(route, query, ending)).toBe(file);
  }
});

it("asks for one file, whether the defaults are spelt out or not", () => {
  const spelt = fileOf("matrix", { metric: "cpu_ns", pool: "local", cpu_model: "a CPU" });
  for (const query of ["", "?metric=cpu_ns", "?pool=local&cpu_model=a%20CPU"]) {
    expect(fileFor(`/api/v1/matrix${query}`, SITE)).toBe(spelt);
  }
  expect(fileFor("/api/v1/matrix?metric=wall_ns", SITE)).not.toBe(spelt);
  for (const route of ["trends", "cpus"]) {
    expect(fileFor(`/api/v1/${route}?case_id=rsa`, SITE)).toBe(
      fileOf(route, { case_id: "rsa", metric: "cpu_ns" }),
    );
  }
  expect(fileFor("/api/v1/compare", SITE)).toBe("data/compare.json");
  expect(fileFor("https://example.org/api/v1/upgrades?limit=30", SITE)).toBe("data/upgrades.json");
  expect(fileFor("/api/v1/upgrades?library=openssl&limit=30", SITE)).toBe(
    fileOf("upgrades", { library: "openssl" }),
  );
});

it("tells every value of a parameter apart", () => {
  const files = ["case_id=rsa", "case_id=ecdsa", "case_id=rsa&case_id=ecdsa"].map((query) =>
    fileFor(`/api/v1/trends?${query}`, SITE),
  );
  expect(new Set(files).size).toBe(3);
});

it("answers with a file as it is, and with a problem where there is none", async () => {
  const files: Record<string, string> = { "data/compare.json": '{"cells": []}' };
  const server = async (name: string) =>
    new Response(files[name] ?? "<h1>No such file</h1>", { status: name in files ? 200 : 404 });
  vi.stubGlobal("fetch", server);
  const ask = publishedFetch(SITE);
  expect(await (await ask("http://site/api/v1/compare")).text()).toBe('{"cells": []}');
  const missing = await ask("http://site/api/v1/compare?base=a&other=b");
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ detail: "This site has no results of that." });
});
