// Notes for a view without cells.
import { Link } from "@tanstack/react-router";
import type { Matrix, Metric } from "@/api/generated";
import { DEFAULT_METRIC } from "@/search";
import { Empty } from "@/ui/Notes";

/** Whether no cell has a value of this metric. For the default metric the cells are shown anyway, with their reasons. */
export function isUncounted(
  { metric, cells }: Pick<Matrix, "metric" | "cells">,
  byDefault: Metric = DEFAULT_METRIC,
): boolean {
  return metric !== byDefault && cells.every((cell) => !cell.estimate);
}

export function NoCase({ q, showAll }: { q?: string | undefined; showAll: () => void }) {
  return (
    <Empty title="No case matches">
      <p>{q ? `No case in this view has “${q}” in its title.` : "No case has this variation."}</p>
      <button type="button" onClick={showAll}>
        Show all cases
      </button>
    </Empty>
  );
}

export function NothingCounted({ why }: { why: string }) {
  return (
    <Empty title="No values of this metric">
      <p>{why}</p>
    </Empty>
  );
}

/** Nothing but runs that overviews leave out; `RunsAside` names them. */
export function OnlyOtherRuns() {
  return (
    <Empty title="No results for this overview">
      <p>
        Only runs that this overview leaves out have results. Find them under <Link to="/runs">Runs</Link>.
      </p>
    </Empty>
  );
}
