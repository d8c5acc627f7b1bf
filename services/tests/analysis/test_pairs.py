"""Two subjects of one run over the invocations that hold both."""

import numpy as np
import pytest

from kexbench.analysis.detectable import smallest_detectable_change
from kexbench.analysis.pairs import batches_of, pair_verdict, without_sides
from kexbench.domain.samples import Invocation, Metric
from tests.builders import ECDSA, RSA, SPEC, a_run, an_invocation, an_outcome

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
    found = pair_verdict(invocations(ratio, noise=noise), RSA, TWO, ONE, Metric.CPU_NS)
    assert found is not None
    assert found.ratio is not None
    assert found.ratio.paired
    assert found.ratio.verdict == verdict
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low < ratio < found.ratio.high


def test_the_ratio_is_the_subjects_to_what_it_is_compared_with() -> None:
    run = a_run()
    found = pair_verdict(
        [an_invocation(run, n, cpu_ns={ONE: 1000, TWO: [2400, 2500, 9000]}) for n in range(4)],
        RSA, TWO, ONE, Metric.CPU_NS,
    )  # fmt: skip
    assert found is not None
    assert found.ratio is not None
    assert (found.subject_ns, found.against_ns, round(found.ratio.ratio, 9)) == (2500, 1000, 2.5)
    assert found.invocations == 4


def test_each_metric_and_case_is_compared_apart() -> None:
    found = invocations(1.02) + invocations(1.1, case_id=ECDSA)
    rsa, ecdsa = (pair_verdict(found, case_id, TWO, ONE, Metric.SERVER_CPU_NS) for case_id in (RSA, ECDSA))
    assert rsa is not None
    assert ecdsa is not None
    assert rsa.ratio is not None
    assert ecdsa.ratio is not None
    assert rsa.ratio.ratio == pytest.approx(1.02, abs=0.005)
    assert ecdsa.ratio.ratio == pytest.approx(1.1, abs=0.005)
    assert rsa.subject_ns == pytest.approx(0.75e9 * 1.02, rel=0.1)
    assert pair_verdict(found, RSA, TWO, ONE, Metric.WALL_NS) is None


@pytest.mark.parametrize(("subject", "against"), [("fake@9.9", ONE), (ONE, "fake@9.9")])
def test_a_subject_without_numbers_is_compared_with_nothing(subject: str, against: str) -> None:
    assert pair_verdict(invocations(1), RSA, subject, against, Metric.CPU_NS) is None
    assert pair_verdict([], RSA, subject, against, Metric.CPU_NS) is None


def test_invocations_in_which_one_of_them_failed_do_not_count() -> None:
    run = a_run()
    both = [an_invocation(run, n, cpu_ns={ONE: 100, TWO: 200}) for n in range(3)]
    failed = [an_invocation(run, n, cpu_ns={ONE: 900}, outcomes=[an_outcome(TWO)]) for n in (3, 4)]
    found = pair_verdict(both + failed, RSA, TWO, ONE, Metric.CPU_NS)
    assert found is not None
    assert found.ratio is not None
    assert (found.invocations, round(found.ratio.ratio, 9)) == (3, 2)


def test_with_fewer_than_three_common_invocations_there_is_neither_ratio_nor_what_it_resolves() -> None:
    run = a_run()
    found = pair_verdict(
        [an_invocation(run, n, cpu_ns={ONE: 100, TWO: 200}) for n in range(2)], RSA, TWO, ONE, Metric.CPU_NS
    )
    assert found is not None
    assert (found.ratio, found.resolves, found.invocations) == (None, None, 2)


def test_a_value_of_zero_has_no_ratio_to_anything() -> None:
    run = a_run()
    found = pair_verdict(
        [an_invocation(run, n, cpu_ns={ONE: 0, TWO: 200}) for n in range(4)], RSA, TWO, ONE, Metric.CPU_NS
    )
    assert found is not None
    assert (found.ratio, found.resolves) == (None, None)


def test_what_it_resolves_is_what_as_many_invocations_of_this_noise_detect() -> None:
    found = pair_verdict(invocations(1.02, noise=0.004), RSA, TWO, ONE, Metric.CPU_NS)
    assert found is not None
    assert found.resolves == pytest.approx(smallest_detectable_change(0.004, COUNT), rel=0.4)


def test_invocations_of_two_jobs_are_told_apart() -> None:
    run = a_run()
    found = batches_of([an_invocation(run, n, cpu_ns={ONE: [100 + n, 90]}) for n in range(6)], RSA, ONE, Metric.CPU_NS)
    first, second = (job.job_id for job in run.plan.jobs)
    assert found == {f"{first}/{n}": (100 + n, 90) for n in range(3)} | {
        f"{second}/{n}": (100 + n, 90) for n in range(3, 6)
    }


def test_invocations_that_other_programs_left_without_sides_are_counted_for_each_subject() -> None:
    run = a_run()
    found = [
        an_invocation(run, number, cpu_ns={ONE: 1000, TWO: 1000}, preempted_batches=9, without_sides=[TWO])
        for number in range(2)
    ]
    found += [
        an_invocation(run, 2, cpu_ns={ONE: 1000, TWO: 1000}),
        an_invocation(run, 3, cpu_ns={ONE: 1000}, outcomes=[an_outcome(TWO)], preempted_batches=9),
        an_invocation(run, case_id=ECDSA, cpu_ns={TWO: 1000}, preempted_batches=9, without_sides=[TWO]),
    ]
    assert {subject: without_sides(found, RSA, subject) for subject in (ONE, TWO)} == {ONE: 0, TWO: 2}
