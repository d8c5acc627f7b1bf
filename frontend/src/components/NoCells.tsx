// Why a view of cells has none.
import { Empty } from "@/ui/Notes";

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
