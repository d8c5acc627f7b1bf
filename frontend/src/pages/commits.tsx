// Commits: pushes to the watched repositories, and the runs of their specs.

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { CheckView, CommitPage, CommitView, SpecFault } from "@/api/generated";
import { commitsOptions, commitsQueryKey } from "@/api/generated/@tanstack/react-query.gen";
import { useStream } from "@/api/stream";
import { CommitHash } from "@/components/CommitLine";
import {
  dryRunInWords,
  folding,
  isNoCommit,
  originInWords,
  reasonInWords,
  stateOf,
  tally,
  titleOf,
} from "@/components/commit-words";
import { isOpen, RunNote, RunState } from "@/components/RunState";
import { RunVerdict } from "@/components/RunVerdict";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import type { CommitsSearch } from "@/search";
import { Code } from "@/ui/Code";
import { Controls } from "@/ui/Controls";
import { Select } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/commits");
const PAGE = 20;
const POLL_MS = 3000;
const EXAMPLE = `apiVersion: kexbench.dev/v1
kind: Repositories
repositories:
  - name: bench
    url: https://example.org/bench.git`;

const queryOf = ({ before, repository }: CommitsSearch) => ({ limit: PAGE, before, repository });

export const firstAnswer = (search: CommitsSearch) => commitsOptions({ query: queryOf(search) });

export function CommitsPage() {
  const queries = useQueryClient();
  const search = route.useSearch();
  const { before, repository } = search;
  const isLive = useStream("overview/stream", () => {
    void queries.invalidateQueries({ queryKey: commitsQueryKey({ query: queryOf(search) }) });
  });
  const commits = useQuery({
    ...firstAnswer(search),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => !isLive && state.data?.commits.some(isUnderWay) && POLL_MS,
  });
  useTitle("Commits");
  const next = commits.data?.next_before;
  return (
    <>
      <h1>Commits</h1>
      {commits.data ? (
        <>
          <RepositoryChoice names={commits.data.repositories} />
          <CommitList page={commits.data} />
        </>
      ) : commits.isError ? (
        <Failed error={commits.error} retry={() => void commits.refetch()} />
      ) : (
        <Loading what="the commits" />
      )}
      <nav className="pager" aria-label="Pages of commits">
        {before && <Link {...paths.commits({ repository })}>Newest</Link>}
        {next && <Link {...paths.commits({ repository, before: next })}>Older</Link>}
      </nav>
    </>
  );
}

function isUnderWay({ checks }: CommitView): boolean {
  return checks.map(stateOf).some((state) => state !== "not run" && state !== "planned" && isOpen(state));
}

function RepositoryChoice({ names }: { names: string[] }) {
  const { repository = "" } = route.useSearch();
  const navigate = route.useNavigate();
  if (names.length < 2) return null;
  return (
    <Controls>
      <Select
        label="Repository"
        value={repository}
        choices={[{ value: "", label: "all" }, ...names.map((name) => ({ value: name, label: name }))]}
        choose={(name) => void navigate({ search: { repository: name || undefined }, replace: true })}
      />
    </Controls>
  );
}

function CommitList({ page }: { page: CommitPage }) {
  if (page.repositories.length === 0) return <NothingYet />;
  if (page.commits.length === 0) {
    return (
      <Empty title="No matching commits">
        <p>
          <Link {...paths.commits()}>Show all commits</Link>
        </p>
      </Empty>
    );
  }
  return (
    <ul className="runs">
      {page.commits.map((view) => (
        <CommitItem key={`${view.commit.repository} ${view.commit.commit} ${view.handled_at}`} view={view} />
      ))}
    </ul>
  );
}

function NothingYet() {
  return (
    <Empty title="No commits yet">
      <p>
        List the repositories to watch in <code>repositories.yaml</code> in the home folder of kexbench, or in
        the file that <code>KEXBENCH_REPOSITORIES</code> names:
      </p>
      <Code>{EXAMPLE}</Code>
      <p>
        kexbench then measures each commit that changes a spec in <code>bench-specs</code> or adds a new
        version of a tracked library. For planned branches and pull requests, this page shows how long the
        measurement would take.
      </p>
    </Empty>
  );
}

function CommitItem({ view: { commit, checks, note } }: { view: CommitView }) {
  return (
    <li className="commit">
      <h2>{titleOf(commit)}</h2>
      <p>
        <time dateTime={commit.committed_at}>{dateTime(commit.committed_at)}</time>,{" "}
        {!isNoCommit(commit) && <CommitHash commit={commit} />} {originInWords(commit)}
      </p>
      {note && <p>Not measured: {note}</p>}
      <Specs checks={checks} />
    </li>
  );
}

function Specs({ checks }: { checks: CheckView[] }) {
  const { shown, folded } = folding(checks);
  const [isUnfolded, setUnfolded] = useState(false);
  return (
    <>
      <SpecList checks={shown} />
      {folded.length > 0 && (
        <details onToggle={(event) => setUnfolded(event.currentTarget.open)}>
          <summary>{tally(checks)}</summary>
          {/* each finished spec requests its verdict */}
          {isUnfolded && <SpecList checks={folded} />}
        </details>
      )}
    </>
  );
}

function SpecList({ checks }: { checks: CheckView[] }) {
  if (checks.length === 0) return null;
  return (
    <ul className="specs">
      {checks.map((check) => (
        <li key={check.path}>
          <SpecItem check={check} />
        </li>
      ))}
    </ul>
  );
}

function SpecItem({ check }: { check: CheckView }) {
  if (check.run_id === null && check.dry_run) {
    return (
      <>
        <p>
          {check.path} <span className="chip planned">planned</span> {reasonInWords(check.reason)}
        </p>
        <p className="said">{dryRunInWords(check.dry_run)}</p>
      </>
    );
  }
  if (check.run_id === null) {
    return (
      <>
        <p>
          {check.path} <span className="chip failed">not run</span>
        </p>
        <Faults faults={check.faults} />
      </>
    );
  }
  const state = check.state ?? "queued";
  const stored = check.invocations_stored;
  return (
    <>
      <p>
        <Link {...paths.run(check.run_id)}>{check.path}</Link> <RunState state={state} />{" "}
        {stored > 0 && `${count(stored, "invocation")}, `}
        {reasonInWords(check.reason)}
      </p>
      {/* the detail of a queued run repeats what is shown here */}
      {state !== "queued" && <RunNote summary={{ state, detail: check.detail }} />}
      {(state === "finished" || state === "incomplete") && <RunVerdict runId={check.run_id} />}
    </>
  );
}

function Faults({ faults }: { faults: SpecFault[] }) {
  return (
    <Code className="faults">
      {faults.map((fault) => (
        <span key={`${fault.file}:${fault.line}:${fault.column}:${fault.text}`} className="below">
          {fault.file ? `${fault.file}:${fault.line}:${fault.column}: ${fault.text}` : fault.text}
        </span>
      ))}
    </Code>
  );
}
