// Stacks: which library costs a server least, on one kind of machine.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Stacks } from "@/api/generated";
import { filtersOptions, stacksOptions, subjectsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { FirstRun } from "@/components/FirstRun";
import { HostName } from "@/components/HostName";
import { HostSelect } from "@/components/HostSelect";
import { libraryTitle, subjectChoices } from "@/components/libraries";
import { RunLink } from "@/components/RunLink";
import { RunsAside } from "@/components/RunsAside";
import { SampleLinks } from "@/components/SampleLinks";
import { StackChanges } from "@/components/StackChanges";
import { SERVER, StacksTable } from "@/components/StacksTable";
import { StackWhy } from "@/components/StackWhy";
import { certificatesOf, commandsOf, measuredText, reasonsOf, runsOf } from "@/components/stacks-model";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import { DEFAULT_RESUMED_PERCENT, STACK_PROTOCOLS, type StacksSearch } from "@/search";
import { Code } from "@/ui/Code";
import { Controls } from "@/ui/Controls";
import { Amount, Facts, Select, Toggle } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { Reasons } from "@/ui/Reasons";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/stacks");
const SPEC = "kexbench run stacks";
const NEWEST = "";

export const firstAnswer = ({ pool, cpu, protocol, version, certificate, resumed }: StacksSearch) =>
  stacksOptions({ query: { pool, cpu_model: cpu, protocol, version, certificate, resumed } });

export function StacksPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<StacksSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const stacks = useQuery({ ...firstAnswer(search), placeholderData: keepPreviousData });
  useTitle("Stacks");
  return (
    <>
      <h1>Which library costs a server least?</h1>
      <RunsAside />
      {stacks.data && <Choices search={search} answer={stacks.data} change={change} />}
      {stacks.isError ? (
        <>
          <Failed error={stacks.error} retry={() => void stacks.refetch()} />
          <WayOut />
        </>
      ) : stacks.data ? (
        <Results answer={stacks.data} isUsual={Object.values(search).every((value) => value === undefined)} />
      ) : (
        <Loading what="the libraries" lines={10} />
      )}
    </>
  );
}

function WayOut() {
  return (
    <p>
      <Link {...paths.stacks()}>Show the libraries without these choices</Link>
    </p>
  );
}

interface ChoicesProps {
  search: StacksSearch;
  answer: Stacks;
  change: (next: Partial<StacksSearch>) => void;
}

function Choices({ search, answer, change }: ChoicesProps) {
  const filters = useQuery(filtersOptions()).data;
  const certificates = certificatesOf(answer.columns);
  const hostKinds = filters?.host_kinds ?? (answer.host_kind ? [answer.host_kind] : []);
  if (hostKinds.length === 0) return null;
  const { protocol, protocols } = answer;
  // Another machine may lack the protocol, the certificate and the versions.
  const elsewhere = { protocol: undefined, certificate: undefined, version: undefined };
  return (
    <Controls label="Choices">
      <HostSelect
        hostKinds={hostKinds}
        current={answer.host_kind}
        choose={(host) => change({ ...host, ...elsewhere })}
      />
      {protocols.some((each) => each !== protocol) && (
        <Toggle
          label="Protocol"
          value={protocol as (typeof STACK_PROTOCOLS)[number]}
          choices={STACK_PROTOCOLS.map((value) => ({ value, label: value.replace("v", " ") }))}
          choose={(protocol) => change({ protocol, certificate: undefined })}
        />
      )}
      {!site && certificates.length > 0 && (
        <>
          <Select
            label="Certificate of the mix"
            value={answer.workload?.certificate ?? search.certificate ?? ""}
            choices={certificates.map((value) => ({ value, label: value }))}
            choose={(certificate) => change({ certificate })}
          />
          <Amount
            label="Resumed connections, %"
            value={search.resumed ?? DEFAULT_RESUMED_PERCENT}
            min={0}
            max={100}
            enter={(text) => {
              const percent = Number(text);
              if (text && Number.isInteger(percent) && percent >= 0 && percent <= 100)
                change({ resumed: percent });
            }}
          />
        </>
      )}
      {!site && (
        <details>
          <summary>Other versions</summary>
          <Versions search={search} answer={answer} change={change} />
        </details>
      )}
    </Controls>
  );
}

/** Of each library another version than the newest. */
function Versions({ search, answer, change }: ChoicesProps) {
  const subjects = useQuery(subjectsOptions()).data ?? [];
  const chosen = search.version ?? [];
  const libraries = [...new Set(answer.stacks.map(({ subject }) => subject.library))];
  return libraries.map((library) => {
    const own = subjects.filter((subject) => subject.library === library);
    if (own.length < 2) return null;
    const isOwn = (name: string) => own.some((subject) => subject.name === name);
    const others = chosen.filter((name) => !isOwn(name));
    const choose = (name: string) => {
      const version = name === NEWEST ? others : [...others, name];
      change({ version: version.length > 0 ? version : undefined });
    };
    return (
      <Select
        key={library}
        label={libraryTitle(library)}
        value={chosen.find(isOwn) ?? NEWEST}
        choices={[
          { value: NEWEST, label: "newest version" },
          ...subjectChoices(own).map(({ value, label }) => ({ value, label })),
        ]}
        choose={choose}
      />
    );
  });
}

function Results({ answer, isUsual }: { answer: Stacks; isUsual: boolean }) {
  const { stacks, columns, sentence, workload } = answer;
  if (stacks.length === 0 || columns.length === 0) {
    if (!isUsual) {
      return (
        <Empty title="No libraries were measured so">
          <p>This machine has no results with this protocol.</p>
          <WayOut />
        </Empty>
      );
    }
    return (
      <Empty title="No libraries to compare yet">
        <FirstRun how="This spec measures eight libraries beside each other in 15 cases:" command={SPEC} />
      </Empty>
    );
  }
  const reasons = reasonsOf(answer);
  return (
    <>
      {workload && <p className="answer">{workload.sentence}</p>}
      <p className={workload ? undefined : "answer"}>{sentence}</p>
      <p>
        <small>
          Server CPU time with its 95% interval in brackets. Two libraries are compared in rounds that
          measured both in turns, so their difference is surer than their own intervals, which may overlap.
          Held: heap of an open connection. Sent: bytes of a handshake.
        </small>
      </p>
      <StacksTable answer={answer} />
      {reasons.length > 0 && (
        <section>
          <h2>Not ranked, or without a number</h2>
          <Reasons reasons={reasons} />
        </section>
      )}
      <StackChanges stacks={stacks} columns={columns} />
      <StackWhy commands={answer.why} />
      <Method answer={answer} />
    </>
  );
}

function Runs({ runs }: { runs: string[] }) {
  return runs.map((run, place) => (
    <span key={run}>
      {place > 0 && ", "}
      <RunLink runId={run} />
    </span>
  ));
}

function Method({ answer }: { answer: Stacks }) {
  const { host_kind: kind, newest, columns, stacks } = answer;
  if (!kind) return null;
  const place = { metric: SERVER, pool: kind.pool, cpu_model: kind.cpu_model } as const;
  return (
    <section>
      <h2>How this was measured</h2>
      <Facts
        facts={[
          ["Machine", <HostName key="machine" kind={kind} />],
          ["Newest number", newest ? dateTime(newest) : "unknown"],
          ["Runs", <Runs key="runs" runs={runsOf(columns)} />],
          ["A spec of all these libraries", <code key="spec">{SPEC}</code>],
        ]}
      />
      <dl className="terms">
        <dt>Number</dt>
        <dd>
          CPU time of the server, both sides in one process without sockets: of the handshake, with data of
          the whole connection. The median of the invocations with its 95% confidence interval. Below it: the
          heap that an open connection holds, and the bytes that the server sends in a handshake. What a
          library's own threads do, such as a garbage collector, is beside it from 1% on, and in no verdict. A
          column has the numbers of the run that ranks it; a library that this run lacks has its newest.
        </dd>
        <dt>Cheapest</dt>
        <dd>
          By the verdict on the server in invocations that measured both libraries in turns. The difference in
          percent is a mean over invocations, so it may differ from the ratio of the medians. Libraries are
          not told apart if the difference is not significant, or smaller than what these invocations resolve.
        </dd>
        <dt>Not ranked</dt>
        <dd>
          A library that negotiated something else than the others, such as other key shares, tickets or
          another signature, and one that was not measured in the same run.
        </dd>
        <dt>Mix</dt>
        <dd>
          Full and resumed handshakes of one run, weighted by their shares. The interval combines those of
          both. A resumed handshake sends no certificate, so its case may have another one.
        </dd>
      </dl>
      <details>
        <summary>Commands that measure each number again, and samples</summary>
        {columns.map((column) => (
          <section key={column.case.id}>
            <h3>
              {column.heading}, {column.title}
            </h3>
            <p>{column.case.title}</p>
            <ul className="plain">
              {column.cells.map(
                (cell, place) =>
                  cell.cpu_ns && (
                    <li key={cell.subject}>
                      {stacks[place]?.end.label}: {measuredText(cell)}
                    </li>
                  ),
              )}
            </ul>
            {commandsOf(column).map((command) => (
              <Code key={command}>{command}</Code>
            ))}
            <SampleLinks query={{ ...place, case_id: column.case.id }} />
          </section>
        ))}
      </details>
    </section>
  );
}
