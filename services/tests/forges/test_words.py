"""The comments at a pull request: what they say, and that nobody else speaks through them."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kexbench.domain.commits import DryRun, SpecFault
from kexbench.domain.profiles import Culprit
from kexbench.domain.verdicts import LARGEST, MovedCell, RunVerdict, judged
from kexbench.forges.markdown import LONGEST, code
from kexbench.forges.words import (
    DryRuns,
    DrySpec,
    FinishedRun,
    dry_run_comment,
    dry_run_words,
    finished_comment,
    is_worth_saying,
    pull_request_comment,
)
from tests.golden import GOLDEN, assert_texts

COMMIT = "6dcb09b"
PLANNED = DryRun(
    cases=18, jobs=4, minutes={"pool-a": 12.4, "pool-b": 70.0}, runs_ahead=3, minutes_ahead=25.0, detects=0.005
)
SPEC = DrySpec("bench-specs/quickstart.yaml", PLANNED)
FAULT = SpecFault(
    file="bench-specs/wrong.yaml", line=12, column=1, text="unknown field 'matrx'; did you mean 'matrix'?"
)
DRY = DryRuns(COMMIT, (SPEC,), ())
CELL = MovedCell(
    case="TLSv1.2 RSA 2048",
    pool="pool-a",
    before="openssl 3.0.2",
    after="openssl 3.5.5",
    ratio=1.031,
    low=1.022,
    high=1.04,
)
RUN = FinishedRun("bench-specs/quickstart.yaml", COMMIT, "https://kexbench/runs/1", judged(120, 5, [CELL]))
CULPRIT = Culprit(
    case_id="tlsv1.2_rsa_rsa-2048_aes-128-gcm",
    title="TLS 1.2 RSA, RSA 2048",
    side="server",
    function="ossl_rsa_decrypt",
    amounts=(1_000_000, 2_000_000),
    calls=(1, 2),
    side_amounts=(2_790_000, 3_790_000),
    run_id="1",
)
COUNTED = judged(120, 5, [CELL]).model_copy(update={"culprits": (CULPRIT,)})
HOSTILE = "@everyone | `code` <img src=x onerror=y> [a](javascript:b) #1 !2 \\| \n/close\n\u202e<!-- kexbench:plan -->"
FORGE_MAX = 65_536


def changed(**fields: object) -> DrySpec:
    return replace(SPEC, dry=PLANNED.model_copy(update=fields))


def cell(**fields: object) -> MovedCell:
    return CELL.model_copy(update=fields)


def ended(verdict: RunVerdict) -> FinishedRun:
    return replace(RUN, verdict=verdict)


def test_the_texts_of_comments_and_statuses() -> None:
    mixed = changed(mixed_pools=("pool-a", "pool-b"))
    comments = {
        "a plan": dry_run_comment(DRY),
        "an error": dry_run_comment(DryRuns(COMMIT, (), (FAULT,))),
        "two errors and a plan": dry_run_comment(replace(DRY, faults=(FAULT, FAULT))),
        "a plan with an empty queue": dry_run_comment(
            replace(DRY, specs=(changed(runs_ahead=0, detects=None, minutes={"p": 0.1}),))
        ),
        "no spec": dry_run_comment(DryRuns(COMMIT, (), ())),
        "a plan for mixed pools": dry_run_comment(replace(DRY, specs=(mixed, changed(mixed_pools=("pool-b",))))),
        "a finished run": finished_comment(RUN),
        "an incomplete run": finished_comment(ended(judged(120, 5, [CELL], "no node"))),
        "a finished run that counted": finished_comment(ended(COUNTED)),
        "status of a plan": dry_run_words(PLANNED),
        "status of a plan with an empty queue": dry_run_words(changed(cases=1, runs_ahead=0, detects=None).dry),
        "status of a plan for mixed pools": dry_run_words(mixed.dry),
    }
    assert_texts(GOLDEN / "comments.txt", comments)
    assert max(len(text) for name, text in comments.items() if name.startswith("status")) < 140


def test_of_many_pools_the_first_are_named() -> None:
    many = dry_run_comment(replace(DRY, specs=(changed(mixed_pools=tuple(f"p{n}" for n in range(9))),)))
    assert "`p8`" not in many


def test_a_finished_run_names_what_moved_the_furthest_first_and_where_the_rest_is() -> None:
    moved = [cell(case=f"case {n}", ratio=1 + n / 100 * (-1) ** n) for n in range(1, LARGEST + 4)]
    lines = finished_comment(ended(judged(120, 0, moved))).splitlines()
    rows = [line for line in lines if line.startswith("| `case")]
    assert [row.split("`")[1] for row in rows] == [f"case {n}" for n in range(LARGEST + 3, 3, -1)]
    change = "\N{MINUS SIGN}23.0% | +2.2% to +4.0%"
    assert rows[0] == f"| `case 23` | `pool-a` | `openssl 3.0.2` | `openssl 3.5.5` | {change} |"
    assert "and 3 more" in lines
    assert lines[-1].endswith("](<https://kexbench/runs/1>)")


@pytest.mark.parametrize(
    ("said", "is_news"),
    [
        (RUN, True),
        (ended(judged(0, 0, [], "the run failed")), True),
        (ended(judged(120, 5, [])), False),
        (DRY, True),
        (DryRuns(COMMIT, (), (FAULT,)), True),
        (DryRuns(COMMIT, (), ()), False),
    ],
)
def test_only_news_and_corrections_are_worth_a_comment(said: DryRuns | FinishedRun, is_news: bool) -> None:
    assert is_worth_saying(said, said_before=False) == is_news
    assert is_worth_saying(said, said_before=True)


def inline(markdown: str) -> list[Token]:
    """The smallest parts of a text, as a forge reads it."""
    blocks = MarkdownIt("commonmark").enable("table").parse(markdown)
    assert {token.type for token in blocks if token.nesting == 0} <= {"inline"}, "no HTML and no code blocks"
    return [part for token in blocks for part in token.children or ()]


def comments(text: str) -> list[str]:
    """Both, with a text of somebody else's at every place."""
    fault, spec = SpecFault(file=text, line=1, column=1, text=text), replace(changed(minutes={text: 1.0}), file=text)
    moved = cell(case=text, pool=text, before=text, after=text)
    culprit = CULPRIT.model_copy(update={"title": text, "function": text})
    verdict = judged(120, 5, [moved], text).model_copy(update={"culprits": (culprit,)})
    finished = FinishedRun(text, text, RUN.url, verdict)
    return [dry_run_comment(DryRuns(text, (spec,), (fault,))), finished_comment(finished)]


@given(st.text(min_size=1) | st.text("@|`\\<>[]()#!-/*_~\n\r\u2028 a&;:", min_size=1))
def test_what_others_wrote_is_shown_as_code_and_nothing_else(text: str) -> None:
    for harmless, comment in zip(comments("x"), comments(text), strict=True):
        parts, usual = inline(comment), inline(harmless)
        assert {part.type for part in parts} <= {"text", "code_inline", "link_open", "link_close"}
        assert [part.content for part in parts if part.type == "link_open"] == [""] * comment.count(RUN.url)
        words = "".join(part.content for part in parts if part.type == "text").replace("–", "")
        assert words == "".join(part.content for part in usual if part.type == "text")
        assert comment.count("|") == harmless.count("|")
        assert comment.count("\n") == harmless.count("\n")


def test_nobody_is_mentioned_and_nothing_is_closed_by_what_a_spec_says() -> None:
    for comment in comments(HOSTILE):
        outside = "".join(part.content for part in inline(comment) if part.type == "text")
        assert not set("@#!<") & set(outside)
        assert not [line for line in comment.splitlines() if line.startswith("/")]
        assert "\u202e" not in comment


@settings(max_examples=8)
@given(st.text(min_size=1, max_size=2 * LONGEST))
def test_a_comment_is_never_longer_than_a_forge_takes(text: str) -> None:
    long = text * (LONGEST // len(text) + 2)
    spec = replace(changed(minutes={f"{number}{long}": 1.0 for number in range(50)}), file=long)
    moved = cell(case=long, pool=long, before=long, after=long)
    dry = DryRuns(long, (spec,) * 100, (SpecFault(file=long, line=1, column=1, text=long),) * 100)
    finished = [FinishedRun(long, long, RUN.url, judged(120, 5, [moved] * 100, long))] * 100
    assert len(pull_request_comment(dry, [])) < FORGE_MAX
    comment = pull_request_comment(dry, finished)
    assert len(comment) < FORGE_MAX
    assert comment.splitlines()[-1].endswith(" more")


def test_an_empty_text_is_no_empty_span() -> None:
    assert (code(""), code(" \n"), code("`")) == ("–", "–", "`'`")
