"""The parts of a connection's cost. Some have their own metric. Others are the difference between two cases, one of
which lacks only this part."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any, Literal, get_args

from kexbench.domain.cases import DIMENSIONS, Case
from kexbench.domain.dimensions import Cipher, ContextUse, Tickets
from kexbench.domain.samples import Metric

PartKind = Literal[
    "handshake",
    "objects",
    "verification",
    "tickets",
    "context",
    "trust anchors",
    "transfer",
    "whole connection",
    "threads",
]
_KINDS: tuple[PartKind, ...] = get_args(PartKind)
Metrics = tuple[Metric, Metric]
"""The metrics of the client and the server."""
HANDSHAKE: Metrics = (Metric.CLIENT_CPU_NS, Metric.SERVER_CPU_NS)
OBJECTS: Metrics = (Metric.CLIENT_OBJECTS_CPU_NS, Metric.SERVER_OBJECTS_CPU_NS)
TRANSFER: Metrics = (Metric.CLIENT_TRANSFER_CPU_NS, Metric.SERVER_TRANSFER_CPU_NS)
WHOLE: Metrics = (Metric.CLIENT_CONNECTION_CPU_NS, Metric.SERVER_CONNECTION_CPU_NS)
_USUAL: dict[str, Any] = {
    name: Case.model_fields[name].default for name, row in DIMENSIONS.items() if row.kind == "connection"
}


@dataclass(frozen=True)
class Part:
    """A part of a connection's cost, in metrics of `case`. The cost of `without` is subtracted if it is given."""

    kind: PartKind
    case: Case
    metrics: Metrics
    without: Case | None = None

    @property
    def wall(self) -> Metric | None:
        """Wall time per handshake, all threads together, for parts that show what more threads gain."""
        return Metric.ELAPSED_NS if self.kind in ("handshake", "threads") else None


def base_of(case: Case) -> Case:
    """The case that parts are grouped by: only the handshake, with the usual cipher, one certificate and one thread."""
    cipher = case.cipher if case.cipher is Cipher.DEFAULT else Cipher.AES_128_GCM
    return case.model_copy(update={**_USUAL, "cipher": cipher, "chain_length": 1, "threads": 1})


def connection_parts(cases: Iterable[Case]) -> dict[Case, list[Part]]:
    """The parts that a plan's cases measure, by base case, in the order of the cases. Empty if no case goes beyond its
    handshake. A web server's connections have no parts."""
    measured = dict.fromkeys(case for case in cases if not case.has_server).keys()
    groups: dict[Case, list[Part]] = {}
    for case in measured:
        groups.setdefault(base_of(case), []).extend(_parts(case, measured))
    extended = {base_of(case) for case in measured if _changed(case)}
    return {base: sorted(parts, key=_order) for base, parts in groups.items() if base in extended and parts}


def _parts(case: Case, measured: Set[Case]) -> list[Part]:
    changed = _changed(case)
    if case.threads > 1:
        return [Part("threads", case, HANDSHAKE)] if changed <= {"context"} else []
    parts = []
    if case == base_of(case):
        parts += [Part("handshake", case, HANDSHAKE), Part("objects", case, OBJECTS)]
    if changed == {"transfer_bytes"}:
        parts.append(Part("transfer", case, TRANSFER))
    elif case == base_of(case) or case.transfer_bytes:
        parts.append(Part("whole connection", case, WHOLE))
    for kind, metrics, update in _differences(case):
        without = case.model_copy(update=update)
        if without in measured:
            parts.append(Part(kind, case, metrics, without))
    return parts


def _differences(case: Case) -> Iterator[tuple[PartKind, Metrics, dict[str, Any]]]:
    """The parts without a metric of their own, each with the values of a case that lacks it."""
    loads = case.context is ContextUse.CONNECTION
    if case.verification and not loads:
        yield "verification", HANDSHAKE, {"verification": False, "trust_anchors": 1}
    if case.tickets is Tickets.DEFAULT:
        yield "tickets", HANDSHAKE, {"tickets": Tickets.NONE}
    if loads and case.trust_anchors == 1:
        yield "context", OBJECTS, {"context": ContextUse.SHARED}
    if case.trust_anchors > 1:
        yield "trust anchors", OBJECTS if loads else HANDSHAKE, {"trust_anchors": 1}


def _changed(case: Case) -> set[str]:
    return {name for name, usual in _USUAL.items() if getattr(case, name) != usual}


def _order(part: Part) -> tuple[int, str, int, int, int, str]:
    case = part.case
    return (
        _KINDS.index(part.kind),
        case.cipher,
        case.transfer_bytes,
        case.chain_length,
        case.threads,
        case.context,
    )
