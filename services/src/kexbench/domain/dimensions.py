"""The values of a case's dimensions, as in the worker's protocol, and the description of a dimension."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, get_args

NOTHING = "-"
"""The value of a dimension that a case does not have, as in the worker's protocol."""
Kind = Literal[
    "plain",
    "resumption",
    "post-quantum",
    "certificates",
    "connection",
    "zero-rtt",
    "threads",
    "peers",
    "servers",
    "paths",
    "other",
]
KINDS: dict[Kind, str] = {
    "plain": "Plain handshakes only",
    "resumption": "Resumption",
    "post-quantum": "Post-quantum",
    "certificates": "Certificate sizes",
    "connection": "Whole connections",
    "zero-rtt": "Forward-secure 0-RTT",
    "threads": "Threads",
    "peers": "Two libraries",
    "servers": "Web servers",
    "paths": "Emulated paths",
    "other": "Other variations",
}
"""Kinds of cases that pages filter by, with titles. A case can have several kinds, except plain cases."""
Form = str | Callable[[Any], str]
"""How to write a value: a format string, or a function where that is not enough."""


@dataclass(frozen=True)
class Dimension:
    """How a case is described whose value in this dimension is not the default. The field itself has the type, limits,
    default and description."""

    name: str
    id: Form
    """The part of the case id. It must not change once measured, since stored rows and links contain it."""
    label: Form
    trait: Form | None
    """What cells have in common, as in `common factor: …`; None where `analysis.traits` words it itself."""
    rank: int
    """Cases are sorted first by the dimension with the lowest rank."""
    kind: Kind = "other"
    in_setup: bool = True
    """Whether the worker's `setup` request includes the value."""


def written(form: Form, value: Any) -> str:
    return form.format(value) if isinstance(form, str) else form(value)


class Protocol(StrEnum):
    TLS_1_2 = "TLSv1.2"
    TLS_1_3 = "TLSv1.3"
    DEFAULT = "default"
    BFE_0RTT = "BFE-0RTT-1"
    QUIC_V1 = "QUICv1"
    DTLS_1_2 = "DTLSv1.2"
    DTLS_1_3 = "DTLSv1.3"

    @property
    def has_tls_1_2(self) -> bool:
        """Whether its handshake has the messages of TLS 1.2."""
        return self in (Protocol.TLS_1_2, Protocol.DTLS_1_2)

    @property
    def is_dtls(self) -> bool:
        return self in (Protocol.DTLS_1_2, Protocol.DTLS_1_3)


class Method(StrEnum):
    """How the secret is agreed on: the part of a key exchange before the hyphen."""

    RSA = "RSA"
    DHE = "DHE"
    ECDHE = "ECDHE"
    MLKEM = "MLKEM"
    DEFAULT = "default"
    BFE = "BFE"
    PSK = "PSK"


class Key(StrEnum):
    """The certificate's key: the part of a key exchange after the hyphen. `BFE` is the key of Bloom filter encryption,
    and `PSK` an external pre-shared key. Neither has a certificate."""

    RSA = "RSA"
    RSA_PSS = "RSA-PSS"
    ECDSA = "ECDSA"
    ED25519 = "Ed25519"
    ED448 = "Ed448"
    ML_DSA_44 = "ML-DSA-44"
    ML_DSA_65 = "ML-DSA-65"
    ML_DSA_87 = "ML-DSA-87"
    BFE = "BFE"
    PSK = "PSK"


CERTIFICATE_KEYS = tuple(key for key in Key if key not in (Key.BFE, Key.PSK))
RSA_KEYS = (Key.RSA, Key.RSA_PSS)
ML_DSA_KEYS = (Key.ML_DSA_44, Key.ML_DSA_65, Key.ML_DSA_87)


class KeyExchange(StrEnum):
    """`RSA`, `BFE`, every other method with every certificate's key, or an external pre-shared key with or without
    another method. The list is written out for type checkers, and a test compares it with the two above."""

    RSA = "RSA"
    DHE_RSA = "DHE-RSA"
    DHE_RSA_PSS = "DHE-RSA-PSS"
    DHE_ECDSA = "DHE-ECDSA"
    DHE_ED25519 = "DHE-Ed25519"
    DHE_ED448 = "DHE-Ed448"
    DHE_ML_DSA_44 = "DHE-ML-DSA-44"
    DHE_ML_DSA_65 = "DHE-ML-DSA-65"
    DHE_ML_DSA_87 = "DHE-ML-DSA-87"
    ECDHE_RSA = "ECDHE-RSA"
    ECDHE_RSA_PSS = "ECDHE-RSA-PSS"
    ECDHE_ECDSA = "ECDHE-ECDSA"
    ECDHE_ED25519 = "ECDHE-Ed25519"
    ECDHE_ED448 = "ECDHE-Ed448"
    ECDHE_ML_DSA_44 = "ECDHE-ML-DSA-44"
    ECDHE_ML_DSA_65 = "ECDHE-ML-DSA-65"
    ECDHE_ML_DSA_87 = "ECDHE-ML-DSA-87"
    MLKEM_RSA = "MLKEM-RSA"
    MLKEM_RSA_PSS = "MLKEM-RSA-PSS"
    MLKEM_ECDSA = "MLKEM-ECDSA"
    MLKEM_ED25519 = "MLKEM-Ed25519"
    MLKEM_ED448 = "MLKEM-Ed448"
    MLKEM_ML_DSA_44 = "MLKEM-ML-DSA-44"
    MLKEM_ML_DSA_65 = "MLKEM-ML-DSA-65"
    MLKEM_ML_DSA_87 = "MLKEM-ML-DSA-87"
    DEFAULT_RSA = "default-RSA"
    DEFAULT_RSA_PSS = "default-RSA-PSS"
    DEFAULT_ECDSA = "default-ECDSA"
    DEFAULT_ED25519 = "default-Ed25519"
    DEFAULT_ED448 = "default-Ed448"
    DEFAULT_ML_DSA_44 = "default-ML-DSA-44"
    DEFAULT_ML_DSA_65 = "default-ML-DSA-65"
    DEFAULT_ML_DSA_87 = "default-ML-DSA-87"
    BFE = "BFE"
    PSK = "PSK"
    DHE_PSK = "DHE-PSK"
    ECDHE_PSK = "ECDHE-PSK"

    @property
    def method(self) -> Method:
        return Method(self.partition("-")[0])

    @property
    def key(self) -> Key:
        if self in (KeyExchange.BFE, KeyExchange.PSK):
            return Key(self.value)
        return Key(self.partition("-")[2] or Key.RSA)


class Cipher(StrEnum):
    AES_128_GCM = "AES-128-GCM"
    AES_256_GCM = "AES-256-GCM"
    CHACHA20_POLY1305 = "CHACHA20-POLY1305"
    AES_128_CBC_SHA = "AES-128-CBC-SHA"
    AES_256_CBC_SHA = "AES-256-CBC-SHA"
    AES_128_CBC_SHA256 = "AES-128-CBC-SHA256"
    AES_256_CBC_SHA256 = "AES-256-CBC-SHA256"
    AES_256_CBC_SHA384 = "AES-256-CBC-SHA384"
    DEFAULT = "-"

    @property
    def is_cbc(self) -> bool:
        """Whether it is one of TLS 1.2's, with CBC and an HMAC. Both libraries negotiate encrypt-then-MAC with it
        (RFC 7366)."""
        return "-CBC-" in self


class Resumption(StrEnum):
    """TLS 1.2 has `session-id` and `ticket`. TLS 1.3 has `psk` (without a key share) and `psk-dhe` (with one)."""

    NONE = "none"
    SESSION_ID = "session-id"
    TICKET = "ticket"
    PSK = "psk"
    PSK_DHE = "psk-dhe"


class Tickets(StrEnum):
    """What a full handshake leaves for later ones: nothing, as many tickets as the library issues by default, or a
    session in the server's cache."""

    NONE = "none"
    DEFAULT = "default"
    CACHED = "cached"


class ContextUse(StrEnum):
    """What shares a context, that is configuration, certificate and key: all threads, one thread, one connection, or
    some threads of a pool. With LIBRARY each thread has a library context of its own as well."""

    SHARED = "shared"
    THREAD = "thread"
    CONNECTION = "connection"
    POOL = "pool"
    LIBRARY = "library"


class TrustStore(StrEnum):
    """What a verifying side loads its trust anchors from: a file of all; a folder of one file for each, named by the
    hash of its subject; or p11-kit's trust module."""

    FILE = "file"
    FOLDER = "folder"
    P11_KIT = "p11-kit"


class Server(StrEnum):
    """The program that the library serves in: the worker, or a web server. A web server's version and build options are
    part of its value: another version would be another value, whose series starts anew (docs/adr/0031)."""

    NONE = "-"
    NGINX = "nginx"
    HTTPD = "httpd"
    HAPROXY = "haproxy"


PSK_RESUMPTIONS = (Resumption.PSK, Resumption.PSK_DHE)

EllipticGroup = Literal["secp192r1", "P-256", "P-384", "P-521", "X25519", "X448"]
HybridGroup = Literal["X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"]
MlkemGroup = Literal["MLKEM512", "MLKEM768", "MLKEM1024"]
PairingGroup = Literal["BLS12-381"]
DhGroup = Literal["ffdhe2048", "ffdhe3072", "ffdhe4096", "ffdhe6144", "ffdhe8192"]
Curve = Literal["secp192r1", "P-256", "P-384", "P-521"]
"""Curves of an ECDSA certificate's key."""
EC_GROUPS: tuple[EllipticGroup, ...] = get_args(EllipticGroup)
HYBRID_GROUPS: tuple[HybridGroup, ...] = get_args(HybridGroup)
MLKEM_GROUPS: tuple[MlkemGroup, ...] = get_args(MlkemGroup)
PAIRING_GROUPS: tuple[PairingGroup, ...] = get_args(PairingGroup)
DH_GROUPS: tuple[DhGroup, ...] = get_args(DhGroup)
CURVES: tuple[Curve, ...] = get_args(Curve)
DH_BITS = (1024, 1536, 1776, 2048, 2432, 3072)
"""Sizes of the custom Diffie-Hellman parameters. They are shipped, so that all installations use the same ones."""
FALSE_POSITIVE_BITS = 10
"""The usual rate of a Bloom filter, as a power of two: 2^-10."""
RSA_BITS_MIN, RSA_BITS_MAX = 1024, 8192
_CUSTOM_DH = re.compile(r"dh-([1-9][0-9]{2,4})")
_WORKER_DH_BITS = range(512, 8193)


def custom_dh_group(dh_bits: int) -> str:
    """The group name of custom (not RFC 7919) Diffie-Hellman parameters."""
    return f"dh-{dh_bits}"


def is_custom_dh(group: str) -> bool:
    match = _CUSTOM_DH.fullmatch(group)
    return match is not None and int(match[1]) in _WORKER_DH_BITS


def group_fits(group: str, method: Method) -> bool:
    """Whether this method can use the group; `-` fits methods without groups."""
    if method is Method.DHE:
        return group in DH_GROUPS or is_custom_dh(group)
    if method is Method.ECDHE:
        return group in EC_GROUPS or group in HYBRID_GROUPS
    if method is Method.MLKEM:
        return group in MLKEM_GROUPS
    if method is Method.BFE:
        return group in PAIRING_GROUPS
    return group == NOTHING
