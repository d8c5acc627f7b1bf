import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { router } from "./router";
import {
  alertSearch,
  commitsSearch,
  compareChoice,
  compareSearch,
  forwardSecrecySearch,
  homeSearch,
  machineSearch,
  parseSearch,
  runSearch,
  seriesSearch,
  stringifySearch,
  upgradeSearch,
} from "./search";

function read<T extends v.GenericSchema>(schema: T, query: string): v.InferOutput<T> {
  return v.parse(schema, parseSearch(query));
}

describe("the URL's state", () => {
  it("survives the way into the URL and back", () => {
    const search = {
      pool: "local",
      cpu: "AMD EPYC 9R14",
      metric: "server_cpu_ns" as const,
      library: ["gnutls", "openssl"],
      q: "ecdhe 3072",
      view: "table" as const,
      sort: "change" as const,
      order: "desc" as const,
      variation: "resumption" as const,
    };
    expect(read(homeSearch, stringifySearch(search))).toEqual(search);
  });

  it("keeps text that looks like a number", () => {
    expect(read(homeSearch, "?q=3.10").q).toBe("3.10");
    expect(read(homeSearch, "?library=1.0").library).toEqual(["1.0"]);
  });

  it("drops what no page knows, and what is the default", () => {
    expect(read(homeSearch, "?metric=nonsense&view=pie&sort=colour&color=red")).toEqual({});
    expect(read(homeSearch, "?metric=cpu_ns&view=")).toEqual({});
    expect(read(seriesSearch, "?case=a&show=rate")).toEqual({ case: "a" });
  });

  it("is what a page gets, whatever else the address says", () => {
    const given = parseSearch("?side=nonsense&metric=cpu_ns&split=&library=gnutls&scale=log");
    expect(router.matchRoutes("/trends", given).at(-1)?.search).toEqual({
      library: ["gnutls"],
      scale: "log",
    });
  });

  it("knows every metric of the API and every variation", () => {
    expect(read(runSearch, "?metric=server_cache_misses&variation=peers")).toEqual({
      metric: "server_cache_misses",
      variation: "peers",
    });
    expect(read(runSearch, "?variation=odd")).toEqual({});
  });

  it("keeps every metric that was chosen for a run, since runs differ in their default", () => {
    expect(read(runSearch, "?metric=cpu_ns")).toEqual({ metric: "cpu_ns" });
  });

  it("keeps the case whose functions are shown", () => {
    expect(read(upgradeSearch, "?pool=local&case=a")).toEqual({ pool: "local", case: "a" });
    expect(read(alertSearch, "?pool=local&case=a")).toEqual({ case: "a" });
    expect(read(upgradeSearch, "?case=")).toEqual({});
  });

  it("keeps the authority and the side of handshakes by strength, and leaves the usual out", () => {
    expect(read(forwardSecrecySearch, "?model=ecrypt&side=server&subject=openssl%403.5")).toEqual({
      model: "ecrypt",
      side: "server",
      subject: "openssl@3.5",
    });
    expect(read(forwardSecrecySearch, "?model=nist&side=both&subject=")).toEqual({});
    expect(read(forwardSecrecySearch, "?model=nsa")).toEqual({});
  });

  it("takes as invocations what the API takes, and leaves the usual out", () => {
    expect(read(machineSearch, "?invocations=30")).toEqual({ invocations: 30 });
    for (const refused of ["10", "2", "1001", "7.5", "many"]) {
      expect(read(machineSearch, `?invocations=${refused}`)).toEqual({});
    }
  });

  it("keeps whose commits are shown, and which page of them", () => {
    const search = { repository: "benchmarks", before: "2026-01-01T00:00:00.123456Z" };
    expect(read(commitsSearch, stringifySearch(search))).toEqual(search);
    expect(read(commitsSearch, "?repository=&before=")).toEqual({});
  });

  it("keeps both ends of a comparison", () => {
    const choice = compareChoice(
      { subject: "openssl@3.0", run: "r" },
      { subject: "openssl@3.5", cpu: "a CPU" },
    );
    expect(read(compareSearch, stringifySearch({ ...choice, verdict: "changed", sort: "change" }))).toEqual({
      base: "openssl@3.0",
      baseRun: "r",
      other: "openssl@3.5",
      otherCpu: "a CPU",
      verdict: "changed",
      sort: "change",
    });
    expect(read(compareSearch, "?verdict=wrong&sort=colour&base=")).toEqual({});
  });

  it("leaves no trace in the URL when it is empty", () => {
    expect(stringifySearch({ q: "", metric: undefined, library: [] })).toBe("");
  });
});
