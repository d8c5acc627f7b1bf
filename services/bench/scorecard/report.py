"""The scorecard as text: docs/results/scorecard.md, made from the CSV of the release alone."""

from collections.abc import Iterator

from bench.scorecard.texts import HEAD
from bench.tables import markdown_table
from kexbench.domain.scorecard import Scorecard, ScorecardPart, ScorecardRow, ScorecardTable


def document(scorecard: Scorecard) -> str:
    head = HEAD.format(date=f"{scorecard.measured_at:%Y-%m-%d}", version=scorecard.version, machine=scorecard.machine)
    return "\n\n".join([head, *map(part_text, scorecard.parts)]) + "\n"


def part_text(part: ScorecardPart) -> str:
    return "\n\n".join(_paragraphs(part))


def _paragraphs(part: ScorecardPart) -> Iterator[str]:
    yield f"## {part.title}"
    yield part.about
    if part.sentence:
        yield f"**{part.sentence}**"
    if part.failure:
        yield f"Not measured: {part.failure}"
    for table in part.tables:
        yield f"### {table.title}"
        yield table_text(table)


def table_text(table: ScorecardTable) -> str:
    """Our own rows are bold."""
    return markdown_table(table.columns, [_row(row) for row in table.rows])


def _row(row: ScorecardRow) -> list[str]:
    first, *others = (cell.text for cell in row.cells)
    return [f"**{first}**" if row.ours else first, *others]
