import { describe, expect, it } from "vitest";
import { homeSearch, parseSearch, runSearch, seriesSearch, stringifySearch } from "./search";

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
    };
    expect(homeSearch(parseSearch(stringifySearch(search)))).toEqual(search);
  });

  it("keeps text that looks like a number", () => {
    expect(homeSearch(parseSearch("?q=3.10")).q).toBe("3.10");
    expect(homeSearch(parseSearch("?library=1.0")).library).toEqual(["1.0"]);
  });

  it("drops what no page knows, and what is the default", () => {
    expect(homeSearch(parseSearch("?metric=nonsense&view=pie&sort=colour&color=red"))).toEqual({});
    expect(runSearch(parseSearch("?metric=cpu_ns&view="))).toEqual({});
    expect(seriesSearch(parseSearch("?case=a&show=rate"))).toEqual({ case: "a" });
  });

  it("leaves no trace in the URL when it is empty", () => {
    expect(stringifySearch({ q: "", metric: undefined, library: [] })).toBe("");
  });
});
