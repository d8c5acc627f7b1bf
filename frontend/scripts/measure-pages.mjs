// How fast pages are in a browser, as JSON: node scripts/measure-pages.mjs PLAN
// The plan is a JSON file with the same names as services/bench/pages.py.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { launch } from "./browser.mjs";

const VIEWPORT = { width: 1440, height: 900 };
const GESTURES = 60;
const ENOUGH_MS = 60_000;
const FRAME = "frame of a gesture";
const SCRIPTS = new Set([
  "EventDispatch",
  "FunctionCall",
  "FireAnimationFrame",
  "TimerFire",
  "RunMicrotasks",
  "V8.GCScavenger",
  "MinorGC",
  "MajorGC",
]);
const WHEEL = { zoom: ["Control", 0, -40], pan: ["Shift", 40, 0] };

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await launch();
const visits = [];
for (const { name, path, useful } of plan.pages) {
  for (let round = 0; round < plan.rounds; round++) {
    const context = await newContext(useful);
    const page = await context.newPage();
    for (const cache of ["cold", "warm"]) {
      await page.goto(plan.url + path);
      visits.push({ page: name, cache, round, ...(await usefulVisit(page)) });
      await page.waitForLoadState("networkidle");
    }
    await context.close();
  }
}
const crowd = await measureCrowd(plan.crowd);
await browser.close();
console.log(JSON.stringify({ visits, crowd }));

async function newContext(useful) {
  const context = await browser.newContext({ viewport: VIEWPORT });
  await context.addInitScript(noteUseful, useful);
  return context;
}

/** Runs in the page. A task that is posted from a frame's callback runs when that frame was painted. */
function noteUseful(selector) {
  const look = () => {
    const { width = 0, height = 0 } = document.querySelector(selector)?.getBoundingClientRect() ?? {};
    if (width === 0 || height === 0) return requestAnimationFrame(look);
    const painted = new MessageChannel();
    painted.port1.onmessage = () => {
      window.usefulAt = performance.now();
    };
    painted.port2.postMessage(null);
  };
  requestAnimationFrame(look);
}

async function usefulVisit(page) {
  await page.waitForFunction(() => window.usefulAt !== undefined, undefined, { timeout: ENOUGH_MS });
  return page.evaluate(() => {
    const resources = performance.getEntriesByType("resource");
    const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? window.usefulAt;
    const total = (entries, key) => entries.reduce((sum, entry) => sum + entry[key], 0);
    const scripts = resources.filter(({ name, responseEnd }) => /\.js$/.test(name) && responseEnd <= paint);
    const before = resources.filter(({ responseEnd }) => responseEnd <= window.usefulAt);
    return {
      useful_ms: window.usefulAt,
      painted_ms: paint,
      script_bytes: total(scripts, "encodedBodySize"),
      transferred_bytes: total([...performance.getEntriesByType("navigation"), ...before], "transferSize"),
    };
  });
}

/** A chart with more series than a small store has: its answer is made up, and sent compressed as the service does. */
async function measureCrowd({ path, useful, answer }) {
  const server = await serving(gzipSync(readFileSync(answer)));
  const useful_ms = [];
  let [context, page] = [];
  for (let round = 0; round < plan.rounds; round++) {
    await context?.close();
    context = await newContext(useful);
    page = await context.newPage();
    const url = `http://127.0.0.1:${server.address().port}`;
    await page.route("**/api/v1/trends**", (route) => route.continue({ url }));
    await page.goto(plan.url + path);
    useful_ms.push((await usefulVisit(page)).useful_ms);
    await page.waitForLoadState("networkidle");
  }
  const plot = page.locator(useful);
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await plot.boundingBox();
  const pointAt = (share) => page.mouse.move(x + width * share, y + height / 2);
  const frames = {};
  frames.pointing = await scriptMsPerFrame(page, (step) => pointAt(0.2 + (0.6 * step) / GESTURES));
  await pointAt(0.5);
  for (const [gesture, [key, deltaX, deltaY]] of Object.entries(WHEEL)) {
    await page.keyboard.down(key);
    frames[gesture] = await scriptMsPerFrame(page, (step) =>
      page.mouse.wheel(deltaX * (step % 20 < 10 ? 1 : -1), deltaY * (step % 20 < 10 ? 1 : -1)),
    );
    await page.keyboard.up(key);
  }
  await context.close();
  server.close();
  return { useful_ms, frames };
}

async function serving(body) {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Encoding": "gzip" }).end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

/** The CPU time of scripts in each frame, which one gesture leads to. */
async function scriptMsPerFrame(page, gesture) {
  await browser.startTracing(page, { categories: ["devtools.timeline", "blink.user_timing", "v8"] });
  await nextFrame(page);
  for (let step = 0; step < GESTURES; step++) {
    await gesture(step);
    await nextFrame(page);
  }
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const marks = traceEvents.filter(({ name }) => name === FRAME).sort((a, b) => a.ts - b.ts);
  // One that goes on when tracing ends has no duration.
  const ended = traceEvents.filter(
    ({ name, tid, tdur }) => SCRIPTS.has(name) && tid === marks[0].tid && tdur >= 0,
  );
  const scripts = outermost(ended);
  return marks.slice(1).map(({ ts }, frame) => {
    const own = scripts.filter((script) => script.ts > marks[frame].ts && script.ts <= ts);
    return own.reduce((sum, { tdur }) => sum + tdur, 0) / 1000;
  });
}

function nextFrame(page) {
  return page.evaluate(
    (name) =>
      new Promise((drawn) =>
        requestAnimationFrame(() => {
          performance.mark(name);
          drawn();
        }),
      ),
    FRAME,
  );
}

/** A script that another one called is part of that one. */
function outermost(events) {
  let end = 0;
  return events
    .sort((a, b) => a.ts - b.ts)
    .filter(({ ts, dur = 0 }) => {
      if (ts < end) return false;
      end = ts + dur;
      return true;
    });
}
