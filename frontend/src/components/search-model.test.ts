import { expect, test } from "vitest";
import { navigation } from "@/components/navigation";
import { hitLink, pagesFor } from "@/components/search-model";

const pages = navigation.flatMap(({ destinations }) => destinations);

test("a page is found by words of its title, in any case", () => {
  expect(pagesFor("SECRECY for", pages).map(({ title }) => title)).toEqual(["Forward secrecy"]);
  expect(pagesFor("nothing of this", pages)).toEqual([]);
});

test("without words no page is offered", () => {
  expect(pagesFor("  ", pages)).toEqual([]);
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
