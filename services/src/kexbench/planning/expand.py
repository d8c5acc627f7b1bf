"""A matrix expanded into cases; combinations that cannot exist are skipped with the reason."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from pydantic.alias_generators import to_camel

from kexbench.domain.cases import DIMENSIONS, Case, impossible
from kexbench.domain.dimensions import (
    NOTHING,
    RSA_KEYS,
    Cipher,
    Key,
    KeyExchange,
    Method,
    custom_dh_group,
)
from kexbench.domain.plans import Skipped
from kexbench.planning.spec import Matrix

MAX_CASES = 10_000
_USUAL_GROUP = {Method.ECDHE: "P-256", Method.MLKEM: "MLKEM768", Method.DHE: "ffdhe2048"}


def count_cases(written: dict[str, Any]) -> int:
    """How many combinations a matrix names as it is written, faults and all, found without making any."""

    def length(field: str, default: int = 1) -> int:
        values = written.get(field)
        return len(values) if isinstance(values, list) else default

    def points(name: Any) -> int:
        if not isinstance(name, str) or name not in set(KeyExchange):
            return 1
        exchange = KeyExchange(name)
        keys = length("rsaBits") if exchange.key in RSA_KEYS else length("curve") if exchange.key is Key.ECDSA else 1
        groups = {
            Method.DHE: length("dhBits", 0) + length("dhGroup", 0) or 1,
            Method.ECDHE: length("group"),
            Method.MLKEM: length("group"),
        }
        ciphers = 1 if exchange.method is Method.DEFAULT else length("cipher")
        return keys * groups.get(exchange.method, 1) * ciphers

    exchanges = written.get("keyExchange")
    total = sum(map(points, exchanges)) if isinstance(exchanges, list) else 1
    for field in ("protocol", *map(to_camel, DIMENSIONS)):
        total *= length(field)
    return total


def expand(matrices: list[Matrix], peers: Mapping[str, str]) -> tuple[tuple[Case, ...], tuple[Skipped, ...]]:
    """All cases of the matrices in the order written, each once, and what was skipped. `peers` maps peers as they
    are written to peers whose subject is named by its source."""
    cases: dict[str, Case] = {}
    skipped: dict[str, Skipped] = {}
    for matrix in matrices:
        variations = [
            [peers.get(value, value) if name == "peer" else value for value in getattr(matrix, name)]
            for name in DIMENSIONS
        ]
        for protocol, key_exchange in product(matrix.protocol, matrix.key_exchange):
            for first in product(*_dimensions(matrix, key_exchange)):
                for varied in product(*variations):
                    point = {
                        "protocol": protocol,
                        "key_exchange": key_exchange,
                        **dict(zip(("cipher", "rsa_bits", "curve", "group"), first, strict=True)),
                        **dict(zip(DIMENSIONS, varied, strict=True)),
                    }
                    case = Case.model_construct(**point)
                    if reason := impossible(case):
                        skipped.setdefault(case.case_id, Skipped(combination=case.label, reason=reason))
                    else:
                        cases.setdefault(case.case_id, Case.model_validate(point))
    return tuple(cases.values()), tuple(skipped.values())


def _dimensions(matrix: Matrix, key_exchange: KeyExchange) -> tuple[list[Any], ...]:
    """The values of (cipher, rsa_bits, curve, group) that vary under a key exchange."""
    method, key = key_exchange.method, key_exchange.key
    groups: list[str] = [NOTHING]
    if method is Method.DHE:
        groups = [*map(custom_dh_group, matrix.dh_bits), *matrix.dh_group] or [_USUAL_GROUP[method]]
    elif method in _USUAL_GROUP:
        groups = [*matrix.group] or [_USUAL_GROUP[method]]
    return (
        [Cipher.DEFAULT] if method is Method.DEFAULT else list(matrix.cipher),
        list(matrix.rsa_bits) if key in RSA_KEYS else [0],
        list(matrix.curve) if key is Key.ECDSA else [NOTHING],
        groups,
    )
