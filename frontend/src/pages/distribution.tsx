// The batches behind one number: of a version in a case on a machine in one run, by invocation.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Distribution, InvocationBatches, Metric } from "@/api/generated";
import { distributionOptions, filtersOptions } from "@/api/generated/@tanstack/react-query.gen";
import { BatchesChart } from "@/charts/BatchesChart";
import { batchesText } from "@/charts/batches-model";
import { MetricSelect } from "@/components/CellChoice";
import { captionOf } from "@/components/chart-caption";
import { HostName } from "@/components/HostName";
import { HostSelect } from "@/components/HostSelect";
import { libraryTitle } from "@/components/libraries";
import { SampleLinks } from "@/components/SampleLinks";
import { cost, dateTime } from "@/format";
import { paths } from "@/paths";
import type { DistributionSearch } from "@/search";
import { versionText } from "@/subjects";
import { ChartFrame } from "@/ui/ChartFrame";
import { Controls } from "@/ui/Controls";
import { Select } from "@/ui/Fields";
import { Frame } from "@/ui/Frame";
import { Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/distribution");

export function DistributionPage() {
  const search = route.useSearch();
  const { subject, case: case_id, metric, pool, cpu, run } = search;
  const navigate = route.useNavigate();
  const change = (next: Partial<DistributionSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const isChosen = subject !== "" && case_id !== "";
  const distribution = useQuery({
    ...distributionOptions({ query: { subject, case_id, metric, pool, cpu_model: cpu, run_id: run } }),
    placeholderData: keepPreviousData,
    enabled: isChosen,
  });
  const title = distribution.data ? `Batches of ${nameOf(distribution.data)}` : "Batches";
  useTitle(title);
  return (
    <>
      {isChosen && (
        <p className="crumbs">
          <Link {...paths.series({ case: case_id, metric, pool, cpu })}>All versions</Link>
        </p>
      )}
      <h1>{title}</h1>
      {distribution.data && <PageControls distribution={distribution.data} change={change} />}
      {!isChosen ? (
        <p>Open this page from a cost on the page Compare, or from a series.</p>
      ) : distribution.isError ? (
        <Failed error={distribution.error} retry={() => void distribution.refetch()} />
      ) : distribution.data ? (
        <Results distribution={distribution.data} />
      ) : (
        <Loading what="the batches" lines={10} />
      )}
    </>
  );
}

function nameOf({ subject }: Distribution): string {
  return `${libraryTitle(subject.library)} ${versionText(subject)}`;
}

interface PageControlsProps {
  distribution: Distribution;
  change: (next: Partial<DistributionSearch>) => void;
}

function PageControls({ distribution, change }: PageControlsProps) {
  const { host_kind, host_kinds, runs, run_id, metric } = distribution;
  const metrics = useQuery(filtersOptions()).data?.metrics;
  return (
    <Controls label="Choices">
      <HostSelect
        hostKinds={host_kinds}
        current={host_kind}
        choose={(host) => change({ ...host, run: undefined })}
      />
      <Select
        label="Run"
        value={run_id}
        choices={runs.map((run) => ({
          value: run.run_id,
          label: `${dateTime(run.measured_at)}, ${run.run_id}`,
        }))}
        choose={(run) => change({ run })}
      />
      {metrics && (
        <MetricSelect metrics={metrics} metric={metric} choose={(next) => change({ metric: next })} />
      )}
    </Controls>
  );
}

function Results({ distribution }: { distribution: Distribution }) {
  const { case: shown, subject, host_kind, metric, run_id, invocations } = distribution;
  return (
    <>
      <h2>{shown.title}</h2>
      <p>
        {batchesText(distribution)} On <HostName kind={host_kind} />, in{" "}
        <Link {...paths.run(run_id)}>one run</Link>. An invocation is a set of fresh processes and counts as
        one value.
      </p>
      {invocations.length > 0 && (
        <>
          <ChartFrame
            caption={captionOf({
              title: `${shown.title}: batches by invocation`,
              subjects: nameOf(distribution),
              hosts: [host_kind],
              measured: invocations.map(({ measured_at }) => measured_at),
            })}
          >
            <BatchesChart
              label={`Batches of ${nameOf(distribution)} by invocation`}
              {...{ metric, invocations }}
            />
          </ChartFrame>
          <QuantileTable label={`Quantiles of ${nameOf(distribution)}`} {...{ metric, invocations }} />
        </>
      )}
      <SampleLinks
        query={{
          run_id,
          case_id: shown.id,
          metric,
          subject: [subject.name],
          pool: host_kind.pool,
          cpu_model: host_kind.cpu_model,
        }}
      />
    </>
  );
}

interface TableProps {
  label: string;
  metric: Metric;
  invocations: InvocationBatches[];
}

const QUANTILES = [
  ["p05", "5%"],
  ["p25", "25%"],
  ["p50", "Median"],
  ["p75", "75%"],
  ["p95", "95%"],
] as const;

function QuantileTable({ label, metric, invocations }: TableProps) {
  return (
    <Frame label={label}>
      <table className="numbers history">
        <thead>
          <tr>
            <th scope="col">Invocation</th>
            <th scope="col" className="number">
              Level
            </th>
            {QUANTILES.map(([key, title]) => (
              <th key={key} scope="col" className="number">
                {title}
              </th>
            ))}
            <th scope="col" className="number">
              Batches
            </th>
            <th scope="col" className="number">
              Left out
            </th>
            <th scope="col">Job</th>
          </tr>
        </thead>
        <tbody>
          {invocations.map((invocation, index) => {
            const absent = invocation.batches.filter((value) => value === null).length;
            return (
              <tr key={`${invocation.job_id} ${invocation.invocation}`}>
                <th scope="row">
                  {index + 1} <small>{dateTime(invocation.measured_at)}</small>
                </th>
                <td className="number">{cost(invocation.level, metric)}</td>
                {QUANTILES.map(([key]) => (
                  <td key={key} className="number">
                    {cost(invocation[key], metric)}
                  </td>
                ))}
                <td className="number">{invocation.batches.length - absent}</td>
                <td className="number">{absent}</td>
                <td className="whole">{invocation.job_id}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Frame>
  );
}
