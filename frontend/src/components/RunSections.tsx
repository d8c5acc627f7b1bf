// The background of a run's results: hosts, kits, missing results and skipped combinations.
import type { ReactNode } from "react";
import type { HostView, RunDetail, Skipped, Subject } from "@/api/generated";
import { count, memory } from "@/format";
import { commitText, versionText } from "@/subjects";
import { Facts } from "@/ui/Fields";
import { Reasons } from "@/ui/Reasons";
import { NodeLinks } from "./NodeLinks";
import { reasonsOf } from "./outcome-model";

export function OutcomeSection({ run }: { run: RunDetail }) {
  const reasons = reasonsOf(run);
  if (reasons.length === 0) return null;
  return (
    <section>
      <h2>Missing results</h2>
      <Reasons reasons={reasons} />
    </section>
  );
}

/** Identical machines are shown once; on a cluster, with their nodes. */
export function HostSection({ hosts }: { hosts: HostView[] }) {
  if (hosts.length === 0) return null;
  return (
    <section>
      <h2>{hosts.length > 1 ? "Hosts" : "Host"}</h2>
      {hosts.map((view) => (
        <OneHost key={`${view.pools} ${view.nodes} ${view.host.microcode}`} view={view} />
      ))}
    </section>
  );
}

function OneHost({ view: { host, pools, nodes, isolation } }: { view: HostView }) {
  const onCluster: [string, ReactNode][] = [
    ["Pool", pools.join(", ")],
    ["Nodes", <NodeLinks key="nodes" pool={pools.length === 1 ? pools[0] : undefined} nodes={nodes} />],
    ["CPUs per job", isolation.join(", ")],
  ];
  return (
    <>
      <Facts
        facts={[
          ...(nodes.length > 0 ? onCluster : []),
          ["CPU", `${host.cpu_model}, ${host.architecture}`],
          ["Family", orUnknown(host.cpu_family)],
          ["Stepping", orUnknown(host.cpu_stepping)],
          ["CPUs", host.cpus],
          ["Memory", memory(host.memory_bytes)],
          ["Kernel", host.kernel],
          ["Virtualisation", orUnknown(host.virtualisation)],
          ["Governor", orUnknown(host.governor)],
          ["Turbo", onOff(host.turbo)],
          ["SMT", onOff(host.smt)],
          ["Microcode", orUnknown(host.microcode)],
        ]}
      />
      {host.cpu_flags && host.cpu_flags.length > 0 && (
        <details>
          <summary>{count(host.cpu_flags.length, "CPU flag")}</summary>
          <p className="flags">{host.cpu_flags.join(" ")}</p>
        </details>
      )}
    </>
  );
}

export function KitSection({ run }: { run: RunDetail }) {
  const kits = Object.values(run.kits);
  if (run.subjects.length === 0) return null;
  return (
    <section>
      <h2>Libraries</h2>
      {run.subjects.map((subject) => {
        const kit = kits.find((candidate) => candidate.kit_id === subject.kit_id);
        return (
          <details key={subject.name}>
            <summary>
              <b>
                {subject.library} {versionText(subject)}
              </b>{" "}
              from {subject.source}, {subject.build_profile_label}
              {subject.commit && <small className="below">{commitText(subject.commit)}</small>}
            </summary>
            {kit && (
              <Facts
                facts={[
                  ["Kit", <code key="kit">{kit.kit_id}</code>],
                  ["Library compiler", kit.build_profile.compiler],
                  ["Library flags", kit.build_profile.flags],
                  ["Dependencies", dependenciesOf(run, subject)],
                  ["Worker compiler", `${kit.worker_compiler} ${kit.worker_flags}`],
                  [
                    "Packages",
                    (kit.packages ?? []).map((item) => `${item.name} ${item.version}`).join(", ") || "none",
                  ],
                  ["Files", count(Object.keys(kit.files).length, "file")],
                ]}
              />
            )}
          </details>
        );
      })}
    </section>
  );
}

/** "nettle 3.8.1, gmp 6.2.1, libc 2.36" */
function dependenciesOf(run: RunDetail, { library, source }: Subject): string {
  const components = run.components[`${library}@${source}`] ?? {};
  return (
    Object.entries(components)
      .map((component) => component.join(" "))
      .join(", ") || "unknown"
  );
}

export function SkippedSection({ skipped }: { skipped: Skipped[] }) {
  if (skipped.length === 0) return null;
  return (
    <section>
      <h2>Skipped combinations</h2>
      <ul>
        {skipped.map(({ combination, reason }) => (
          <li key={combination}>
            <b>{combination}</b>: {reason}
          </li>
        ))}
      </ul>
    </section>
  );
}

function orUnknown(fact: string | null | undefined): string {
  return fact ?? "unknown";
}

function onOff(fact: boolean | null | undefined): string {
  return fact === null || fact === undefined ? "unknown" : fact ? "on" : "off";
}
