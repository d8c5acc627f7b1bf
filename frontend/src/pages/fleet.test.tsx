// @vitest-environment happy-dom
import { fireEvent, screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type { Fleet, FleetNode } from "@/api/generated";
import { paths } from "@/paths";
import { answerOf, mockApi } from "@/testing/mock-api";
import { openPage } from "@/testing/pages";

const example = answerOf<Fleet>("fleet");
const [pool] = example.pools;
const POOLS = 20;
const NODES = 50;

/** A thousand nodes, of which one is silent and one has lost a job. */
function largeFleet(): Fleet {
  const node = (name: string): FleetNode => ({ ...(pool?.nodes[0] as FleetNode), node: name, state: "fine" });
  const pools = Array.from({ length: POOLS }, (_, number) => ({
    pool: `pool-${number}`,
    mixed_pool: null,
    nodes: Array.from({ length: NODES }, (_, place) => node(`node-${number}-${place}`)),
  }));
  pools[7]?.nodes.unshift({ ...node("node-lost"), state: "jobs lost or failed", lost_jobs: 3 });
  pools[12]?.nodes.unshift({ ...node("node-quiet"), state: "silent", silent_days: 21 });
  return { ...example, pools };
}

function openFleet(search = {}) {
  const answer = http.get("*/api/v1/fleet", () => HttpResponse.json({ ...largeFleet() }));
  openPage(paths.fleet(search), [answer, ...mockApi("results")]);
}

async function shownNodes(): Promise<(string | undefined)[]> {
  const table = await screen.findByRole("table");
  return within(table)
    .getAllByRole("rowheader")
    .map((header) => header.firstChild?.textContent ?? undefined);
}

describe("the page of the fleet", () => {
  it("has a row for each node of a small one", async () => {
    openPage(paths.fleet());
    expect(await shownNodes()).toEqual(pool?.nodes.map(({ node }) => node));
  });

  it("says how to begin where nothing is stored", async () => {
    openPage(paths.fleet(), mockApi("nothing"));
    expect(await screen.findByText("No machine has measured anything yet")).toBeDefined();
  });

  it("has those first that need attention, and pages of the others", async () => {
    openFleet();
    const names = await shownNodes();
    expect(names).toHaveLength(NODES);
    expect(names.slice(0, 3)).toEqual(["node-quiet", "node-lost", "node-0-0"]);
    expect(screen.getByText("Silent: no result for 21 days")).toBeDefined();
    const pages = within(screen.getByRole("navigation", { name: "Pages of nodes" }));
    expect(pages.getByText(/1 to 50 of 1,002 nodes/)).toBeDefined();
    fireEvent.click(pages.getByRole("link", { name: "Next 50" }));
    expect(await pages.findByText(/51 to 100 of 1,002 nodes/)).toBeDefined();
    expect((await shownNodes())[0]).toBe("node-0-48");
  });

  it("counts the nodes of each state, with a link to them", async () => {
    openFleet();
    const silent = await screen.findByRole("link", { name: "1 is silent" });
    expect(screen.getByRole("link", { name: "1,000 are fine" })).toBeDefined();
    fireEvent.click(silent);
    expect(await screen.findByRole("combobox", { name: "State" })).toHaveProperty("value", "silent");
    expect(await shownNodes()).toEqual(["node-quiet"]);
    expect(screen.getByRole("link", { name: "1,000 are fine" })).toBeDefined();
  });

  it("finds nodes by pool and name, and sorts them by a column", async () => {
    openFleet({ pool: "pool-3", node: "NODE-3-4" });
    expect(await shownNodes()).toHaveLength(11);
    fireEvent.click(screen.getByRole("button", { name: "Node" }));
    expect((await shownNodes()).slice(0, 2)).toEqual(["node-3-4", "node-3-40"]);
    expect(screen.getByRole("columnheader", { name: "Node" }).getAttribute("aria-sort")).toBe("ascending");
  });

  it("names the pools of unlike nodes, and a few nodes of each kind in a chosen one", async () => {
    const fleet = largeFleet();
    const names = fleet.pools[4]?.nodes.map(({ node }) => node) ?? [];
    const mixed = {
      pool: "pool-4",
      kinds: [
        { nodes: names.slice(1), traits: ["governor performance"] },
        { nodes: names.slice(0, 1), traits: ["governor powersave"] },
      ],
    };
    const pools = fleet.pools.map((each) => (each.pool === "pool-4" ? { ...each, mixed_pool: mixed } : each));
    const answer = http.get("*/api/v1/fleet", () => HttpResponse.json({ ...fleet, pools }));
    openPage(paths.fleet(), [answer, ...mockApi("results")]);
    fireEvent.click(await screen.findByRole("link", { name: "pool-4" }));
    const notice = within(await screen.findByRole("note", { name: "Nodes of pool pool-4 differ" }));
    expect(notice.getAllByRole("link").map(({ textContent }) => textContent)).toEqual([
      ...["node-4-1", "node-4-2", "node-4-3", "node-4-4", "node-4-5", "44 other nodes"],
      "node-4-0",
    ]);
  });

  it("leads back to all nodes where none is left", async () => {
    openFleet({ pool: "pool-3", state: "silent" });
    const link = await screen.findByRole("link", { name: "Show all nodes" });
    expect(link.getAttribute("href")).toBe("/fleet");
  });
});
