// @vitest-environment happy-dom
import { fireEvent, screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type { Filters, StackCell, Stacks } from "@/api/generated";
import { paths } from "@/paths";
import { answerOf, mockApi } from "@/testing/mock-api";
import { openPage } from "@/testing/pages";

const example = answerOf<Stacks>("stacks");

/** A page whose service answers with this; the addresses that it asked. */
function openWith(answer: Stacks): string[] {
  const asked: string[] = [];
  const stacks = http.get("*/api/v1/stacks", ({ request }) => {
    asked.push(new URL(request.url).search);
    return HttpResponse.json({ ...answer });
  });
  openPage(paths.stacks(), [stacks, ...mockApi("results")]);
  return asked;
}

describe("the page of stacks", () => {
  it("has a row for each library, and marks the cheapest of a column", async () => {
    openPage(paths.stacks());
    const table = within(await firstTable());
    const rows = table.getAllByRole("rowheader").map((header) => header.firstChild?.textContent);
    expect(rows).toEqual(example.stacks.map(({ end }) => end.label));
    expect(screen.getByText(example.sentence)).toBeDefined();
    const marked = example.columns.flatMap(({ cells }) =>
      cells.filter(({ standing }) => standing === "cheapest" || standing === "equal"),
    );
    expect(document.querySelectorAll("td.best")).toHaveLength(marked.length);
    expect(marked).not.toEqual([]);
  });

  it("leads to the history of a cost, and to the comparison behind a ratio", async () => {
    openPage(paths.stacks());
    const table = within(await firstTable());
    const [trend] = table.getAllByRole("link", { name: /^[\d.,]+ µs$/ });
    expect(trend?.getAttribute("href")).toContain("/trends?case=tlsv1.2_ecdhe-ecdsa");
    const [comparison] = table.getAllByRole("link", { name: /^\+5\.0%/ });
    const more = example.columns[0]?.cells.find(({ standing }) => standing === "more");
    const address = new URL(comparison?.getAttribute("href") ?? "", "http://service").searchParams;
    expect([address.get("base"), address.get("other")]).toEqual([more?.against, more?.subject]);
  });

  it("says why a cell has no rank or number", async () => {
    const columns = example.columns.map((column) => ({
      ...column,
      cells: column.cells.map((cell, place) =>
        place === 0
          ? {
              ...cell,
              standing: "other work" as const,
              ratio: null,
              against: null,
              reason: "negotiated differently",
            }
          : {
              ...cell,
              cpu_ns: null,
              standing: "missing" as const,
              ratio: null,
              against: null,
              reason: "not measured",
            },
      ),
    }));
    openWith({ ...example, columns, workload: null });
    const table = within(await firstTable());
    expect(table.getByText("other work")).toBeDefined();
    expect(table.getAllByText("not measured")).toHaveLength(example.stacks.length - 1);
    expect(screen.getByText("negotiated differently")).toBeDefined();
  });

  it("asks for another share of resumed connections", async () => {
    const asked = openWith(example);
    const share = await screen.findByRole("spinbutton", { name: "Resumed connections, %" });
    fireEvent.change(share, { target: { value: "75" } });
    await screen.findByText(example.sentence);
    await expect.poll(() => asked.at(-1)).toContain("resumed=75");
  });

  it("has the method, the machine and the commands", async () => {
    openPage(paths.stacks());
    expect(await screen.findByRole("heading", { name: "How this was measured" })).toBeDefined();
    const [command] = example.columns.flatMap(({ cells }) => cells.flatMap(({ command }) => command ?? []));
    expect(screen.getByText(command ?? "")).toBeDefined();
    expect(screen.getByRole("link", { name: "Download samples as CSV" })).toBeDefined();
  });

  it("has the commands that explain why two stacks differ", async () => {
    const why = ["kexbench why awslc@crate/0.47.0 openssl@system"];
    openWith({ ...example, why });
    expect(await screen.findByRole("heading", { name: "Why do two differ?" })).toBeDefined();
    expect(screen.getByText(why[0] ?? "")).toBeDefined();
  });

  it("has no such commands without a common ancestry", async () => {
    openWith({ ...example, why: [] });
    await firstTable();
    expect(screen.queryByRole("heading", { name: "Why do two differ?" })).toBeNull();
  });

  it("begins with the cost of the mix, before the count of columns", async () => {
    const sentence =
      "With ECDSA P-256 and 40% of connections resumed, fake 1.0 is the cheapest for a server: 9 µs.";
    openWith({ ...example, workload: example.workload && { ...example.workload, sentence } });
    expect((await screen.findByText(sentence)).className).toBe("answer");
    expect(screen.getByText(example.sentence).className).toBe("");
  });

  it("forgets protocol, certificate and versions on another machine", async () => {
    const there = { pool: "other", cpu_model: "Other CPU" };
    const filters = answerOf<Filters>("filters");
    const asked: string[] = [];
    openPage(
      paths.stacks({ protocol: "TLSv1.2", certificate: "Ed25519", version: ["fake@1.0"], resumed: 75 }),
      [
        http.get("*/api/v1/filters", () =>
          HttpResponse.json({ ...filters, host_kinds: [...filters.host_kinds, there] } as Filters),
        ),
        http.get("*/api/v1/stacks", ({ request }) => {
          asked.push(new URL(request.url).search);
          return HttpResponse.json({ ...example });
        }),
        ...mockApi("results"),
      ],
    );
    const machine = await screen.findByRole("combobox", { name: "Pool and CPU" });
    await within(machine).findByRole("option", { name: /^other/ });
    fireEvent.change(machine, { target: { value: String(filters.host_kinds.length) } });
    await expect.poll(() => asked.at(-1)).toBe("?pool=other&cpu_model=Other%20CPU&resumed=75");
  });

  it("has a way out of choices that the machine does not have", async () => {
    openPage(paths.stacks({ protocol: "TLSv1.2" }), [
      http.get("*/api/v1/stacks", () =>
        HttpResponse.json({
          ...example,
          protocol: "TLSv1.2",
          protocols: ["TLSv1.3"],
          stacks: [],
          columns: [],
        }),
      ),
      ...mockApi("results"),
    ]);
    const wayOut = await screen.findByRole("link", { name: "Show the libraries without these choices" });
    expect(wayOut.getAttribute("href")).toBe("/stacks");
    expect(screen.getByRole("radio", { name: "TLS 1.3" })).toBeDefined();
    expect(screen.queryByText("kexbench run stacks")).toBeNull();
  });

  it("has a way out where the service refuses the choices", async () => {
    const problem = { title: "Not usable", status: 422, detail: "no such certificate" };
    openPage(paths.stacks({ certificate: "Ed448" }), [
      http.get("*/api/v1/stacks", () => HttpResponse.json(problem, { status: 422 })),
      ...mockApi("results"),
    ]);
    const wayOut = await screen.findByRole("link", { name: "Show the libraries without these choices" });
    expect(wayOut.getAttribute("href")).toBe("/stacks");
  });

  it("dates a number of another run than the newest, and tells own threads from none measured", async () => {
    const first = example.columns[0]?.cells[0] as StackCell;
    const older = { run_id: "older", measured_at: "2020-02-03T04:05:06Z" };
    const threads = {
      ...first,
      ...older,
      background_cpu_ns: { ...first.cpu_ns, value: 5000 },
      has_own_threads: true,
    };
    const none = { ...first, background_cpu_ns: null, has_own_threads: null };
    const columns = example.columns.map((column) => ({
      ...column,
      cells: column.cells.map((cell, place) => ({
        ...(place === 0 ? threads : none),
        subject: cell.subject,
      })),
    }));
    openWith({ ...example, columns } as Stacks);
    const table = within(await firstTable());
    expect(table.getAllByText("3 Feb 2020")).toHaveLength(example.columns.length);
    expect(table.getAllByText(/of its own threads/)).toHaveLength(example.columns.length);
    expect(table.getAllByText(/own threads not measured/)).toHaveLength(
      (example.stacks.length - 1) * example.columns.length,
    );
    expect(screen.getAllByText(/measured 3 Feb 2020.* in run older/)).toHaveLength(example.columns.length);
  });

  it("says how to begin where nothing is stored", async () => {
    openPage(paths.stacks(), mockApi("nothing"));
    expect(await screen.findByText("No libraries to compare yet")).toBeDefined();
    expect(screen.getByText("kexbench run stacks")).toBeDefined();
  });
});

async function firstTable(): Promise<HTMLElement> {
  const frame = await screen.findByRole("region", { name: "Server CPU time by library" });
  return within(frame).getByRole("table");
}
