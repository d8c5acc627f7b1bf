import { expect, it } from "vitest";
import { anEvent } from "@/testing/build";
import { eventLines, isEventful } from "./event-lines";

it("joins repeated events, with the first and the last time", () => {
  const lines = eventLines([
    anEvent("queued", 0),
    anEvent("running", 1, "no node"),
    anEvent("running", 2, "no node"),
    anEvent("running", 9, "no node"),
  ]);
  expect(lines.map(({ state, times }) => [state, times])).toEqual([
    ["queued", 1],
    ["running", 3],
  ]);
  expect(lines[1]).toMatchObject({ first: "2026-01-01T00:01:00Z", last: "2026-01-01T00:09:00Z" });
});

it("keeps events apart that others interrupt, and the same detail of another state", () => {
  const events = [
    anEvent("building", 0, "no node"),
    anEvent("running", 1, "no node"),
    anEvent("running", 2, "it goes on"),
    anEvent("running", 3, "no node"),
  ];
  expect(eventLines(events).map(({ detail }) => detail)).toEqual([
    "no node",
    "no node",
    "it goes on",
    "no node",
  ]);
});

it("treats a run that only started and finished as uneventful", () => {
  expect(isEventful([anEvent("running", 0)])).toBe(false);
  expect(isEventful([anEvent("running", 0), anEvent("finished", 5)])).toBe(false);
});

it("treats a run that waited, ended otherwise or has details as eventful", () => {
  expect(isEventful([anEvent("queued", 0)])).toBe(true);
  expect(isEventful([anEvent("running", 0), anEvent("failed", 5)])).toBe(true);
  expect(isEventful([anEvent("running", 0), anEvent("finished", 5, "but a job failed")])).toBe(true);
});
