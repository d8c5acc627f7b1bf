// What was judged lately of runs that ended: which upgrades, what came of each, and machines that moved.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { HostMoved, JudgedUpgrade, Judgement } from "@/api/generated";
import { judgementsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { count, dateTime, moveInWords, percentInterval } from "@/format";
import { paths } from "@/paths";
import { judgedText, outcomeChip, outcomeText } from "./alert-model";
import { hostLabel } from "./HostSelect";
import { titleOf } from "./upgrade-model";

const SHOWN = 10;

export function Judgements() {
  const { data } = useQuery(judgementsOptions({ query: { limit: SHOWN } }));
  if (!data || data.judgements.length === 0) return null;
  return (
    <section>
      <h2>Judged lately</h2>
      <p>
        Runs whose specs have <code>alerts:</code> are judged when they end. What looks slower is measured
        again, and only what that run confirms becomes an alert.
      </p>
      <ul className="runs">
        {data.judgements.map((one) => (
          <li key={`${one.run_id} ${one.at}`} className="commit">
            <OneJudgement judgement={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneJudgement({
  judgement: { run_id, spec_name, at, upgrades, host_moves },
}: {
  judgement: Judgement;
}) {
  return (
    <>
      <p>
        <time dateTime={at}>{dateTime(at)}</time>, <Link {...paths.run(run_id)}>{spec_name}</Link>
        {upgrades.length === 0 && host_moves.length === 0 && ": it measured no two versions of a library"}
      </p>
      <ul className="specs">
        {upgrades.map((one) => (
          <li key={`${one.before.subject} ${one.after.subject}`}>
            <Judged upgrade={one} />
          </li>
        ))}
        {host_moves.map((one) => (
          <li key={`${one.pool} ${one.cpu_model}`}>
            <Moved host={one} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Judged({ upgrade }: { upgrade: JudgedUpgrade }) {
  const { library, before, after, outcome, confirmation_run, detail, alert_id } = upgrade;
  return (
    <>
      <p>
        <Link {...paths.upgrade(library, before.subject, after.subject)}>{titleOf(upgrade)}</Link>{" "}
        <span className={`chip ${outcomeChip(outcome)}`}>{outcome}</span> {judgedText(upgrade)}
      </p>
      {(confirmation_run || detail || alert_id) && (
        <p className="said">
          {outcomeText(outcome)}
          {detail && `: ${detail}`}
          {confirmation_run && (
            <>
              , <Link {...paths.run(confirmation_run)}>run {confirmation_run}</Link>
            </>
          )}
          {alert_id && (
            <>
              , <Link {...paths.alert(alert_id)}>its alert</Link>
            </>
          )}
        </p>
      )}
    </>
  );
}

function Moved({ host }: { host: HostMoved }) {
  const { move, cases, since_run, since } = host;
  return (
    <p>
      {hostLabel(host)} became <b>{moveInWords(move.ratio)}</b> {percentInterval(move.low, move.high)} since{" "}
      <Link {...paths.run(since_run)}>{dateTime(since)}</Link>, as the frozen sentinel says in{" "}
      {count(cases, "case")}: the machine’s doing, not a library’s.
    </p>
  );
}
