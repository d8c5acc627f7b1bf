"""Padding of signed DER to an exact size."""

from collections.abc import Callable

from cryptography import x509

_PADDING = x509.ObjectIdentifier("2.25.217430988117226404229153205389361245813")
"""A private extension, from a random UUID (X.667)."""
_ATTEMPTS = 1000
"""Lengths of ECDSA signatures vary by a few bytes. The probability of each is far above 1%."""


class MaterialError(ValueError):
    """Material of this size cannot be made."""


def padding_of(size: int) -> x509.UnrecognizedExtension:
    return x509.UnrecognizedExtension(_PADDING, bytes(size))


def padded(make: Callable[[int], bytes], size: int, what: str) -> bytes:
    """What `make` signs with so much padding that it has exactly `size` bytes. Raises MaterialError if that is too
    small."""
    padding = size // 2
    for _ in range(_ATTEMPTS):
        made = make(padding)
        if len(made) == size:
            return made
        padding += size - len(made)
        if padding < 0:
            raise MaterialError(f"{what} needs more than {size} bytes")
    raise MaterialError(f"could not make {what} of exactly {size} bytes")
