"""What is predicted and measured over paths, in sentences."""

from collections.abc import Sequence

from kexbench.analysis.flights import Step, StepKind
from kexbench.answers.paths_shapes import PathCase, PathView
from kexbench.domain.numbers import counted

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


def loss_reason(loss_percent: float) -> str:
    return f"{loss_percent:g}% of the packets are lost, and each loss waits for its repetition"


def difference_reason(measured: float, predicted: int) -> str:
    waited = counted(int(measured), "round trip") if measured == int(measured) else f"{measured:.2f} round trips"
    side = "more" if measured > predicted else "fewer"
    return f"measured are {waited}, {side} than the {predicted} that follow from the sizes of the flights"


def paths_sentence(cases: Sequence[PathCase]) -> str:
    """`Over a path of 30.916 ms (same continent), half of all handshakes are done within 63.2 to 97.4 ms. Without loss,
    a request goes out after 2 to 3 round trips, TCP's own included, always as the sizes of the flights predict. In 5 of
    25, a flight does not fit and costs 1 more. Over a path of 50.916 ms, 3% loss (lossy Wi-Fi), one of 100 handshakes
    takes more than 1,415 ms; the median is 157 ms.`"""
    return " ".join(filter(None, (_times_sentence(cases), _trips_sentence(cases), _loss_sentence(cases))))


def _times_sentence(cases: Sequence[PathCase]) -> str | None:
    """Of the path without loss over which most was measured."""
    medians: dict[PathView, list[float]] = {}
    for case in cases:
        if not case.path.numbers.loss_percent:
            times = [cell.handshake.p50.value for cell in case.cells if cell.handshake]
            medians.setdefault(case.path, []).extend(times)
    path = max(medians, key=lambda path: len(medians[path]), default=None)
    if path is None or not medians[path]:
        return None
    times = _range([time_ns / 1e6 for time_ns in medians[path]])
    return f"{_over(path)}, half of all handshakes are done within {times} ms."


def _trips_sentence(cases: Sequence[PathCase]) -> str | None:
    counted_cells = [
        (cell.agreement, cell.predicted, cell.round_trips.value)
        for case in cases
        for cell in case.cells
        if cell.agreement in ("as predicted", "differs") and cell.predicted and cell.round_trips
    ]
    if not counted_cells:
        return None
    trips = [predicted.connecting + waited for _, predicted, waited in counted_cells]
    differ = sum(agreement == "differs" for agreement, _, _ in counted_cells)
    predicted = f"in {differ} of {len(counted_cells)} results not" if differ else "always"
    sentence = (
        f"Without loss, a request goes out after {_range(trips)} round trips, TCP's own included, "
        f"{predicted} as the sizes of the flights predict."
    )
    costs = [sum(step.round_trips for step in each.steps if step.is_further) for _, each, _ in counted_cells]
    if not any(costs):
        return sentence
    further = [cost for cost in costs if cost]
    return f"{sentence} In {len(further)} of {len(costs)}, a flight does not fit and costs {_range(further)} more."


def _loss_sentence(cases: Sequence[PathCase]) -> str | None:
    """Of the slowest results."""
    lossy = [
        (cell.handshake, case.path)
        for case in cases
        for cell in case.cells
        if cell.handshake and case.path.numbers.loss_percent
    ]
    if not lossy:
        return None
    times, path = max(lossy, key=lambda each: each[0].p99.value)
    slow, middle = (_range([each.value / 1e6]) for each in (times.p99, times.p50))
    return f"{_over(path)}, one of 100 handshakes takes more than {slow} ms; the median is {middle} ms."


def _over(path: PathView) -> str:
    return f"Over a path of {path.words}" + (f" ({path.title})" if path.title else "")


def _range(values: Sequence[float]) -> str:
    """`2`, `63.2 to 97.4`"""
    least, most = (f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"
