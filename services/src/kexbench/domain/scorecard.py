"""The scorecard: how good detection is, as `make scorecard` measured it. Tables that people read, with the numbers
beside."""

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment

FORMAT_VERSION = 1


class ScorecardCell(Frozen):
    """What stands in a table, and where it is a figure the number itself with its 95% interval."""

    text: str
    value: float | None = Field(None, allow_inf_nan=False)
    low: float | None = Field(None, allow_inf_nan=False)
    high: float | None = Field(None, allow_inf_nan=False)


class ScorecardRow(Frozen):
    ours: bool = Field(False, description="of kexbench itself, not of another's method")
    cells: tuple[ScorecardCell, ...] = Field(description="as many as the table has columns; the first is a name")


class ScorecardTable(Frozen):
    title: str
    columns: tuple[str, ...]
    rows: tuple[ScorecardRow, ...]


class ScorecardPart(Frozen):
    """One question and what was measured of it."""

    name: str = Field(examples=["histories"])
    title: str
    about: str = Field(description="how it was measured; paragraphs with an empty line between")
    sentence: str = Field(description="what came of it; empty where it failed")
    tables: tuple[ScorecardTable, ...]
    failure: str | None = Field(description="why nothing, or not all, was measured")
    seconds: float


class Scorecard(Frozen):
    format_version: int = FORMAT_VERSION
    measured_at: Moment
    version: str = Field(description="of kexbench")
    machine: str
    parts: tuple[ScorecardPart, ...]
