"""The comments at a pull request: what they say, and that nobody else speaks through them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kexbench.forges.markdown import LONGEST, code
from kexbench.forges.words import (
    ROWS_MAX,
    DryRun,
    DrySpec,
    FinishedRun,
    MovedCell,
    SpecFault,
    dry_run_comment,
    finished_comment,
    is_worth_saying,
    verdict,
)

COMMIT = "6dcb09b"
SPEC = DrySpec("bench-specs/quickstart.yaml", 18, 4, (("pool-a", 12.4), ("pool-b", 70.0)), 3, 25.0, 0.005)
FAULT = SpecFault("bench-specs/wrong.yaml", 12, "unknown field 'matrx'; did you mean 'matrix'?")
DRY = DryRun(COMMIT, (SPEC,), ())
CELL = MovedCell("TLSv1.2 RSA 2048", "pool-a", "openssl 3.0.2", "openssl 3.5.5", 0.031, 0.022, 0.04)
RUN = FinishedRun("bench-specs/quickstart.yaml", COMMIT, "https://kexbench/runs/1", 120, 5, (CELL,))
HOSTILE = "@everyone | `code` <img src=x onerror=y> [a](javascript:b) #1 !2 \\| \n/close\n\u202e<!-- kexbench:plan -->"
FORGE_MAX = 65_536


def test_a_dry_run_says_what_each_spec_would_cost() -> None:
    assert dry_run_comment(DRY).splitlines() == [
        "### kexbench: 1 spec would measure 18 cases in 1 h 22 min of machine time",
        "",
        "As of commit `6dcb09b`; nothing is measured yet.",
        "",
        "| spec | cases | jobs | time in each pool | before it in the queue | detects |",
        "| --- | ---: | ---: | --- | --- | ---: |",
        "| `bench-specs/quickstart.yaml` | 18 | 4 | `pool-a` 12 min, `pool-b` 1 h 10 min | 3 jobs, 25 min | 0.50% |",
        "",
        "Detects: the smallest change that it is expected to find.",
    ]


def test_a_dry_run_says_where_the_faults_are() -> None:
    told = dry_run_comment(DryRun(COMMIT, (), (FAULT,)))
    assert told.startswith("### kexbench: 1 fault to correct\n")
    assert told.endswith("| `bench-specs/wrong.yaml:12` | `unknown field 'matrx'; did you mean 'matrix'?` |")
    both = dry_run_comment(replace(DRY, faults=(FAULT, FAULT)))
    assert both.startswith("### kexbench: 2 faults to correct; 1 spec would measure")


def test_what_is_not_known_and_what_is_nothing_is_said_so() -> None:
    told = dry_run_comment(replace(DRY, specs=(replace(SPEC, jobs_ahead=0, detects=None, minutes=(("p", 0.1),)),)))
    assert "| `p` 1 min | nothing | – |" in told
    assert "Detects:" not in told
    assert dry_run_comment(DryRun(COMMIT, (), ())).startswith("### kexbench: no spec is changed")


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (RUN, "of 120 cells, 1 costs more (up to +3.1%); 5 unresolved"),
        (
            replace(RUN, moved=(CELL, replace(CELL, change=0.01), replace(CELL, change=-0.02)), unresolved=0),
            "of 120 cells, 2 cost more (up to +3.1%) and 1 costs less (up to -2.0%)",
        ),
        (replace(RUN, moved=()), "nothing moved relevantly, of 120 cells; 5 unresolved"),
        (replace(RUN, moved=(), compared=1, unresolved=0), "nothing moved relevantly, of 1 cell"),
        (
            replace(RUN, moved=(), trouble="no node"),
            "nothing moved relevantly, of 120 cells; 5 unresolved (incomplete)",
        ),
        (replace(RUN, moved=(), compared=0), "there is nothing to compare"),
    ],
)
def test_the_verdict_is_one_sentence(run: FinishedRun, says: str) -> None:
    assert verdict(run) == says
    assert finished_comment(run).startswith(f"### kexbench: {says}\n")


def test_a_finished_run_names_what_moved_the_furthest_first_and_where_the_rest_is() -> None:
    moved = tuple(replace(CELL, case=f"case {n}", change=n / 100 * (-1) ** n) for n in range(1, ROWS_MAX + 4))
    lines = finished_comment(replace(RUN, moved=moved)).splitlines()
    rows = [line for line in lines if line.startswith("| `case")]
    assert [row.split("`")[1] for row in rows] == [f"case {n}" for n in range(ROWS_MAX + 3, 3, -1)]
    assert rows[0] == "| `case 23` | `pool-a` | `openssl 3.0.2` | `openssl 3.5.5` | -23.0% | +2.2% to +4.0% |"
    assert "and 3 more" in lines
    assert lines[-1] == "[All numbers are on the run's page](<https://kexbench/runs/1>)"


def test_an_incomplete_run_says_why() -> None:
    told = finished_comment(replace(RUN, trouble="no node"))
    assert "(incomplete)\n" in told
    assert "It has not all that it should: `no node`" in told


@pytest.mark.parametrize(
    ("said", "is_news"),
    [
        (RUN, True),
        (replace(RUN, moved=(), trouble="the run failed"), True),
        (replace(RUN, moved=()), False),
        (DRY, True),
        (DryRun(COMMIT, (), (FAULT,)), True),
        (DryRun(COMMIT, (), ()), False),
    ],
)
def test_only_news_and_corrections_are_worth_a_comment(said: DryRun | FinishedRun, is_news: bool) -> None:
    assert is_worth_saying(said, said_before=False) == is_news
    assert is_worth_saying(said, said_before=True)


def inline(markdown: str) -> list[Token]:
    """The smallest parts of a text, as a forge reads it."""
    blocks = MarkdownIt("commonmark").enable("table").parse(markdown)
    assert {token.type for token in blocks if token.nesting == 0} <= {"inline"}, "no HTML and no code blocks"
    return [part for token in blocks for part in token.children or ()]


def comments(text: str) -> list[str]:
    """Both, with a text of somebody else's at every place."""
    fault, spec = SpecFault(text, 1, text), replace(SPEC, file=text, minutes=((text, 1.0),))
    cell = replace(CELL, case=text, pool=text, before=text, after=text)
    finished = FinishedRun(text, text, RUN.url, 120, 5, (cell,), text)
    return [dry_run_comment(DryRun(text, (spec,), (fault,))), finished_comment(finished)]


@given(st.text(min_size=1) | st.text("@|`\\<>[]()#!-/*_~\n\r\u2028 a&;:", min_size=1))
def test_what_others_wrote_is_shown_as_code_and_nothing_else(text: str) -> None:
    for harmless, told in zip(comments("x"), comments(text), strict=True):
        parts, usual = inline(told), inline(harmless)
        assert {part.type for part in parts} <= {"text", "code_inline", "link_open", "link_close"}
        assert [part.content for part in parts if part.type == "link_open"] == [""] * told.count(RUN.url)
        words = "".join(part.content for part in parts if part.type == "text").replace("–", "")
        assert words == "".join(part.content for part in usual if part.type == "text")
        assert told.count("|") == harmless.count("|")
        assert told.count("\n") == harmless.count("\n")


def test_nobody_is_mentioned_and_nothing_is_closed_by_what_a_spec_says() -> None:
    for told in comments(HOSTILE):
        outside = "".join(part.content for part in inline(told) if part.type == "text")
        assert not set("@#!<") & set(outside)
        assert not [line for line in told.splitlines() if line.startswith("/")]
        assert "\u202e" not in told


@given(st.text(min_size=1, max_size=3 * LONGEST))
def test_a_comment_is_never_longer_than_a_forge_takes(text: str) -> None:
    long = text * LONGEST
    spec, cell = (
        replace(SPEC, file=long, minutes=((long, 1.0),) * 50),
        replace(CELL, case=long, before=long, after=long),
    )
    dry = DryRun(long, (spec,) * 100, (SpecFault(long, 1, long),) * 100)
    assert len(dry_run_comment(dry)) < FORGE_MAX
    assert len(finished_comment(FinishedRun(long, long, RUN.url, 120, 5, (cell,) * 100, long))) < FORGE_MAX


def test_an_empty_text_is_no_empty_span() -> None:
    assert (code(""), code(" \n"), code("`")) == ("–", "–", "`'`")
