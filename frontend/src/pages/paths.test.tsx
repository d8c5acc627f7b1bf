// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type { Comparison, PathCell, Paths } from "@/api/generated";
import { paths } from "@/paths";
import { answerOf, mockApi } from "@/testing/mock-api";
import { openPage } from "@/testing/pages";

const example = answerOf<Paths>("paths");

function openWith(answer: Paths, target = paths.networkPaths()): void {
  openPage(target, [
    http.get("*/api/v1/paths", () => HttpResponse.json({ ...answer })),
    ...mockApi("results"),
  ]);
}

describe("the page of paths", () => {
  it("begins with the sentence, and has a group for each path", async () => {
    openPage(paths.networkPaths());
    const table = within(await waits());
    expect(screen.getByText(example.sentence).className).toBe("answer");
    const groups = table
      .getAllByRole("rowheader")
      .filter((header) => header.getAttribute("scope") === "rowgroup");
    expect(groups.map((header) => header.textContent)).toEqual([
      expect.stringMatching(/^2 ms/),
      "50 ms",
      expect.stringMatching(/^50 ms, 1% loss/),
    ]);
  });

  it("has times with their intervals beside round trips, and the cause of a further one", async () => {
    openPage(paths.networkPaths({ path: "50ms" }));
    const table = within(await waits());
    expect(table.getAllByText("150.0 ms").length).toBeGreaterThan(0);
    expect(table.getByText("3: 1 for TCP, 2 for TLS")).toBeDefined();
    expect(table.getAllByText("predicted 3, 150 ms").length).toBeGreaterThan(0);
    expect(
      table.getByText("The server's first flight of 15.8 kB does not fit the window of 14.5 kB: +1"),
    ).toBeDefined();
    const [trend] = table.getAllByRole("link", { name: "150.0 ms" });
    expect(trend?.getAttribute("href")).toContain("metric=path_handshake_p50_ns");
  });

  it("has what of a handshake is computing, where that was measured", async () => {
    openPage(paths.networkPaths({ path: "50ms" }));
    const cells = example.cases.filter((each) => each.path.text === "50ms").flatMap((each) => each.cells);
    const measured = cells.filter((cell) => cell.computing_ns !== null);
    const table = within(await waits());
    expect(measured.length).toBeGreaterThan(0);
    expect(table.getAllByText(/^[0-9.]+ ms computing$/).length).toBe(measured.length);
  });

  it("says why measured round trips differ from predicted ones", async () => {
    openPage(paths.networkPaths());
    const table = within(await waits());
    expect(table.getByText(/^Measured are 3 round trips, more than the 2/)).toBeDefined();
  });

  it("says in a list why a version is unsupported, and in a row where no other has a number", async () => {
    const refused = "unsupported: a path was refused";
    const isRefused = (cell: PathCell) => cell.outcome?.reason === "a path was refused";
    openPage(paths.networkPaths());
    expect(within(await waits()).queryByText(refused)).toBeNull();
    expect(screen.getByText(`1 cell without a result: ${refused}`)).toBeDefined();
    cleanup();
    openWith({
      ...example,
      cases: example.cases.map((each) => ({
        ...each,
        cells: each.cells.some(isRefused) ? each.cells.filter(isRefused) : each.cells,
      })),
    });
    expect(within(await waits()).getByText(refused)).toBeDefined();
  });

  it("has each flight against its window", async () => {
    openPage(paths.networkPaths({ path: "50ms" }));
    const table = within(
      within(await screen.findByRole("region", { name: "Flights against window and limit" })).getByRole(
        "table",
      ),
    );
    expect(table.getByText("15.8 kB of 14.5 kB")).toBeDefined();
    expect(table.getByText("1.3 kB over the window: +1 round trip")).toBeDefined();
  });

  it("shows one path or version, and keeps the choice in the address", async () => {
    openPage(paths.networkPaths());
    await waits();
    fireEvent.change(screen.getByRole("combobox", { name: "Path" }), { target: { value: "2ms" } });
    await expect.poll(groupNames).toEqual([expect.stringMatching(/^2 ms/)]);
    const [first] = screen.getAllByRole("checkbox");
    if (!first) throw new Error("a version");
    fireEvent.click(first);
    await expect
      .poll(async () => within(await waits()).queryByRole("columnheader", { name: "Version" }))
      .toBeNull();
  });

  it("has a way out of choices without results", async () => {
    openPage(paths.networkPaths({ path: "unknown" }));
    const wayOut = await screen.findByRole("link", { name: "Show all paths and versions" });
    expect(wayOut.getAttribute("href")).toBe("/paths");
  });

  it("is there where nothing has a number", async () => {
    const cases = example.cases.map((each) => ({
      ...each,
      cells: each.cells.map((cell) => ({
        ...cell,
        ...{ handshake: null, answer: null, round_trips: null, predicted: null, agreement: null },
        outcome: {
          kind: "unsupported" as const,
          reason: "no /dev/net/tun",
          detail: null,
          invocations: 3,
        },
      })),
    }));
    openWith({ ...example, cases: cases as Paths["cases"], sentence: "" });
    await waits();
    expect(screen.getByText(/cells without a result: unsupported: no \/dev\/net\/tun/)).toBeDefined();
    expect(screen.queryByRole("heading", { name: "Which flight does not fit?" })).toBeNull();
  });

  it("says how to begin where nothing is stored", async () => {
    openPage(paths.networkPaths(), mockApi("nothing"));
    expect(await screen.findByText("No case was measured over a path yet")).toBeDefined();
    expect(screen.getByText("kexbench run paths")).toBeDefined();
  });
});

describe("an upgrade that was measured over paths", () => {
  const comparison = answerOf<Comparison>("compare");
  const kind = comparison.cells[0]?.host_kind;
  const time = { value: 62_800_000, low: null, high: null, invocations: 3 };
  const wait = {
    ...{ case_id: "case", title: "TLS 1.3", path: "continent", path_words: "continent (30.916 ms)" },
    ...{ host_kind: kind, basis: "measured", round_trips_before: 1, round_trips_after: 2, more: 1 },
    handshake_before_ns: time,
    handshake_after_ns: { ...time, value: 95_700_000 },
    ...{ cause: null, sentence: "one round trip more" },
  };
  const sentence = "One round trip more over continent (30.916 ms).";

  it.each([paths.upgrade("fake", "1.0", "1.1"), paths.compare()])(
    "has a line of waits on $to",
    async (page) => {
      const upgrade = { ...comparison.upgrade, waits: { sentence, cases: [wait] } };
      openPage(page, [
        http.get("*/api/v1/compare", () => HttpResponse.json({ ...comparison, upgrade } as Comparison)),
        ...mockApi("results"),
      ]);
      const line = (await screen.findByText("Waiting:")).closest("details");
      expect(line?.querySelector("summary")?.textContent).toBe(`Waiting: ${sentence}`);
      expect(line?.querySelector("li")?.textContent).toBe(
        "TLS 1.3, over continent (30.916 ms): one round trip more; handshake 62.80 ms → 95.70 ms",
      );
      expect(line?.querySelector("a")?.getAttribute("href")).toMatch(/^\/paths\?.*version=fake/);
    },
  );

  it("has none without paths", async () => {
    openPage(paths.upgrade("fake", "1.0", "1.1"));
    await screen.findByRole("heading", { level: 1, name: /1\.0 → 1\.1/ });
    expect(screen.queryByText("Waiting:")).toBeNull();
  });
});

async function waits(): Promise<HTMLElement> {
  const frame = await screen.findByRole("region", { name: "Time until a handshake is done, by path" });
  return within(frame).getByRole("table");
}

function groupNames(): (string | null)[] {
  return [...document.querySelectorAll("th[scope=rowgroup]")].map((header) => header.textContent);
}
