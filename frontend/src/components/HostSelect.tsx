// The choice of a host kind: results of different CPU models are never mixed.

import type { HostKind } from "@/api/generated";
import type { HostChoice } from "@/search";
import { Select } from "@/ui/Fields";
import { HostsInFull, useHostNames } from "./HostName";

interface Props {
  hostKinds: HostKind[];
  current: HostKind | null | undefined;
  choose: (choice: HostChoice) => void;
  /** whether all host kinds may be shown together */
  all?: boolean;
  label?: string;
}

const ALL = "-1";

export function HostSelect({ hostKinds, current, choose, all = false, label = "Pool and CPU" }: Props) {
  const nameOf = useHostNames();
  const kinds = hostKinds.map((kind, index) => ({ value: String(index), label: nameOf(kind) }));
  const choices = all ? [{ value: ALL, label: "all" }, ...kinds] : kinds;
  const value = hostKinds.findIndex(
    (kind) => kind.pool === current?.pool && kind.cpu_model === current?.cpu_model,
  );
  return (
    <div className="host">
      <Select
        label={label}
        value={String(value)}
        choices={choices}
        choose={(next) => {
          const kind = hostKinds[Number(next)];
          if (kind || all) choose({ pool: kind?.pool, cpu: kind?.cpu_model });
        }}
      />
      <HostsInFull kinds={hostKinds} />
    </div>
  );
}

/** The whole description, for keys, addresses and pictures. */
export function hostLabel(kind: Pick<HostKind, "pool" | "cpu_model">): string {
  return `${kind.pool}: ${kind.cpu_model}`;
}
