"""What is predicted and measured over paths, in sentences."""

from collections.abc import Sequence

from kexbench.analysis.flights import Step, StepKind
from kexbench.answers.paths_shapes import PathCase
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
    """`Over paths without loss, a request goes out after 2 or 3 round trips, TCP's own included, as the sizes of the
    flights predict. In 5 of 25 results a flight does not fit and costs 1 more. Over lossy Wi-Fi, one of 100 handshakes
    takes more than 1,415 ms, half of them up to 157 ms.`"""
    counted_cells = [
        (cell, cell.predicted, cell.round_trips)
        for case in cases
        for cell in case.cells
        if cell.agreement in ("as predicted", "differs") and cell.predicted and cell.round_trips
    ]
    sentences = []
    if counted_cells:
        trips = sorted({predicted.connecting + trips.value for _, predicted, trips in counted_cells})
        waited = " or ".join(f"{each:g}" for each in trips) if len(trips) < 3 else f"{trips[0]:g} to {trips[-1]:g}"
        differ = sum(cell.agreement == "differs" for cell, _, _ in counted_cells)
        predicted = f"in {differ} of {len(counted_cells)} results not" if differ else ""
        sentences.append(
            f"Over paths without loss, a request goes out after {waited} round trip{'' if trips == [1] else 's'}, "
            f"TCP's own included, {predicted or 'always'} as the sizes of the flights predict."
        )
        costs = [sum(step.round_trips for step in each.steps if step.is_further) for _, each, _ in counted_cells]
        further = [cost for cost in costs if cost]
        if further:
            more = f"{min(further)}" if min(further) == max(further) else f"{min(further)} to {max(further)}"
            sentences.append(f"In {len(further)} of {len(costs)}, a flight does not fit and costs {more} more.")
    lossy = [
        (cell.handshake, case.path)
        for case in cases
        for cell in case.cells
        if cell.handshake and case.path.numbers.loss_percent
    ]
    if lossy:
        times, path = max(lossy, key=lambda each: each[0].p99.value)
        sentences.append(
            f"Over {path.title or f'a path of {path.words}'}, one of 100 handshakes takes more than "
            f"{_ms(times.p99.value)}; the median is {_ms(times.p50.value)}."
        )
    return " ".join(sentences)


def _ms(time_ns: float) -> str:
    return f"{time_ns / 1e6:,.0f} ms"
