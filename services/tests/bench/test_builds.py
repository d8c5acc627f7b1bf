"""Kits that are built here beside a distribution's packages: what is compared, and what the report says of it."""

from pathlib import Path
from typing import cast

import pytest

from bench import builds, report
from bench.builds import CASES, PAIRS, Built, NotBuilt, compare_builds
from bench.machine import QUICK, Machine
from bench.texts import CAUSES, NO_CAUSE, Cause
from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.probes import tried
from kexbench.domain.samples import Invocation, OutcomeKind
from kexbench.kits import KitError
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.order import Turn
from tests.builders import a_kit, a_run, an_invocation, an_outcome

RUN = a_run()
COSTS = {"p-521": 1.1, "x448": 1.02}
"""Of what is built here, in packages; everything else costs the same."""


class StandInMachine:
    """Has every kit but those of one suite. What is built here has another GMP."""

    def kit(self, reference: str) -> JobInputKit:
        ref = SubjectRef.parse(reference)
        if ref.source.endswith("/bullseye"):
            raise KitError(ref, "fetch", "there is no such suite", "name another")
        gmp = "6.2.1" if ref.source.startswith("debian/") else "6.3.0"
        kit = a_kit(reference, version="1.2", packages=[Package(name="gmp", version=gmp, sha256=None)])
        return JobInputKit(folder=Path("kit"), manifest=kit)

    cpus = log = None

    def job_input(self, *given: object) -> None:
        """Nothing is measured."""


def measured(job_input: object, turn: Turn, *given: object) -> Invocation:
    """Of the cases that both have; the package lacks ML-DSA."""
    built, packaged = turn.block
    cost = next((cost for part, cost in COSTS.items() if part in turn.case_id), 1.0)
    lacking = [an_outcome(packaged, OutcomeKind.UNSUPPORTED)] if "ml-dsa" in turn.case_id else []
    costs = {built: 1e6 * cost} | ({} if lacking else {packaged: 1e6})
    found = an_invocation(RUN, turn.invocation, cpu_ns=costs, outcomes=lacking)
    return found.model_copy(update={"case_id": turn.case_id})


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Built | NotBuilt]:
    monkeypatch.setattr(builds, "measure_invocation", measured)
    compared = compare_builds(cast(Machine, StandInMachine()), QUICK)
    return [one for one in compared if not isinstance(one, str)]


def test_every_feature_that_a_kit_is_tried_for_is_compared() -> None:
    known = {case.case_id for case in CASES}
    assert {case.case_id for _, case in tried(fips=False)} <= known
    assert len(known) == len(CASES)


def test_every_case_that_both_support_is_compared_and_only_a_difference_counts(found: list[Built | NotBuilt]) -> None:
    compared = [one for one in found if isinstance(one, Built)]
    both = {case.case_id for case in CASES if "ml-dsa" not in case.case_id}
    missing = [pair for pair in PAIRS if pair[1].endswith("/bullseye")]
    for _, packaged in (pair for pair in PAIRS if pair not in missing):
        own = [one for one in compared if one.packaged == packaged]
        assert {one.case.case_id for one in own} == both
        assert {one.case.case_id for one in own if one.differs} == {case for case in both if "p-521" in case}
    assert [(one.built, one.packaged) for one in found if isinstance(one, NotBuilt)] == missing


def test_each_case_that_differs_is_named_with_its_cause(
    found: list[Built | NotBuilt], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CAUSES, ("openssl@debian/trixie", ""), Cause("it lacks assembler", 0.03, 0.2))
    lines = report.builds_table(found).splitlines()
    rows = [line for line in lines if "P-521" in line]
    assert rows
    for row in rows:
        assert "+10.0%" in row
        assert "with gmp 6.2.1 → 6.3.0" in row
    assert any("it lacks assembler; with gmp" in row for row in rows)
    assert not any("gmp" in line for line in lines if "X448" in line and "P-521" not in line)
    assert (
        lines[0]
        == f"{len([one for one in found if isinstance(one, Built)])} cases: {len(rows)} differ by more than 3%, "
        f"and the cause of {len([row for row in rows if NO_CAUSE in row])} of these differences is unknown."
    )
    assert "- openssl@deb-source/bullseye and openssl@debian/bullseye: " in "\n".join(lines)


@pytest.mark.parametrize(("most", "is_known"), [(0.2, True), (0.05, False)])
def test_a_cause_explains_no_more_than_was_found_out(
    found: list[Built | NotBuilt], monkeypatch: pytest.MonkeyPatch, most: float, is_known: bool
) -> None:
    differing = next(one for one in found if isinstance(one, Built) and one.differs)
    monkeypatch.setitem(CAUSES, (differing.packaged, ""), Cause("other flags", 0.03, most))
    assert ("other flags" in report.builds_table([differing])) == is_known
    assert (NO_CAUSE in report.builds_table([differing])) == (not is_known)


def test_a_part_that_is_measured_alone_replaces_its_own_section() -> None:
    headings = {"first": "## One", "second": "## Two", "third": "## Three"}
    known = report.document("", "# Old", headings, {"first": "## One\n\n1", "third": "## Three\n\n3\n"})
    assert known == "# Old\n\n## One\n\n1\n\n## Three\n\n3\n"
    with_second = report.document(known, "# New", headings, {"second": "## Two\n\n2"})
    assert with_second == "# New\n\n## One\n\n1\n\n## Two\n\n2\n\n## Three\n\n3\n"
    again = report.document(with_second, "# New", headings, {"third": "## Three\n\nthree"})
    assert again == with_second.replace("\n3\n", "\nthree\n")
