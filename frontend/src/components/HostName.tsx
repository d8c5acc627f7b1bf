// The short name of a host kind, with the CPU's whole description on demand.
import { useQuery } from "@tanstack/react-query";
import type { HostKind } from "@/api/generated";
import { filtersOptions } from "@/api/generated/@tanstack/react-query.gen";
import { cpuName } from "@/cpu-name";

type Kind = Pick<HostKind, "pool" | "cpu_model">;

/** "Xeon 6/207", distinct among all host kinds with results. */
export function useCpuNames(): (cpu: string) => string {
  const among = useQuery(filtersOptions()).data?.host_kinds.map(({ cpu_model }) => cpu_model) ?? [];
  return (cpu) => cpuName(cpu, among);
}

/** "local: Xeon 6/207" */
export function useHostNames(): (kind: Kind) => string {
  const nameOf = useCpuNames();
  return ({ pool, cpu_model }) => `${pool}: ${nameOf(cpu_model)}`;
}

export function HostName({ kind }: { kind: Kind }) {
  return <span title={kind.cpu_model}>{useHostNames()(kind)}</span>;
}

/** What the short names of some host kinds stand for. */
export function HostsInFull({ kinds }: { kinds: readonly Kind[] }) {
  const nameOf = useHostNames();
  const shortened = kinds.filter((kind) => nameOf(kind) !== `${kind.pool}: ${kind.cpu_model}`);
  if (shortened.length === 0) return null;
  return (
    <details className="hosts-in-full">
      <summary>{shortened.length === 1 ? "The CPU in full" : "The CPUs in full"}</summary>
      <ul className="plain">
        {shortened.map((kind) => (
          <li key={`${kind.pool} ${kind.cpu_model}`}>
            {nameOf(kind)} is {kind.cpu_model}.
          </li>
        ))}
      </ul>
    </details>
  );
}
