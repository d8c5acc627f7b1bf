"""The difference of two libraries by parts, such as algorithms.

Kits have no debug information that names source files, so the names of functions tell their part. The patterns are
those of OpenSSL's family; a function that fits none of them is in OTHER.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from kexbench.domain.profiles import UNNAMED, FunctionChange, PartDifference, Profile

OTHER = "other"
MEMORY = "memory and system"
UNACCOUNTED = "in no function"
"""What a function has less of with more handshakes counts as none, but is in the total."""
_SYSTEM = re.compile(r"lib(c|m|stdc\+\+|gcc_s|pthread)|ld-.*|heap|\?\?\?")
_PARTS = {
    part: re.compile("|".join(patterns))
    for part, patterns in {
        "TLS and encoding": (
            r"^(ossl_)?(ssl|tls|dtls|s2n|statem|SSL|TLS|DTLS)",
            r"state_machine",
            r"^(WPACKET|PACKET|CBB|CBS|cbb|cbs)_",
        ),
        "Curve25519": (r"25519", r"^(fe|fe51|fe64|ge|ecx)_", r"^(table_select|cmov)$"),
        "NIST curves": (
            r"nistz?\d|[pP](256|384|521)",
            r"^(ossl_)?(ec|ecp|ecdsa|ecdh|eckey|EC|ECDSA|ECDH)_",
            r"^beeu_",
        ),
        "RSA and big numbers": (
            r"(^|_)(bn|bignum|rsa|rsaz|BN|RSA)(_|$)",
            r"mont|PSS",
            r"^_*(mul|sqr)x?[48]?x",
        ),
        "hashes": (r"(sha|SHA)\d", r"keccak|md5|hmac|hkdf|kdf|MD5|HMAC|HKDF|KDF", r"[dD]igest|(^|_)(EVP_MD|evp_md)"),
        "ciphers": (r"aes|gcm|ghash|aead|chacha|poly1305|AES|GCM|AEAD|CRYPTO_ctr", r"[cC]ipher|CIPHER"),
        "random numbers": (r"(^|_)(rand|drbg|entropy|RAND|DRBG)(_|$)", r"^block_cipher_df$"),
        "certificates and ASN.1": (r"asn1|x509|ASN1|X509", r"(^|_)(d2i|i2d|c2i|i2c|pem|obj|PEM|OBJ)_"),
        "finding algorithms": (
            r"fetch|prov(_|ider)|decoder|OSSL_(PARAM|LIB)|ossl_(prop|param|method|namemap|fnv1a|ht|lib_ctx)",
            r"(^|_)(lh|LH)_",
        ),
        MEMORY: (r"^(OPENSSL|CRYPTO)_(\w*alloc|\w*free|\w*lock|cleanse|sk_|mem)", r"^(BIO|bio|BUF|ossl_sa)_"),
    }.items()
}
"""The first that fits counts."""


def part_of(name: str, library: str) -> str:
    """`library`: the file that the function is in."""
    if _SYSTEM.fullmatch(library):
        return MEMORY
    if name.startswith(UNNAMED):
        return UNNAMED
    return next((part for part, pattern in _PARTS.items() if pattern.search(name)), OTHER)


def parts_of(changes: Sequence[FunctionChange], before: Profile, after: Profile) -> tuple[PartDifference, ...]:
    """The parts in all functions that differ between two profiles, the largest first. Their numbers add up to both
    totals."""
    grouped: dict[str, list[FunctionChange]] = defaultdict(list)
    for change in changes:
        grouped[part_of(change.name, change.library)].append(change)
    parts = [_part(name, of_part) for name, of_part in grouped.items()]
    rest = PartDifference(
        name=UNACCOUNTED,
        matched_before=0.0,
        matched_after=0.0,
        only_before=before.amount - sum(change.before for change in changes),
        only_after=after.amount - sum(change.after for change in changes),
    )
    parts.sort(key=lambda part: -max(part.before, part.after))
    return (*parts, rest) if max(abs(rest.before), abs(rest.after)) >= _LEAST else tuple(parts)


_LEAST = 0.5
"""Less is the rounding of sums."""


def _part(name: str, changes: Sequence[FunctionChange]) -> PartDifference:
    matched = [change for change in changes if _is_matched(change)]
    alone = [change for change in changes if not _is_matched(change)]
    return PartDifference(
        name=name,
        matched_before=sum(change.before for change in matched),
        matched_after=sum(change.after for change in matched),
        only_before=sum(change.before for change in alone),
        only_after=sum(change.after for change in alone),
    )


def _is_matched(change: FunctionChange) -> bool:
    return bool(change.before and change.after) and not change.name.startswith(UNNAMED)
