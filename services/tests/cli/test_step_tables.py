"""The tables that a run ends with: nothing is cut off at any width, and no change stands without its interval."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from itertools import pairwise

import pytest
from rich.console import Console

from kexbench.answers.cells import Cell, OutcomeView
from kexbench.answers.change import Change
from kexbench.answers.run import BusyShare, RunDetail
from kexbench.answers.runs import summary
from kexbench.answers.shapes import CaseView
from kexbench.answers.subjects import end_of
from kexbench.cli.step_tables import (
    NO_SIDES,
    level_legend,
    level_table,
    move_text,
    step_legend,
    step_lines,
    step_tables,
)
from kexbench.cli.tables import disturbance_lines, outcome_lines
from kexbench.domain.differences import Difference
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.numbers import signed_words
from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SideMove
from tests.builders import a_run

SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: steps }
subjects: [{ fake: [1.0, 1.1] }]
matrix:
  protocol: [TLSv1.3]
  keyExchange: [ECDHE-RSA, ECDHE-ECDSA]
  group: [X25519]
measure: { invocations: 6, batches: 4 }
"""
RUN = a_run(spec=SPEC)
CASES = [CaseView.of(case) for case in RUN.plan.cases]
ALONG = [
    Difference(what="nettle", before="3.8.1", after="3.10.1"),
    Difference(what="gmp", before="6.2.1", after="6.3.0"),
]
SIDES = {
    "both": SideMove(ratio=0.8812, low=0.8714, high=0.8911, verdict="less"),
    "client": SideMove(ratio=1.0851, low=0.9712, high=1.1987, verdict="unresolved"),
    "server": SideMove(ratio=1.0012, low=0.9991, high=1.0033, verdict="same"),
}
WIDTHS = (60, 80, 120)
UNRESOLVED = "Unresolved: not significant, or smaller than the resolution."


def a_subject(version: str, library: str = "gnutls") -> Subject:
    return Subject(
        library=library,
        version=version,
        version_key=version,
        source="system",
        build_profile="p",
        build_profile_label="label of p",
        kit_id=f"kit {version}",
        commit=None,
    )


BEFORE, AFTER = a_subject("3.7.9"), a_subject("3.8.9")


def a_cell(case: CaseView, subject: Subject, ns: float | None, change: Change | None = None) -> Cell:
    return Cell(
        case_id=case.id,
        subject=subject.name,
        estimate=None if ns is None else Estimate(value=ns, low=0.89 * ns, high=1.11 * ns, invocations=10),
        change=change,
        outcome=None
        if ns
        else OutcomeView(kind=OutcomeKind.UNSUPPORTED, reason="no such group", detail=None, invocations=10),
        to_sentinel=None,
        negotiated=None,
        run_id=RUN.run_id,
        measured_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


CHANGE = Change(
    before=end_of(BEFORE),
    after=end_of(AFTER),
    **SIDES["both"].model_dump(),
    paired=True,
    resolves=0.004,
    warnings=["different build profile"],
    components=ALONG,
    client=SIDES["client"],
    server=SIDES["server"],
)


def a_detail(cells: list[Cell], subjects: list[Subject], invocations: int = 15) -> RunDetail:
    return RunDetail(
        summary=summary(RUN, None),
        events=[],
        controls=[],
        spec_text=SPEC,
        measure=RUN.plan.measure.model_copy(update={"invocations": invocations}),
        hosts=[],
        spread=[],
        host_kind=HostKind(pool="local", cpu_model="Example CPU 9000"),
        host_kinds=[],
        cases=CASES,
        skipped=[],
        subjects=subjects,
        kits={},
        components={},
        metric=Metric.CPU_NS,
        cells=cells,
        reference=None,
        connections=[],
        sentinel=None,
        environment=None,
        mixed_pools=[],
        steal=None,
        sibling=None,
        timers={},
        discarded_batches=0,
        preempted_batches=0,
        others_measured=True,
    )


STEP = a_detail(
    [
        a_cell(CASES[0], BEFORE, 500_000),
        a_cell(CASES[0], AFTER, 440_600, CHANGE),
        a_cell(CASES[1], BEFORE, 500_000),
        a_cell(CASES[1], AFTER, None),
    ],
    [BEFORE, AFTER],
)


def rendered(detail: RunDetail, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width, highlight=False)
    levels = level_table(detail)
    for table in [*step_tables(detail), *([levels] if levels else [])]:
        console.print(table)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def words(lines: list[str]) -> str:
    """All that is on them in reading order of no matter which column."""
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off_and_every_change_has_its_interval_and_verdict(width: int) -> None:
    lines = rendered(STEP, width)
    assert max(map(len, lines)) <= width
    printed = words(lines)
    assert "…" not in printed
    figures = re.findall(r"[+−][0-9]+\.[0-9]+%", printed)
    assert sorted(figures) == sorted(
        signed_words(number - 1, 2) for side in SIDES.values() for number in (side.ratio, side.low, side.high) if number
    )
    for word in ("faster", "unresolved", "no", "change", "X25519", "unsupported"):
        assert word in printed.split()
    for along in ("nettle 3.8.1 → 3.10.1", "gmp 6.2.1 → 6.3.0"):
        assert along in printed
    assert "±" not in printed


@pytest.mark.parametrize("width", [80, 120])
def test_on_a_usual_terminal_each_case_takes_three_lines_and_each_cell_stands_whole(width: int) -> None:
    lines = rendered(STEP, width)
    first = next(place for place, line in enumerate(lines) if line.startswith("TLS 1.3 ECDHE-RSA"))
    cells = [re.split(r"\s{2,}", line.strip()) for line in lines[first : first + 3]]
    assert [row[-3:] for row in cells] == [
        ["−11.88%", "+8.51%", "+0.12%"],
        ["[−12.86%, −10.89%]", "[−2.88%, +19.87%]", "[−0.09%, +0.33%]"],
        ["faster", "unresolved", "no change"],
    ]
    assert cells[2][0] == "2,000/s → 2,270/s"
    assert lines[first + 3].startswith("TLS 1.3 ECDHE-ECDSA")
    assert "after: unsupported" in lines[first + 3]


def test_an_unresolved_change_has_its_resolution_and_the_legend_explains_it() -> None:
    change = CHANGE.model_copy(update={"verdict": "unresolved", "resolves": 0.02})
    cells = [a_cell(CASES[0], BEFORE, 500_000), a_cell(CASES[0], AFTER, 440_600, change)]
    lines = rendered(a_detail(cells, [BEFORE, AFTER]), 80)
    (place,) = (place for place, line in enumerate(lines) if "(resolution 2.0%)" in line)
    assert "unresolved" in lines[place - 1]
    assert step_legend(a_detail(cells, [BEFORE, AFTER])).endswith(f"\n{UNRESOLVED}")


def test_a_legend_explains_only_signs_that_its_table_has() -> None:
    same = SIDES["server"]
    resolved = CHANGE.model_copy(update={"client": same})
    cells = [a_cell(CASES[0], BEFORE, 500_000), a_cell(CASES[0], AFTER, 440_600, resolved)]
    assert UNRESOLVED not in step_legend(a_detail(cells, [BEFORE, AFTER]))
    assert UNRESOLVED in step_legend(STEP)
    few = Estimate(value=500_000, low=None, high=None, invocations=3)
    level = a_cell(CASES[0], BEFORE, 500_000)
    assert "±" in level_legend(a_detail([level], [BEFORE]))
    assert "±" not in level_legend(a_detail([level.model_copy(update={"estimate": few})], [BEFORE]))


def test_why_two_are_not_quite_alike_is_said_below() -> None:
    assert step_lines(STEP) == [f"gnutls 3.7.9 → 3.8.9: different build profile: {CASES[0].title}"]


def test_sides_without_a_number_are_explained() -> None:
    """As where other processes took the core: the sum stands, what was whose does not."""
    change = CHANGE.model_copy(update={"client": None, "server": None, "warnings": []})
    cells = [a_cell(CASES[0], BEFORE, 500_000), a_cell(CASES[0], AFTER, 440_600, change)]
    detail = a_detail(cells, [BEFORE, AFTER])
    assert words(rendered(detail, 80)).count("no result") == 4, "two sides, and the levels of the other case"
    assert step_lines(detail) == [f"gnutls 3.7.9 → 3.8.9: {NO_SIDES}: {CASES[0].title}"]


def test_sides_that_preemption_spoilt_are_marked_with_how_often() -> None:
    change = CHANGE.model_copy(update={"client": None, "server": None, "warnings": []})
    spoilt = OutcomeView(kind="disturbed", reason="other programs ran", detail=None, invocations=7)
    cell = a_cell(CASES[0], AFTER, 440_600, change).model_copy(update={"sides_outcome": spoilt})
    detail = a_detail([a_cell(CASES[0], BEFORE, 500_000), cell], [BEFORE, AFTER])
    assert words(rendered(detail, 80)).count("no result") == 4, "two sides, and the levels of the other case"
    assert step_lines(detail) == []
    place = f"{CASES[0].title} (in 7 of 10 invocations)"
    assert outcome_lines(detail) == [f"gnutls 3.8.9, client and server apart: disturbed: other programs ran: {place}"]


def test_invocations_without_a_number_count_beside_those_that_have_one() -> None:
    spoilt = OutcomeView(kind="disturbed", reason="other programs ran", detail=None, invocations=5)
    cell = a_cell(CASES[0], AFTER, 440_600).model_copy(update={"outcome": spoilt})
    assert outcome_lines(a_detail([cell], [AFTER]))[0].endswith(f"{CASES[0].title} (in 5 of 15 invocations)")


def test_an_invocation_with_times_whose_age_failed_counts_once() -> None:
    failed = OutcomeView(kind="unsupported", reason="too many connections", detail=None, invocations=10)
    cell = a_cell(CASES[0], AFTER, 440_600).model_copy(update={"outcome": failed})
    assert outcome_lines(a_detail([cell], [AFTER], 10))[0].endswith(f"{CASES[0].title} (in 10 of 10 invocations)")


def test_cases_of_one_reason_share_a_line() -> None:
    failed = OutcomeView(kind="unsupported", reason="no such group", detail=None, invocations=10)
    cells = [a_cell(case, AFTER, 1).model_copy(update={"estimate": None, "outcome": failed}) for case in CASES]
    assert outcome_lines(a_detail(cells, [AFTER])) == [
        f"gnutls 3.8.9: unsupported: no such group: {CASES[0].title}; {CASES[1].title}"
    ]


def test_many_cells_of_one_reason_are_one_line_with_their_number_and_where_the_rest_is() -> None:
    versions = [a_subject(f"3.8.{number}") for number in range(15)]
    spoilt = OutcomeView(kind="disturbed", reason="other programs ran", detail=None, invocations=6)
    cells = [
        a_cell(case, version, 440_600).model_copy(update={"sides_outcome": spoilt})
        for version in versions
        for case in CASES
    ]
    line, rest = outcome_lines(a_detail(cells, versions))
    assert line.startswith(
        "30 cells, client and server apart: disturbed: other programs ran: "
        f"gnutls 3.8.0, {CASES[0].title} (in 6 of 10 invocations); gnutls 3.8.0, {CASES[1].title}"
    )
    assert line.endswith("; and 25 more")
    assert rest == f"Every cell with its reasons: kexbench runs show {RUN.run_id} --json"


def test_cells_that_differ_in_the_detail_alone_share_a_line_that_says_so() -> None:
    versions = [a_subject("3.8.1"), a_subject("3.8.2")]
    cells = [
        a_cell(CASES[0], version, None).model_copy(
            update={"outcome": OutcomeView(kind="crashed", reason="signal 11", detail=version.version, invocations=1)}
        )
        for version in versions
    ]
    line, _ = outcome_lines(a_detail(cells, versions))
    title = CASES[0].title
    assert line == (
        f"2 cells: crashed: signal 11: 3.8.1; and 1 other detail: gnutls 3.8.1, {title}; gnutls 3.8.2, {title}"
    )


def test_a_warning_of_many_steps_is_one_line() -> None:
    versions = [a_subject(f"3.8.{number}") for number in range(9)]
    changes = [
        CHANGE.model_copy(update={"before": end_of(before), "after": end_of(after)})
        for before, after in pairwise(versions)
    ]
    cells = [a_cell(CASES[0], versions[0], 1.0)]
    cells += [a_cell(CASES[0], after, 1.0, change) for after, change in zip(versions[1:], changes, strict=True)]
    assert step_lines(a_detail(cells, versions))[0] == "8 cells: different build profile: all cases"


def test_what_ran_beside_is_named_where_it_was_much() -> None:
    quiet = STEP.model_copy(update={"steal": BusyShare(share=0.009, disturbs=False)})
    assert disturbance_lines(quiet) == []
    loud = STEP.model_copy(
        update={"steal": BusyShare(share=0.123, disturbs=True), "sibling": BusyShare(share=0.5, disturbs=True)}
    )
    hypervisor, sibling = disturbance_lines(loud)
    assert "12.3%" in hypervisor
    assert "50%" in sibling


@pytest.mark.parametrize("width", WIDTHS)
def test_a_version_alone_has_its_level_with_its_interval(width: int) -> None:
    alone = a_detail([a_cell(case, BEFORE, 500_000) for case in CASES], [BEFORE])
    lines = rendered(alone, width)
    assert words(lines).count("2,000 ±11.0%") == len(CASES)
    assert not step_tables(alone)


def test_one_version_from_two_places_is_distinguished_by_its_sources() -> None:
    other = replace(AFTER, version="3.7.9", source="debian/bookworm")
    cells = [
        cell.model_copy(update={"subject": other.name}) if cell.subject == AFTER.name else cell for cell in STEP.cells
    ]
    detail = STEP.model_copy(update={"subjects": [BEFORE, other], "cells": cells})
    assert "gnutls 3.7.9 (system) → 3.7.9 (debian/bookworm)" in words(rendered(detail, 120))


def test_no_change_has_a_word() -> None:
    assert move_text(None, "") == "no result"


def test_a_table_names_its_machine_with_the_pool() -> None:
    (table,) = step_tables(STEP)
    assert "on Example CPU 9000, pool local" in str(table.title)
