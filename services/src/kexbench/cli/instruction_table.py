"""The table of a run that counts instructions instead of measuring time."""

from rich.table import Table

from kexbench.api.run_models import RunDetail
from kexbench.cli.step_tables import NO_RESULT, case_table, case_text
from kexbench.comparison.models import Cell
from kexbench.domain.library_commits import version_text

INSTRUCTION_LEGEND = (
    "Instructions of a handshake, client and server together, counted by callgrind. kexbench why names the functions "
    "behind a difference."
)


def instruction_table(detail: RunDetail) -> Table:
    """One row a case, one column a subject."""
    by_place = {(cell.case_id, cell.subject): cell for cell in detail.cells}
    names = (f"{subject.library}\n{version_text(subject.version, subject.commit)}" for subject in detail.subjects)
    table = case_table(f"{detail.summary.spec_name}: instructions per handshake", names)
    for case in detail.cases:
        cells = (by_place.get((case.id, subject.subject)) for subject in detail.subjects)
        table.add_row(case_text(case.title), *map(_count_text, cells))
    return table


def _count_text(cell: Cell | None) -> str:
    """`2,127,291`, or the kind of outcome if there is no result."""
    if cell is None:
        return ""
    if cell.estimate is None:
        return str(cell.outcome.kind) if cell.outcome else NO_RESULT
    return f"{cell.estimate.value:,.0f}"
