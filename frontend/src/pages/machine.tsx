// Machine: the resolution of a host kind, from measurements of a library against itself.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import * as v from "valibot";
import type { Qualifications } from "@/api/generated";
import { filtersOptions, qualificationsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { HostSelect, hostLabel } from "@/components/HostSelect";
import { MixedPoolNotice } from "@/components/MixedPoolNotice";
import { inOrder, resolutionInWords } from "@/components/machine-model";
import { QualificationTable } from "@/components/QualificationTable";
import { share } from "@/format";
import { DEFAULT_INVOCATIONS, INVOCATIONS, type MachineSearch, possibleInvocations } from "@/search";
import { Code } from "@/ui/Code";
import { Controls } from "@/ui/Controls";
import { Amount } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/machine");

export const firstAnswer = ({ pool, cpu, invocations = DEFAULT_INVOCATIONS }: MachineSearch) =>
  qualificationsOptions({ query: { pool, cpu_model: cpu, invocations } });

export function MachinePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<MachineSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const { invocations = DEFAULT_INVOCATIONS } = search;
  const filters = useQuery(filtersOptions());
  const qualifications = useQuery({
    ...firstAnswer(search),
    placeholderData: keepPreviousData,
  });
  const enter = (text: string) => {
    if (v.is(possibleInvocations, text)) change({ invocations: Number(text) });
  };
  useTitle("Machine");
  return (
    <>
      <h1>Resolution of this machine</h1>
      {filters.data && filters.data.host_kinds.length > 0 && (
        <Controls>
          <HostSelect
            hostKinds={filters.data.host_kinds}
            current={qualifications.data?.host_kind}
            choose={change}
          />
          <Amount
            label={`Invocations per comparison (${INVOCATIONS.min} to ${INVOCATIONS.max})`}
            value={invocations}
            {...INVOCATIONS}
            enter={enter}
          />
        </Controls>
      )}
      {qualifications.data?.mixed_pool && <MixedPoolNotice mixed={qualifications.data.mixed_pool} />}
      {qualifications.data ? (
        <Results qualifications={qualifications.data} />
      ) : qualifications.isError ? (
        <Failed error={qualifications.error} retry={() => void qualifications.refetch()} />
      ) : (
        <Loading what="the qualifications" lines={10} />
      )}
    </>
  );
}

function Results({ qualifications }: { qualifications: Qualifications }) {
  if (!qualifications.host_kind || qualifications.rows.length === 0) {
    return (
      <Empty title="This machine is not qualified yet">
        <p>
          Qualification measures a library against itself and against relinked copies of itself. The result is
          the resolution: a smaller change would probably be missed.
        </p>
        <Code className="command">kexbench qualify</Code>
      </Empty>
    );
  }
  return (
    <>
      <p className="answer">{resolutionInWords(qualifications.rows)}</p>
      <p>
        A library was compared with an exact copy of itself, so every difference is noise, and with the same
        objects linked in other orders, so every difference is noise or code layout. All values are CPU time,
        client and server together.
      </p>
      <QualificationTable
        label={`Qualification of ${hostLabel(qualifications.host_kind)}`}
        rows={inOrder(qualifications.rows)}
      />
      <Terms qualifications={qualifications} />
    </>
  );
}

function Terms({ qualifications: { alpha, power } }: { qualifications: Qualifications }) {
  return (
    <details>
      <summary>Column definitions</summary>
      <dl className="terms">
        <dt>Resolution</dt>
        <dd>
          The larger of the smallest detectable change and the layout floor. A smaller change would probably
          be missed. More invocations reduce noise, but not the effect of code layout.
        </dd>
        <dt>Smallest detectable change</dt>
        <dd>
          With this number of invocations, a test at the {share(alpha, 1)} level detects a change of this size
          in {share(power)} of comparisons.
        </dd>
        <dt>Layout floor</dt>
        <dd>
          Two links of the same code differ by less than this in 95% of pairs. The value needs at least three
          relinks, and it is rough with few relinks.
        </dd>
        <dt>False positive rate</dt>
        <dd>
          How often a test at the {share(alpha, 1)} level reports a difference between the library and itself,
          with its 95% confidence interval.
        </dd>
        <dt>Coefficient of variation</dt>
        <dd>The relative spread of a subject’s invocations around their mean.</dd>
        <dt>A/A run</dt>
        <dd>The run that the values come from.</dd>
      </dl>
    </details>
  );
}
