import { expect, test } from "vitest";
import { navigation } from "@/components/navigation";
import { hitLink, withWords } from "@/components/search-model";

const pages = navigation.flatMap(({ destinations }) => destinations);

function found(text: string): string[] {
  return withWords(text, pages, ({ title }) => title).map(({ title }) => title);
}

test("a page is found by words of its title, in any case", () => {
  expect(found("SECRECY for")).toEqual(["Forward secrecy"]);
  expect(found("nothing of this")).toEqual([]);
});

test("without words no page is offered", () => {
  expect(found("  ")).toEqual([]);
});

test("each kind of hit leads to its page", () => {
  const hit = { title: "", detail: "", library: null, before: null };
  expect(hitLink({ ...hit, kind: "case", id: "one" })).toMatchObject({
    to: "/series",
    search: { case: "one" },
  });
  expect(hitLink({ ...hit, kind: "upgrade", id: "b", library: "openssl", before: "a" })).toMatchObject({
    params: { library: "openssl", before: "a", after: "b" },
  });
  expect(hitLink({ ...hit, kind: "alert", id: "a1" })).toMatchObject({ params: { alertId: "a1" } });
  expect(hitLink({ ...hit, kind: "run", id: "r1" })).toMatchObject({ params: { runId: "r1" } });
});
