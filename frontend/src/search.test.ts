import { describe, expect, it } from "vitest";
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
    expect(homeSearch(parseSearch(stringifySearch(search)))).toEqual(search);
  });

  it("keeps text that looks like a number", () => {
    expect(homeSearch(parseSearch("?q=3.10")).q).toBe("3.10");
    expect(homeSearch(parseSearch("?library=1.0")).library).toEqual(["1.0"]);
  });

  it("drops what no page knows, and what is the default", () => {
    expect(homeSearch(parseSearch("?metric=nonsense&view=pie&sort=colour&color=red"))).toEqual({});
    expect(homeSearch(parseSearch("?metric=cpu_ns&view="))).toEqual({});
    expect(seriesSearch(parseSearch("?case=a&show=rate"))).toEqual({ case: "a" });
  });

  it("knows every metric of the API and every variation", () => {
    expect(runSearch(parseSearch("?metric=server_cache_misses&variation=peers"))).toEqual({
      metric: "server_cache_misses",
      variation: "peers",
    });
    expect(runSearch(parseSearch("?variation=odd"))).toEqual({});
  });

  it("keeps every metric that was chosen for a run, since runs differ in their default", () => {
    expect(runSearch(parseSearch("?metric=cpu_ns"))).toEqual({ metric: "cpu_ns" });
  });

  it("keeps the case whose functions are shown", () => {
    expect(upgradeSearch(parseSearch("?pool=local&case=a"))).toEqual({ pool: "local", case: "a" });
    expect(alertSearch(parseSearch("?pool=local&case=a"))).toEqual({ case: "a" });
    expect(upgradeSearch(parseSearch("?case="))).toEqual({});
  });

  it("keeps the authority and the side of handshakes by strength, and leaves the usual out", () => {
    expect(forwardSecrecySearch(parseSearch("?model=ecrypt&side=server&subject=openssl%403.5"))).toEqual({
      model: "ecrypt",
      side: "server",
      subject: "openssl@3.5",
    });
    expect(forwardSecrecySearch(parseSearch("?model=nist&side=both&subject="))).toEqual({});
    expect(forwardSecrecySearch(parseSearch("?model=nsa"))).toEqual({});
  });

  it("takes as invocations what the API takes, and leaves the usual out", () => {
    expect(machineSearch(parseSearch("?invocations=30"))).toEqual({ invocations: 30 });
    for (const refused of ["10", "2", "1001", "7.5", "many"]) {
      expect(machineSearch(parseSearch(`?invocations=${refused}`))).toEqual({});
    }
  });

  it("keeps whose commits are shown, and which page of them", () => {
    const search = { repository: "benchmarks", before: "2026-01-01T00:00:00.123456Z" };
    expect(commitsSearch(parseSearch(stringifySearch(search)))).toEqual(search);
    expect(commitsSearch(parseSearch("?repository=&before="))).toEqual({});
  });

  it("keeps both ends of a comparison", () => {
    const choice = compareChoice(
      { subject: "openssl@3.0", run: "r" },
      { subject: "openssl@3.5", cpu: "a CPU" },
    );
    expect(
      compareSearch(parseSearch(stringifySearch({ ...choice, verdict: "changed", sort: "change" }))),
    ).toEqual({
      base: "openssl@3.0",
      baseRun: "r",
      other: "openssl@3.5",
      otherCpu: "a CPU",
      verdict: "changed",
      sort: "change",
    });
    expect(compareSearch(parseSearch("?verdict=wrong&sort=colour&base="))).toEqual({});
  });

  it("leaves no trace in the URL when it is empty", () => {
    expect(stringifySearch({ q: "", metric: undefined, library: [] })).toBe("");
  });
});
