"""A matrix expanded into cases; combinations that cannot exist are skipped with the reason."""

from itertools import product
from typing import Any

from kexbench.domain.cases import NOTHING, Case, KeyExchange, custom_dh_group, impossible
from kexbench.domain.plans import Skipped
from kexbench.planning.spec import Matrix

MAX_CASES = 2000


def count_cases(written: dict[str, Any]) -> int:
    """How many combinations a matrix names as it is written, faults and all, found without making any."""

    def length(field: str, default: int) -> int:
        values = written.get(field)
        return len(values) if isinstance(values, list) else default

    groups_of: dict[str, int] = {
        KeyExchange.RSA: length("rsaBits", 1),
        KeyExchange.DHE_RSA: length("rsaBits", 1) * (length("dhBits", 0) + length("dhGroup", 0) or 1),
        KeyExchange.ECDHE_RSA: length("rsaBits", 1) * length("group", 1),
        KeyExchange.ECDHE_ECDSA: length("curve", 1) * length("group", 1),
    }
    exchanges = written.get("keyExchange")
    points = 1
    if isinstance(exchanges, list):
        points = sum(groups_of.get(name, 1) if isinstance(name, str) else 1 for name in exchanges)
    return length("protocol", 1) * length("cipher", 1) * points


def expand(matrices: list[Matrix]) -> tuple[tuple[Case, ...], tuple[Skipped, ...]]:
    """All cases of the matrices in the order written, each once, and what was skipped."""
    cases: dict[str, Case] = {}
    skipped: dict[str, Skipped] = {}
    for matrix in matrices:
        for protocol, key_exchange, cipher in product(matrix.protocol, matrix.key_exchange, matrix.cipher):
            for rsa_bits, curve, group in product(*_dimensions(matrix, key_exchange)):
                point = {
                    "protocol": protocol,
                    "key_exchange": key_exchange,
                    "cipher": cipher,
                    "rsa_bits": rsa_bits,
                    "curve": curve,
                    "group": group,
                }
                case = Case.model_construct(**point)  # type: ignore[arg-type]
                if reason := impossible(case):
                    skipped.setdefault(case.case_id, Skipped(combination=case.label, reason=reason))
                else:
                    cases.setdefault(case.case_id, Case.model_validate(point))
    return tuple(cases.values()), tuple(skipped.values())


def _dimensions(matrix: Matrix, key_exchange: KeyExchange) -> tuple[list[int], list[str], list[str]]:
    """The values of (rsa_bits, curve, group) that vary under a key exchange."""
    ecdsa = key_exchange is KeyExchange.ECDHE_ECDSA
    rsa_bits = [0] if ecdsa else list(matrix.rsa_bits)
    curves: list[str] = list(matrix.curve) if ecdsa else [NOTHING]
    if key_exchange is KeyExchange.RSA:
        groups = [NOTHING]
    elif key_exchange is KeyExchange.DHE_RSA:
        groups = [*map(custom_dh_group, matrix.dh_bits or []), *(matrix.dh_group or [])] or ["ffdhe2048"]
    else:
        groups = list(matrix.group)
    return rsa_bits, curves, groups
