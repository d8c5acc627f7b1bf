// Forward secrecy: the cost of equally strong handshakes with and without it.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { SecurityView } from "@/api/generated";
import { filtersOptions, securityOptions } from "@/api/generated/@tanstack/react-query.gen";
import { HostSelect } from "@/components/HostSelect";
import { subjectChoices } from "@/components/libraries";
import { RunsAside } from "@/components/RunsAside";
import { SecurityAnswers, SecurityLevel, UnrankedHandshakes } from "@/components/SecurityLevel";
import { type ForwardSecrecySearch, SIDES } from "@/search";
import { Code } from "@/ui/Code";
import { Controls } from "@/ui/Controls";
import { Select, Toggle } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/forward-secrecy");

export const firstAnswer = ({ pool, cpu, subject, model, side }: ForwardSecrecySearch) =>
  securityOptions({ query: { pool, cpu_model: cpu, subject, model, side } });

export function ForwardSecrecyPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<ForwardSecrecySearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const filters = useQuery(filtersOptions());
  const security = useQuery({
    ...firstAnswer(search),
    placeholderData: keepPreviousData,
  });
  useTitle("Forward secrecy");
  return (
    <>
      <h1>What forward secrecy costs</h1>
      <RunsAside />
      {security.data?.host_kind && filters.data && (
        <Controls>
          <HostSelect
            hostKinds={filters.data.host_kinds}
            current={security.data.host_kind}
            choose={(host) => change({ ...host, subject: undefined })}
          />
          <Choices security={security.data} change={change} />
        </Controls>
      )}
      {security.data ? (
        <Results security={security.data} />
      ) : security.isError ? (
        <Failed error={security.error} retry={() => void security.refetch()} />
      ) : (
        <Loading what="the levels of security" lines={10} />
      )}
    </>
  );
}

interface ChoicesProps {
  security: SecurityView;
  change: (next: Partial<ForwardSecrecySearch>) => void;
}

function Choices({ security, change }: ChoicesProps) {
  return (
    <>
      <Select
        label="Library version"
        value={security.subject ?? ""}
        choices={subjectChoices(security.subjects)}
        choose={(subject) => change({ subject })}
      />
      <Select
        label="Strength by"
        value={security.model.model}
        choices={security.models.map(({ model, title }) => ({ value: model, label: title }))}
        choose={(model) => change({ model })}
      />
      <Toggle
        label="CPU time of"
        value={security.side}
        choices={SIDES.map((side) => ({ value: side, label: side === "both" ? "both together" : side }))}
        choose={(side) => change({ side })}
      />
    </>
  );
}

function Results({ security }: { security: SecurityView }) {
  const { levels, unranked, host_kind: kind } = security;
  if (!kind || (unranked.length === 0 && levels.every((level) => level.handshakes.length === 0))) {
    return (
      <Empty title="No full handshakes yet">
        <p>This spec measures equally strong handshakes with and without forward secrecy:</p>
        <Code className="command">kexbench run bench-specs/articles/equal-security.yaml</Code>
      </Empty>
    );
  }
  const host = { pool: kind.pool, cpu: kind.cpu_model };
  return (
    <>
      <p>
        With forward secrecy, recorded traffic stays secret even if the server’s key leaks later. RSA key
        exchange lacks it, so it is what others are compared with: at the same strength or more, and in the
        same run.
      </p>
      <p>
        Measured with{" "}
        <b>{subjectChoices(security.subjects).find(({ value }) => value === security.subject)?.label}</b>:
      </p>
      <SecurityAnswers levels={levels} />
      <Terms security={security} />
      {levels.map((level) => (
        <SecurityLevel key={level.level_bits} level={level} host={host} />
      ))}
      <UnrankedHandshakes handshakes={unranked} host={host} />
    </>
  );
}

function Terms({ security: { model } }: { security: SecurityView }) {
  return (
    <details>
      <summary>Column definitions and sources</summary>
      <dl className="terms">
        <dt>CPU time</dt>
        <dd>Per full handshake, with its 95% confidence interval. The bars of a level have one scale.</dd>
        <dt>Relative to RSA key exchange</dt>
        <dd>
          CPU time relative to the cheapest RSA key exchange of this strength or more, in the same run. A
          difference is unresolved if it is not significant, or smaller than the resolution.
        </dd>
        <dt>Post-quantum</dt>
        <dd>
          A post-quantum key exchange keeps traffic secret that is recorded today. Post-quantum authentication
          matters once there is a quantum computer.
        </dd>
        <dt>Strength</dt>
        <dd>
          That of the weakest part, which is named below it: key exchange, certificate’s key, hash of the
          signature, or cipher.
        </dd>
        <dt>Sources of {model.title}</dt>
        {model.sources.map((source) => (
          <dd key={source}>{source}</dd>
        ))}
      </dl>
    </details>
  );
}
