"""Which commits are measured, and beside which."""

import pytest

from kexbench.domain.runs import RunState
from kexbench.planning.neighbours import chosen, is_held_up, is_waiting, newest_built

A, B = f"openssl@git:/src#{'a' * 40}", f"openssl@git:/src#{'b' * 40}"


@pytest.mark.parametrize(
    ("started", "unbuilt", "built"),
    [
        (True, (), B),
        (False, (B,), A),
        (False, (A,), B),
        (False, (A, B), None),
        (False, (), A),
    ],
)
def test_the_next_commit_is_measured_beside_the_newest_that_builds(
    started: bool, unbuilt: tuple[str, ...], built: str | None
) -> None:
    assert newest_built(A, B, started=started, unbuilt=unbuilt) == built


def test_a_commit_that_was_measured_alone_is_the_next_ones_neighbour_if_it_builds() -> None:
    assert newest_built(None, B, started=True, unbuilt=()) == B
    assert newest_built(None, B, started=False, unbuilt=[B]) is None


@pytest.mark.parametrize(
    ("state", "started", "waits"),
    [
        (RunState.QUEUED, False, True),
        (RunState.BUILDING, False, True),
        (RunState.RUNNING, True, False),
        (RunState.QUEUED, True, False),
        (RunState.FAILED, False, False),
        (RunState.CANCELLED, False, False),
    ],
)
def test_whether_it_builds_is_known_once_a_run_has_its_kits_or_has_ended(
    state: RunState, started: bool, waits: bool
) -> None:
    assert is_waiting(state, started=started) is waits


@pytest.mark.parametrize(
    ("state", "started", "unbuilt", "held_up"),
    [
        (RunState.FAILED, False, (), True),
        (RunState.FAILED, False, (B,), False),
        (RunState.FAILED, True, (), False),
        (RunState.CANCELLED, False, (), False),
        (RunState.BUILDING, False, (), False),
    ],
)
def test_a_run_is_held_up_that_failed_before_it_began_and_not_by_its_sources(
    state: RunState, started: bool, unbuilt: tuple[str, ...], held_up: bool
) -> None:
    assert is_held_up(state, started=started, unbuilt=unbuilt) is held_up


@pytest.mark.parametrize(
    ("count", "every", "numbers"),
    [(1, 1, (0,)), (3, 1, (0, 1, 2)), (8, 3, (0, 3, 6, 7)), (7, 3, (0, 3, 6)), (3, 10, (0, 2))],
)
def test_every_nth_commit_is_chosen_and_the_last(count: int, every: int, numbers: tuple[int, ...]) -> None:
    assert chosen(range(count), every) == numbers
