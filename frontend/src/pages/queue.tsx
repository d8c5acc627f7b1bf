// Queue: the running and waiting runs in order, and when each will run.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { QueueEntry } from "@/api/generated";
import { queueOptions, queueQueryKey } from "@/api/generated/@tanstack/react-query.gen";
import { useStream } from "@/api/stream";
import { doneText } from "@/components/live-model";
import { positionReason, timingOf } from "@/components/queue-model";
import { RunState } from "@/components/RunState";
import { LOCAL } from "@/format";
import { paths } from "@/paths";
import { Code } from "@/ui/Code";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const POLL_MS = 5000;

export const firstAnswer = () => queueOptions();

export function QueuePage() {
  const queries = useQueryClient();
  const isUp = useStream(
    "overview/stream",
    () => void queries.invalidateQueries({ queryKey: queueQueryKey() }),
  );
  const queue = useQuery({ ...firstAnswer(), refetchInterval: !isUp && POLL_MS });
  useTitle("Queue");
  return (
    <>
      <h1>Queue</h1>
      {queue.data ? (
        <QueuedRuns runs={queue.data.runs} />
      ) : queue.isError ? (
        <Failed error={queue.error} retry={() => void queue.refetch()} />
      ) : (
        <Loading what="the queue" />
      )}
    </>
  );
}

function QueuedRuns({ runs }: { runs: QueueEntry[] }) {
  if (runs.length === 0) {
    return (
      <Empty title="The queue is empty">
        <p>Queue a run:</p>
        <Code className="command">kexbench submit quickstart</Code>
      </Empty>
    );
  }
  return (
    <>
      <p>
        Pull requests run first, then commits, requests, schedules and backfills. Within each group, the spec
        that was measured longest ago runs next.
      </p>
      <ol className="runs">
        {runs.map((run) => (
          <li key={run.run_id}>
            <h2>
              <Link {...paths.run(run.run_id)}>{run.spec_name}</Link> <RunState state={run.state} />
            </h2>
            <p>
              <b>{timingOf(run)}</b>
            </p>
            <p>
              {positionReason(run)} <small className="whole">Run {run.run_id}</small>
            </p>
            {!run.pools.includes(LOCAL) && <p>{run.pools.join(", ")}</p>}
            {run.state !== "queued" && <Progress run={run} />}
            {run.detail && <p className="said">{run.detail}</p>}
          </li>
        ))}
      </ol>
    </>
  );
}

function Progress({ run }: { run: QueueEntry }) {
  return (
    <p className="progress">
      <progress value={run.invocations_measured} max={run.invocations_planned} aria-label="Progress" />
      {doneText(run)}
    </p>
  );
}
