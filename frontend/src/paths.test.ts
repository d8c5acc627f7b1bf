import { expect, it } from "vitest";
import { paths } from "./paths";

it("keeps all choices of a named view", () => {
  const link = "/compare?base=openssl@3.0&verdict=slower&q=a?b%26c";
  expect(paths.view({ name: "", link })).toMatchObject({
    to: "/compare",
    search: { base: "openssl@3.0", verdict: "slower", q: "a?b&c" },
  });
});
