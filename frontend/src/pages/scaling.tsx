// Scaling: what more threads bring, for every case that was measured with several thread counts.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Scaling, ScalingCase, SubjectView } from "@/api/generated";
import { filtersOptions, scalingOptions } from "@/api/generated/@tanstack/react-query.gen";
import { ScalingChart } from "@/charts/ScalingChart";
import { scalingModel } from "@/charts/scaling-model";
import { HostSelect } from "@/components/HostSelect";
import { ScalingTable } from "@/components/ScalingTable";
import type { ScalingSearch } from "@/search";
import { Checks } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/scaling");

export function ScalingPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<ScalingSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const filters = useQuery(filtersOptions());
  const { pool, cpu, library } = search;
  const scaling = useQuery({
    ...scalingOptions({ query: { pool, cpu_model: cpu, library } }),
    placeholderData: keepPreviousData,
  });
  useTitle("Scaling");
  return (
    <>
      <h1>What more threads bring</h1>
      {filters.data && filters.data.host_kinds.length > 0 && (
        <form className="controls" aria-label="What to show" onSubmit={(event) => event.preventDefault()}>
          <HostSelect hostKinds={filters.data.host_kinds} current={scaling.data?.host_kind} choose={change} />
          <Checks
            label="Libraries"
            all={filters.data.libraries}
            chosen={library ?? []}
            choose={(chosen) => change({ library: chosen.length > 0 ? chosen : undefined })}
          />
        </form>
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
  if (scaling.cases.length === 0) {
    return (
      <Empty title="Nothing is measured with several thread counts yet">
        <p>This spec measures full and resumed handshakes with one and with two threads:</p>
        <pre>kexbench run bench-specs/threads.yaml</pre>
      </Empty>
    );
  }
  return (
    <>
      <p>
        The threads share one context, as a server’s do. Twice the threads make at best twice the handshakes
        per second.
      </p>
      <details>
        <summary>What the columns say</summary>
        <dl className="terms">
          <dt>Rate</dt>
          <dd>Handshakes per second of wall time, all threads together, with its 95% interval.</dd>
          <dt>Efficiency</dt>
          <dd>The rate as a share of the ideal one, which is that of one thread times the threads.</dd>
          <dt>Contention</dt>
          <dd>The share of the work that only one thread at a time can do: what waits for a lock.</dd>
          <dt>Coherency</dt>
          <dd>
            What each pair of threads costs in keeping their memory alike; with any, more threads make fewer
            handshakes in the end.
          </dd>
        </dl>
      </details>
      {scaling.cases.map((one) => (
        <CaseSection key={one.case.id} scaling={one} subjects={scaling.subjects} />
      ))}
    </>
  );
}

function CaseSection({ scaling, subjects }: { scaling: ScalingCase; subjects: SubjectView[] }) {
  return (
    <section>
      <h2>{scaling.case.title}</h2>
      <div className="twin">
        <ScalingChart title={scaling.case.title} model={scalingModel(scaling, subjects)} />
        <ScalingTable scaling={scaling} subjects={subjects} />
      </div>
    </section>
  );
}
