"""The scorecard: how good detection is, as `make scorecard` measured it. Tables that people read, with the numbers
next to them, kept as one CSV file for each release."""

import csv
import io
from itertools import groupby
from typing import Any

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment


class ScorecardCell(Frozen):
    """The text of a cell. If it is a figure, also the number and its 95% confidence interval."""

    text: str
    value: float | None = Field(None, allow_inf_nan=False)
    low: float | None = Field(None, allow_inf_nan=False)
    high: float | None = Field(None, allow_inf_nan=False)


class ScorecardRow(Frozen):
    ours: bool = Field(False, description="whether it is kexbench's own method")
    cells: tuple[ScorecardCell, ...] = Field(description="one per column of the table; the first is a name")


class ScorecardTable(Frozen):
    title: str
    columns: tuple[str, ...]
    rows: tuple[ScorecardRow, ...]


class ScorecardPart(Frozen):
    """One question and its measurements."""

    name: str = Field(examples=["histories"])
    title: str
    about: str = Field(description="how it was measured; paragraphs separated by empty lines")
    sentence: str = Field(description="the result; empty where it failed")
    tables: tuple[ScorecardTable, ...]
    failure: str | None = Field(description="why measurements are missing")
    seconds: float


class Scorecard(Frozen):
    measured_at: Moment
    version: str = Field(description="of kexbench")
    machine: str
    parts: tuple[ScorecardPart, ...]


_COLUMNS = ("part", "table", "row", "ours", "column", "text", "value", "low", "high")
"""A line is a cell. Without a row it names a column. Without a table it is a fact of the part, and without a part a
fact of the scorecard."""
_FACTS = ("title", "about", "sentence", "failure", "seconds")


def to_csv(scorecard: Scorecard) -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for fact, value in scorecard.model_dump(mode="json", exclude={"parts"}).items():
        writer.writerow({"column": fact, "text": value})
    for part in scorecard.parts:
        facts = part.model_dump(include=set(_FACTS), exclude_none=True)
        writer.writerows({"part": part.name, "column": fact, "text": facts[fact]} for fact in _FACTS if fact in facts)
        for table in part.tables:
            place = {"part": part.name, "table": table.title}
            writer.writerows({**place, "column": column} for column in table.columns)
            for number, row in enumerate(table.rows, start=1):
                of_row = {**place, "row": number, "ours": "yes" if row.ours else ""}
                for column, cell in zip(table.columns, row.cells, strict=True):
                    writer.writerow({**of_row, "column": column, **cell.model_dump(exclude_none=True)})
    return written.getvalue()


def from_csv(text: str) -> Scorecard:
    """Raises ValueError, of which pydantic's ValidationError is one."""
    reader = csv.DictReader(io.StringIO(text))
    if tuple(reader.fieldnames or ()) != _COLUMNS:
        raise ValueError(f"its first line is not {','.join(_COLUMNS)}")
    facts: dict[str, Any] = {}
    parts = []
    for name, lines in groupby(reader, key=lambda line: line["part"]):
        if name:
            parts.append(_part(name, list(lines)))
        else:
            facts |= {line["column"]: line["text"] for line in lines}
    return Scorecard.model_validate({**facts, "parts": parts})


def _part(name: str, lines: list[dict[str, str]]) -> dict[str, Any]:
    part: dict[str, Any] = {"name": name, "failure": None, "tables": []}
    for title, of_table in groupby(lines, key=lambda line: line["table"]):
        if title:
            part["tables"].append(_table(title, list(of_table)))
        else:
            part |= {line["column"]: line["text"] for line in of_table}
    return part


def _table(title: str, lines: list[dict[str, str]]) -> dict[str, Any]:
    rows = groupby((line for line in lines if line["row"]), key=lambda line: (line["row"], line["ours"]))
    return {
        "title": title,
        "columns": [line["column"] for line in lines if not line["row"]],
        "rows": [{"ours": bool(ours), "cells": [_cell(line) for line in cells]} for (_, ours), cells in rows],
    }


def _cell(line: dict[str, str]) -> dict[str, str | None]:
    return {"text": line["text"]} | {field: line[field] or None for field in ("value", "low", "high")}
