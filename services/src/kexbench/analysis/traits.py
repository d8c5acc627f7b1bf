"""The common traits of cells of a matrix: values of dimensions, with their texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.rounds import Vector
from kexbench.domain.cases import DIMENSIONS, NOTHING, Case, Protocol, Resumption, varied
from kexbench.domain.dimensions import HYBRID_GROUPS, MLKEM_GROUPS, Key, Method, written

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
"""The families of dimensions, the more usual explanations first. Dimensions of one family describe the same thing: if
all RSA certificates have 2048 bits, only RSA is named."""
_ORDER = tuple(_FAMILIES)


@dataclass(frozen=True)
class Trait:
    """A value of a dimension."""

    dimension: str
    value: str
    words: str
    """The text, as in `common factor: …`."""


@dataclass(frozen=True)
class Shared:
    """A trait, and others with exactly the same cells, so that these cells cannot distinguish them."""

    trait: Trait
    others: tuple[Trait, ...]
    cells: Vector
    """1 for cells with the trait, otherwise 0."""


def shared_traits(cases: Sequence[Case], hosts: Sequence[str]) -> list[Shared]:
    """The traits of two or more cells: first those of all cells, last the absence of a trait in two or more."""
    places_by_trait: dict[Trait, list[int]] = {Trait(EVERY_CASE, EVERY_CASE, EVERY_CASE): list(range(len(cases)))}
    for place, (case, host) in enumerate(zip(cases, hosts, strict=True)):
        for trait in (*_traits(case), Trait("host kind", host, host)):
            places_by_trait.setdefault(trait, []).append(place)
    by_places: dict[tuple[int, ...], list[Trait]] = {}
    ordered = sorted(places_by_trait, key=lambda trait: _ORDER.index(trait.dimension))
    for trait in ordered:
        if len(places_by_trait[trait]) > 1:
            by_places.setdefault(tuple(places_by_trait[trait]), []).append(trait)
    for trait in ordered:
        others = tuple(place for place in range(len(cases)) if place not in set(places_by_trait[trait]))
        if len(others) > 1:
            by_places.setdefault(others, [_without(trait)])
    return [_shared(traits, cells, len(cases)) for cells, traits in by_places.items()]


def _without(trait: Trait) -> Trait:
    return Trait(trait.dimension, f"not {trait.value}", f"any case without {trait.words}")


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
    """The traits of a case's handshakes. A resumed handshake has no certificate, and a key exchange only with some
    kinds of resumption."""
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
    yield from _other_traits(case)


def _certificate(case: Case) -> Iterator[Trait]:
    key = case.key_exchange.key
    if key is Key.BFE:
        return
    if key is Key.PSK:
        yield Trait("certificate key", key.value, "an external pre-shared key")
        return
    yield Trait("certificate key", key.value, f"an {key} certificate")
    if case.rsa_bits or case.curve != NOTHING:
        size = f"{key} {case.rsa_bits or case.curve}"
        yield Trait("certificate key size", size, f"an {size} certificate")


def _exchange(case: Case) -> Iterator[Trait]:
    method = case.key_exchange.method
    yield Trait("key exchange", method.value, f"{method} key exchange")
    if method in (Method.RSA, Method.PSK):
        return
    if case.resumption is Resumption.NONE and method is not Method.BFE:
        yield Trait("key exchange", case.key_exchange.value, f"key exchange {case.key_exchange}")
    yield Trait("group", case.group, f"group {case.group}")
    if case.group in HYBRID_GROUPS or case.group in MLKEM_GROUPS:
        yield Trait("kind of group", "ML-KEM", "a group with ML-KEM")


def _other_traits(case: Case) -> Iterator[Trait]:
    for row, value in varied(case):
        if row.trait:
            words = written(row.trait, value)
            yield Trait(row.name, "yes" if words == row.trait else str(value), words)
    yield Trait("threads", str(case.threads), "one thread" if case.threads == 1 else f"{case.threads} threads")
