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
    """`12 of 14 cells over paths without loss wait as many round trips as the sizes of their flights predict. In 3, a
    flight does not fit and costs round trips more.`"""
    agreements = [cell.agreement for case in cases for cell in case.cells]
    agree, differ = agreements.count("as predicted"), agreements.count("differs")
    if not agree and not differ:
        return ""
    sentence = (
        f"{agree} of {counted(agree + differ, 'cell')} over paths without loss wait as many round trips as the sizes "
        "of their flights predict."
    )
    further = sum(
        any(step.kind in FLIGHTS for step in cell.predicted.steps)
        for case in cases
        for cell in case.cells
        if cell.predicted
    )
    return sentence + (f" In {further}, a flight does not fit and costs round trips more." if further else "")
