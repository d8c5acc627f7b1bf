// Recent screenings: the upgrades that finished runs measured, the outcome for each, and changes of a machine's speed.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { HostMoved, ScreenedUpgrade, Screening } from "@/api/generated";
import { screeningsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { count, dateTime, machineChange, percentInterval } from "@/format";
import { paths } from "@/paths";
import { CPU_TIME, outcomeChip, outcomeLabel, outcomeText, screenedText } from "./alert-model";
import { titleOf } from "./compared-ends";
import { HostName } from "./HostName";

const SHOWN = 10;

export function Screenings() {
  const { data } = useQuery(screeningsOptions({ query: { limit: SHOWN } }));
  if (!data || data.screenings.length === 0) return null;
  return (
    <section>
      <h2>Recent screenings</h2>
      <p>
        kexbench screens each finished run whose spec has an <code>alerts:</code> section. If a version looks
        slower, kexbench measures it again. Only confirmed regressions raise alerts.
      </p>
      <ul className="runs">
        {data.screenings.map((screening) => (
          <li key={`${screening.run_id} ${screening.at}`} className="commit">
            <ScreeningEntry screening={screening} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ScreeningEntry({ screening }: { screening: Screening }) {
  const { run_id, spec_name, at, upgrades, host_moves } = screening;
  return (
    <>
      <p>
        <time dateTime={at}>{dateTime(at)}</time>, <Link {...paths.run(run_id)}>{spec_name}</Link>
        {upgrades.length === 0 && host_moves.length === 0 && ": no two versions of a library to compare"}
      </p>
      <ul className="specs">
        {upgrades.filter(isNews).map((upgrade) => (
          <li key={`${upgrade.metric} ${upgrade.before.subject} ${upgrade.after.subject}`}>
            <UpgradeEntry upgrade={upgrade} />
          </li>
        ))}
        {host_moves.map((host) => (
          <li key={`${host.pool} ${host.cpu_model}`}>
            <MachineChange host={host} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Of other metrics than CPU time, which may be many, only what changed. */
function isNews({ metric, more, less }: ScreenedUpgrade): boolean {
  return metric === undefined || metric === CPU_TIME || more + less > 0;
}

function UpgradeEntry({ upgrade }: { upgrade: ScreenedUpgrade }) {
  const { library, before, after, outcome, confirmation_run, detail, alert_id } = upgrade;
  return (
    <>
      <p>
        <Link {...paths.upgrade(library, before.subject, after.subject)}>{titleOf(upgrade)}</Link>{" "}
        <span className={`chip ${outcomeChip(outcome)}`}>{outcomeLabel(outcome)}</span>{" "}
        {screenedText(upgrade)}
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
              , <Link {...paths.alert(alert_id)}>alert</Link>
            </>
          )}
        </p>
      )}
    </>
  );
}

function MachineChange({ host }: { host: HostMoved }) {
  const { move, cases, since_run, since } = host;
  return (
    <p>
      <HostName kind={host} /> is <b>{machineChange(move.ratio)}</b> {percentInterval(move)} than on{" "}
      <Link {...paths.run(since_run)}>{dateTime(since)}</Link>, according to the frozen sentinel in{" "}
      {count(cases, "case")}. The machine changed, not a library.
    </p>
  );
}
