// Two subjects of one version, one of them with a long source, and a run in a pool of unlike nodes.
import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import type { Problem, UpgradePage } from "../src/api/generated";

const API = "/api/v1";
const PHONE = { width: 375, height: 800 };
const AMBIGUOUS = "/upgrades/fake/1.0/1.1";
const UPGRADES = "a[href*='/upgrades/fake/']";

async function problem(request: APIRequestContext): Promise<Problem> {
  const answer = await request.get(`${API}/compare?base=fake@1.0&other=fake@1.1`);
  expect(answer.status()).toBe(422);
  return (await answer.json()) as Problem;
}

async function excess(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

test("a version that several subjects have offers each as a link to its report", async ({
  page,
  request,
}) => {
  const { detail, candidates } = await problem(request);
  expect(candidates).toHaveLength(2);
  for (const { source, subject } of candidates ?? []) {
    await page.goto(AMBIGUOUS);
    await expect(page.getByRole("alert")).toContainText(detail);
    await expect(page.getByRole("main").getByRole("listitem")).toHaveCount(2);
    await page
      .getByRole("main")
      .getByRole("listitem")
      .getByRole("link", { name: `, ${source},` })
      .click();
    await expect(page.locator(".answer")).toBeVisible();
    expect(decodeURIComponent(page.url())).toContain(`/fake/1.0/${subject}`);
  }
});

test("links to upgrades name subjects, so that none of them is ambiguous", async ({ page, request }) => {
  const answer = await request.get(`${API}/upgrades`);
  const { upgrades } = (await answer.json()) as UpgradePage;
  const named = upgrades.map((one) => `/upgrades/fake/${one.before.subject}/${one.after.subject}`);
  expect(named).toHaveLength(2);
  for (const path of ["/", "/upgrades", "/runs/one"]) {
    await page.goto(path);
    const links = page.getByRole("main").locator(UPGRADES);
    const linked = () =>
      links.evaluateAll((all) => [
        ...new Set(all.map((one) => decodeURIComponent(new URL((one as HTMLAnchorElement).href).pathname))),
      ]);
    await expect.poll(async () => (await linked()).sort(), path).toEqual(named.sort());
  }
});

test("long ids and sources wrap on a phone", async ({ page }) => {
  await page.setViewportSize(PHONE);
  for (const [path, shown] of [
    [AMBIGUOUS, "[role=alert]"],
    ["/upgrades", UPGRADES],
    ["/runs/one", UPGRADES],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole("main").locator(shown).first()).toBeVisible();
    expect(await excess(page), path).toBeLessThanOrEqual(0);
  }
});

test("a run names the nodes of its pool that are not comparable, and what tells them apart", async ({
  page,
}) => {
  await page.goto("/runs/mixed");
  const note = page.getByRole("note", { name: "Nodes of pool pool-a differ" });
  await expect(note.getByRole("listitem")).toHaveText([
    "node-1: governor performance",
    "node-2: governor powersave",
  ]);
});
