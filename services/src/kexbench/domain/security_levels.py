"""The weakest sizes that reach a level of security, among those that the project can measure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import (
    CURVES,
    DH_BITS,
    DH_GROUPS,
    ML_DSA_KEYS,
    MLKEM_GROUPS,
    Cipher,
    Key,
    KeyExchange,
    Method,
    Protocol,
    custom_dh_group,
)
from kexbench.domain.possible import impossible
from kexbench.domain.security import (
    AUTHORITIES,
    SecurityModel,
    dh_bits_of,
    group_security_bits,
    key_security_bits,
    rsa_security_bits,
)

Item = TypeVar("Item")
SECURITY_LEVELS = (80, 96, 112, 128, 192, 256)
"""The bits of security that specs ask for and pages compare at."""
RSA_SIZES = (1024, 1248, 1776, 2048, 2432, 3072, 3248, 4096, 6144, 7680, 7936, 8192)
"""The usual sizes, and those of the authorities' tables as far as TLS libraries take them."""
KEY_FAMILIES = ((Key.ED25519, Key.ED448), ML_DSA_KEYS)
"""Keys of one kind whose size is part of their name, weakest first."""
_ECDHE_FAMILIES = (
    ("secp192r1", "P-256", "P-384", "P-521"),
    ("X25519", "X448"),
    ("X25519MLKEM768",),
    ("SecP256r1MLKEM768", "SecP384r1MLKEM1024"),
)
_DH_CHOICES = sorted((*DH_GROUPS, *map(custom_dh_group, DH_BITS)), key=lambda group: dh_bits_of(group) or 0)
"""By size. Of two with the same size the named group comes first: both protocols have it."""
FAMILIES: Mapping[Method, tuple[tuple[str, ...], ...]] = {
    Method.DHE: (tuple(_DH_CHOICES),),
    Method.ECDHE: _ECDHE_FAMILIES,
    Method.MLKEM: (MLKEM_GROUPS,),
}
"""Groups of one kind, weakest first. A level takes the first one of each kind that reaches it."""


@dataclass(frozen=True)
class LevelSizes:
    """The weakest sizes at a level under a model; None and empty where no size is enough."""

    rsa_bits: int | None
    dh_groups: tuple[str, ...]
    ecdhe_groups: tuple[str, ...]
    """The weakest group of each kind."""
    mlkem_groups: tuple[str, ...]
    curves: tuple[str, ...]
    keys: tuple[Key, ...]
    """Of those whose size is part of their name."""
    cipher: Cipher | None

    def groups(self, method: Method) -> tuple[str, ...]:
        by_method = {Method.DHE: self.dh_groups, Method.ECDHE: self.ecdhe_groups, Method.MLKEM: self.mlkem_groups}
        return by_method.get(method, ())


@cache
def level_sizes(model: SecurityModel, level_bits: int, protocol: Protocol) -> LevelSizes:
    """For a protocol, since TLS 1.3 lacks secp192r1 and custom Diffie-Hellman parameters."""
    authority = AUTHORITIES[model]

    def reaches(bits: int | None) -> bool:
        return bits is not None and bits >= level_bits

    def groups(method: Method) -> tuple[str, ...]:
        return tuple(
            group
            for family in FAMILIES[method]
            for group in _first(
                family, lambda name: reaches(group_security_bits(model, name)) and _has_group(protocol, method, name)
            )
        )

    return LevelSizes(
        rsa_bits=next((size for size in RSA_SIZES if reaches(rsa_security_bits(model, size))), None),
        dh_groups=groups(Method.DHE),
        ecdhe_groups=groups(Method.ECDHE),
        mlkem_groups=groups(Method.MLKEM),
        curves=_first(
            CURVES,
            lambda curve: reaches(key_security_bits(model, Key.ECDSA, 0, curve)) and _has_curve(protocol, curve),
        ),
        keys=tuple(
            key
            for family in KEY_FAMILIES
            for key in _first(family, lambda key: reaches(authority.keys.get(key)) and _has_key(protocol, key))
        ),
        cipher=next((cipher for cipher in Cipher if reaches(authority.ciphers.get(cipher))), None),
    )


def _first(items: Iterable[Item], fits: Callable[[Item], bool]) -> tuple[Item, ...]:
    return tuple(item for item in items if fits(item))[:1]


def _has_group(protocol: Protocol, method: Method, group: str) -> bool:
    return _is_possible(protocol, KeyExchange(f"{method}-RSA"), group=group, rsa_bits=RSA_SIZES[0])


def _has_curve(protocol: Protocol, curve: str) -> bool:
    return _is_possible(protocol, KeyExchange.ECDHE_ECDSA, group="P-256", curve=curve)


def _has_key(protocol: Protocol, key: Key) -> bool:
    return _is_possible(protocol, KeyExchange(f"ECDHE-{key}"), group="P-256")


def _is_possible(protocol: Protocol, key_exchange: KeyExchange, **fields: Any) -> bool:
    return impossible(Case.model_construct(protocol=protocol, key_exchange=key_exchange, **fields)) is None


def level_of(bits: int | None) -> int | None:
    """The highest level that a strength reaches."""
    return max((level for level in SECURITY_LEVELS if bits is not None and level <= bits), default=None)
