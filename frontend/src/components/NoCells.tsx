// Why a view of cells has none.
import { Link } from "@tanstack/react-router";
import type { Matrix } from "@/api/generated";
import { DEFAULT_METRIC } from "@/search";
import { Empty } from "@/ui/Notes";

/** Cells may give their reasons, but none has a number. Of the usual metric the reasons are what there is to see. */
export function isUncounted({ metric, cells }: Pick<Matrix, "metric" | "cells">): boolean {
  return metric !== DEFAULT_METRIC && cells.every((cell) => !cell.estimate);
}

export function NoCase({ q, showAll }: { q?: string | undefined; showAll: () => void }) {
  return (
    <Empty title="No case matches">
      <p>{q ? `No case’s title contains “${q}” with this variation.` : "No case has this variation."}</p>
      <button type="button" onClick={showAll}>
        Show all cases
      </button>
    </Empty>
  );
}

export function NothingCounted() {
  return (
    <Empty title="No numbers of this metric">
      <p>It was not counted on this machine. Choose another metric.</p>
    </Empty>
  );
}

/** Runs of bisections, backfills, interoperability and qualifications stay out of overviews. */
export function OnlyOtherRuns() {
  return (
    <Empty title="No results for this overview">
      <p>
        What was measured here belongs to bisections, backfills, interoperability or qualifications. It is
        listed under <Link to="/runs">Runs</Link>.
      </p>
    </Empty>
  );
}
