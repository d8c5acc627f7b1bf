// The rows of the cells' table, sorted. Pure.
import type { HeatCell, HeatModel } from "@/charts/heatmap-model";
import type { CellView } from "@/search";

const VERDICT_ORDER = ["more", "unresolved", "same", "less", "unlike", "neutral", "outcome", "missing"];

/** Cells without a value for the sort stand last, in either order. */
export function cellRows(model: HeatModel, { sort, order }: CellView): HeatCell[] {
  const rows = model.rows.flatMap((row) => row.cells).filter((cell) => cell.tone !== "missing");
  if (!sort || sort === "case") return order === "desc" ? rows.reverse() : rows;
  const direction = order === "desc" ? -1 : 1;
  const keyed = rows.map((cell) => ({ cell, key: keyOf(cell, sort, model) }));
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined);
    return direction * (a.key - b.key);
  });
  return keyed.map(({ cell }) => cell);
}

function keyOf(shown: HeatCell, sort: NonNullable<CellView["sort"]>, model: HeatModel): number | undefined {
  switch (sort) {
    case "cost":
      return shown.cell?.estimate?.value;
    case "invocations":
      return shown.cell?.estimate?.invocations ?? undefined;
    case "change":
      return shown.cell?.change?.ratio;
    case "verdict":
      return VERDICT_ORDER.indexOf(shown.cell?.change?.verdict ?? shown.tone);
    case "subject":
      return model.subjects.indexOf(shown.subject);
    default:
      return model.rows.findIndex((row) => row.caseView.id === shown.caseView.id);
  }
}
