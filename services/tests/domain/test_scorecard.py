"""The scorecard as a CSV file: read back as it was, and the page is made from it alone."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

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
from kexbench.settings import Settings
from tests.builders import NOON

RESULTS = Path(__file__).parents[3] / "docs/results"
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1)
NUMBER = st.none() | st.floats(allow_nan=False, allow_infinity=False)
CELL = st.builds(ScorecardCell, text=TEXT, value=NUMBER, low=NUMBER, high=NUMBER)


@st.composite
def tables(draw: st.DrawFn, title: str) -> ScorecardTable:
    columns = draw(st.lists(TEXT, min_size=1, max_size=3))
    cells = st.tuples(*(CELL for _ in columns))
    rows = draw(st.lists(st.builds(ScorecardRow, ours=st.booleans(), cells=cells), max_size=3))
    return ScorecardTable(title=title, columns=tuple(columns), rows=tuple(rows))


@st.composite
def scorecards(draw: st.DrawFn) -> Scorecard:
    parts = [
        ScorecardPart(
            name=name,
            title=draw(TEXT),
            about=draw(TEXT),
            sentence=draw(st.text(st.characters(codec="ascii", exclude_characters="\0\r"))),
            tables=tuple(draw(tables(title)) for title in draw(st.lists(TEXT, max_size=2, unique=True))),
            failure=draw(st.none() | TEXT),
            seconds=draw(st.floats(0, 1e6)),
        )
        for name in draw(st.lists(TEXT, max_size=2, unique=True))
    ]
    return Scorecard(measured_at=NOON, version="0.1.0", machine=draw(TEXT), parts=tuple(parts))


@given(scorecards())
def test_a_scorecard_is_read_back_as_it_was_written(scorecard: Scorecard) -> None:
    assert from_csv(to_csv(scorecard)) == scorecard


def test_the_page_of_this_release_is_made_from_its_file() -> None:
    file: Path = Settings.model_fields["scorecard"].get_default(call_default_factory=True, validated_data={})
    scorecard = from_csv(file.read_text(encoding="utf-8"))
    assert (RESULTS / "scorecard.md").read_text(encoding="utf-8") == document(scorecard)
