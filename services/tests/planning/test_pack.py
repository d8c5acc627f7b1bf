"""How a plan's cells are packed into jobs: every cell in two, and none so long that a node holds up the rest."""

from collections import defaultdict
from itertools import chain

from hypothesis import example, given
from hypothesis import strategies as st

from kexbench.domain.plans import JOBS_PER_CELL, Job
from kexbench.planning.pack import LONGEST_JOB_S, jobs

HOURS = st.dictionaries(
    st.integers(0, 10**6).map(str), st.floats(0.1, 3 * 3600, allow_nan=False), min_size=1, max_size=60
)


def packed(seconds: dict[str, float], invocations: int = 40, pools: tuple[str, ...] = ("local",)) -> tuple[Job, ...]:
    return jobs("spec", pools, seconds, ("openssl@system",), invocations, sentinel=True)


def measured_s(job: Job, seconds: dict[str, float], invocations: int) -> float:
    return sum(seconds[case_id] for case_id in job.case_ids) * job.invocations / invocations


@given(HOURS, st.integers(2, 300))
def test_every_invocation_of_every_case_is_in_one_job_and_every_case_in_two(
    seconds: dict[str, float], invocations: int
) -> None:
    numbers = defaultdict(list)
    for job in packed(seconds, invocations):
        for case_id in job.case_ids:
            numbers[case_id].append(list(job.numbers))
    assert set(numbers) == set(seconds)
    for found in numbers.values():
        assert len(found) >= JOBS_PER_CELL
        assert list(chain.from_iterable(found)) == list(range(invocations))


@given(HOURS)
def test_no_job_takes_much_longer_than_it_may_and_none_of_a_long_plan_is_short(seconds: dict[str, float]) -> None:
    lasting = [measured_s(job, seconds, 400) for job in packed(seconds, 400)]
    assert max(lasting) <= 2 * LONGEST_JOB_S
    long = sum(seconds.values()) > 3 * JOBS_PER_CELL * LONGEST_JOB_S
    if long and max(seconds.values()) < LONGEST_JOB_S:  # cases of like length
        assert min(lasting[:-JOBS_PER_CELL]) > LONGEST_JOB_S / 4


def test_a_plan_of_less_than_two_jobs_time_is_two_jobs_a_pool() -> None:
    found = packed({"one": 600.0, "two": 1500.0}, pools=("here", "there"))
    assert [(job.pool, job.case_ids, job.invocations) for job in found] == [
        (pool, ("one", "two"), 20) for pool in ("here", "here", "there", "there")
    ]


def test_a_long_plan_shares_out_its_cases_and_a_long_case_its_invocations() -> None:
    alike = packed({str(number): 600.0 for number in range(12)})
    groups = [tuple(map(str, range(start, start + 4))) for start in (0, 4, 8)]
    assert [(job.case_ids, job.first_invocation) for job in alike] == [
        (case_ids, first) for first in (0, 20) for case_ids in groups
    ]
    assert [job.invocations for job in packed({"long": 5 * LONGEST_JOB_S})] == [8] * 5
    assert len({job.job_id for job in alike}) == len(alike)


@example({str(number): 360.0 for number in range(100)}, 12, 3)
@given(HOURS, st.integers(2, 12), st.integers(2, 100))
def test_a_spec_may_ask_for_more_jobs(seconds: dict[str, float], least: int, invocations: int) -> None:
    planned = jobs("spec", ("local",), seconds, ("openssl@system",), invocations, sentinel=True, least=least)
    for case_id in seconds:
        shares = [job.invocations for job in planned if case_id in job.case_ids]
        assert len(shares) >= min(least, invocations)
        assert sum(shares) == invocations
        assert max(shares) - min(shares) <= 1
    group_s = min(least, invocations) * LONGEST_JOB_S + max(seconds.values())
    for job in planned:
        assert measured_s(job, seconds, invocations) <= 1.001 * group_s * job.invocations / invocations


def test_a_single_invocation_is_a_single_job() -> None:
    assert [job.invocations for job in packed({"long": 9 * 3600.0}, invocations=1)] == [1]
