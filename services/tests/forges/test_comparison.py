"""The comment on a change that a job of CI compared: what it says, and that nobody else speaks through it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kexbench.domain.differences import Difference
from kexbench.domain.hosts import HostKind
from kexbench.domain.instruments import Instrument
from kexbench.domain.intervals import Ratio
from kexbench.domain.pairs import ChangeReport, Pair, PairEnd, Unbuilt
from kexbench.domain.upgrades import SideMove, UpgradeCell
from kexbench.domain.verdicts import RunVerdict, run_verdict
from kexbench.forges.comparison import CELLS_MAX, change_comment, is_news
from kexbench.forges.markdown import LONGEST
from tests.forges.test_words import CULPRIT, FORGE_MAX, HOSTILE
from tests.golden import GOLDEN, assert_texts

BASE = PairEnd(reference="openssl@git:/src#master", version="3.6.0-dev 0123abc", build_profile_label="git static gcc")
CHANGE = BASE.model_copy(update={"reference": "openssl@git:/src#mine", "version": "3.6.0-dev 4567def"})
UNBUILT = Unbuilt(
    which="change",
    reference="openssl@git:/src#mine",
    reason="compile failed: the compiler says: ssl/t1_lib.c:12:3: error: 'x' undeclared",
    remedy="see the log",
    log=("cc -c ssl/t1_lib.c", "  ssl/t1_lib.c:12:3: error: 'x' undeclared", "make: *** [Makefile:1] Error 1"),
)


def a_cell(verdict: str, change: float, **fields: Any) -> UpgradeCell:
    move = Ratio(ratio=1 + change, low=1 + change - 0.001, high=1 + change + 0.001)
    usual: dict[str, Any] = {
        "case_id": verdict,
        "title": f"TLS 1.3 ECDHE-RSA, {verdict}",
        "host_kind": HostKind("local", "AMD EPYC"),
        "verdict": verdict,
        "move": move,
        "client": SideMove(**move.model_dump(), verdict="same"),
        "server": None,
        "q": 0.5,
        "resolves": 0.002,
        "paired": True,
        "before_ns": 1.0,
        "after_ns": 1.0,
        "invocations": 3,
        "run_ids": ("one",),
        "warnings": (),
    }
    return UpgradeCell.model_validate(usual | fields)


def a_pair(*cells: UpgradeCell, **fields: Any) -> Pair:
    verdict = run_verdict([(("a", "b"), cell) for cell in cells])
    pair = Pair(
        run_id="20261128-120000-0123abcd",
        instrument=Instrument.INSTRUCTIONS,
        relevant=0.002,
        before=BASE,
        after=CHANGE,
        components=(),
        cells=cells,
        verdict=verdict,
    )
    return pair.model_copy(update=fields)


def a_report(*pairs: Pair, **fields: Any) -> ChangeReport:
    report = ChangeReport(base=BASE.reference, change=CHANGE.reference, exit_status=0, pairs=pairs)
    return report.model_copy(update=fields)


SLOWER, SAME, UNRESOLVED = a_cell("more", 0.005), a_cell("same", 0.0001), a_cell("unresolved", 0.001)
NOTHING = a_cell("unresolved", 0, move=None, client=None, resolves=None, invocations=0)


def with_verdict(pair: Pair, **fields: Any) -> Pair:
    return pair.model_copy(update={"verdict": pair.verdict.model_copy(update=fields)})


def test_the_texts_of_comments_on_changes() -> None:
    slower = with_verdict(a_pair(SLOWER, SAME, UNRESOLVED), culprits=(CULPRIT,))
    timed = a_pair(SAME, instrument=Instrument.TIME, run_id="20261128-121500-89abcdef")
    other_build = CHANGE.model_copy(update={"build_profile_label": "git static clang"})
    nettle = Difference(what="nettle", before="3.8.1", after="3.10.1")
    assert_texts(
        GOLDEN / "change-comments.txt",
        {
            "a slower case, counted": change_comment(a_report(slower)),
            "counted and timed": change_comment(a_report(slower, timed)),
            "nothing changed": change_comment(a_report(a_pair(SAME))),
            "another build": change_comment(a_report(a_pair(SAME, after=other_build, components=(nettle,)))),
            "the second build fails in a case": change_comment(
                a_report(with_verdict(a_pair(SAME, NOTHING), lost=1, missing={"crashed": 1}))
            ),
            "the second build fails in every case": change_comment(
                a_report(with_verdict(a_pair(NOTHING), lost=1, missing={"crashed": 1}))
            ),
            "no result": change_comment(a_report(with_verdict(a_pair(NOTHING), trouble="cancelled"))),
            "the change cannot be built": change_comment(a_report(unbuilt=(UNBUILT,))),
            "neither can be built": change_comment(
                a_report(unbuilt=(UNBUILT.model_copy(update={"which": "base", "log": (), "remedy": ""}), UNBUILT))
            ),
        },
    )


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (a_report(a_pair(SAME, UNRESOLVED)), False),
        (a_report(a_pair(SLOWER)), True),
        (a_report(a_pair(a_cell("less", -0.02))), True),
        (a_report(a_pair(NOTHING)), True),
        (a_report(a_pair(SAME), with_verdict(a_pair(SAME), trouble="cancelled")), True),
        (a_report(with_verdict(a_pair(SAME), lost=1)), True),
        (a_report(unbuilt=(UNBUILT,)), True),
    ],
)
def test_a_pull_request_in_which_nothing_changed_gets_no_comment(report: ChangeReport, expected: bool) -> None:
    assert is_news(report) is expected


def test_a_comment_of_many_cases_is_never_longer_than_a_forge_takes() -> None:
    long = "x" * 2 * LONGEST
    cells = [a_cell("more", 0.01, case_id=str(number), title=long) for number in range(2 * CELLS_MAX)]
    unbuilt = UNBUILT.model_copy(update={"log": (long,) * 30, "reason": long, "remedy": long})
    comment = change_comment(a_report(a_pair(*cells), a_pair(*cells), unbuilt=(unbuilt, unbuilt)))
    assert len(comment) < FORGE_MAX
    assert f"and {CELLS_MAX} more" in comment


@given(st.text(min_size=1) | st.text("@|`\\<>[]()#!-/*_~\n\r\u2028 a&;:", min_size=1) | st.just(HOSTILE))
def test_what_others_wrote_is_shown_as_code_and_nothing_else(text: str) -> None:
    unbuilt = Unbuilt(which="change", reference=text, reason=text, remedy=text, log=(text, text))
    verdict = RunVerdict.model_validate(
        a_pair(SLOWER).verdict.model_dump() | {"trouble": text, "culprits": [CULPRIT.model_dump() | {"function": text}]}
    )
    end = PairEnd(reference=text, version=text, build_profile_label=text)
    pair = a_pair(a_cell("more", 0.01, title=text), before=end, verdict=verdict)
    tokens = MarkdownIt("commonmark").enable("table").parse(change_comment(a_report(pair, unbuilt=(unbuilt,))))
    assert {token.type for token in tokens if token.nesting == 0} <= {"inline", "code_block"}, "no HTML, no fences"
    parts = [part for token in tokens for part in token.children or ()]
    assert {part.type for part in parts} <= {"text", "code_inline", "strong_open", "strong_close", "softbreak"}
    outside = "".join(part.content for part in parts if part.type == "text")
    assert not set("@#!<") & set(outside)
