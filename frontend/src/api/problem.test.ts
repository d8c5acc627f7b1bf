import { expect, it } from "vitest";
import { expectGolden } from "@/testing/golden";
import { candidatesOf, isRefusedCaller, sentenceOf, troubleOf } from "./problem";

it("shows an API problem as it is", () => {
  const problem = {
    type: "about:blank",
    title: "Not Found",
    status: 404,
    detail: "there is no run x",
    remedy: "list them",
  };
  expect(troubleOf(problem)).toBe(problem);
});

it("writes messages as sentences, and names as they are", () => {
  expect(sentenceOf("there is no run x")).toBe("There is no run x.");
  expect(sentenceOf("kexbench runs list lists the runs")).toBe("kexbench runs list lists the runs.");
  expect(sentenceOf("openssl 9.9 was not measured")).toBe("openssl 9.9 was not measured.");
  expect(sentenceOf("nobody is called 'x'")).toBe("Nobody is called 'x'.");
  expect(sentenceOf("The service did not respond.")).toBe("The service did not respond.");
});

it("errors in words", async () => {
  const lines = (error: unknown) => {
    const { title, detail, remedy } = troubleOf(error);
    return [title, detail, remedy].filter((line) => line != null);
  };
  await expectGolden("problem", {
    "a lost connection": lines(new TypeError("Failed to fetch")),
    "a proxy’s error page": lines("<html>Bad Gateway</html>"),
    "another error": lines(new Error("the error’s message")),
  });
});

it("asks for another token where the caller is refused, and not where the run is", () => {
  const problem = { title: "no", detail: "no" };
  expect([401, 403].map((status) => isRefusedCaller({ ...problem, status }))).toEqual([true, true]);
  expect([404, 409, 503].map((status) => isRefusedCaller({ ...problem, status }))).toEqual([
    false,
    false,
    false,
  ]);
  expect(isRefusedCaller(new TypeError("Failed to fetch"))).toBe(false);
  expect(isRefusedCaller("<html>Unauthorized</html>")).toBe(false);
});

it("has the subjects that an ambiguous question may mean, and any other trouble has none", () => {
  const candidate = {
    asked: "1.1.1x",
    subject: "openssl@1.1.1x~git:/src#a~p",
    version: "1.1.1x",
    source: "git:/src#a",
    build_profile_label: "built",
  };
  const problem = { title: "Unprocessable", status: 422, detail: "means 2", candidates: [candidate] };
  expect(candidatesOf(problem)).toEqual([candidate]);
  expect(candidatesOf({ title: "Gone", status: 404, detail: "gone" })).toEqual([]);
  expect(candidatesOf(new TypeError("lost"))).toEqual([]);
});
