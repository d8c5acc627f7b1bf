// What an upgrade changes for users who wait over paths, in a line, with each case on demand.
import { Link } from "@tanstack/react-router";
import type { Comparison, Wait } from "@/api/generated";
import { milliseconds } from "@/format";
import { paths } from "@/paths";

/** Nothing where the two were not measured over a path. */
export function WaitsLine({ comparison: { base, other, upgrade } }: { comparison: Comparison }) {
  if (!base || !other || !upgrade?.waits.cases.length) return null;
  const { sentence, cases } = upgrade.waits;
  const hostKind = cases[0]?.host_kind;
  const there = { pool: hostKind?.pool, cpu: hostKind?.cpu_model };
  const version = [base.subject.name, other.subject.name];
  return (
    <details>
      <summary>
        <b>Waiting:</b> {sentence || "round trips are neither counted nor predicted"}
      </summary>
      <ul className="plain">
        {cases.map((wait) => (
          <li key={`${wait.case_id} ${wait.host_kind.cpu_model}`}>{waitText(wait)}</li>
        ))}
      </ul>
      <p>
        <Link {...paths.networkPaths({ ...there, version })}>Both on the page of paths</Link>
      </p>
    </details>
  );
}

function waitText({ title, path_words, sentence, handshake_before_ns, handshake_after_ns }: Wait): string {
  const [before, after] = [handshake_before_ns, handshake_after_ns].map(({ value }) => milliseconds(value));
  return `${title}, over ${path_words}: ${sentence}; handshake ${before} → ${after}`;
}
