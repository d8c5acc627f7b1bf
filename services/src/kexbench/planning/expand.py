"""Expands a matrix into cases. Impossible combinations are skipped, with the reason."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from math import prod
from typing import Any

from pydantic.alias_generators import to_camel

from kexbench.domain.cases import DIMENSIONS, Case, impossible
from kexbench.domain.dimensions import NOTHING, RSA_KEYS, Cipher, Key, KeyExchange, Method, Protocol, custom_dh_group
from kexbench.domain.plans import Skipped
from kexbench.domain.security_levels import level_sizes
from kexbench.planning.security import MOST_GROUPS, lacking, values_at, weakness
from kexbench.planning.spec import USUAL_GROUPS, Matrix

MAX_CASES = 10_000
_EXCHANGES = tuple(KeyExchange)


def count_cases(written: dict[str, Any]) -> int:
    """How many combinations a matrix has as it is written, faults included, counted without making any."""

    def values(field: str) -> list[Any]:
        listed = written.get(to_camel(field), Matrix.model_fields[field].default)
        return listed if isinstance(listed, list) else [None]

    levels = values("security_bits")
    exchanges = [KeyExchange(name) if name in _EXCHANGES else None for name in values("key_exchange")]
    points = sum(prod(map(len, _dimensions(values, exchange))) if exchange else 1 for exchange in exchanges)
    if levels:
        points = len(levels) * len(exchanges) * MOST_GROUPS
    return points * prod(len(values(field)) for field in ("protocol", *DIMENSIONS))


def expand(matrices: list[Matrix], peers: Mapping[str, str]) -> tuple[tuple[Case, ...], tuple[Skipped, ...]]:
    """All cases of the matrices in the order written, each once, and the skipped combinations. `peers` maps peers as
    written to peers whose subject is named by its source."""
    cases: dict[str, Case] = {}
    skipped: dict[str, Skipped] = {}
    for matrix in matrices:
        levels: list[int | None] = [*matrix.security_bits] or [None]
        for level, protocol, key_exchange in product(levels, matrix.protocol, matrix.key_exchange):
            at_level = f" at {level} bits" if level else ""
            if level and (reason := lacking(matrix, level, protocol, key_exchange)):
                combination = f"{protocol.replace('TLSv', 'TLS ')} {key_exchange}{at_level}"
                skipped.setdefault(combination, Skipped(combination=combination, reason=reason))
                continue
            for point in _points(matrix, level, protocol, key_exchange, peers):
                case = Case.model_construct(**point)
                reason = impossible(case) or (weakness(case, matrix.security_model, level) if level else None)
                if reason:
                    combination = f"{case.label}{at_level}"
                    skipped.setdefault(case.case_id + at_level, Skipped(combination=combination, reason=reason))
                else:
                    cases.setdefault(case.case_id, Case.model_validate(point))
    return tuple(cases.values()), tuple(skipped.values())


def _points(
    matrix: Matrix, level_bits: int | None, protocol: Protocol, key_exchange: KeyExchange, peers: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Every combination under a key exchange, possible or not."""
    variations = [
        [peers.get(value, value) if name == "peer" else value for value in getattr(matrix, name)] for name in DIMENSIONS
    ]
    firsts = _dimensions(_values_of(matrix, level_bits, protocol, key_exchange), key_exchange)
    for first, varied in product(product(*firsts), product(*variations)):
        yield {
            "protocol": protocol,
            "key_exchange": key_exchange,
            **dict(zip(("cipher", "rsa_bits", "curve", "group"), first, strict=True)),
            **dict(zip(DIMENSIONS, varied, strict=True)),
        }


def _values_of(
    matrix: Matrix, level_bits: int | None, protocol: Protocol, key_exchange: KeyExchange
) -> Callable[[str], list[Any]]:
    """The values of a field: as written, or at a level of security."""
    if level_bits is None:
        return partial(getattr, matrix)
    return values_at(level_sizes(matrix.security_model, level_bits, protocol), key_exchange.method).__getitem__


def _dimensions(values: Callable[[str], list[Any]], key_exchange: KeyExchange) -> tuple[list[Any], ...]:
    """The values of (cipher, rsa_bits, curve, group) that vary under a key exchange; `values` gives a field's."""
    method, key = key_exchange.method, key_exchange.key
    groups: list[str] = [NOTHING]
    if method is Method.DHE:
        groups = [*map(custom_dh_group, values("dh_bits")), *values("dh_group")] or [USUAL_GROUPS[method]]
    elif method in USUAL_GROUPS:
        groups = values("group") or [USUAL_GROUPS[method]]
    return (
        [Cipher.DEFAULT] if method is Method.DEFAULT else values("cipher"),
        values("rsa_bits") if key in RSA_KEYS else [0],
        values("curve") if key is Key.ECDSA else [NOTHING],
        groups,
    )
