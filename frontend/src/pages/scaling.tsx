// Scaling: the handshake rate by thread count, and a web server's rate by connections at once, for every case that was
// measured with several of them.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { LoadCase, Scaling, ScalingCase } from "@/api/generated";
import { filtersOptions, scalingOptions } from "@/api/generated/@tanstack/react-query.gen";
import { ScalingChart } from "@/charts/ScalingChart";
import { loadModel, type ScalingModel, scalingModel } from "@/charts/scaling-model";
import { captionOf, subjectsText } from "@/components/chart-caption";
import { HostSelect } from "@/components/HostSelect";
import { LoadTable } from "@/components/LoadTable";
import { RunsAside } from "@/components/RunsAside";
import { ScalingTable } from "@/components/ScalingTable";
import type { ScalingSearch } from "@/search";
import { ChartFrame } from "@/ui/ChartFrame";
import { Code } from "@/ui/Code";
import { Controls } from "@/ui/Controls";
import { Checks } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/scaling");

export const firstAnswer = ({ pool, cpu, library }: ScalingSearch) =>
  scalingOptions({ query: { pool, cpu_model: cpu, library } });

export function ScalingPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<ScalingSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const filters = useQuery(filtersOptions());
  const scaling = useQuery({
    ...firstAnswer(search),
    placeholderData: keepPreviousData,
  });
  useTitle("Scaling");
  return (
    <>
      <h1>Scaling</h1>
      <RunsAside />
      {filters.data && filters.data.host_kinds.length > 0 && (
        <Controls>
          <HostSelect hostKinds={filters.data.host_kinds} current={scaling.data?.host_kind} choose={change} />
          <Checks
            label="Libraries"
            all={filters.data.libraries}
            chosen={search.library ?? []}
            choose={(library) => change({ library })}
          />
        </Controls>
      )}
      {scaling.data ? (
        <Results scaling={scaling.data} />
      ) : scaling.isError ? (
        <Failed error={scaling.error} retry={() => void scaling.refetch()} />
      ) : (
        <Loading what="the scaling curves" lines={10} />
      )}
    </>
  );
}

function Results({ scaling }: { scaling: Scaling }) {
  if (scaling.cases.length === 0 && scaling.loads.length === 0) {
    return (
      <Empty title="No results with several thread counts yet">
        <p>This spec measures full and resumed handshakes with one thread and with two threads:</p>
        <Code className="command">kexbench run bench-specs/threads.yaml</Code>
        <p>This one measures how many connections a second a web server makes:</p>
        <Code className="command">kexbench run bench-specs/server-load.yaml</Code>
      </Empty>
    );
  }
  return (
    <>
      {scaling.cases.length > 0 && <Threads scaling={scaling} />}
      {scaling.loads.length > 0 && <Loads scaling={scaling} />}
    </>
  );
}

function Threads({ scaling }: { scaling: Scaling }) {
  return (
    <>
      <h2>Threads</h2>
      <p>
        All threads share one TLS context, as in a server, unless the case gives each its own. With ideal
        scaling, twice the threads make twice the handshakes per second.
      </p>
      <details>
        <summary>Column definitions</summary>
        <dl className="terms">
          <dt>Rate</dt>
          <dd>Handshakes per second of wall time, all threads together, with its 95% confidence interval.</dd>
          <dt>Efficiency</dt>
          <dd>
            The rate divided by the ideal rate, which is the thread count times the rate of one thread alone.
            Right after all threads together, one of them works while the others sleep, each in turn on its
            own CPU. So both rates are of the same CPUs at the same time.
          </dd>
          <dt>Contention</dt>
          <dd>
            The share of the work that only one thread can do at a time, such as work under a lock. It is
            fitted to the efficiencies.
          </dd>
          <dt>Coherency</dt>
          <dd>
            The cost of keeping memory consistent between each pair of threads. If it is above 0, the rate
            falls again beyond some thread count.
          </dd>
        </dl>
      </details>
      {hasNoBase(scaling.cases) && (
        <p>
          Results of earlier releases have no efficiency (–): the rate of one thread alone was not measured
          with them.
        </p>
      )}
      {scaling.cases.map((curves) => (
        <CaseSection key={curves.case.id} curves={curves} scaling={scaling} />
      ))}
    </>
  );
}

function hasNoBase(cases: ScalingCase[]): boolean {
  const points = cases.flatMap(({ lines }) => lines).flatMap(({ points }) => points);
  return points.some(({ threads, efficiency }) => threads > 1 && !efficiency);
}

function Loads({ scaling }: { scaling: Scaling }) {
  return (
    <>
      <h2>Web servers</h2>
      <p>
        One process of the server on one CPU, and one client on another. With more connections at once, the
        rate grows until one of the two is busy all the time. If that is the client, the server can make more.
      </p>
      <details>
        <summary>Column definitions</summary>
        <dl className="terms">
          <dt>At once</dt>
          <dd>Connections that the client keeps under way.</dd>
          <dt>Rate</dt>
          <dd>Connections per second of wall time, with its 95% confidence interval.</dd>
          <dt>Server’s CPU, client’s CPU</dt>
          <dd>The share of the time in which each ran on its CPU.</dd>
        </dl>
      </details>
      {scaling.loads.map((load) => (
        <LoadSection key={load.case.id} load={load} scaling={scaling} />
      ))}
    </>
  );
}

function CaseSection({ curves, scaling }: { curves: ScalingCase; scaling: Scaling }) {
  const { subjects } = scaling;
  return (
    <section>
      <h3>{curves.title}</h3>
      <div className="twin">
        <Curves title={curves.title} model={scalingModel(curves, subjects)} scaling={scaling} />
        <ScalingTable scaling={curves} subjects={subjects} />
      </div>
    </section>
  );
}

function LoadSection({ load, scaling }: { load: LoadCase; scaling: Scaling }) {
  const { subjects } = scaling;
  return (
    <section>
      <h3>{load.title}</h3>
      <div className="twin">
        <Curves title={load.title} model={loadModel(load, subjects)} scaling={scaling} />
        <LoadTable load={load} subjects={subjects} />
      </div>
    </section>
  );
}

interface CurvesProps {
  title: string;
  model: ScalingModel;
  scaling: Scaling;
}

function Curves({ title, model, scaling: { host_kind } }: CurvesProps) {
  const subjects = subjectsText(model.curves.map(({ subject }) => subject));
  return (
    <ChartFrame caption={captionOf({ title, subjects, hosts: host_kind ? [host_kind] : [] })}>
      <ScalingChart title={title} model={model} />
    </ChartFrame>
  );
}
