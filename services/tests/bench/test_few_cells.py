"""Comparisons of one cell by the number of jobs."""

import pytest

from bench.few_cells import STEP, simulated


@pytest.mark.parametrize("between", [0.0, 0.3])
def test_six_jobs_find_a_step_that_two_often_miss(between: float) -> None:
    """Two jobs give one degree of freedom for what differs between them, so chance alone hides a step of 6%."""
    called_slower = {
        jobs: sum(cells[0].verdict == "more" for cells in simulated(1, jobs, between, STEP, 200)) for jobs in (2, 6)
    }
    assert called_slower[6] >= 199
    assert called_slower[2] <= 190
