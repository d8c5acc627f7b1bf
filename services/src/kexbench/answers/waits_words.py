"""What an upgrade changes for a user who waits over paths, in sentences."""

from collections.abc import Sequence

from kexbench.analysis.flights import Change, StepKind
from kexbench.answers.paths_words import FLIGHTS, kilobytes
from kexbench.domain.numbers import counted
from kexbench.domain.verdicts import share_words
from kexbench.domain.waits import Wait

_EXCHANGES: dict[StepKind, tuple[str, str]] = {
    "hello retry": ("the server requests another key share", "the server no longer requests another key share"),
    "second exchange": (
        "the handshake waits for the server's Finished",
        "the handshake no longer waits for the server's Finished",
    ),
}
"""What a version with the step does, and one without."""


def cause_words(changes: Sequence[Change]) -> str:
    """`the server's first flight grew from 13.9 kB to 15.8 kB and the window is 14.5 kB`"""
    return ", and ".join(map(_cause, changes))


def _cause(change: Change) -> str:
    last = change.after or change.before
    assert last is not None
    if last.kind not in FLIGHTS:
        return _EXCHANGES[last.kind][change.round_trips < 0]
    first = change.before or last
    flight, limit = FLIGHTS[last.kind]
    sizes = [first.flight_bytes, last.flight_bytes, first.limit_bytes, last.limit_bytes]
    texts = [kilobytes(size) for size in sizes]
    if len(set(texts)) < len(set(sizes)):  # what differs must not look the same
        texts = [f"{size:,} B" for size in sizes]
    moved = [
        f"is {texts[place + 1]}"
        if sizes[place] == sizes[place + 1]
        else f"{'grew' if sizes[place] < sizes[place + 1] else 'shrank'} from {texts[place]} to {texts[place + 1]}"
        for place in (0, 2)
    ]
    return f"{flight} {moved[0]} and the {limit} {moved[1]}"


def wait_words(more: int | None, basis: str | None, cause: str | None) -> str:
    """Of one case: `one round trip more, since the server's first flight …`, `as many round trips as before`."""
    if basis is None:
        return "round trips are neither counted nor predicted"
    if more is None:
        return "round trips differ between invocations"
    how = " (predicted)" if basis == "predicted" else ""
    return f"{_more(more)}{how}, {_why(cause)}" if more else f"as many round trips as before{how}"


def waits_sentence(waits: Sequence[Wait]) -> str:
    """`One round trip more over continent (30.916 ms) for TLS 1.3 …, since ….`, `The same round trips over 7 paths.`;
    empty where nothing is known."""
    if text := changed_waits(waits):
        return f"{text[0].upper()}{text[1:]}."
    same = [wait for wait in waits if wait.more == 0]
    if not same:
        return ""
    share = "" if len(same) == len(waits) else share_words(len(same), len(waits), "case")
    return f"The same round trips over {counted(len({wait.path for wait in same}), 'path')}{share}."


def changed_waits(waits: Sequence[Wait]) -> str:
    """The largest change with its cause, then in how many cases; first more round trips, then fewer. Empty where
    nothing changed."""
    return "; ".join(
        f"{_more(first.more or 0)}{' (predicted)' if first.basis == 'predicted' else ''} over {first.path_words} for "
        f"{first.title}, {_why(first.cause)}{_share(moved, waits)}"
        for moved in _moved(waits)
        for first in moved[:1]
    )


def raised_waits(waits: Sequence[Wait]) -> str:
    """Of an alert: `one round trip more from this version on, since …: 1 → 2 round trips over continent (30.916 ms) for
    TLS 1.3 …, on CPU, pool local`."""
    moved = next(iter(_moved([wait for wait in waits if wait.basis == "measured"])), [])
    if not moved or not (moved[0].more or 0) > 0:
        return ""
    first = moved[0]
    return (
        f"{_more(first.more or 0)} from this version on, {_why(first.cause)}: {first.round_trips_before:g} → "
        f"{first.round_trips_after:g} round trips over {first.path_words} for {first.title}, on "
        f"{first.host_kind.cpu_model}, pool {first.host_kind.pool}{_share(moved, waits)}"
    )


def _moved(waits: Sequence[Wait]) -> list[list[Wait]]:
    """Those with more round trips, then those with fewer; what was measured first, then the largest."""
    signed = ([wait for wait in waits if (wait.more or 0) * sign > 0] for sign in (1, -1))
    return [sorted(of, key=lambda wait: (wait.basis != "measured", -abs(wait.more or 0))) for of in signed if of]


def _share(moved: Sequence[Wait], waits: Sequence[Wait]) -> str:
    if len(waits) == 1:
        return ""
    noun = "case" if len({wait.case_id for wait in waits}) == len(waits) else "measurement"
    return f"; {_side(moved[0].more or 0)}{share_words(len(moved), len(waits), noun)} over paths"


def _more(more: int) -> str:
    """`one round trip more`, `2 round trips less`"""
    count = "one round trip" if abs(more) == 1 else counted(abs(more), "round trip")
    return f"{count} {_side(more)}"


def _side(more: int) -> str:
    return "more" if more > 0 else "less"


def _why(cause: str | None) -> str:
    return f"since {cause}" if cause else "which the sizes of the flights do not explain"
