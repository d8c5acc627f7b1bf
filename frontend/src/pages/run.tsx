// Run: its results first, then their background.

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import type { RunDetail, RunProgressView } from "@/api/generated";
import {
  filtersOptions,
  runOptions,
  runProgressOptions,
  runProgressQueryKey,
} from "@/api/generated/@tanstack/react-query.gen";
import { useStream } from "@/api/stream";
import { Heatmap } from "@/charts/Heatmap";
import { heatModel } from "@/charts/heatmap-model";
import { Legend } from "@/charts/Legend";
import { CellChoice } from "@/components/CellChoice";
import { CellTable } from "@/components/CellTable";
import { CommitLine } from "@/components/CommitLine";
import { ConnectionSection } from "@/components/ConnectionSection";
import { captionOf, subjectsText } from "@/components/chart-caption";
import { stepsOf } from "@/components/compared-ends";
import { DisturbanceNotices } from "@/components/DisturbanceNotices";
import { EnvironmentSection } from "@/components/EnvironmentSection";
import { EventSection } from "@/components/EventSection";
import { FindCommits } from "@/components/FindCommitOfRun";
import { HostSelect } from "@/components/HostSelect";
import { LiveSection } from "@/components/LiveProgress";
import { MixedPoolNotice } from "@/components/MixedPoolNotice";
import { isUncounted, NoCase, NothingCounted } from "@/components/NoCells";
import { triggerText } from "@/components/queue-model";
import { ReferenceSection } from "@/components/ReferenceSection";
import { RunControls } from "@/components/RunControls";
import { HostSection, KitSection, OutcomeSection, SkippedSection } from "@/components/RunSections";
import { SpreadSection } from "@/components/RunSpread";
import { FirstLookMark, isOpen, RunNote, RunState } from "@/components/RunState";
import { SampleLinks } from "@/components/SampleLinks";
import { SentinelNotice, sentinelFact } from "@/components/Sentinel";
import { timerLines } from "@/components/timer-lines";
import { UpgradeLinks } from "@/components/UpgradeLinks";
import { amount, count, dateTime, share } from "@/format";
import { defaultMetricOf, unaskedText } from "@/metrics";
import { paths } from "@/paths";
import type { RunSearch } from "@/search";
import { ChartFrame } from "@/ui/ChartFrame";
import { Code } from "@/ui/Code";
import { Controls } from "@/ui/Controls";
import { Facts, Lines } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/runs/$runId");
const POLL_MS = 3000;

export const firstAnswer = ({ runId, metric, pool, cpu }: RunSearch & { runId: string }) =>
  runOptions({ path: { run_id: runId }, query: { metric, pool, cpu_model: cpu } });

export function RunPage() {
  const { runId } = route.useParams();
  const search = route.useSearch();
  const run = useQuery({
    ...firstAnswer({ ...search, runId }),
    placeholderData: keepPreviousData,
  });
  const shown = run.data?.summary.run_id === runId ? run.data : undefined;
  const progress = useProgress(runId, shown);
  const shownMark = shown && markOf(shown.summary);
  const newestMark = progress && markOf(progress);
  const { refetch } = run;
  useEffect(() => {
    if (shownMark && newestMark && shownMark !== newestMark) void refetch();
  }, [shownMark, newestMark, refetch]);
  useTitle(`Run ${runId}`);
  return (
    <>
      <p className="crumbs">
        <Link {...paths.runs()}>All runs</Link>
      </p>
      {shown ? (
        <Results run={shown} progress={progress} search={search} />
      ) : run.isError ? (
        <>
          <h1>Run {runId}</h1>
          <Failed error={run.error} retry={() => void run.refetch()} />
        </>
      ) : (
        <Loading what="the run" lines={10} />
      )}
    </>
  );
}

/** How far a run is, followed while it goes on. */
function useProgress(runId: string, run: RunDetail | undefined): RunProgressView | undefined {
  const queries = useQueryClient();
  const options = { path: { run_id: runId } };
  const goesOn = run !== undefined && isOpen(run.summary.state);
  const isUp = useStream<RunProgressView>(goesOn ? `runs/${runId}/stream` : null, async (news) => {
    const queryKey = runProgressQueryKey(options);
    await queries.cancelQueries({ queryKey }); // its answer would be older than the news
    queries.setQueryData(queryKey, news);
  });
  const { data } = useQuery({
    ...runProgressOptions(options),
    enabled: run !== undefined && run.summary.state !== "finished",
    refetchInterval: goesOn && !isUp && POLL_MS,
  });
  return data;
}

/** Changes whenever the run has more to show. */
function markOf({ state, state_at, invocations_stored }: RunDetail["summary"] | RunProgressView): string {
  return `${state} ${state_at} ${invocations_stored}`;
}

interface ResultsProps {
  run: RunDetail;
  progress: RunProgressView | undefined;
  search: RunSearch;
}

function Results({ run, progress, search }: ResultsProps) {
  const { summary } = run;
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {summary.spec_name} <RunState state={summary.state} /> <FirstLookMark run={summary} />
      </h1>
      <p>
        {summary.description} <small>Run {summary.run_id}</small>
      </p>
      <CommitLine summary={summary} />
      <RunNote summary={summary} />
      <RunControls key={summary.run_id} run={run} heading={heading} />
      {progress && <LiveSection progress={progress} />}
      <SentinelNotice sentinel={run.sentinel} />
      <DisturbanceNotices {...run} />
      {run.mixed_pools.map((mixed) => (
        <MixedPoolNotice key={mixed.pool} mixed={mixed} />
      ))}
      <Cells run={run} search={search} />
      <FindCommits run={run} />
      <UpgradeLinks run={run} />
      <OutcomeSection run={run} />
      <ConnectionSection run={run} />
      {run.reference && (
        <ReferenceSection reference={run.reference} cases={run.cases} subjects={run.subjects} />
      )}
      <EventSection events={run.events} />
      <section>
        <h2>Details</h2>
        <RunFacts run={run} />
      </section>
      <EnvironmentSection environment={run.environment} />
      <SpreadSection spread={run.spread} />
      <HostSection hosts={run.hosts} />
      <KitSection run={run} />
      <SkippedSection skipped={run.skipped} />
      <section>
        <h2>Spec</h2>
        <Code>{run.spec_text}</Code>
      </section>
    </>
  );
}

function RunFacts({ run }: { run: RunDetail }) {
  const { summary, measure } = run;
  const ended: [string, string][] = isOpen(summary.state) ? [] : [["Ended", dateTime(summary.state_at)]];
  const disturbances: [string, string][] = run.sibling
    ? [["SMT sibling", `busy for ${share(run.sibling.share)} of the time`]]
    : [];
  if (run.steal) disturbances.push(["CPU steal", `${share(run.steal.share)} of the CPU time`]);
  const timed: [string, ReactNode][] = [
    [
      "Repeated batches",
      `${amount(run.discarded_batches)}, ${run.others_measured ? "disturbed by other programs" : "after a context switch"}`,
    ],
    ["Disturbed batches", `${amount(run.preempted_batches)} kept`],
    ["Sentinel", sentinelFact(run.sentinel)],
    ...disturbances,
    ["Clocks", <Lines key="clocks" lines={timerLines(run.timers)} />],
  ];
  const counts = (measure.instrument ?? "time") !== "time";
  return (
    <Facts
      facts={[
        ["Created", dateTime(summary.created_at)],
        ...ended,
        ["Trigger", triggerText(summary.trigger)],
        ["Pools", summary.pools.join(", ")],
        ["Invocations", `${summary.invocations_stored} of ${summary.invocations_planned}`],
        [
          summary.pools.length > 1 ? "Per case and pool" : "Per case",
          counts
            ? `counted ${count(measure.invocations, "time")}`
            : `${count(measure.invocations, "invocation")} of ${count(measure.batches, "batch", "batches")} each`,
        ],
        ...(summary.invocations_stored > 0 && !counts ? timed : []),
        ["Plan", <code key="plan">{summary.plan_id}</code>],
      ]}
    />
  );
}

/** The dependencies that changed in each step, and may have caused part of a difference. */
function ChangedDependencies({ steps }: { steps: ReturnType<typeof stepsOf> }) {
  if (steps.length === 0) return null;
  return (
    <ul className="plain" aria-label="Dependencies that changed with the libraries">
      {steps.map(({ title, dependencies }) => (
        <li key={title}>
          {title}: dependencies changed as well (<b>{dependencies}</b>) and may cause part of the difference.
        </li>
      ))}
    </ul>
  );
}

function Cells({ run, search }: { run: RunDetail; search: RunSearch }) {
  const navigate = route.useNavigate();
  const change = (next: Partial<RunSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const byDefault = defaultMetricOf(run.measure);
  const choose = ({ metric, ...next }: Partial<RunSearch>) =>
    change(metric ? { ...next, metric: metric === byDefault ? undefined : metric } : next);
  const metrics = useQuery(filtersOptions()).data?.metrics ?? [];
  const shown = metrics.find(({ metric }) => metric === run.metric);
  const unasked = shown && unaskedText(shown, run.measure);
  const kind = run.host_kind;
  const host = { pool: kind?.pool, cpu: kind?.cpu_model };
  const model = useMemo(() => heatModel(run, { variation: search.variation }), [run, search.variation]);
  const label = "Results of this run";
  if (run.summary.invocations_stored === 0) {
    return (
      isOpen(run.summary.state) && (
        <Empty title="No results yet">
          <p>Results appear here when the first invocation is stored.</p>
        </Empty>
      )
    );
  }
  return (
    <>
      <Controls>
        {run.host_kinds.length > 1 && (
          <HostSelect hostKinds={run.host_kinds} current={kind} choose={change} />
        )}
        <CellChoice
          metrics={metrics}
          cases={run.cases}
          metric={search.metric ?? byDefault}
          choice={search}
          change={choose}
        />
      </Controls>
      <ChangedDependencies steps={stepsOf(model.priors, model.subjects, run.cells)} />
      {isUncounted(run, byDefault) ? (
        <NothingCounted why={unasked ?? "This run has none. Select another metric."} />
      ) : model.rows.length === 0 ? (
        <NoCase showAll={() => change({ variation: undefined })} />
      ) : search.view === "table" ? (
        <CellTable {...{ label, model, host, metric: run.metric }} choice={search} sortBy={change} />
      ) : (
        <ChartFrame
          caption={captionOf({
            title: `${run.summary.spec_name}: results of one run`,
            subjects: subjectsText(model.subjects),
            hosts: kind ? [kind] : [],
            measured: run.cells.map(({ measured_at }) => measured_at),
          })}
        >
          <Legend metric={run.metric} model={model} />
          <Heatmap {...{ label, model, host, metric: run.metric }} />
        </ChartFrame>
      )}
      <SampleLinks query={{ run_id: run.summary.run_id }} />
    </>
  );
}
