// What changed between two ends: how many cells have which verdict, the changes as a chart, and every cell in a table.
import { Fragment, type ReactNode, useMemo } from "react";
import type { ComparedCell, Comparison } from "@/api/generated";
import { coresText, dependencyText, type Verdict } from "@/charts/change-words";
import { count } from "@/format";
import { site } from "@/published";
import { type ChangesView, VERDICT_FILTERS } from "@/search";
import { Select, TextFilter } from "@/ui/Fields";
import { Empty } from "@/ui/Notes";
import { ChangeMoves } from "./ChangeMoves";
import { ChangeTable } from "./ChangeTable";
import { changeRows, FILTER_LABELS, movedOf, tallyOf, unalikeText, unresolvedTexts } from "./change-model";
import { hostsOf } from "./compared-ends";
import { HostName } from "./HostName";
import { hostLabel } from "./HostSelect";

interface Props {
  /** the ends in words */
  title: string;
  comparison: Comparison;
  view: ChangesView;
  change: (next: ChangesView) => void;
  /** what the changes have in common */
  children?: ReactNode;
}

export function Changes({ title, comparison, view, change, children }: Props) {
  const rows = useMemo(() => changeRows(comparison, view), [comparison, view]);
  const cells = rows.map(({ cell }) => cell);
  const moved = movedOf(cells);
  return (
    <>
      <ul className="tally">
        {tallyOf(cells, comparison.upgrade?.missing.length).map(([kind, words]) => (
          <li key={kind} className={kind}>
            {words}
          </li>
        ))}
      </ul>
      <Notes cells={cells} leftOut={comparison.left_out} />
      {children}
      {moved.length > 0 && (
        <section>
          <h2>Changed cases</h2>
          <ChangeMoves cells={moved} subjects={title} />
        </section>
      )}
      <section>
        <h2>All cases</h2>
        {comparison.cells.length === 0 ? (
          <p>No case was measured for both.</p>
        ) : rows.length === 0 ? (
          <Empty title="No cell matches">
            <p>No cell has these words in its title and this verdict.</p>
            <button type="button" onClick={() => change({ q: undefined, verdict: undefined })}>
              Show all cells
            </button>
          </Empty>
        ) : (
          <>
            {!site && <p>Select a cost to see its batches.</p>}
            <ChangeTable label={title} {...{ rows, comparison, view, change }} />
            {cells.some(coresText) && (
              <p className="key">
                Server cores: how many the server’s CPU time of whole connections keeps 100% busy, by the
                median of the invocations. Capacity leaves room by a utilisation and uses trimmed means, so
                its numbers differ.
              </p>
            )}
            {cells.some(({ history }) => history?.length) && (
              <p className="key">
                History: the newest versions on the same host kind. Square: baseline. Dot: compared with it.
              </p>
            )}
          </>
        )}
      </section>
    </>
  );
}

/** Where the two were compared. */
export function OnHosts({ cells }: Pick<Comparison, "cells">) {
  const hosts = hostsOf(cells);
  if (hosts.length === 0) return null;
  return (
    <p>
      On {hosts.length > 1 && `${count(hosts.length, "machine")}: `}
      {hosts.map((kind, place) => (
        <Fragment key={hostLabel(kind)}>
          {place > 0 && "; "}
          <HostName kind={kind} />
        </Fragment>
      ))}
      .
    </p>
  );
}

export function ChangeFilters({ view, change }: Pick<Props, "view" | "change">) {
  return (
    <>
      <TextFilter
        label="Cases"
        value={view.q ?? ""}
        placeholder="e.g. ecdhe 3072"
        enter={(q) => change({ q: q || undefined })}
      />
      <Select
        label="Verdicts"
        value={view.verdict ?? ""}
        choices={[
          { value: "", label: "all" },
          ...VERDICT_FILTERS.map((value) => ({ value, label: FILTER_LABELS[value] })),
        ]}
        choose={(verdict) => change({ verdict: verdict || undefined })}
      />
    </>
  );
}

/** Why cells have the verdict that they have, and what the table does not say by itself. */
function Notes({ cells, leftOut }: { cells: ComparedCell[]; leftOut: number }) {
  const of = (verdict: Verdict) => cells.filter((cell) => cell.verdict === verdict);
  const unalike = unalikeText(of("unjudged"));
  const dependencies = dependencyText(cells);
  return (
    <>
      {unalike && <p>{unalike}</p>}
      {dependencies && (
        <p>
          Dependencies changed as well (<b>{dependencies}</b>) and may cause part of the difference.
        </p>
      )}
      {of("unlike").length > 0 && (
        <p>
          <b>Not comparable:</b> the two negotiated different handshakes, so their costs get no verdict.
        </p>
      )}
      {of("apart").length > 0 && (
        <p>
          <b>Not compared:</b> measured in different runs that share no subject, so a change of the machine
          cannot be ruled out. Measure both in one run to compare them.
        </p>
      )}
      {unresolvedTexts(of("unresolved")).map((text) => (
        <p key={text}>
          <b>Unresolved:</b> {text}
        </p>
      ))}
      {leftOut > 0 && (
        <p>
          {count(leftOut, "cell")} not shown.{!site && " Choose one host kind to see fewer."}
        </p>
      )}
    </>
  );
}
