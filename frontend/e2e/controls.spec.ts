// Runs on a made-up cluster, whose callers are known by their names: followed, cancelled and resumed on their page.
import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import type { RunDetail, RunSummary } from "../src/api/generated";
import { LABELS } from "./labels";
import { expectReadable } from "./readable";

const API = "/api/v1";
const NODELESS =
  "pool pool-a has no ready node: add a node with the pool's labels, or check why its nodes are not ready";
const SPEC = `
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: nightly }
subjects:
  - fake: [1.0, 1.1]
pools: [pool-a]
matrix:
  protocol: [TLSv1.2]
  keyExchange: [RSA]
measure: { invocations: 6, batches: 4 }
`;

/** What somebody else does: the command line as `submitter`, or the dispatcher. */
async function post(request: APIRequestContext, who: string, path: string, data?: object) {
  const answer = await request.post(`${API}${path}`, { data, headers: { Authorization: `Bearer ${who}` } });
  expect(answer.ok(), `${path} answers ${await answer.text()}`).toBe(true);
  return answer;
}

async function queued(request: APIRequestContext): Promise<string> {
  const answer = await post(request, "submitter", "/runs", { spec_text: SPEC });
  return ((await answer.json()) as RunSummary).run_id;
}

async function report(
  request: APIRequestContext,
  run_id: string,
  state: RunSummary["state"],
  detail: string,
) {
  const at = new Date().toISOString();
  await post(request, "dispatcher", `/runs/${run_id}/events`, { run_id, at, state, detail });
}

async function failed(request: APIRequestContext): Promise<string> {
  const runId = await queued(request);
  await report(request, runId, "failed", NODELESS);
  return runId;
}

async function statesOf(request: APIRequestContext, runId: string): Promise<string[]> {
  const answer = await request.get(`${API}/runs/${runId}`);
  return ((await answer.json()) as RunDetail).events.map(({ state }) => state);
}

function parts(page: Page) {
  return {
    heading: page.getByRole("heading", { level: 1 }),
    log: page.getByRole("log", { name: LABELS.events }).getByRole("listitem"),
    cancel: page.getByRole("main").locator("> p").getByRole("button", { name: LABELS.cancelRun }),
    resume: page.getByRole("main").locator("> p").getByRole("button", { name: LABELS.resumeRun }),
    dialog: page.getByRole("dialog"),
    token: page.getByLabel(LABELS.token),
  };
}

/** Confirms the dialog, and returns the reason if the service refuses. */
async function refused(
  page: Page,
  path: "cancel" | "resume",
  button: string,
  token?: string,
): Promise<string> {
  const response = page.waitForResponse(`**/${path}`);
  await answer(page, button, token);
  return ((await (await response).json()) as { detail: string }).detail.slice(1); // a sentence begins with a capital
}

async function answer(page: Page, button: string, token?: string) {
  const { dialog, token: field } = parts(page);
  if (token) await field.fill(token);
  await dialog.getByRole("button", { name: button }).click();
}

test("an open run’s page grows by what happens", async ({ page, request }) => {
  const runId = await queued(request);
  const { heading, log } = parts(page);
  await page.goto(`/runs/${runId}`);
  await expect(heading).toHaveText("nightly queued");
  await expect(log).toHaveCount(1);
  await report(request, runId, "building", NODELESS);
  await expect(log.nth(1)).toContainText(NODELESS);
  await expect(heading).toHaveText("nightly building");
});

test("a page that follows its run does not poll, and one without a stream does", async ({
  page,
  request,
}) => {
  const runId = await queued(request);
  const { heading } = parts(page);
  let polls = 0;
  page.on("request", (asked) => {
    if (asked.url().endsWith("/progress")) polls += 1;
  });
  await page.clock.install();
  const stream = page.waitForResponse("**/stream");
  await page.goto(`/runs/${runId}`);
  await stream;
  await report(request, runId, "building", NODELESS);
  await expect(heading).toHaveText("nightly building");
  const before = polls;
  await page.clock.runFor(60_000);
  expect(polls).toBe(before);
  await page.route("**/stream", (route) => route.abort());
  await page.reload();
  await expect(heading).toHaveText("nightly building");
  await report(request, runId, "running", "");
  await page.clock.runFor(10_000);
  await expect(heading).toHaveText("nightly running");
});

test("cancelling takes a token that the service lets in", async ({ page, request }) => {
  const runId = await queued(request);
  const { heading, log, cancel, dialog, token } = parts(page);
  await page.goto(`/runs/${runId}`);
  await cancel.click();
  await expect(dialog).toContainText("kubectl create token ACCOUNT --audience kexbench --duration 1h");
  const unknown = await refused(page, "cancel", LABELS.cancelRun, "nobody");
  await expect(dialog.getByRole("alert")).toContainText(unknown);
  await expect(token).toHaveValue("");
  await expect(token).toBeFocused();
  const forbidden = await refused(page, "cancel", LABELS.cancelRun, "dispatcher");
  expect(forbidden).toContain(":dispatcher is a dispatcher");
  await expect(dialog.getByRole("alert")).toContainText(forbidden);
  expect(await statesOf(request, runId)).toEqual(["queued"]);
  await answer(page, LABELS.cancelRun, "submitter");
  await expect(heading).toHaveText("nightly cancelling");
  await expect(heading).toBeFocused();
  await expect(dialog).toHaveCount(0);
  await expect(cancel).toHaveCount(0);
  await expect(log).toHaveCount(2);
  await expect(log.last()).toContainText("ci:pipeline");
});

test("a failed run says why and is resumed; the token lasts as long as the page", async ({
  page,
  request,
}) => {
  const [first, second] = [await failed(request), await failed(request)];
  const { heading, log, cancel, resume, dialog, token } = parts(page);
  await page.goto(`/runs/${first}`);
  await expect(page.locator(".said.bad")).toHaveText(NODELESS);
  await resume.click();
  await answer(page, LABELS.resumeRun, " submitter ");
  await expect(heading).toHaveText("nightly queued");
  await expect(log.locator(".chip")).toHaveText(["queued", "failed", "queued"]);
  await cancel.click();
  await expect(dialog).toBeVisible();
  await expect(token).toHaveCount(0);
  await answer(page, LABELS.back);
  await page.getByRole("link", { name: LABELS.allRuns }).click();
  await page.locator(`.runs a[href*="${second}"]`).click();
  await resume.click();
  await expect(log.locator(".chip")).toHaveText(["queued", "failed", "queued"]);
  await page.reload();
  await cancel.click();
  await expect(token).toBeVisible();
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(stored).not.toContain("submitter");
  expect(await statesOf(request, first)).toEqual(["queued", "failed", "queued"]);
});

test("a token that has run out is asked for again", async ({ page, request }) => {
  const runId = await failed(request);
  const { heading, cancel, resume, dialog, token } = parts(page);
  await page.goto(`/runs/${runId}`);
  await resume.click();
  await answer(page, LABELS.resumeRun, "submitter");
  await expect(heading).toHaveText("nightly queued");
  const ranOut = { title: "Unauthorized", status: 401, detail: "the cluster does not accept this token" };
  await page.route("**/cancel", (route) => route.fulfill({ status: 401, json: ranOut }), { times: 1 });
  await cancel.click();
  await answer(page, LABELS.cancelRun);
  await expect(dialog.getByRole("alert")).toContainText(ranOut.detail.slice(1));
  await expect(token).toBeFocused();
  await answer(page, LABELS.cancelRun, "submitter");
  await expect(heading).toHaveText("nightly cancelling");
});

test("what has changed meanwhile is refused in the service’s words, and shown", async ({ page, request }) => {
  const runId = await failed(request);
  const { heading, resume, dialog } = parts(page);
  await page.goto(`/runs/${runId}`);
  await resume.click();
  await post(request, "submitter", `/runs/${runId}/resume`);
  const conflict = await refused(page, "resume", LABELS.resumeRun, "submitter");
  expect(conflict).toContain(runId);
  await expect(page.getByRole("alert")).toContainText(conflict);
  await expect(dialog).toHaveCount(0);
  await expect(heading).toHaveText("nightly queued");
});

test("the keyboard cancels a run, and Escape does not", async ({ page, request }) => {
  const runId = await queued(request);
  const { heading, cancel, dialog, token } = parts(page);
  await page.goto(`/runs/${runId}`);
  await cancel.focus();
  await page.keyboard.press("Enter");
  await expect(token).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(cancel).toBeFocused();
  expect(await statesOf(request, runId)).toEqual(["queued"]);
  await page.keyboard.press("Enter");
  await page.keyboard.type("submitter");
  await page.keyboard.press("Enter");
  await expect(heading).toHaveText("nightly cancelling");
});

test("the queue’s page shows what waits, has no barrier and fits", async ({ page, request }) => {
  const runId = await queued(request);
  const { heading } = parts(page);
  await page.goto("/queue");
  const entry = page.getByRole("main").getByRole("listitem").filter({ hasText: runId });
  await expect(entry).toContainText(LABELS.apiTrigger);
  await expectReadable(page);
  await entry.getByRole("link").click();
  await expect(heading).toHaveText("nightly queued");
});

test("page and question have no barrier, and are no wider than their window", async ({ page, request }) => {
  await page.goto(`/runs/${await failed(request)}`);
  const { resume } = parts(page);
  await resume.waitFor();
  await expectReadable(page);
  await resume.click();
  await answer(page, LABELS.resumeRun, "nobody");
  await expect(page.getByRole("alert")).toBeVisible();
  await expectReadable(page, "the question");
});
