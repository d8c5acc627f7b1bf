"""The commit that the next one is compared with: the last one that built. Pure."""

from collections.abc import Collection, Sequence

from kexbench.domain.runs import RunState


def newest_built(older: str | None, newer: str, *, started: bool, unbuilt: Collection[str]) -> str | None:
    """The newer of two subjects that builds, by their references, or None where neither does. A run that has begun or
    ended was to measure both. `started`: the run had its kits. Otherwise `unbuilt` are the subjects whose sources do
    not build; where it is empty, the run ended for another reason, and the result is the older subject."""
    if started:
        return newer
    if newer in unbuilt:
        return None if older in unbuilt else older
    return newer if older in unbuilt else older


def is_waiting(state: RunState, *, started: bool) -> bool:
    """Whether it is still open if a run's subjects build."""
    return state.is_open and not started


def is_held_up(state: RunState, *, started: bool, unbuilt: Collection[str]) -> bool:
    """Whether a run failed before it had its kits, and not because of its sources. Its subjects are measured once
    somebody has fixed the problem and resumed the run."""
    return state is RunState.FAILED and not started and not unbuilt


def chosen(numbers: Sequence[int], every: int) -> tuple[int, ...]:
    """The numbers of the commits that are measured: every n-th, and the last."""
    return tuple(number for number in numbers if number % every == 0 or number == numbers[-1])
