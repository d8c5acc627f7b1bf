// Machine: what a host kind can tell apart, as a library measured against itself has proved.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Qualifications } from "@/api/generated";
import { filtersOptions, qualificationsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { HostSelect, hostLabel } from "@/components/HostSelect";
import { MixedPoolNotice } from "@/components/MixedPoolNotice";
import { abilityInWords, inOrder } from "@/components/machine-model";
import { QualificationTable } from "@/components/QualificationTable";
import { share } from "@/format";
import { DEFAULT_INVOCATIONS, INVOCATIONS, invocationsOf, type MachineSearch } from "@/search";
import { Amount } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/machine");

export function MachinePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<MachineSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const { pool, cpu, invocations = DEFAULT_INVOCATIONS } = search;
  const filters = useQuery(filtersOptions());
  const found = useQuery({
    ...qualificationsOptions({ query: { pool, cpu_model: cpu, invocations } }),
    placeholderData: keepPreviousData,
  });
  const enter = (text: string) => {
    const entered = invocationsOf(text);
    if (entered) change({ invocations: entered });
  };
  useTitle("Machine");
  return (
    <>
      <h1>What this machine can tell apart</h1>
      {filters.data && filters.data.host_kinds.length > 0 && (
        <form className="controls" aria-label="What to show" onSubmit={(event) => event.preventDefault()}>
          <HostSelect hostKinds={filters.data.host_kinds} current={found.data?.host_kind} choose={change} />
          <Amount
            label={`Invocations of a comparison (${INVOCATIONS.min} to ${INVOCATIONS.max})`}
            value={invocations}
            {...INVOCATIONS}
            enter={enter}
          />
        </form>
      )}
      {found.data?.mixed_pool && <MixedPoolNotice mixed={found.data.mixed_pool} />}
      {found.data ? (
        <Results found={found.data} />
      ) : found.isError ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
      ) : (
        <Loading what="the qualifications" lines={10} />
      )}
    </>
  );
}

function Results({ found }: { found: Qualifications }) {
  if (!found.host_kind || found.rows.length === 0) {
    return (
      <Empty title="This machine is not qualified yet">
        <p>
          How small a change can be told from none is proved by measuring a library against itself, and
          against relinked copies of it:
        </p>
        <pre>kexbench qualify</pre>
      </Empty>
    );
  }
  return (
    <>
      <p className="answer">{abilityInWords(found.rows)}</p>
      <p>
        A library was measured beside an exact copy of itself, so that every difference is noise, and beside
        the same objects linked in other orders. All of it is of the CPU time of both sides.
      </p>
      <QualificationTable
        label={`Qualification of ${hostLabel(found.host_kind)}`}
        rows={inOrder(found.rows)}
      />
      <Terms found={found} />
    </>
  );
}

function Terms({ found: { alpha, power } }: { found: Qualifications }) {
  return (
    <details>
      <summary>What the columns say</summary>
      <dl className="terms">
        <dt>Cannot resolve below</dt>
        <dd>
          The larger of the next two: a smaller change is shown as one that can’t be resolved. More
          invocations help against noise, and not against layout.
        </dd>
        <dt>Smallest detectable change</dt>
        <dd>
          What a test at {share(alpha, 1)} finds in {share(power)} of all comparisons with so many
          invocations.
        </dd>
        <dt>Layout floor</dt>
        <dd>
          Two links of the same code differ by less than this in 95 of 100 pairs; it takes three relinks to
          measure, and with few it is rough.
        </dd>
        <dt>False positives</dt>
        <dd>
          How often the library would have been found to differ from itself at {share(alpha, 1)}, with the 95%
          interval.
        </dd>
        <dt>Coefficient of variation</dt>
        <dd>How far the invocations of one subject scatter, as a share of their middle.</dd>
        <dt>A/A run</dt>
        <dd>The measurement that all of it comes from.</dd>
      </dl>
    </details>
  );
}
