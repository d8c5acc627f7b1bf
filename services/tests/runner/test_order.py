"""The orders in which things are measured."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.plans import Job
from kexbench.runner.order import rounds, turns


def job(cases: int, blocks: int, first: int, invocations: int) -> Job:
    return Job(
        job_id="job",
        pool="local",
        case_ids=tuple(f"case{index}" for index in range(cases)),
        blocks=tuple((f"subject{index}",) for index in range(blocks)),
        first_invocation=first,
        invocations=invocations,
    )


@given(
    cases=st.integers(1, 6), blocks=st.integers(1, 3), first=st.integers(0, 20), count=st.integers(1, 6), seed=st.text()
)
def test_every_case_has_every_block_once_an_invocation_and_numbers_never_repeat(
    cases: int, blocks: int, first: int, count: int, seed: str
) -> None:
    found = list(turns(job(cases, blocks, first, count), seed))
    assert len(found) == cases * blocks * count
    keys = Counter((turn.case_id, turn.invocation) for turn in found)
    assert set(keys.values()) == {1}
    assert {turn.invocation for turn in found} == set(range(first * blocks, (first + count) * blocks))


def test_two_jobs_of_a_plan_never_share_an_invocation_number() -> None:
    first = {(turn.case_id, turn.invocation) for turn in turns(job(3, 2, 0, 5), "seed")}
    second = {(turn.case_id, turn.invocation) for turn in turns(job(3, 2, 5, 4), "seed")}
    assert not first & second


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    one = list(turns(job(6, 1, 0, 4), "seed"))
    assert one == list(turns(job(6, 1, 0, 4), "seed"))
    assert one != list(turns(job(6, 1, 0, 4), "other"))


@given(subjects=st.lists(st.text(), unique=True, min_size=1, max_size=6), count=st.integers(0, 10), seed=st.text())
def test_each_subject_has_exactly_one_batch_a_round(subjects: list[str], count: int, seed: str) -> None:
    found = list(rounds(subjects, count, seed))
    assert len(found) == count
    assert all(sorted(order) == sorted(subjects) for order in found)


def test_no_place_in_the_round_belongs_to_a_subject() -> None:
    found = list(rounds(["a", "b", "c"], 300, "seed"))
    first = Counter(order[0] for order in found)
    assert min(first.values()) > 60
