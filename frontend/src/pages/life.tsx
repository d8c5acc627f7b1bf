// Life of a connection: what a library costs before, between and after its handshakes, from version to version.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Life } from "@/api/generated";
import { filtersOptions, lifeOptions } from "@/api/generated/@tanstack/react-query.gen";
import { FirstRun } from "@/components/FirstRun";
import { HostName } from "@/components/HostName";
import { HostSelect } from "@/components/HostSelect";
import { LifeChanges } from "@/components/LifeChanges";
import { LifeTable } from "@/components/LifeTable";
import { LifeVariations } from "@/components/LifeVariations";
import { subjectChoices } from "@/components/libraries";
import { chosenOf, outcomesOf, startsOf } from "@/components/life-model";
import { RunLink } from "@/components/RunLink";
import { RunsAside } from "@/components/RunsAside";
import { StartBars } from "@/components/StartBars";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import type { LifeSearch } from "@/search";
import { Controls } from "@/ui/Controls";
import { Checks, Facts, Select } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { Reasons } from "@/ui/Reasons";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/life");
const SPEC = "kexbench run life";
const ALL = "";

export const firstAnswer = ({ pool, cpu }: LifeSearch) => lifeOptions({ query: { pool, cpu_model: cpu } });

export function LifePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<LifeSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const answer = useQuery({ ...firstAnswer(search), placeholderData: keepPreviousData });
  useTitle("Life of a connection");
  return (
    <>
      <h1>What does a library cost beside its handshakes?</h1>
      <RunsAside />
      {answer.data && <Choices search={search} answer={answer.data} change={change} />}
      {answer.isError ? (
        <Failed error={answer.error} retry={() => void answer.refetch()} />
      ) : answer.data ? (
        <Results answer={answer.data} search={search} />
      ) : (
        <Loading what="starts, ages and memory" lines={10} />
      )}
    </>
  );
}

interface ChoicesProps {
  search: LifeSearch;
  answer: Life;
  change: (next: Partial<LifeSearch>) => void;
}

function Choices({ search, answer, change }: ChoicesProps) {
  const hostKinds = useQuery(filtersOptions()).data?.host_kinds ?? [];
  if (!answer.host_kind || hostKinds.length === 0) return null;
  const names = new Map(subjectChoices(answer.subjects).map(({ value, label }) => [value, label]));
  return (
    <Controls label="Choices">
      <HostSelect
        hostKinds={hostKinds}
        current={answer.host_kind}
        // another machine may lack the case and the versions
        choose={(host) => change({ ...host, case: undefined, version: undefined })}
      />
      {answer.cases.length > 1 && (
        <Select
          label="Case"
          value={search.case ?? ALL}
          choices={[
            { value: ALL, label: "all" },
            ...answer.cases.map(({ case: { id, title } }) => ({ value: id, label: title })),
          ]}
          choose={(id) => change({ case: id || undefined })}
        />
      )}
      {answer.subjects.length > 1 && (
        <Checks
          label="Versions"
          all={[...names.keys()]}
          nameOf={(name) => names.get(name) ?? name}
          chosen={search.version ?? []}
          choose={(version) => change({ version: version.length > 0 ? version : undefined })}
        />
      )}
    </Controls>
  );
}

function Results({ answer, search }: { answer: Life; search: LifeSearch }) {
  const { host_kind: hostKind } = answer;
  if (!hostKind || answer.cases.length === 0) return <Nothing search={search} />;
  const { cases, subjects, changes, variations } = chosenOf(answer, search.case, search.version);
  if (cases.length === 0) {
    return (
      <Empty title="No case was measured so">
        <WayOut />
      </Empty>
    );
  }
  const outcomes = outcomesOf(cases, subjects);
  return (
    <>
      {answer.sentence && changes.length === answer.changes.length && (
        <p className="answer">{answer.sentence}</p>
      )}
      {changes.length > 0 && (
        <section>
          <h2>What changed most?</h2>
          <LifeChanges changes={changes} hostKind={hostKind} />
        </section>
      )}
      {variations.length > 0 && (
        <section>
          <h2>What does a start cost more with?</h2>
          <LifeVariations variations={variations} subjects={subjects} />
        </section>
      )}
      {cases.map((each) => (
        <section key={each.case.id}>
          <h2>{each.case.title}</h2>
          <StartBars shown={each} subjects={subjects} hostKind={hostKind} />
          <details open={cases.length === 1 || startsOf(each, subjects).length === 0}>
            <summary>Every number of this case</summary>
            <LifeTable shown={each} subjects={subjects} hostKind={hostKind} />
          </details>
        </section>
      ))}
      {outcomes.length > 0 && (
        <section>
          <h2>Without a number, or from fewer invocations</h2>
          <Reasons reasons={outcomes} />
        </section>
      )}
      <Method answer={answer} />
    </>
  );
}

function Nothing({ search }: { search: LifeSearch }) {
  return (
    <Empty title="No start, age or shared atomic operation was measured yet">
      {search.pool || search.cpu ? (
        <WayOut />
      ) : (
        <FirstRun
          how="This spec measures how processes start, how contexts age, and what connections hold:"
          command={SPEC}
        />
      )}
    </Empty>
  );
}

function WayOut() {
  return (
    <p>
      <Link {...paths.life()}>Show all cases and versions</Link>
    </p>
  );
}

function Method({ answer: { host_kind: kind, cases } }: { answer: Life }) {
  const cells = cases.flatMap(({ sections }) =>
    sections.flatMap(({ lines }) => lines.flatMap(({ cells }) => cells.flatMap((cell) => cell ?? []))),
  );
  const runs = [...new Set(cells.map(({ run_id }) => run_id))];
  const newest = cells
    .map(({ measured_at }) => measured_at)
    .sort()
    .at(-1);
  return (
    <section>
      <h2>How this was measured</h2>
      <Facts
        facts={[
          ["Machine", kind && <HostName key="machine" kind={kind} />],
          ["Newest number", newest ? dateTime(newest) : "unknown"],
          [
            "Runs",
            runs.map((run, place) => (
              <span key={run}>
                {place > 0 && ", "}
                <RunLink runId={run} />
              </span>
            )),
          ],
          ["A spec of starts and ages", <code key="spec">{SPEC}</code>],
        ]}
      />
      <dl className="terms">
        <dt>Start of a process</dt>
        <dd>
          A fresh process for each number, from its start to its first finished handshake. Loading is what the
          kernel and the dynamic linker do before the program's own first line.
        </dd>
        <dt>Age of a context</dt>
        <dd>
          Connections one after the other on one context. Young is the first fifth of them, old the last one.
          Growth is the memory that a connection leaves in use.
        </dd>
        <dt>Memory</dt>
        <dd>
          What the allocator set aside, counted at each call. An open connection is one whose handshake is
          done and that waits.
        </dd>
        <dt>Shared atomic operations</dt>
        <dd>
          Locked instructions on memory that two threads with the same context both change. Each makes threads
          on other CPUs wait, so their number foretells how a library scales. They are counted on one CPU.
        </dd>
      </dl>
    </section>
  );
}
