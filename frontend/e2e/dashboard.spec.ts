// A real service with real results, read off the pages by a real browser.
import AxeBuilder from "@axe-core/playwright";
import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import type {
  Cell,
  Comparison,
  Cpus,
  Distribution,
  Filters,
  Matrix,
  Overview,
  Qualifications,
  RunDetail,
  RunPage,
  Scaling,
  SecurityView,
  TrendPoint,
  Trends,
} from "../src/api/generated";
import { LABELS } from "./labels";
import { expectReadable } from "./readable";

const API = "/api/v1";
/** The lines of the matrix that are cases, not groups of them. */
const CASES = "table.heatmap tbody tr:not(.group)";

async function read<T>(request: APIRequestContext, path: string): Promise<T> {
  const answer = await request.get(`${API}${path}`);
  expect(answer.ok(), `${path} answers`).toBe(true);
  return (await answer.json()) as T;
}

/** Written once more, so that a fault in the pages' own formatting is seen. */
function rateText(ns: number): string {
  return `${significantText(1e9 / ns)}/s`;
}

function significantText(value: number): string {
  const digits =
    value >= 100
      ? { maximumFractionDigits: 0 }
      : { minimumSignificantDigits: 3, maximumSignificantDigits: 3 };
  return value.toLocaleString("en-US", digits);
}

function cellAt(page: Page, cell: Cell) {
  return page.locator(`a[data-cell="${cell.case_id} ${cell.subject}"]`);
}

async function measured(request: APIRequestContext): Promise<{ matrix: Matrix; cell: Cell; ns: number }> {
  const matrix = await read<Matrix>(request, "/matrix");
  const cell =
    matrix.cells.find((candidate) => candidate.change) ??
    matrix.cells.find((candidate) => candidate.estimate);
  if (!cell?.estimate) throw new Error("the service under test has no results");
  return { matrix, cell, ns: cell.estimate.value };
}

function batches({ subject, case_id, run_id }: Cell): URLSearchParams {
  return new URLSearchParams({ subject, case: case_id, run: run_id });
}

/** Each page with results on it, once they are there. */
async function pages(request: APIRequestContext): Promise<{ path: string; ready: string }[]> {
  const { cell } = await measured(request);
  return [
    { path: "/", ready: "table.heatmap" },
    { path: "/?view=table&sort=change", ready: "table.numbers" },
    { path: `/?versus=${cell.case_id}`, ready: "table.heatmap" },
    { path: `/series?case=${cell.case_id}`, ready: ".plot canvas" },
    { path: "/cpus", ready: "table.numbers" },
    { path: "/cpus?case=unknown", ready: "[role=alert]" },
    { path: "/compare", ready: "table.compare" },
    { path: "/compare?base=unknown&other=unknown", ready: "[role=alert]" },
    { path: `/distribution?${batches(cell)}`, ready: ".batches svg" },
    { path: "/distribution", ready: "h1" },
    { path: "/trends", ready: ".plot canvas" },
    { path: "/trends?split=library&show=relative&scale=log", ready: ".plot canvas" },
    { path: "/?variation=threads", ready: "table.heatmap, .note" },
    { path: "/scaling", ready: ".twin, .note" },
    { path: "/forward-secrecy", ready: "table.numbers" },
    { path: "/articles", ready: "article" },
    { path: "/stacks", ready: "table, .note" },
    { path: "/paths", ready: "table, .note" },
    { path: "/life", ready: "table, .note" },
    { path: "/capacity", ready: "form" },
    { path: "/machine", ready: ".answer, .note" },
    { path: "/runs", ready: ".runs li" },
    { path: "/commits", ready: ".runs li, .note" },
    { path: `/runs/${cell.run_id}`, ready: "table.heatmap" },
    { path: "/series?case=unknown", ready: ".note" },
    { path: "/no-such-page", ready: "h1" },
  ];
}

test("home says what the newest upgrade changed, in the words of its report", async ({ page, request }) => {
  const { libraries } = await read<Overview>(request, "/overview");
  const upgrades = libraries.filter(({ upgrade }) => upgrade);
  expect(upgrades.length).toBeGreaterThan(0);
  await page.goto("/");
  for (const { upgrade } of upgrades) {
    if (!upgrade) continue;
    const query = new URLSearchParams({ base: upgrade.before.subject, other: upgrade.after.subject });
    const comparison = await read<Comparison>(request, `/compare?${query}`);
    expect(comparison.upgrade?.sentence).toBe(upgrade.sentence);
    const entry = page.getByRole("listitem").filter({
      has: page.getByRole("heading", { name: `${upgrade.before.label} → ${upgrade.after.version}` }),
    });
    await expect(entry).toContainText((upgrade.sentence ?? "").slice(-20));
  }
});

test("a group of cases is one line until it is opened, and the URL keeps that", async ({ page, request }) => {
  const { matrix, cell } = await measured(request);
  await page.goto("/");
  await expect(cellAt(page, cell)).toBeVisible();
  await page.getByRole("button", { name: LABELS.groupsOnly }).click();
  const alone = matrix.cases.filter(
    ({ key_exchange, rsa_bits, curve }) =>
      matrix.cases.filter(
        (other) =>
          other.key_exchange === key_exchange && other.rsa_bits === rsa_bits && other.curve === curve,
      ).length === 1,
  );
  await expect(page.locator(CASES)).toHaveCount(alone.length);
  await page.reload();
  await expect(page.locator(".heatmap .group").first()).toBeVisible();
  await expect(page.locator(CASES)).toHaveCount(alone.length);
  await page.getByRole("button", { name: LABELS.everyCase }).click();
  await expect(page.locator(CASES)).toHaveCount(matrix.cases.length);
});

test("the rows of a spec are its cases", async ({ page, request }) => {
  const { specs } = await read<Overview>(request, "/overview");
  const [name = ""] = Object.keys(specs);
  const matrix = await read<Matrix>(request, `/matrix?spec=${name}`);
  await page.goto("/");
  await page.getByRole("combobox", { name: LABELS.rows }).selectOption(name);
  await expect(page).toHaveURL(new RegExp(`spec=${name}`));
  await expect(page.locator(CASES)).toHaveCount(matrix.cases.length);
});

test("home shows every number of the matrix", async ({ page, request }) => {
  const { matrix } = await measured(request);
  await page.goto("/");
  for (const cell of matrix.cells) {
    const shown = cellAt(page, cell);
    if (cell.estimate) await expect(shown).toContainText(rateText(cell.estimate.value));
    else await expect(shown).toContainText(cell.outcome?.kind ?? LABELS.noResult);
    if (cell.change?.verdict === "more") await expect(shown).toContainText("more");
    if (cell.change?.verdict === "less") await expect(shown).toContainText("less");
  }
});

test("a cell opens the series with the same numbers", async ({ page, request }) => {
  const { matrix, cell, ns } = await measured(request);
  await page.goto("/");
  await cellAt(page, cell).click();
  const caseView = matrix.cases.find((caseView) => caseView.id === cell.case_id);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(caseView?.title ?? "");
  await expect(page).toHaveTitle(`${caseView?.title} · kexbench`);
  const trends = await read<Trends>(request, `/trends?case_id=${cell.case_id}`);
  const libraries = new Set(trends.lines.map(({ library }) => library));
  const points = trends.lines.flatMap((line) => line.points);
  await expect(page.locator(".plot canvas")).toHaveCount(libraries.size);
  const rows = page.locator("table.numbers tbody tr");
  await expect(rows).toHaveCount(points.length);
  await expect(rows.filter({ hasText: rateText(ns) }).first()).toBeVisible();
  for (const point of points) {
    await expect(rows.filter({ hasText: rateText(point.value) }).first()).toBeVisible();
  }
});

test("the runs lead to a run with its own numbers", async ({ page, request }) => {
  const { runs } = await read<RunPage>(request, "/runs");
  const summary = runs.find((run) => run.invocations_stored > 0);
  if (!summary) throw new Error("the service under test has no run with results");
  const run = await read<RunDetail>(request, `/runs/${summary.run_id}`);
  await page.goto("/runs");
  await page.locator(`.runs a[href*="${summary.run_id}"]`).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText(summary.spec_name);
  for (const cell of run.cells.filter((candidate) => candidate.estimate)) {
    await expect(cellAt(page, cell)).toContainText(rateText(cell.estimate?.value ?? 0));
  }
  await expect(page.locator("pre").last()).toContainText("kind: Benchmark");
  await expect(page.getByText(run.hosts[0]?.host.kernel ?? "a kernel")).toBeVisible();
  // Queued and measured by the local executor: its events are shown, and it is over, so nothing is left to cancel.
  const events = page.getByRole("log", { name: LABELS.events }).getByRole("listitem");
  expect(run.events.length).toBeGreaterThan(1);
  await expect(events.first()).toContainText(run.events[0]?.state ?? "");
  await expect(events.last()).toContainText(run.events.at(-1)?.state ?? "");
  await expect(page.getByRole("button", { name: LABELS.runControl })).toHaveCount(0);
});

test("a run shows what its connections cost, part by part", async ({ page, request }) => {
  const { cell } = await measured(request);
  const run = await read<RunDetail>(request, `/runs/${cell.run_id}`);
  await page.goto(`/runs/${cell.run_id}`);
  const connection = run.connections[0];
  const rows = page.getByRole("table", { name: connection?.title }).getByRole("row");
  for (const part of connection?.parts ?? []) {
    const row = rows.filter({ has: page.getByRole("rowheader", { name: part.label, exact: true }) });
    for (const { client } of part.costs)
      if (client) {
        const shown =
          part.kind === "transfer" ? (part.transfer_bytes * 1000) / client.value : client.value / 1000;
        await expect(row).toContainText(significantText(shown));
      }
  }
  expect(connection?.parts.map(({ kind }) => kind)).toEqual([
    "handshake",
    "objects",
    "transfer",
    "whole connection",
  ]);
});

test("the table has the heatmap's numbers, and the URL keeps what was chosen", async ({ page, request }) => {
  const { matrix, ns } = await measured(request);
  await page.goto("/");
  await page.getByText(LABELS.table, { exact: true }).click();
  await page.getByRole("button", { name: LABELS.timeColumn }).click();
  const rows = page.locator("table.numbers tbody tr");
  await expect(rows).toHaveCount(matrix.cells.length);
  await expect(rows.filter({ hasText: rateText(ns) }).first()).toBeVisible();
  await page.getByRole("combobox", { name: LABELS.metric }).selectOption("server_cpu_ns");
  const server = await read<Matrix>(request, "/matrix?metric=server_cpu_ns");
  const costs = server.cells.flatMap((candidate) => candidate.estimate?.value ?? []);
  await expect(rows.first()).toContainText(rateText(Math.min(...costs)));
  await page.reload();
  await expect(page).toHaveURL(/metric=server_cpu_ns/);
  await expect(page.getByRole("radio", { name: LABELS.table })).toBeChecked();
  await expect(page.getByRole("columnheader", { name: LABELS.timeColumn })).toHaveAttribute(
    "aria-sort",
    "ascending",
  );
  await expect(rows.first()).toContainText(rateText(Math.min(...costs)));
});

test("the case filter narrows the heatmap and survives a reload", async ({ page, request }) => {
  const { matrix, cell } = await measured(request);
  const title = matrix.cases.find((caseView) => caseView.id === cell.case_id)?.title ?? "";
  await page.goto("/");
  await page.getByRole("searchbox", { name: LABELS.cases }).pressSequentially("no such case");
  await expect(page.getByText(LABELS.noCase)).toBeVisible();
  await page.getByRole("searchbox", { name: LABELS.cases }).fill(title);
  await expect(cellAt(page, cell)).toBeVisible();
  await expect(page.locator(CASES)).toHaveCount(
    matrix.cases.filter((one) => one.title.includes(title)).length,
  );
  await page.reload();
  await expect(page.getByRole("searchbox", { name: LABELS.cases })).toHaveValue(title);
});

test("a metric without numbers is seen and can’t be chosen", async ({ page, request }) => {
  const { metrics } = await read<Filters>(request, "/filters");
  await page.goto("/");
  const options = page.getByRole("combobox", { name: LABELS.metric }).locator("option");
  await expect(options).toHaveCount(metrics.length);
  for (const { metric, title, stored } of metrics) {
    const option = options.and(page.locator(`[value="${metric}"]`));
    await expect(option).toContainText(title);
    if (stored) await expect(option).toBeEnabled();
    else await expect(option).toBeDisabled();
  }
});

test("a metric that is counted is shown as a count", async ({ page, request }) => {
  const matrix = await read<Matrix>(request, "/matrix?metric=server_records");
  await page.goto("/?metric=server_records");
  const counted = matrix.cells.filter((candidate) => candidate.estimate);
  expect(counted.length).toBeGreaterThan(0);
  for (const cell of counted) {
    const value = cell.estimate?.value ?? Number.NaN;
    await expect(cellAt(page, cell).locator("b")).toHaveText(value.toLocaleString("en-US"));
  }
});

test("the variation stands in the URL, and leads back to all cases", async ({ page, request }) => {
  const { matrix } = await measured(request);
  const rows = page.locator(CASES);
  const threaded = matrix.cases.filter((caseView) => (caseView.threads ?? 1) > 1);
  await page.goto("/?variation=threads");
  if (threaded.length > 0) await expect(rows).toHaveCount(threaded.length);
  else await expect(page.getByText(LABELS.noCase)).toBeVisible();
  await page.getByRole("combobox", { name: LABELS.variation }).selectOption("");
  await expect(rows).toHaveCount(matrix.cases.length);
  await expect(page).not.toHaveURL(/variation/);
});

test("forward secrecy shows the answers and every ranked handshake", async ({ page, request }) => {
  const security = await read<SecurityView>(request, "/security");
  await page.goto("/");
  await page.getByRole("link", { name: LABELS.forwardSecrecy }).click();
  for (const { cheapest, forward_secrecy_adds: adds, handshakes } of security.levels) {
    await expect(page.getByText(cheapest, { exact: true }).first()).toBeVisible();
    await expect(page.getByText(adds, { exact: true }).first()).toBeVisible();
    for (const handshake of handshakes) {
      const row = page.getByRole("row").filter({ hasText: handshake.limited_by });
      await expect(row.filter({ hasText: handshake.case.title }).first()).toBeVisible();
    }
  }
  await page.getByLabel(LABELS.strengthBy).selectOption("ecrypt");
  await expect(page).toHaveURL(/model=ecrypt/);
});

test("scaling shows every curve’s numbers, or which spec gives some", async ({ page, request }) => {
  const scaling = await read<Scaling>(request, "/scaling");
  await page.goto("/");
  await page.getByRole("link", { name: LABELS.scaling }).click();
  if (scaling.cases.length + scaling.loads.length === 0) {
    await expect(page.locator(".note pre")).toHaveText([
      "kexbench run bench-specs/threads.yaml",
      "kexbench run bench-specs/server-load.yaml",
    ]);
    return;
  }
  for (const { title, lines } of scaling.cases) {
    const section = page.locator("section", {
      has: page.getByRole("heading", { name: title, exact: true }),
    });
    await expect(section.locator("svg .curve")).toHaveCount(lines.length);
    const points = lines.flatMap((line) => line.points);
    await expect(section.locator("tbody tr")).toHaveCount(points.length);
    for (const { rate } of points)
      await expect(section.locator("table")).toContainText(rateText(1e9 / rate.value));
  }
  for (const { title, lines } of scaling.loads) {
    const section = page.locator("section", {
      has: page.getByRole("heading", { name: title, exact: true }),
    });
    await expect(section.locator("svg .curve")).toHaveCount(lines.length);
    for (const { greatest, remark } of lines) {
      const rate = rateText(1e9 / greatest.rate.value);
      await expect(section.locator("strong", { hasText: rate })).toBeVisible();
      if (remark) await expect(section.getByText(remark)).toBeVisible();
    }
  }
});

test("the machine’s page shows its resolution, or how to measure it", async ({ page, request }) => {
  const { rows } = await read<Qualifications>(request, "/qualifications?invocations=20");
  await page.goto("/");
  await page.getByRole("link", { name: LABELS.machine }).click();
  if (rows.length === 0) {
    await expect(page.locator(".note pre")).toHaveText("kexbench qualify");
    return;
  }
  await expect(page.locator(".answer")).toContainText(LABELS.withInvocations(10));
  await page.getByRole("spinbutton").fill("20");
  await expect(page.locator(".answer")).toContainText(LABELS.withInvocations(20));
  await expect(page).toHaveURL(/invocations=20/);
  await expect(page.locator("table.numbers tbody tr")).toHaveCount(rows.length);
  for (const row of rows) await expect(page.locator("table.numbers")).toContainText(row.case.title);
});

test("a run names its sentinel, and says when the machine’s speed changed", async ({ page, request }) => {
  const { runs } = await read<RunPage>(request, "/runs");
  for (const { run_id } of runs) {
    const { sentinel, timers } = await read<RunDetail>(request, `/runs/${run_id}`);
    await page.goto(`/runs/${run_id}`);
    const facts = page.locator(".facts").first();
    await expect(facts).toContainText(sentinel ? sentinel.kit_id : "none");
    for (const { tick_source } of Object.values(timers)) {
      await expect(facts).toContainText(LABELS.tickCounter(tick_source));
    }
    const notice = page.getByRole("note", { name: LABELS.machineSpeed });
    if (!sentinel?.move?.moved) await expect(notice).toHaveCount(0);
    else await expect(notice).toContainText(sentinel.move.ratio > 1 ? "slower" : "faster");
  }
});

test("the keyboard walks the heatmap and opens a cell", async ({ page, request }) => {
  const { matrix } = await measured(request);
  await page.goto("/");
  await page.locator('a[data-place="0 0"]').focus();
  await page.keyboard.press("End");
  await expect(page.locator(`a[data-place="0 ${matrix.subjects.length - 1}"]`)).toBeFocused();
  const walked = await page.locator('a[data-place="0 0"]').getAttribute("data-cell");
  const caseView = matrix.cases.find(({ id }) => walked?.startsWith(`${id} `));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(caseView?.title ?? "");
});

test("a few words lead to a case, a run or a page, with the keyboard alone", async ({ page, request }) => {
  const { matrix, cell } = await measured(request);
  const title = matrix.cases.find(({ id }) => id === cell.case_id)?.title ?? "";
  await page.goto("/");
  const search = page.getByRole("dialog", { name: "Search" });
  const field = search.getByRole("searchbox");
  await page.getByRole("button", { name: "Search" }).waitFor();
  await page.keyboard.press("/");
  await expect(field).toBeFocused();
  await page.keyboard.type(title);
  await expect(search.getByRole("link", { name: title, exact: false }).first()).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).include("dialog").analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(title);
  await expect(search).toBeHidden();

  await page.keyboard.press("Control+k");
  await expect(field).toBeFocused();
  await page.keyboard.type(cell.run_id);
  await expect(search.getByRole("link")).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/runs/${cell.run_id}`));

  await page.getByRole("button", { name: "Search" }).click();
  await expect(field).toBeFocused();
  await page.keyboard.type("scorecard");
  await search.getByRole("link", { name: "Scorecard" }).click();
  await expect(page).toHaveURL(/scorecard/);
});

/** The builds of a library on a machine are one series of the page. */
function seriesOf({ lines }: Trends): Map<string, TrendPoint[]> {
  const series = new Map<string, TrendPoint[]>();
  for (const { library, case_id, metric, host_kind, points } of lines) {
    const key = JSON.stringify([library, case_id, metric, host_kind]);
    series.set(
      key,
      [...(series.get(key) ?? []), ...points].sort((a, b) => a.subject - b.subject),
    );
  }
  return series;
}

test("trends show the numbers of every series, and the URL keeps what was chosen", async ({
  page,
  request,
}) => {
  const trends = await read<Trends>(request, "/trends");
  await page.goto("/trends");
  const rows = page.getByRole("region", { name: LABELS.series }).locator("tbody tr");
  await expect(rows).toHaveCount(seriesOf(trends).size);
  for (const points of seriesOf(trends).values()) {
    for (const point of [points[0], points.at(-1)])
      await expect(rows.filter({ hasText: rateText(point?.value ?? 0) }).first()).toBeVisible();
  }
  await page.getByRole("button", { name: LABELS.allCases(trends.choices.length) }).click();
  const ids = trends.choices.map(({ id }) => `case_id=${id}`).join("&");
  const all = await read<Trends>(request, `/trends?${ids}`);
  await expect(rows).toHaveCount(seriesOf(all).size);
  await page.getByRole("checkbox", { name: LABELS.server }).check();
  await expect(rows).not.toHaveCount(seriesOf(all).size);
  await expect(page).toHaveURL(/side=both&side=server/);
  await page.getByRole("combobox", { name: LABELS.chartFor }).selectOption("side");
  // Libraries never share a chart: their versions have no common order. Of one that other programs disturbed there are
  // no costs of the server.
  const sides = await read<Trends>(request, `/trends?${ids}&metric=cpu_ns&metric=server_cpu_ns`);
  const charts = new Set(sides.lines.map(({ library, metric }) => `${library} ${metric}`));
  await expect(page.locator("figure.trend")).toHaveCount(charts.size);
  await page.reload();
  await expect(page.locator("figure.trend")).toHaveCount(charts.size);
});

test("CPUs show the rate and the gain of the newest version on each", async ({ page, request }) => {
  const cpus = await read<Cpus>(request, "/cpus");
  expect(cpus.rows.length).toBeGreaterThan(0);
  await page.goto("/");
  await page.getByRole("link", { name: LABELS.cpus, exact: true }).click();
  const rows = page.locator("table.cpus tbody tr");
  await expect(rows).toHaveCount(cpus.rows.length);
  for (const row of cpus.rows) {
    const shown = rows.filter({ hasText: rateText(row.estimate.value) });
    await expect(
      shown.filter({ has: page.locator(`[title="${row.host_kind.cpu_model}"]`) }).first(),
    ).toBeVisible();
    if (row.relation === "base") await expect(shown.first()).toContainText(LABELS.reference);
  }
  const other = cpus.choices[1];
  if (!other) return;
  await page.getByRole("combobox", { name: LABELS.oneCase, exact: true }).selectOption(other.id);
  await expect(page.getByRole("heading", { level: 2, name: other.title })).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`case=${other.id}`));
});

test("a comparison shows every cell, and the URL keeps the ends, the filter and the order", async ({
  page,
  request,
}) => {
  const { matrix } = await measured(request);
  const [base, other] = matrix.subjects.filter(({ library }) => library === "fake");
  if (!base || !other) throw new Error("the service under test has no two versions");
  const query = new URLSearchParams({ base: base.name, other: other.name });
  const comparison = await read<Comparison>(request, `/compare?${query}`);
  expect(comparison.cells.length).toBeGreaterThan(0);
  await page.goto("/compare");
  for (const [end, { name }] of [[LABELS.baseline, base] as const, [LABELS.comparedWith, other] as const]) {
    await page
      .getByRole("group", { name: end })
      .getByRole("combobox", { name: LABELS.version })
      .selectOption(name);
  }
  const rows = page.locator("table.compare tbody tr:has(svg)");
  await expect(rows).toHaveCount(comparison.cells.length);
  for (const { estimates } of comparison.cells) {
    const cost = significantText((estimates.both?.[1].value ?? 0) / 1000);
    await expect(rows.filter({ hasText: cost.slice(0, -1) }).first()).toBeVisible();
  }
  await page.getByRole("button", { name: LABELS.swap }).click();
  await expect(page).toHaveURL((url) => url.searchParams.get("base") === other.name);
  await page.getByRole("combobox", { name: LABELS.verdicts }).selectOption("changed");
  await page.getByRole("button", { name: LABELS.bothSides }).click();
  await expect(page).toHaveURL(/verdict=changed&sort=change/);
  const changed = comparison.cells.filter(({ verdict }) => verdict === "more" || verdict === "less");
  await page.reload();
  await expect(rows).toHaveCount(changed.length);
});

for (const width of [1024, 1600]) {
  test(`the names of runs are whole in a comparison that is ${width} pixels wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto("/compare");
    const runs = page.getByRole("combobox", { name: LABELS.run });
    await runs.first().selectOption({ index: 1 });
    await expect(page).toHaveURL(/baseRun=/);
    const lacking = await runs.first().evaluate((select: HTMLSelectElement) => {
      const alone = select.cloneNode(true) as HTMLSelectElement;
      alone.style.width = "max-content";
      document.body.append(alone);
      const lacking = alone.offsetWidth - select.offsetWidth;
      alone.remove();
      return lacking;
    });
    expect(lacking).toBeLessThanOrEqual(0);
  });
}

test("a cost leads to its batches", async ({ page, request }) => {
  const { cell } = await measured(request);
  const query = new URLSearchParams({ subject: cell.subject, case_id: cell.case_id, run_id: cell.run_id });
  const distribution = await read<Distribution>(request, `/distribution?${query}`);
  await page.goto(`/series?case=${cell.case_id}`);
  const links = page.locator('a[href^="/distribution"]');
  await links.first().waitFor();
  const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
  const index = addresses.findIndex((address) =>
    address.includes(new URLSearchParams({ subject: cell.subject }).toString()),
  );
  await links.nth(index).click();
  await expect(page.locator(".batches svg rect")).toHaveCount(distribution.invocations.length);
  await expect(page.locator("table.numbers tbody tr")).toHaveCount(distribution.invocations.length);
});

test("an unknown case has no series", async ({ page }) => {
  await page.goto("/series?case=unknown");
  await expect(page.getByText(LABELS.noSeries)).toBeVisible();
});

test("no page has a barrier, and none is wider than its window", async ({ page, request }) => {
  test.slow();
  for (const { path, ready } of await pages(request)) {
    await page.goto(path);
    await page.locator(ready).first().waitFor();
    await expect(page.locator("footer")).toContainText("ok");
    await expectReadable(page, path);
  }
});
