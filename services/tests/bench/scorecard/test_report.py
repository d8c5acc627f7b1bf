"""The scorecard as text, and what the command does where a part fails."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.machine import BenchError
from bench.scorecard import __main__ as command
from bench.scorecard.parts import Bench, Found
from bench.scorecard.report import document
from kexbench.domain.scorecard import (
    Scorecard,
    ScorecardCell,
    ScorecardPart,
    ScorecardRow,
    ScorecardTable,
    from_csv,
    to_csv,
)

TABLE = ScorecardTable(
    title="All histories",
    columns=("method", "F1"),
    rows=(
        ScorecardRow(ours=True, cells=(ScorecardCell(text="ours"), ScorecardCell(text="0.91", value=0.91))),
        ScorecardRow(cells=(ScorecardCell(text="theirs"), ScorecardCell(text="0.80", value=0.8))),
    ),
)
PART = ScorecardPart(
    name="histories",
    title="Change points",
    about="How it was measured.",
    sentence="Ours is better.",
    tables=(TABLE,),
    failure=None,
    seconds=1.5,
)
SCORECARD = Scorecard(
    measured_at=datetime(2026, 1, 2, tzinfo=UTC), version="0.1.0", machine="A machine, 2 CPUs.", parts=(PART,)
)
EXPECTED = """\

A machine, 2 CPUs.

## Change points

How it was measured.

**Ours is better.**

### All histories

| method | F1 |
|---|---|
| **ours** | 0.91 |
| theirs | 0.80 |
"""


def test_the_document_says_all_that_the_figures_say() -> None:
    text = document(SCORECARD)
    assert text.startswith(
        "# How good detection is\n\n`make scorecard` wrote this page on 2026-01-02 with kexbench 0.1.0"
    )
    assert text.endswith(EXPECTED)


def test_the_document_follows_from_the_file_beside_it() -> None:
    assert document(Scorecard.model_validate_json(SCORECARD.model_dump_json())) == document(SCORECARD)


def test_what_was_not_measured_says_why() -> None:
    failed = PART.model_copy(update={"failure": "no git here", "tables": (), "sentence": ""})
    assert "\n\nNot measured: no git here\n" in document(SCORECARD.model_copy(update={"parts": (failed,)}))


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The command with two parts that measure nothing, and where it writes."""

    def broken(_: Bench) -> Found:
        raise BenchError("there is no such kit")

    good = Found(about="How.", sentence="What.", tables=(TABLE,))
    monkeypatch.setattr(command, "PARTS", {"good": ("Good", lambda _: good), "broken": ("Broken", broken)})
    monkeypatch.setattr(command, "Bench", lambda *_: None)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "REPORT", tmp_path / "scorecard.md")
    monkeypatch.setattr(command, "FIGURES", tmp_path / "scorecard.csv")
    return tmp_path


def test_a_part_that_fails_says_so_in_its_place_and_in_the_exit_status(written: Path) -> None:
    assert command.main([]) == 1
    assert "Not measured: there is no such kit" in (written / "scorecard.md").read_text()
    good, broken = from_csv((written / "scorecard.csv").read_text()).parts
    assert (good.failure, broken.failure) == (None, "there is no such kit")


def test_a_part_that_is_measured_by_itself_replaces_itself_alone(written: Path) -> None:
    others = [PART.model_copy(update={"name": name, "title": name}) for name in ("good", "broken")]
    known = SCORECARD.model_copy(update={"parts": tuple(others)})
    (written / "scorecard.csv").write_text(to_csv(known))
    assert command.main(["--only", "broken"]) == 1
    assert not (written / "scorecard.md").exists(), "what failed replaces nothing"
    assert command.main(["--only", "good"]) == 0
    found = from_csv((written / "scorecard.csv").read_text())
    assert [part.title for part in found.parts] == ["Good", "broken"]
    assert (found.measured_at, found.parts[1]) == (known.measured_at, others[1])
    assert found.parts[0].about.startswith("Measured separately on ")
    assert document(found) == (written / "scorecard.md").read_text()


@pytest.mark.parametrize("some", [["--quick"], ["--only", "good"]])
def test_a_part_of_it_is_printed_and_not_written(
    written: Path, some: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(some) == (1 if "--quick" in some else 0)
    assert "| **ours** | 0.91 |" in capsys.readouterr().out
    assert not list(written.iterdir())
