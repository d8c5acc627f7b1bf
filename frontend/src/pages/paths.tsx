// Paths: how long a user waits for a handshake over emulated networks, and which flight costs a round trip more.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { PathCase, Paths, PathView } from "@/api/generated";
import { filtersOptions, pathsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { FirstRun } from "@/components/FirstRun";
import { FlightsTable } from "@/components/FlightsTable";
import { HostName } from "@/components/HostName";
import { HostSelect } from "@/components/HostSelect";
import { subjectChoices } from "@/components/libraries";
import { PathsTable } from "@/components/PathsTable";
import { chosenOf, flightRows, groupsOf, outcomesOf, pathName } from "@/components/paths-model";
import { RunLink } from "@/components/RunLink";
import { RunsAside } from "@/components/RunsAside";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import type { PathsSearch } from "@/search";
import { Controls } from "@/ui/Controls";
import { Checks, Facts, Select } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { Reasons } from "@/ui/Reasons";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/paths");
const SPEC = "kexbench run paths";
const ALL = "";

export const firstAnswer = ({ pool, cpu }: PathsSearch) => pathsOptions({ query: { pool, cpu_model: cpu } });

export function PathsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<PathsSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const answer = useQuery({ ...firstAnswer(search), placeholderData: keepPreviousData });
  useTitle("Paths");
  return (
    <>
      <h1>How long does a user wait for a handshake?</h1>
      <RunsAside />
      {answer.data && <Choices search={search} answer={answer.data} change={change} />}
      {answer.isError ? (
        <Failed error={answer.error} retry={() => void answer.refetch()} />
      ) : answer.data ? (
        <Results answer={answer.data} search={search} />
      ) : (
        <Loading what="the paths" lines={10} />
      )}
    </>
  );
}

interface ChoicesProps {
  search: PathsSearch;
  answer: Paths;
  change: (next: Partial<PathsSearch>) => void;
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
        // another machine may lack the path and the versions
        choose={(host) => change({ ...host, path: undefined, version: undefined })}
      />
      {answer.cases.length > 0 && (
        <Select
          label="Path"
          value={search.path ?? ALL}
          choices={[
            { value: ALL, label: "all" },
            ...groupsOf(answer.cases).map(({ path }) => ({ value: path.text, label: pathName(path) })),
          ]}
          choose={(path) => change({ path: path || undefined })}
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

function Results({ answer, search }: { answer: Paths; search: PathsSearch }) {
  const { host_kind: hostKind } = answer;
  if (!hostKind || answer.cases.length === 0) return <Nothing search={search} />;
  const { cases, subjects } = chosenOf(answer, search.path, search.version);
  if (cases.length === 0) {
    return (
      <Empty title="No case was measured so">
        <WayOut />
      </Empty>
    );
  }
  const groups = groupsOf(cases);
  const flights = flightRows(cases);
  const outcomes = outcomesOf(cases, subjects);
  return (
    <>
      {answer.sentence && <p className="answer">{answer.sentence}</p>}
      <p>
        <small>
          Times run from the beginning of a connection. In brackets: 95% intervals. A round trip is a packet's
          way to the server and back.
        </small>
      </p>
      <PathsTable {...{ groups, subjects, hostKind }} />
      {outcomes.length > 0 && (
        <section>
          <h2>Without a number, or from fewer invocations</h2>
          <Reasons reasons={outcomes} />
        </section>
      )}
      {flights.length > 0 && (
        <section>
          <h2>Which flight does not fit?</h2>
          <p>
            A side sends at most its window before it waits for acknowledgements. What is beyond it costs a
            round trip more. Sizes are in kB of 1000 bytes.
          </p>
          <FlightsTable rows={flights} subjects={subjects} hostKind={hostKind} />
        </section>
      )}
      <Method answer={answer} shown={groups.map(({ path }) => path)} />
    </>
  );
}

function Nothing({ search }: { search: PathsSearch }) {
  return (
    <Empty title="No case was measured over a path yet">
      {search.pool || search.cpu ? (
        <WayOut />
      ) : (
        <>
          <FirstRun
            how="This spec measures handshakes over seven emulated networks, from the same rack to a satellite:"
            command={SPEC}
          />
          <p>
            It needs Linux with user namespaces or root, and <code>/dev/net/tun</code>.{" "}
            <code>kexbench doctor</code> says whether this machine can.
          </p>
        </>
      )}
    </Empty>
  );
}

function WayOut() {
  return (
    <p>
      <Link {...paths.networkPaths()}>Show all paths and versions</Link>
    </p>
  );
}

function Method({ answer: { host_kind: kind, cases }, shown }: { answer: Paths; shown: PathView[] }) {
  const cells = cases.flatMap(({ cells }) => cells);
  const runs = [...new Set(cells.flatMap(({ run_id }) => run_id ?? []))];
  const newest = cells
    .flatMap(({ measured_at }) => measured_at ?? [])
    .sort()
    .at(-1);
  const connections = cells.map(({ connections }) => connections).filter((count) => count > 0);
  return (
    <section>
      <h2>How this was measured</h2>
      <Facts
        facts={[
          ["Machine", kind && <HostName key="machine" kind={kind} />],
          ["Newest number", newest ? dateTime(newest) : "unknown"],
          ["Connections of a number", rangeText(connections)],
          [
            "Runs",
            runs.map((run, place) => (
              <span key={run}>
                {place > 0 && ", "}
                <RunLink runId={run} />
              </span>
            )),
          ],
          ["A spec of many paths", <code key="spec">{SPEC}</code>],
        ]}
      />
      <dl className="terms">
        <dt>Path</dt>
        <dd>
          Real TCP of the kernel between two network namespaces. What is between them delays, loses and queues
          packets as the path says, and proves that it did: a path that the machine did not hold is an
          outcome, not a number.
          <ul className="plain">
            {shown.map((path) => (
              <li key={path.text}>
                <code>{path.text}</code>: {pathName(path)}. {path.source && `${path.source}. `}
                {emulatedText(cases, path)}
              </li>
            ))}
          </ul>
        </dd>
        <dt>Handshake, answer</dt>
        <dd>
          Until the client's handshake is done, and until the last byte of the server's answer to a request
          that goes out as soon as TLS allows. Percentiles are of all connections together, with intervals by
          order statistics.
        </dd>
        <dt>Round trips</dt>
        <dd>
          Waited before the request goes out, TCP's own first. Early data goes out with the ClientHello and
          waits for no round trip of TLS. Below a round trip of 5 ms they are not counted: the machine's own
          time is not small beside it. Then the bar has the predicted ones in outline.
        </dd>
        <dt>Predicted</dt>
        <dd>
          Exactly from the sizes of the flights, the path's MTU and its initial window, without loss and
          without computing.
        </dd>
        <dt>Computing</dt>
        <dd>
          What both sides compute in a handshake, with their system calls: the median. The rest of it is
          waiting, which the predicted time stands for.
        </dd>
      </dl>
    </section>
  );
}

/** What the emulator measured of itself. */
function emulatedText(cases: PathCase[], { text }: PathView): string {
  const cells = cases.filter(({ path }) => path.text === text).flatMap(({ cells }) => cells);
  const texts = [...new Set(cells.flatMap(({ emulated }) => emulated?.text ?? []))];
  return texts.length > 0 ? `As emulated: ${texts.join("; ")}.` : "";
}

function rangeText(counts: number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (counts.length === 0) return "none";
  return least === most ? `${least}` : `${least} to ${most}`;
}
