"""Which commit the next one is measured beside: the last one that built. Pure."""

from collections.abc import Collection, Sequence

from kexbench.domain.runs import RunState


def newest_built(older: str | None, newer: str, *, started: bool, unbuilt: Collection[str]) -> str | None:
    """Of two subjects, by their references, that a run which has begun or ended was to measure: the newer that builds.
    None where neither does. `started` says whether the run had its kits; of one that had not, `unbuilt` are the
    subjects whose sources do not build. Where there are none, it ended for another reason, and the older one stays."""
    if started:
        return newer
    if newer in unbuilt:
        return None if older in unbuilt else older
    return newer if older in unbuilt else older


def is_waiting(state: RunState, *, started: bool) -> bool:
    """Whether it will be known later whether a run's subjects build."""
    return state.is_open and not started


def is_held_up(state: RunState, *, started: bool, unbuilt: Collection[str]) -> bool:
    """Whether a run failed before it had its kits and no sources are to blame: it says nothing of its subjects, which
    are to be measured once somebody saw to what held it up and resumed it."""
    return state is RunState.FAILED and not started and not unbuilt


def chosen(numbers: Sequence[int], every: int) -> tuple[int, ...]:
    """Of the numbers of commits those that are measured: every n-th, and the last."""
    return tuple(number for number in numbers if number % every == 0 or number == numbers[-1])
