"""Two subjects of one run over the invocations that hold both."""

import numpy as np
import pytest

from kexbench.analysis.compared import CellData
from kexbench.analysis.detectable import smallest_detectable_change
from kexbench.analysis.pairs import batches_of
from kexbench.analysis.verdict import judge
from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Invocation, Metric
from kexbench.domain.upgrades import SIDES, UpgradeCell
from tests.builders import ECDSA, RSA, SPEC, a_plan, a_run, an_invocation, an_outcome

ONE, TWO = "fake@1.0", "fake@1.1"
COUNT = 20


def invocations(ratio: float, *, noise: float = 0.002, case_id: str = RSA) -> list[Invocation]:
    """Both subjects swing by a tenth from invocation to invocation, together but for the noise."""
    chance = np.random.default_rng(5)
    run = a_run(spec=SPEC.replace("invocations: 6", f"invocations: {COUNT}"))
    found = []
    for number in range(COUNT):
        machine, own = 1e9 * np.exp(0.1 * chance.standard_normal()), np.exp(noise * chance.standard_normal())
        values = {ONE: float(machine), TWO: float(machine * own * ratio)}
        found.append(an_invocation(run, number, cpu_ns=values, case_id=case_id))
    return found


def cell_of(found: list[Invocation], case: Case, floor: float = 0.0) -> CellData:
    """The second against the first, as they are stored."""
    before, after = (
        {side: batches_of(found, case.case_id, subject, metric) for side, metric in SIDES.items()}
        for subject in (ONE, TWO)
    )
    return CellData(case, HostKind("", ""), before, after, run_ids=(), warnings=(), unlike=False, floor=floor)


def judged(found: list[Invocation], case_id: str = RSA) -> UpgradeCell:
    """The second against the first."""
    return judge([cell_of(found, a_plan().case(case_id))])[0]


@pytest.mark.parametrize(
    ("ratio", "noise", "verdict"),
    [
        (1.02, 0.002, "more"),
        (1 / 1.02, 0.002, "less"),
        (1.0, 0.002, "same"),
        (1.01, 0.05, "unresolved"),
    ],
)
def test_a_planted_ratio_has_its_verdict_whatever_the_machine_does(ratio: float, noise: float, verdict: str) -> None:
    found = judged(invocations(ratio, noise=noise))
    assert found.move is not None
    assert found.paired
    assert found.verdict == verdict
    assert found.move.low < ratio < found.move.high


def test_what_two_builds_of_one_source_differ_by_is_not_called_a_change() -> None:
    cell = cell_of(invocations(1.02), a_plan().case(RSA), floor=0.03)
    assert (judge([cell])[0].verdict, judge([cell])[0].resolves) == ("unresolved", 0.03)


def test_the_ratio_is_the_later_ones_to_the_one_before() -> None:
    run = a_run()
    found = judged([an_invocation(run, n, cpu_ns={ONE: 1000, TWO: [2400, 2500, 9000]}) for n in range(4)])
    assert found.move is not None
    assert (round(found.move.ratio, 7), found.invocations) == (2.5, 4)


def test_each_side_and_case_is_compared_apart() -> None:
    found = invocations(1.02) + invocations(1.1, case_id=ECDSA)
    rsa, ecdsa = (judged(found, case_id) for case_id in (RSA, ECDSA))
    assert rsa.server is not None
    assert ecdsa.server is not None
    assert rsa.server.ratio == pytest.approx(1.02, abs=0.005)
    assert ecdsa.server.ratio == pytest.approx(1.1, abs=0.005)


def test_a_subject_without_numbers_is_compared_with_nothing() -> None:
    assert (judged([]).move, judged([]).invocations) == (None, 0)


def test_invocations_in_which_one_of_them_failed_do_not_count() -> None:
    run = a_run()
    both = [an_invocation(run, n, cpu_ns={ONE: 100, TWO: 200}) for n in range(3)]
    failed = [an_invocation(run, n, cpu_ns={ONE: 900}, outcomes=[an_outcome(TWO)]) for n in (3, 4)]
    found = judged(both + failed)
    assert found.move is not None
    assert (found.invocations, round(found.move.ratio, 7)) == (3, 2)


def test_with_fewer_than_three_common_invocations_there_is_neither_ratio_nor_what_it_resolves() -> None:
    run = a_run()
    found = judged([an_invocation(run, n, cpu_ns={ONE: 100, TWO: 200}) for n in range(2)])
    assert (found.move, found.resolves, found.invocations) == (None, None, 2)


def test_a_value_of_zero_has_no_ratio_to_anything() -> None:
    run = a_run()
    found = judged([an_invocation(run, n, cpu_ns={ONE: 0, TWO: 200}) for n in range(4)])
    assert (found.move, found.resolves) == (None, None)


def test_what_it_resolves_is_what_as_many_invocations_of_this_noise_detect() -> None:
    found = judged(invocations(1.02, noise=0.004))
    assert found.resolves == pytest.approx(smallest_detectable_change(0.004, COUNT), rel=0.5)


def test_invocations_of_two_jobs_are_distinguished() -> None:
    run = a_run()
    found = batches_of([an_invocation(run, n, cpu_ns={ONE: [100 + n, 90]}) for n in range(6)], RSA, ONE, Metric.CPU_NS)
    first, second = (job.job_id for job in run.plan.jobs)
    assert found == {f"{first}/{n}": (100 + n, 90) for n in range(3)} | {
        f"{second}/{n}": (100 + n, 90) for n in range(3, 6)
    }
