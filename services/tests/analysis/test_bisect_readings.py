"""What invocations with both ends of a history and a commit between them say."""

import numpy as np
import pytest

from kexbench.analysis.bisect_readings import Logs, logs_of
from kexbench.analysis.pairs import batches_of
from kexbench.domain.samples import Invocation, Metric
from tests.builders import ECDSA, RSA, a_run, an_invocation, an_outcome

GOOD, BAD, COMMIT = "fake@1.0", "fake@1.1", "fake@1.0.5"


def said(found: list[Invocation], commit: str | None = COMMIT, case_id: str = RSA) -> Logs:
    good, bad = (batches_of(found, case_id, end, Metric.CPU_NS) for end in (GOOD, BAD))
    return logs_of((good, bad), batches_of(found, case_id, commit, Metric.CPU_NS) if commit else None)


def test_a_commit_lies_where_its_ratio_to_the_middle_of_the_ends_says() -> None:
    run = a_run()
    found = [an_invocation(run, n, cpu_ns={GOOD: 1000, BAD: 1020, COMMIT: 1020}) for n in range(3)]
    logs = said(found)
    assert logs.steps == pytest.approx([np.log(1.02)] * 3)
    assert logs.places == pytest.approx([np.log(1.02) / 2] * 3)
    assert said(found, GOOD).places == pytest.approx([-np.log(1.02) / 2] * 3)


def test_rounds_are_paired_so_that_a_slow_phase_of_the_machine_moves_nothing() -> None:
    run = a_run()
    slow = [1, 1, 1.5, 1.5]
    values = {GOOD: [1000 * x for x in slow], BAD: [1020 * x for x in slow], COMMIT: [1000 * x for x in slow]}
    logs = said([an_invocation(run, 0, cpu_ns=values)])
    assert logs.places == pytest.approx([-np.log(1.02) / 2], abs=1e-6)


def test_of_the_ends_alone_there_is_only_the_step() -> None:
    run = a_run()
    found = [an_invocation(run, n, cpu_ns={GOOD: 1000, BAD: 1100}) for n in range(4)]
    logs = said(found, None)
    assert logs.steps == pytest.approx([np.log(1.1)] * 4)
    assert logs.places == ()


def test_only_invocations_that_hold_all_three_count() -> None:
    run = a_run()
    whole = an_invocation(run, 0, cpu_ns={GOOD: 1000, BAD: 1100, COMMIT: 1000})
    torn = an_invocation(run, 1, cpu_ns={GOOD: 900, BAD: 1100}, outcomes=[an_outcome(COMMIT)])
    logs = said([whole, torn])
    assert (len(logs.steps), len(logs.places)) == (1, 1)
    assert said([whole, torn], case_id=ECDSA) == Logs((), ())


def test_a_value_of_zero_has_no_ratio_to_anything() -> None:
    found = an_invocation(a_run(), 0, cpu_ns={GOOD: 1000, BAD: 1100, COMMIT: 0})
    assert said([found]) == Logs((), ())
