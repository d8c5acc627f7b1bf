"""Matrices that name levels of security instead of sizes: the weakest sizes that reach each level."""

from collections.abc import Iterator
from typing import Any

from pydantic.alias_generators import to_camel

from kexbench.domain.cases import Case, impossible
from kexbench.domain.dimensions import RSA_KEYS, Key, KeyExchange, Method, Protocol, is_custom_dh
from kexbench.domain.security import SecurityModel, dh_bits_of, key_security_bits
from kexbench.domain.security_levels import KEY_FAMILIES, RSA_SIZES, LevelSizes, level_sizes
from kexbench.domain.strength import strength
from kexbench.planning.documents import Document, Fault
from kexbench.planning.spec import SET_BY_LEVELS, USUAL_GROUPS, Matrix

MOST_GROUPS = 4
"""Groups at a level: the weakest one of each kind."""


def values_at(sizes: LevelSizes, method: Method) -> dict[str, list[Any]]:
    """The values of the fields of SET_BY_LEVELS for a method of key exchange."""
    groups = sizes.groups(method)
    return {
        "cipher": [] if sizes.cipher is None else [sizes.cipher],
        "rsa_bits": [] if sizes.rsa_bits is None else [sizes.rsa_bits],
        "curve": list(sizes.curves),
        "group": list(groups),
        "dh_bits": [dh_bits_of(group) for group in groups if is_custom_dh(group)],
        "dh_group": [group for group in groups if not is_custom_dh(group)],
    }


def lacking(matrix: Matrix, level_bits: int, protocol: Protocol, key_exchange: KeyExchange) -> str | None:
    """Why a key exchange has no case at a level, where no size has to be tried to know it."""
    method, key = key_exchange.method, key_exchange.key
    if protocol is Protocol.DEFAULT or method is Method.DEFAULT:
        return "the library chooses the key exchange, so its strength is not known"
    if Protocol.BFE_0RTT is protocol or method is Method.BFE:
        return "no authority says how strong pairings are"
    if reason := impossible(_usual_case(protocol, key_exchange)):
        return reason
    sizes = level_sizes(matrix.security_model, level_bits, protocol)
    missing = (
        (sizes.cipher is None, "cipher"),
        (key in RSA_KEYS and sizes.rsa_bits is None, f"RSA key of up to {RSA_SIZES[-1]} bits"),
        (key is Key.ECDSA and not sizes.curves, "curve for certificates"),
        (method in USUAL_GROUPS and not sizes.groups(method), f"group for {method}"),
    )
    for lacks, what in missing:
        if lacks:
            return f"there is no {what} with {level_bits} bits of security under {matrix.security_model}"
    return _needlessly_strong(matrix, level_bits, key_exchange)


def _usual_case(protocol: Protocol, key_exchange: KeyExchange) -> Case:
    fields: dict[str, Any] = {}
    if group := USUAL_GROUPS.get(key_exchange.method):
        fields["group"] = group
    if key_exchange.key in RSA_KEYS:
        fields["rsa_bits"] = 2048
    if key_exchange.key is Key.ECDSA:
        fields["curve"] = "P-256"
    return Case.model_construct(protocol=protocol, key_exchange=key_exchange, **fields)


def _needlessly_strong(matrix: Matrix, level_bits: int, key_exchange: KeyExchange) -> str | None:
    """Of ML-DSA-44 and ML-DSA-87, both named by the matrix, only the first one is measured at 128 bits."""
    for family in KEY_FAMILIES:
        weaker = family[: family.index(key_exchange.key)] if key_exchange.key in family else ()
        for key in weaker:
            named = KeyExchange(f"{key_exchange.method}-{key}") in matrix.key_exchange
            if named and (key_security_bits(matrix.security_model, key, 0, "-") or 0) >= level_bits:
                return f"{key} is enough for {level_bits} bits"
    return None


def weakness(case: Case, model: SecurityModel, level_bits: int) -> str | None:
    """The first part of a case that does not reach the level."""
    for part in strength(case, model).parts:
        if part.bits is None:
            return f"{model} says nothing about {part.name}"
        if part.bits < level_bits:
            return f"{part.name}, the {part.role}, has {part.bits} bits of security under {model}"
    return None


def set_twice(document: Document) -> list[Fault]:
    """Faults of matrices that name a level and a size, also where the spec has other faults."""
    faults = []
    for place, entry in _matrices(document):
        if "securityBits" in entry:
            faults += [
                document.fault((*place, name), f"securityBits sets {name}: leave one out", at_key=True)
                for name in map(to_camel, SET_BY_LEVELS)
                if name in entry
            ]
        elif "securityModel" in entry:
            message = "is used with securityBits only: add securityBits: [128], or leave it out"
            faults.append(document.fault((*place, "securityModel"), message, at_key=True))
    return faults


def _matrices(document: Document) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    written = document.value.get("matrix")
    places: list[tuple[tuple[str | int, ...], Any]] = [(("matrix",), written)]
    if isinstance(written, list):
        places = [(("matrix", index), entry) for index, entry in enumerate(written)]
    yield from ((place, entry) for place, entry in places if isinstance(entry, dict))
