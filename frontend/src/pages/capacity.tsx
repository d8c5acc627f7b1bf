// Capacity: the cores and machines that a mix of connections needs, and what another version changes of it.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type CaseView, capacity, type Matrix } from "@/api/generated";
import { filtersOptions, matrixOptions } from "@/api/generated/@tanstack/react-query.gen";
import { CapacityAnswer } from "@/components/CapacityAnswer";
import { CONTENTS, mixText, partsOf, writtenParts } from "@/components/capacity-model";
import { FirstRun } from "@/components/FirstRun";
import { HostSelect } from "@/components/HostSelect";
import { subjectChoices } from "@/components/libraries";
import { MixForm } from "@/components/MixForm";
import { RunsAside } from "@/components/RunsAside";
import { count } from "@/format";
import { type CapacitySearch, COSTS, DEFAULT_MIX } from "@/search";
import { Amount, Select } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/capacity");
const NONE = "";

export function CapacityPage() {
  const { pool, cpu, cost = "connection" } = route.useSearch();
  const metric = cost === "handshake" ? "server_cpu_ns" : "server_connection_cpu_ns";
  const matrix = useQuery({
    ...matrixOptions({ query: { metric, pool, cpu_model: cpu } }),
    placeholderData: keepPreviousData,
  });
  useTitle("Capacity");
  return (
    <>
      <h1>Cores for a mix of connections</h1>
      <RunsAside />
      {matrix.data ? (
        <Mix matrix={matrix.data} />
      ) : matrix.isError ? (
        <Failed error={matrix.error} retry={() => void matrix.refetch()} />
      ) : (
        <Loading what="the measured cases" lines={10} />
      )}
    </>
  );
}

function Mix({ matrix }: { matrix: Matrix }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<CapacitySearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const filters = useQuery(filtersOptions());
  const newest = matrix.subjects.findLast(({ name }) => firstCosted(matrix, name));
  const first = newest && (firstCosted(matrix, search.version) ?? firstCosted(matrix, newest.name));
  if (!first || !matrix.host_kind) return <NoCosts matrix={matrix} />;
  const parts = partsOf(search.part, first.id);
  const version = search.version ?? newest.name;
  const { rate = DEFAULT_MIX.rate, used = DEFAULT_MIX.used, machine = DEFAULT_MIX.machine } = search;
  const { pool, cpu_model } = matrix.host_kind;
  const versions = subjectChoices(matrix.subjects);
  const library = matrix.subjects.find(({ name }) => name === version)?.library;
  return (
    <>
      <form aria-label="Mix" onSubmit={(event) => event.preventDefault()}>
        <div className="controls">
          <HostSelect
            hostKinds={filters.data?.host_kinds ?? [matrix.host_kind]}
            current={matrix.host_kind}
            choose={change}
          />
          <Select
            label="Library version"
            value={version}
            choices={versions}
            choose={(next) => change({ version: next, to: undefined })}
          />
          <Select
            label="Compare with"
            value={search.to ?? NONE}
            choices={[
              { value: NONE, label: "no other version" },
              ...versions.filter(({ group, value }) => group === library && value !== version),
            ]}
            choose={(to) => change({ to: to || undefined })}
          />
        </div>
        <MixForm parts={parts} cases={matrix.cases} change={(next) => change({ part: writtenParts(next) })} />
        <div className="controls">
          <Amount
            label="Connections per second"
            value={rate}
            min={0}
            max={1e9}
            step="any"
            enter={(text) => change({ rate: Number(text) })}
          />
          <Amount
            label="Utilisation of a core, %"
            value={used}
            min={0}
            max={100}
            step="any"
            enter={(text) => change({ used: Number(text) })}
          />
          <Amount
            label="Cores of a machine"
            value={machine}
            min={1}
            max={100_000}
            enter={(text) => change({ machine: Number(text) })}
          />
          <Select
            label="CPU time of"
            value={search.cost ?? COSTS[0]}
            choices={COSTS.map((cost) => ({ value: cost, label: CONTENTS[cost].name }))}
            choose={(cost) => change({ cost })}
          />
        </div>
      </form>
      <Answer
        mix={mixText(search, parts)}
        version={version}
        to={search.to ?? null}
        pool={pool}
        cpuModel={cpu_model}
      />
    </>
  );
}

/** The first case with a cost of this version's server: one that the page can answer for. */
function firstCosted({ cases, cells }: Matrix, version: string | undefined): CaseView | undefined {
  return cases.find(({ id }) =>
    cells.some((cell) => cell.case_id === id && cell.subject === version && cell.estimate),
  );
}

/** A case without undisturbed batches has no cost of its server alone. */
function NoCosts({ matrix: { cases, cells } }: { matrix: Matrix }) {
  const reason = cells.find(({ outcome }) => outcome)?.outcome?.reason;
  return (
    <Empty title="No costs of servers yet">
      {cases.length > 0 && (
        <p>
          {count(cases.length, "case")} measured, but none has the CPU time of the server alone
          {reason && `: ${reason}`}. Measure on an idle machine, without <code>--quick</code>.
        </p>
      )}
      <FirstRun />
    </Empty>
  );
}

interface AnswerProps {
  mix: string;
  version: string;
  to: string | null;
  pool: string;
  cpuModel: string;
}

function Answer({ mix, version, to, pool, cpuModel }: AnswerProps) {
  const body = { mix, mix_file: "the mix", version, to, pool, cpu_model: cpuModel };
  const report = useQuery({
    queryKey: ["capacity", body],
    queryFn: async ({ signal }) => (await capacity({ body, signal, throwOnError: true })).data,
    placeholderData: keepPreviousData,
  });
  if (report.isError) return <Failed error={report.error} />;
  return report.data ? <CapacityAnswer report={report.data} /> : <Loading what="the cores" lines={6} />;
}
