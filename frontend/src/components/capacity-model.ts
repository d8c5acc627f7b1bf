// A mix of connections as the address keeps it, as the API reads it, and the words of its answer. Pure: the API computes.
import type { CpuNeed, Estimate, MixPartView, MixReport, PartChange } from "@/api/generated";
import * as format from "@/format";
import { type CapacitySearch, DEFAULT_MIX } from "@/search";

export interface Part {
  /** percentage of the connections, as typed */
  share: string;
  caseId: string;
}

/** The parts of an address. Without any, all connections are of one case. */
export function partsOf(written: string[] | undefined, usual: string): Part[] {
  const parts = (written ?? []).map((text) => {
    const at = text.indexOf("~");
    return { share: text.slice(0, at), caseId: text.slice(at + 1) };
  });
  return parts.length > 0 ? parts : [{ share: "100", caseId: usual }];
}

export function writtenParts(parts: Part[]): string[] {
  return parts.map(({ share, caseId }) => `${share}~${caseId}`);
}

/** A mix as the API reads it. JSON is YAML. */
export function mixText(search: CapacitySearch, parts: Part[]): string {
  return JSON.stringify({
    apiVersion: "kexbench.dev/v1",
    kind: "TrafficMix",
    connectionsPerSecond: search.rate ?? DEFAULT_MIX.rate,
    utilisation: (search.used ?? DEFAULT_MIX.used) / 100,
    coresPerMachine: search.machine ?? DEFAULT_MIX.machine,
    cost: search.cost ?? "connection",
    parts: parts.map(({ share, caseId }) => ({ share: Number(share) / 100, caseId })),
  });
}

export const CONTENTS: Record<MixReport["cost"], { name: string; contains: string }> = {
  connection: { name: "whole connection", contains: "objects, handshake, application data and closing" },
  handshake: { name: "handshake", contains: "nothing else" },
};

export interface PartRow {
  caseId: string;
  title: string;
  share: string;
  /** of each version */
  costs: { cost: string; interval: string; load: string }[];
  change: PartChange | undefined;
}

export function partRows({ versions, part_changes: changes }: CpuNeed): PartRow[] {
  const [first] = versions;
  return (first?.parts ?? []).map((part, place) => ({
    caseId: part.case_id,
    title: part.title,
    share: `${Number((100 * part.share).toFixed(1))}%`,
    costs: versions.flatMap(({ parts }) => parts[place] ?? []).map(costTexts),
    change: changes.find(({ case_id: id }) => id === part.case_id),
  }));
}

function costTexts({ cpu_ns: cost, load_share: load }: MixPartView): PartRow["costs"][number] {
  return {
    cost: format.time(cost.value, 4),
    interval: intervalText(cost),
    load: `${format.share(load)} of CPU time`,
  };
}

function intervalText(cost: Estimate): string {
  return format.interval(cost, "server_cpu_ns");
}
