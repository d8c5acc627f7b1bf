import { expect, it } from "vitest";
import { dateTime } from "@/format";
import { troubleWords } from "./trouble-words";

const since = "2026-01-01T12:00:00Z";

it("says that the store has no room, with the bytes and the remedy", () => {
  const reason =
    "the store has no room: 4.0 KiB free, 1.0 MiB needed; free some space on the disk of /home/ada/store";
  expect(troubleWords({ part: "room", since, reason })).toBe(`Since ${dateTime(since)} ${reason}.`);
});

it("names any other part that fails", () => {
  expect(troubleWords({ part: "queue", since, reason: "not granted" })).toBe(
    `queue has been failing since ${dateTime(since)}: not granted`,
  );
});
