"""A matrix expanded into cases; combinations that cannot exist are skipped with the reason."""

from itertools import product
from math import prod

from pydantic import ValidationError

from kexbench.domain.cases import NOTHING, Case, Cipher, KeyExchange, Protocol, custom_dh_group
from kexbench.domain.plans import Skipped
from kexbench.planning.spec import Matrix

MAX_CASES = 2000


def count_cases(matrix: Matrix) -> int:
    """How many combinations the matrix names, found without making any of them."""
    return len(matrix.protocol) * len(matrix.cipher) * sum(
        prod(len(values) for values in _dimensions(matrix, key_exchange)) for key_exchange in matrix.key_exchange
    )


def expand(matrices: list[Matrix]) -> tuple[tuple[Case, ...], tuple[Skipped, ...]]:
    """All cases of the matrices in the order written, each once, and what was skipped."""
    cases: dict[str, Case] = {}
    skipped: dict[str, Skipped] = {}
    for matrix in matrices:
        for protocol, key_exchange, cipher in product(matrix.protocol, matrix.key_exchange, matrix.cipher):
            for rsa_bits, curve, group in product(*_dimensions(matrix, key_exchange)):
                case, reason = _attempt(protocol, key_exchange, cipher, rsa_bits, curve, group)
                if reason:
                    skipped.setdefault(case.case_id, Skipped(combination=case.label, reason=reason))
                else:
                    cases.setdefault(case.case_id, case)
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


def _attempt(
    protocol: Protocol, key_exchange: KeyExchange, cipher: Cipher, rsa_bits: int, curve: str, group: str
) -> tuple[Case, str | None]:
    """The case and, if it cannot exist, why: then the case serves only for its label and id."""
    fields = {
        "protocol": protocol,
        "key_exchange": key_exchange,
        "cipher": cipher,
        "rsa_bits": rsa_bits,
        "curve": curve,
        "group": group,
    }
    try:
        return Case.model_validate(fields), None
    except ValidationError as error:
        return Case.model_construct(**fields), str(error.errors()[0]["ctx"]["error"])  # type: ignore[arg-type]
