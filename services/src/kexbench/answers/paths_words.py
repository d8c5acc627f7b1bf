"""What is predicted and measured over paths, in sentences."""

from collections.abc import Sequence

from kexbench.analysis.flights import Step, StepKind
from kexbench.answers.paths_shapes import PathCase
from kexbench.domain.numbers import counted
from kexbench.domain.paths import PRESETS, parse_path, path_label

_EXCHANGES: dict[StepKind, str] = {
    "connect": "TCP connects",
    "exchange": "ClientHello, and the server's answer",
    "hello retry": "the server requests another key share",
    "second exchange": "the client's key exchange, and the server's Finished",
}
FLIGHTS: dict[StepKind, tuple[str, str]] = {
    "client hello": ("the ClientHello", "window"),
    "server flight": ("the server's first flight", "window"),
    "client flight": ("the client's last flight", "window"),
    "limit": ("the server's first flight", "limit of three times the client's bytes"),
}


def kilobytes(size_bytes: float) -> str:
    """`14.5 kB`, of 1000 bytes, as windows are written."""
    return f"{size_bytes / 1000:,.1f} kB"


def step_text(step: Step) -> str:
    """`the server's first flight of 15.8 kB does not fit the window of 14.5 kB: +1`"""
    if step.kind in _EXCHANGES:
        return f"{_EXCHANGES[step.kind]}: {step.round_trips}"
    flight, limit = FLIGHTS[step.kind]
    sizes = f"of {kilobytes(step.flight_bytes)} does not fit the {limit} of {kilobytes(step.limit_bytes)}"
    return f"{flight} {sizes}: +{step.round_trips}"


def path_words(text: str) -> str:
    """`continent (30.916 ms)`, `a path of 50 ms with 1% loss`"""
    return f"{text} ({parse_path(text).words})" if text in PRESETS else f"a {path_label(text)}"


def loss_reason(loss_percent: float) -> str:
    return f"{loss_percent:g}% of the packets are lost, and each loss waits for its repetition"


def difference_reason(measured: float, predicted: int) -> str:
    waited = counted(int(measured), "round trip") if measured == int(measured) else f"{measured:.2f} round trips"
    side = "more" if measured > predicted else "fewer"
    return f"measured are {waited}, {side} than the {predicted} that follow from the sizes of the flights"


def paths_sentence(cases: Sequence[PathCase]) -> str:
    """`Over continent (30.916 ms), a handshake takes 63.2 to 97.4 ms. In 5 of 25 results without loss, a flight
    does not fit and costs a round trip more. Over lossy-wifi (50.916 ms, 3% loss), one of 100 handshakes of the
    slowest result takes more than 1,415 ms.`"""
    return " ".join(filter(None, (_times_sentence(cases), _trips_sentence(cases), _loss_sentence(cases))))


def _times_sentence(cases: Sequence[PathCase]) -> str | None:
    """Medians over the path without loss over which most was measured."""
    medians: dict[str, list[float]] = {}
    for case in cases:
        times = [cell.handshake.p50.value for cell in case.cells if cell.handshake]
        if times and not case.path.numbers.loss_percent:
            medians.setdefault(case.path.text, []).extend(times)
    if not medians:
        return None
    path = max(medians, key=lambda path: len(medians[path]))
    return f"Over {path_words(path)}, a handshake takes {_range_ms(medians[path])}."


def _trips_sentence(cases: Sequence[PathCase]) -> str:
    cells = [cell for case in cases for cell in case.cells if cell.agreement in ("as predicted", "differs")]
    predicted = [cell.predicted for cell in cells if cell.predicted]
    costs = [sum(step.round_trips for step in each.steps if step.is_further) for each in predicted]
    further = list(filter(None, costs))
    differ = sum(cell.agreement == "differs" for cell in cells)
    of = f"of {counted(len(cells), 'result')} without loss"
    sentences = [
        f"In {len(further)} {of}, a flight does not fit and costs {_costs(max(further))}." if further else "",
        f"In {differ} {of}, the round trips are not those that the sizes predict." if differ else "",
    ]
    return " ".join(filter(None, sentences))


def _costs(most: int) -> str:
    return "a round trip more" if most == 1 else f"up to {most} round trips more"


def _loss_sentence(cases: Sequence[PathCase]) -> str | None:
    """Of the slowest results."""
    lossy = [
        (cell.handshake.p99.value, case.path.text)
        for case in cases
        for cell in case.cells
        if cell.handshake and case.path.numbers.loss_percent
    ]
    if not lossy:
        return None
    slowest_ns, path = max(lossy, key=lambda each: each[0])
    tail = f"one of 100 handshakes of the slowest result takes more than {_range_ms([slowest_ns])}."
    return f"Over {path_words(path)}, {tail}"


def _range_ms(times_ns: Sequence[float]) -> str:
    """`1,415 ms`, `63.2 to 97.4 ms`"""
    ends = [time_ns / 1e6 for time_ns in (min(times_ns), max(times_ns))]
    least, most = (f"{each:,.0f}" if each >= 100 else f"{each:.3g}" for each in ends)
    return f"{least} ms" if least == most else f"{least} to {most} ms"
