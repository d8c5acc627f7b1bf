"""A matrix expanded into cases; combinations that cannot exist are skipped with the reason."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from math import prod
from typing import Any

from pydantic.alias_generators import to_camel

from kexbench.domain.cases import DIMENSIONS, Case, impossible
from kexbench.domain.dimensions import NOTHING, RSA_KEYS, Cipher, Key, KeyExchange, Method, custom_dh_group
from kexbench.domain.plans import Skipped
from kexbench.planning.spec import Matrix

MAX_CASES = 10_000
_EXCHANGES = tuple(KeyExchange)
_USUAL_GROUP = {Method.ECDHE: "P-256", Method.MLKEM: "MLKEM768", Method.DHE: "ffdhe2048"}


def count_cases(written: dict[str, Any]) -> int:
    """How many combinations a matrix names as it is written, faults and all, found without making any."""

    def values(field: str) -> list[Any]:
        found = written.get(to_camel(field), Matrix.model_fields[field].default)
        return found if isinstance(found, list) else [None]

    exchanges = [KeyExchange(name) if name in _EXCHANGES else None for name in values("key_exchange")]
    points = sum(prod(map(len, _dimensions(values, exchange))) if exchange else 1 for exchange in exchanges)
    return points * prod(len(values(field)) for field in ("protocol", *DIMENSIONS))


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
            for first in product(*_dimensions(partial(getattr, matrix), key_exchange)):
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


def _dimensions(values: Callable[[str], list[Any]], key_exchange: KeyExchange) -> tuple[list[Any], ...]:
    """The values of (cipher, rsa_bits, curve, group) that vary under a key exchange, of a matrix's values by field."""
    method, key = key_exchange.method, key_exchange.key
    groups: list[str] = [NOTHING]
    if method is Method.DHE:
        groups = [*map(custom_dh_group, values("dh_bits")), *values("dh_group")] or [_USUAL_GROUP[method]]
    elif method in _USUAL_GROUP:
        groups = values("group") or [_USUAL_GROUP[method]]
    return (
        [Cipher.DEFAULT] if method is Method.DEFAULT else values("cipher"),
        values("rsa_bits") if key in RSA_KEYS else [0],
        values("curve") if key is Key.ECDSA else [NOTHING],
        groups,
    )
