"""A case: one point of the matrix. A field with a `Dimension` is that dimension's row: ids, labels, the order of cases,
traits, the worker's words, matrices and filters follow from it. Values are in `dimensions`, rules in `possible`."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from kexbench.domain.canonical import content_hash
from kexbench.domain.cpu_features import ENVIRONMENTS, CpuFeatures
from kexbench.domain.dimensions import (
    HYBRID_GROUPS,
    KINDS,
    ML_DSA_KEYS,
    MLKEM_GROUPS,
    NOTHING,
    Cipher,
    Dimension,
    KeyExchange,
    Kind,
    Method,
    Protocol,
    Resumption,
    is_custom_dh,
    written,
)
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import SOURCE_PATTERN, SubjectRef
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.possible import impossible

__all__ = ["NOTHING", "Case", "Cipher", "CpuFeatures", "KeyExchange", "Protocol", "Resumption", "impossible"]

CHAIN_MAX, EARLY_DATA_MAX, THREADS_MAX = 10, 16_384, 256
"""The worker's own limits."""
OCSP_MAX = 2**14 - 4
"""What OpenSSL's client takes in TLS 1.2, with the status type and a length before it (RFC 6066, section 8)."""
FIRST_FIELDS = ("protocol", "key_exchange", "rsa_bits", "curve", "group", "cipher")
"""The dimensions that every case has a value of. What came later is its variation."""
_RESUMED = {
    Resumption.SESSION_ID: "resumed by session id",
    Resumption.TICKET: "resumed by ticket",
    Resumption.PSK: "resumed with PSK",
    Resumption.PSK_DHE: "resumed with PSK and key share",
}
_PEER = rf"^(-|(client|server):({'|'.join(LIBRARIES)})@{SOURCE_PATTERN.strip('^$')})$"


def parse_peer(peer: str) -> tuple[str, SubjectRef]:
    """`server:openssl@system` as the role that the peer plays and the subject that plays it. Raises ValueError."""
    role, _, reference = peer.partition(":")
    if role not in ("client", "server"):
        raise ValueError(f"{peer!r} is no peer; peers look like server:openssl@system or client:gnutls@debian/trixie")
    return role, SubjectRef.parse(reference)


def _known_peer(peer: str) -> str:
    if peer != NOTHING:
        parse_peer(peer)
    return peer


def _peer_part(peer: str) -> str:
    """`server-openssl-debian-trixie`; a hash goes behind where characters that say something are lost."""
    plain = re.sub(r"[^a-z0-9.]+", "-", peer.lower())
    lossless = re.fullmatch(r"[a-z0-9.:@/]+", peer)
    return plain if lossless else f"{plain}-{content_hash(peer, length=6)}"


class Case(Frozen):
    """One handshake to measure. Construct only possible ones: see `impossible`."""

    protocol: Protocol
    key_exchange: KeyExchange
    cipher: Cipher = Cipher.AES_128_GCM
    group: str = Field(NOTHING, description="key exchange group, or - with key exchange RSA and default settings")
    rsa_bits: int = Field(0, ge=0, le=16_384, description="size of the certificate's RSA key in bits, or 0")
    curve: str = Field(NOTHING, description="curve of the certificate's EC key, or -")
    # From here on a field is a dimension's row; ids and labels name them in this order, so a new one goes last.
    chain_length: Annotated[
        int, Dimension("chain", "chain-{}", "chain of {}", "a chain of {} certificates", rank=2)
    ] = Field(1, ge=1, le=CHAIN_MAX, description="certificates that the server sends")
    client_authentication: Annotated[
        bool, Dimension("client authentication", "client-auth", "client certificate", "a client certificate", rank=3)
    ] = Field(False, description="whether the client shows a certificate too")
    resumption: Annotated[
        Resumption, Dimension("resumption", "{}", _RESUMED.__getitem__, None, rank=6, kind="resumption")
    ] = Field(Resumption.NONE, description="how a session is resumed")
    early_data_bytes: Annotated[
        int,
        Dimension("early data", "early-{}", "early data of {:,} bytes", "early data", rank=7, kind="resumption"),
    ] = Field(0, ge=0, le=EARLY_DATA_MAX, description="application data in the client's first flight")
    anti_replay: Annotated[
        bool, Dimension("anti-replay", "anti-replay", "anti-replay", "anti-replay", rank=8, kind="resumption")
    ] = Field(False, description="whether the server refuses early data that it may have seen before")
    hello_retry: Annotated[
        bool, Dimension("hello retry", "hello-retry", "HelloRetryRequest", "a HelloRetryRequest", rank=5)
    ] = Field(False, description="whether the server has to ask for another key share")
    ocsp_bytes: Annotated[
        int,
        Dimension("OCSP", "ocsp-{}", "OCSP response of {:,} bytes", "a stapled OCSP response", rank=4, in_setup=False),
    ] = Field(0, ge=0, le=OCSP_MAX, description="size of the stapled OCSP response, or 0 for none")
    fips: Annotated[bool, Dimension("FIPS", "fips", "FIPS", "FIPS", rank=1)] = Field(
        False, description="whether OpenSSL's FIPS provider does everything, with nothing that is not approved"
    )
    threads: Annotated[
        int, Dimension("several threads", "threads-{}", "{} threads", "several threads", rank=9, kind="threads")
    ] = Field(1, ge=1, le=THREADS_MAX, description="threads that share one context")
    cpu_features: Annotated[
        CpuFeatures,
        Dimension("CPU features", "cpu-{}", "CPU features {}", "CPU features {}", rank=0, in_setup=False),
    ] = Field(CpuFeatures.NATIVE, description="what the library may use of the CPU")
    peer: Annotated[
        str,
        AfterValidator(_known_peer),
        Dimension(
            "peer",
            _peer_part,
            lambda peer: f"against {peer.replace(':', ' ')}",
            lambda peer: f"the other side {peer.replace(':', ' ', 1)}",
            rank=10,
            kind="peers",
            in_setup=False,
        ),
    ] = Field(
        NOTHING,
        description="the other side: server: or client: with a subject, or - where both are the subject",
        json_schema_extra={"pattern": _PEER},
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if reason := impossible(self):
            raise ValueError(reason)
        return self

    @property
    def case_id(self) -> str:
        """A readable identity that is safe in a URL: `tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm`."""
        key = self.key_name if self.rsa_bits or self.curve != NOTHING else NOTHING
        parts = [part for part in (self.protocol, self.key_exchange, key, self.group, self.cipher) if part != NOTHING]
        return "_".join([*parts, *(written(row.id, value) for row, value in varied(self))]).lower()

    @property
    def label(self) -> str:
        """What a person reads: `TLS 1.2 ECDHE-RSA, RSA 2048, P-256`; the usual cipher is left out."""
        defaults = self.key_exchange.method is Method.DEFAULT and self.protocol is Protocol.DEFAULT
        first = f"{self.protocol.replace('TLSv', 'TLS ')} {self.key_exchange}"
        key = f"{self.key_exchange.key} {self.rsa_bits or self.curve}"
        if not self.rsa_bits and self.curve == NOTHING:
            key = self.key_exchange.key if defaults else NOTHING
        usual = Cipher.DEFAULT if defaults else Cipher.AES_128_GCM
        parts = [
            "Default settings" if defaults else first,
            *(part for part in (key, self.group) if part != NOTHING),
            *([] if self.cipher is usual else [f"cipher {self.cipher}" if self.cipher == NOTHING else self.cipher]),
            *(written(row.label, value) for row, value in varied(self)),
        ]
        return ", ".join(parts)

    @property
    def key_name(self) -> str:
        """The name of the certificate's key among the key material: `rsa-2048`, `ecdsa-P-256`, `ed25519`."""
        parameter = str(self.rsa_bits) if self.rsa_bits else self.curve
        key = self.key_exchange.key.lower()
        return key if parameter == NOTHING else f"{key}-{parameter}"

    @property
    def dh_parameters_name(self) -> str | None:
        """The name of the custom Diffie-Hellman parameters, or None when the case has none."""
        return self.group if is_custom_dh(self.group) else None

    @property
    def variation(self) -> dict[str, Any]:
        """The fields beyond FIRST_FIELDS that differ from their defaults, as JSON has them."""
        return self.model_dump(mode="json", exclude=set(FIRST_FIELDS), exclude_defaults=True)

    @property
    def leaves_a_choice(self) -> bool:
        """Whether the library decides how much work is done: with default settings, and in psk whether its client makes
        a key share that the server does not take."""
        return self.protocol is Protocol.DEFAULT or self.resumption is Resumption.PSK

    @property
    def environment(self) -> dict[str, str]:
        """What the worker's environment needs beside the kit's own, so that the library sees the CPU of the case."""
        return ENVIRONMENTS[self.cpu_features]

    @property
    def peer_reference(self) -> str | None:
        """The subject that plays the other side, `openssl@system`, or None where the subject plays both."""
        return None if self.peer == NOTHING else str(parse_peer(self.peer)[1])

    @property
    def roles(self) -> str:
        """What the subject plays: `both`, `client` or `server`."""
        if self.peer == NOTHING:
            return "both"
        return "client" if parse_peer(self.peer)[0] == "server" else "server"

    def setup_fields(self) -> dict[str, str]:
        """The words of the worker's `setup` request that follow from the case: all but `id` and the files."""
        told = {name: getattr(self, name) for name in Case.model_fields if name not in _NOT_IN_SETUP}
        words = {name: ("no", "yes")[value] if isinstance(value, bool) else str(value) for name, value in told.items()}
        return {**words, "roles": self.roles}


DIMENSIONS: Mapping[str, Dimension] = {
    name: row for name, field in Case.model_fields.items() for row in field.metadata if isinstance(row, Dimension)
}
"""By field the rows of the dimensions that vary beyond FIRST_FIELDS."""
_DEFAULTS = {name: Case.model_fields[name].default for name in DIMENSIONS}
_NOT_IN_SETUP = frozenset(name for name, row in DIMENSIONS.items() if not row.in_setup)
_BY_RANK = sorted(DIMENSIONS, key=lambda name: DIMENSIONS[name].rank)


def varied(case: Case) -> Iterator[tuple[Dimension, Any]]:
    """The dimensions in which a case differs from the defaults, each with its value."""
    for name, row in DIMENSIONS.items():
        if (value := getattr(case, name)) != _DEFAULTS[name]:
            yield row, value


def kinds_of(case: Case) -> list[Kind]:
    """What a case is offered under where people filter by its kind."""
    kinds = {row.kind for row, _ in varied(case)}
    if case.group in (*HYBRID_GROUPS, *MLKEM_GROUPS) or case.key_exchange.key in ML_DSA_KEYS:
        kinds.add("post-quantum")
    return [kind for kind in KINDS if kind in kinds] or ["plain"]


def case_order(case: Case) -> tuple[int | str, ...]:
    """Sorts cases by protocol, key exchange, then the numbers that a person would sort by; variations of a case stand
    behind it, and what is listed in an enum is in its order."""
    first = [getattr(case, name) for name in ("protocol", "key_exchange", "rsa_bits", "curve")]
    values = [*first, len(case.group), case.group, case.cipher, *(getattr(case, name) for name in _BY_RANK)]
    return tuple(list(type(value)).index(value) if isinstance(value, Enum) else value for value in values)
