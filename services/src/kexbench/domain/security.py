"""How strong keys, groups, hashes and ciphers are: bits of security, each under a model of one authority.

A model knows only what its authority says. Everything else is None, never a guess. A key that lies between two rows
of a table has the strength of the row that it reaches. `strength` applies the models to cases,
`security_levels` chooses sizes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import e, log, log2

from kexbench.domain.dimensions import DH_GROUPS, Cipher, Key, is_custom_dh

HYBRID_PARTS: Mapping[str, tuple[str, str]] = {
    "X25519MLKEM768": ("X25519", "MLKEM768"),
    "SecP256r1MLKEM768": ("P-256", "MLKEM768"),
    "SecP384r1MLKEM1024": ("P-384", "MLKEM1024"),
}


class Hash(StrEnum):
    SHA_256 = "SHA-256"
    SHA_384 = "SHA-384"
    SHA_512 = "SHA-512"


class SecurityModel(StrEnum):
    NIST = "nist"
    ECRYPT = "ecrypt"
    CNSA = "cnsa"
    CNSA_2 = "cnsa-2"


@dataclass(frozen=True)
class Authority:
    """What an authority says. Mappings lack what it says nothing about."""

    title: str
    sources: tuple[str, ...]
    modulus_bits: Callable[[int], int | None]
    """The strength of an RSA key or a Diffie-Hellman prime of this size."""
    groups: Mapping[str, int]
    """Elliptic curves, those of certificates included, and ML-KEM."""
    keys: Mapping[Key, int] = field(default_factory=dict)
    """Keys that have one size."""
    hashes: Mapping[Hash, int] = field(default_factory=dict)
    """In signatures, where an attacker needs a collision."""
    ciphers: Mapping[Cipher, int] = field(default_factory=dict)


def _table(rows: Mapping[int, int]) -> Callable[[int], int | None]:
    """The strength of the largest size in the table that a key reaches."""
    return lambda bits: max((strength for size, strength in rows.items() if size <= bits), default=None)


def _number_field_sieve(bits: int) -> int | None:
    """ECRYPT II, section 6.2.1: the cost of factoring by the number field sieve, set by the RSA-512 record. Rounded to
    the nearest bit it gives the report's tables 7.2 to 7.4, except for 1248 bits, which they give one bit less. Keys
    below 1024 bits are not measured."""
    if bits < 1024 or bits == 1248:
        return 80 if bits == 1248 else None
    size = bits * log(2)
    cost: float = (64 / 9) ** (1 / 3) * log2(e) * size ** (1 / 3) * log(size) ** (2 / 3)
    return round(cost - 14)


_AES_BITS = {cipher: 128 if cipher.startswith("AES-128-") else 256 for cipher in Cipher if cipher.startswith("AES-")}
"""Of authorities that say what AES protects, whatever its mode."""

AUTHORITIES: Mapping[SecurityModel, Authority] = {
    # SP 800-57 compares up to 15360 bits in five steps. SP 800-56A and 56B have three sizes in between. Curves that
    # table 2 gives by their size are P-192 (up to 80 bits, so 80 here), P-256, P-384 and P-521; SP 800-186 has the
    # others. A post-quantum category is comparable with a search for a key or a collision (FIPS 203, appendix A):
    # 1 with AES-128, 2 with a collision of SHA-256 (ML-DSA-44), 3 with AES-192, 5 with AES-256. So categories 1 and 2
    # count as 128 bits here, 3 as 192 and 5 as 256. NIST itself calls them categories, not bits.
    SecurityModel.NIST: Authority(
        title="NIST",
        sources=(
            "SP 800-57 Part 1 Rev. 5 (2020), tables 2 and 3",
            "SP 800-56A Rev. 3 and SP 800-56B Rev. 2, appendix D of each: 4096, 6144 and 8192 bits",
            "SP 800-186 (2023), section 3.1.1: Curve25519 and Curve448",
            "FIPS 203 and FIPS 204 (2024), section 8 and section 4: categories of ML-KEM and ML-DSA",
        ),
        modulus_bits=_table(
            {1024: 80, 2048: 112, 3072: 128, 4096: 152, 6144: 176, 7680: 192, 8192: 200, 15_360: 256},
        ),
        groups={
            "secp192r1": 80,
            "P-256": 128,
            "P-384": 192,
            "P-521": 256,
            "X25519": 128,
            "X448": 224,
            "MLKEM512": 128,
            "MLKEM768": 192,
            "MLKEM1024": 256,
        },
        keys={
            Key.ED25519: 128,
            Key.ED448: 224,
            Key.ML_DSA_44: 128,
            Key.ML_DSA_65: 192,
            Key.ML_DSA_87: 256,
        },
        hashes={Hash.SHA_256: 128, Hash.SHA_384: 192, Hash.SHA_512: 256},
        ciphers=_AES_BITS,
    ),
    # A curve has half the bits of its group's order: 252 for Curve25519, so a little less than 128. The report that
    # followed (ECRYPT-CSA D5.4, 2018) keeps the curves, and rounds RSA and DH to 1024, 3072 and 15360 bits for 80, 128
    # and 256. The articles use the report before it, and so does this model. Neither has ML-KEM and ML-DSA.
    SecurityModel.ECRYPT: Authority(
        title="ECRYPT II",
        sources=("Yearly Report on Algorithms and Keysizes 2011-2012 (D.SPA.20), section 6.2, tables 7.1 to 7.4",),
        modulus_bits=_number_field_sieve,
        groups={"secp192r1": 96, "P-256": 128, "P-384": 192, "P-521": 260, "X25519": 126, "X448": 223},
        keys={Key.ED25519: 126, Key.ED448: 223},
        hashes={Hash.SHA_256: 128, Hash.SHA_384: 192, Hash.SHA_512: 256},
        ciphers=_AES_BITS,
    ),
    # The suite has least sizes and names no bits. The two rows are those of an article of 2015 about its announcement.
    # Other curves are not in the suite, however strong.
    SecurityModel.CNSA: Authority(
        title="CNSA 1.0",
        sources=(
            "CNSSP 15 (2016), annex B: RSA and DH from 3072 bits, P-384, SHA-384, AES-256",
            "the article The cryptopocalipse is near(er)! (2015): which sizes count as 112 and 128 bits",
        ),
        modulus_bits=_table({2048: 112, 3072: 128}),
        groups={"P-256": 112, "P-384": 128},
        hashes={Hash.SHA_256: 112, Hash.SHA_384: 128},
        ciphers={Cipher.AES_128_GCM: 112, Cipher.AES_256_GCM: 128},
    ),
    # One level for all classifications. It names no bits either: 256 is what NIST's category 5 is comparable with.
    SecurityModel.CNSA_2: Authority(
        title="CNSA 2.0",
        sources=(
            "NSA, Announcing the Commercial National Security Algorithm Suite 2.0 (2022)",
            "FIPS 203 and FIPS 204 (2024): category 5 of ML-KEM-1024 and ML-DSA-87",
        ),
        modulus_bits=lambda _: None,
        groups={"MLKEM1024": 256},
        keys={Key.ML_DSA_87: 256},
        hashes={Hash.SHA_384: 256, Hash.SHA_512: 256},
        ciphers={Cipher.AES_256_GCM: 256},
    ),
}


def rsa_security_bits(model: SecurityModel, rsa_bits: int) -> int | None:
    return AUTHORITIES[model].modulus_bits(rsa_bits)


def dh_security_bits(model: SecurityModel, dh_bits: int) -> int | None:
    """Of a prime whose subgroup is as large as it can be, as in RFC 7919 and in the shipped parameters."""
    return AUTHORITIES[model].modulus_bits(dh_bits)


def dh_bits_of(group: str) -> int | None:
    """The size of the prime of a Diffie-Hellman group, or None for other groups."""
    return int(group.removeprefix("dh-").removeprefix("ffdhe")) if is_custom_dh(group) or group in DH_GROUPS else None


def group_security_bits(model: SecurityModel, group: str) -> int | None:
    """The strength of a key exchange group, or of a certificate's curve.

    A hybrid group has the strength of its stronger part. Both secrets are concatenated, so that the key stays secret as
    long as one of them does (RFC 9954, the former draft-ietf-tls-hybrid-design, sections 1.3 and 6). A part that the
    authority says nothing about adds nothing.
    """
    if parts := HYBRID_PARTS.get(group):
        return max(filter(None, (group_security_bits(model, part) for part in parts)), default=None)
    if dh_bits := dh_bits_of(group):
        return dh_security_bits(model, dh_bits)
    return AUTHORITIES[model].groups.get(group)


def key_security_bits(model: SecurityModel, key: Key, rsa_bits: int, curve: str) -> int | None:
    """The strength of a certificate's key, without the hash that it signs."""
    if rsa_bits:
        return rsa_security_bits(model, rsa_bits)
    return AUTHORITIES[model].groups.get(curve) if key is Key.ECDSA else AUTHORITIES[model].keys.get(key)
