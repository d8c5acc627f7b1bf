"""What cells of a matrix have in common: values of dimensions, with the words that people read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.rounds import Vector
from kexbench.domain.cases import DIMENSIONS, NOTHING, Case, Protocol, Resumption, varied
from kexbench.domain.dimensions import HYBRID_GROUPS, MLKEM_GROUPS, Method, written

EVERY_CASE = "every case"
_FAMILIES = {
    EVERY_CASE: "all",
    "certificate key": "certificate",
    "protocol": "protocol",
    "resumption": "resumption",
    "key exchange": "key exchange",
    "kind of group": "key exchange",
    "group": "key exchange",
    "certificate key size": "certificate",
    "cipher": "cipher",
    **{row.name: row.name for row in DIMENSIONS.values() if row.trait},
    "threads": "several threads",
    "host kind": "host kind",
}
"""The dimensions: of those that the same cells have the more usual explanation first. Of one family one is a closer
word for the other: where all cells with an RSA certificate have one of 2048 bits, RSA is said."""
_ORDER = tuple(_FAMILIES)


@dataclass(frozen=True)
class Trait:
    """A value of a dimension."""

    dimension: str
    value: str
    words: str
    """As in `what they share is …`."""


@dataclass(frozen=True)
class Shared:
    """A trait, and others that exactly the same cells have, so that no measurement of these cells tells them apart."""

    trait: Trait
    others: tuple[Trait, ...]
    cells: Vector
    """1 for a cell that has it, else 0."""


def shared_traits(cases: Sequence[Case], hosts: Sequence[str]) -> list[Shared]:
    """What two cells or more have, first what all have, last what two or more have not."""
    having: dict[Trait, list[int]] = {Trait(EVERY_CASE, EVERY_CASE, EVERY_CASE): list(range(len(cases)))}
    for place, (case, host) in enumerate(zip(cases, hosts, strict=True)):
        for trait in (*_traits(case), Trait("host kind", host, host)):
            having.setdefault(trait, []).append(place)
    alike: dict[tuple[int, ...], list[Trait]] = {}
    ordered = sorted(having, key=lambda trait: _ORDER.index(trait.dimension))
    for trait in ordered:
        if len(having[trait]) > 1:
            alike.setdefault(tuple(having[trait]), []).append(trait)
    for trait in ordered:
        others = tuple(place for place in range(len(cases)) if place not in set(having[trait]))
        if len(others) > 1:
            alike.setdefault(others, [_without(trait)])
    return [_shared(traits, cells, len(cases)) for cells, traits in alike.items()]


def _without(trait: Trait) -> Trait:
    words = trait.words.removeprefix("an ").removeprefix("a ")
    return Trait(trait.dimension, f"not {trait.value}", f"no {words}")


def _shared(traits: Sequence[Trait], places: Sequence[int], count: int) -> Shared:
    first = traits[0]
    cells = np.zeros(count)
    cells[list(places)] = 1
    families = {_FAMILIES[first.dimension]: first}
    for trait in traits[1:]:
        families.setdefault(_FAMILIES[trait.dimension], trait)
    others = () if first.dimension == EVERY_CASE else tuple(families.values())[1:]
    return Shared(first, others, cells)


def _traits(case: Case) -> Iterator[Trait]:
    """What the handshakes of a case do. One that takes up a session shows no certificate, and exchanges no keys unless
    its resumption says so."""
    protocol = case.protocol.replace("TLSv", "TLS ")
    yield Trait("protocol", protocol, "default settings" if case.protocol is Protocol.DEFAULT else protocol)
    if case.resumption is Resumption.NONE:
        yield Trait("resumption", "none", "a full handshake")
        yield from _certificate(case)
    else:
        yield Trait("resumption", "any", "a resumed session")
        yield Trait("resumption", case.resumption.value, f"resumption by {case.resumption}")
    if case.protocol is not Protocol.DEFAULT:
        yield Trait("cipher", case.cipher.value, f"cipher {case.cipher}")
        if case.resumption in (Resumption.NONE, Resumption.PSK_DHE):
            yield from _exchange(case)
    yield from _rest(case)


def _certificate(case: Case) -> Iterator[Trait]:
    key = case.key_exchange.key
    yield Trait("certificate key", key.value, f"an {key} certificate")
    if case.rsa_bits or case.curve != NOTHING:
        size = f"{key} {case.rsa_bits or case.curve}"
        yield Trait("certificate key size", size, f"an {size} certificate")


def _exchange(case: Case) -> Iterator[Trait]:
    method = case.key_exchange.method
    yield Trait("key exchange", method.value, f"{method} key exchange")
    if method is Method.RSA:
        return
    if case.resumption is Resumption.NONE:
        yield Trait("key exchange", case.key_exchange.value, f"key exchange {case.key_exchange}")
    yield Trait("group", case.group, f"group {case.group}")
    if case.group in HYBRID_GROUPS or case.group in MLKEM_GROUPS:
        yield Trait("kind of group", "ML-KEM", "a group with ML-KEM")


def _rest(case: Case) -> Iterator[Trait]:
    for row, value in varied(case):
        if row.trait:
            words = written(row.trait, value)
            yield Trait(row.name, "yes" if words == row.trait else str(value), words)
    yield Trait("threads", str(case.threads), "one thread" if case.threads == 1 else f"{case.threads} threads")
