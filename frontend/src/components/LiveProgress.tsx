// What a run does now: how far it is, its jobs, and the end of its log.

import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { JobProgress, RunProgressView, RunUnderWay } from "@/api/generated";
import { dateTimeSeconds } from "@/format";
import { paths } from "@/paths";
import { Code } from "@/ui/Code";
import { Frame } from "@/ui/Frame";
import { doneText, jobsText, leftText } from "./live-model";
import { isOpen } from "./RunState";

const TICK_MS = 1000;

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** A bar with the measured invocations and the time left. */
export function ProgressBar({ run }: { run: RunProgressView | RunUnderWay }) {
  const now = useNow();
  const left = leftText(run, now);
  return (
    <span className="progress">
      <progress value={run.invocations_measured} max={run.invocations_planned} aria-label="Progress" />
      <span>
        {doneText(run)}
        {left && `, ${left}`}
      </span>
    </span>
  );
}

/** For a run that goes on, or has ended without all its invocations. */
export function LiveSection({ progress }: { progress: RunProgressView }) {
  const { state, jobs, job_states, log } = progress;
  if (state === "finished") return null;
  const onCluster = jobs.some(({ pod }) => pod);
  return (
    <section>
      <h2>{isOpen(state) ? "Progress" : "Where it ended"}</h2>
      {isOpen(state) && (
        <p>
          <ProgressBar run={progress} />
        </p>
      )}
      {state === "queued" ? (
        <p>
          The run waits in the <Link {...paths.queue()}>queue</Link>.
        </p>
      ) : (
        <p>
          {jobsText(job_states)}. {!onCluster && isOpen(state) && "A job is stored when it is done."}
        </p>
      )}
      {state !== "queued" && (jobs.length > 1 || onCluster) && <JobTable jobs={jobs} onCluster={onCluster} />}
      {onCluster && <p>The logs of the runners are in their pods. The commands above show them.</p>}
      {log.length > 0 && (
        <details open={isOpen(state) || state === "failed"}>
          <summary>Last lines of its log</summary>
          <Code className="log">{log.join("\n")}</Code>
        </details>
      )}
    </section>
  );
}

function JobTable({ jobs, onCluster }: { jobs: JobProgress[]; onCluster: boolean }) {
  return (
    <Frame label="Jobs">
      <table className="numbers">
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">State</th>
            <th scope="col" className="number">
              Invocations
            </th>
            {onCluster && (
              <>
                <th scope="col">Pool</th>
                <th scope="col">Node</th>
                <th scope="col" className="number">
                  Attempt
                </th>
                <th scope="col">Started</th>
                <th scope="col">Shows its log</th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.job_id}>
              <th scope="row">
                <code>{job.job_id}</code>
              </th>
              <td>{job.state}</td>
              <td className="number">
                {job.invocations_stored} of {job.invocations_planned}
              </td>
              {onCluster && <OnCluster job={job} />}
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function OnCluster({ job }: { job: JobProgress }) {
  return (
    <>
      <td className="whole">{job.pool}</td>
      <td className="whole">{job.node}</td>
      <td className="number">{job.attempt}</td>
      <td className="whole">{job.started_at && dateTimeSeconds(job.started_at)}</td>
      <td className="whole">{job.log_command && <code>{job.log_command}</code>}</td>
    </>
  );
}
