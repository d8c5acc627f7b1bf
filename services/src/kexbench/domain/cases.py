"""A case: one point of the matrix. A field with a `Dimension` defines that dimension: ids, labels, the order of cases,
traits, the worker's words, matrices and filters follow from it. Values are in `dimensions`, rules in `possible`."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from kexbench.domain.canonical import content_hash
from kexbench.domain.cpu_features import ENVIRONMENTS, CpuFeatures
from kexbench.domain.differences import Difference
from kexbench.domain.dimensions import (
    FALSE_POSITIVE_BITS,
    KINDS,
    NOTHING,
    Cipher,
    ContextUse,
    Dimension,
    Key,
    KeyExchange,
    Kind,
    Method,
    Protocol,
    Resumption,
    Server,
    Tickets,
    TrustStore,
    is_custom_dh,
    written,
)
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import SOURCE_PATTERN, SubjectRef
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.paths import PATH_PATTERN, NetworkPath, canonical_path, parse_path, path_label
from kexbench.domain.possible import EVERY_CONNECTION, USUAL_CONCURRENCY, impossible
from kexbench.domain.strength import has_post_quantum_authentication, has_post_quantum_key_exchange

__all__ = ["NOTHING", "Case", "Cipher", "CpuFeatures", "KeyExchange", "Protocol", "Resumption", "impossible"]

CHAIN_MAX, EARLY_DATA_MAX, THREADS_MAX = 10, 16_384, 256
RELOAD_MAX, SERVER_NAMES_MAX = 1_000_000, 10_000
TRUST_ANCHORS_MAX, TRANSFER_MAX, CONCURRENCY_MAX, REQUESTS_MAX = 1000, 2**24, 32, 1000
PUNCTURES_MAX, FALSE_POSITIVE_BITS_MAX = 100_000, 32
NAMES_MAX, EXTENSION_ENTRIES_MAX, INTERMEDIATE_MAX = 1000, 50, 8192
"""The worker's own limits, except for the punctures: a key for more takes more than a few minutes to make."""
OCSP_MAX = 2**14 - 4
"""What OpenSSL's client accepts in TLS 1.2, after the status type and a length (RFC 6066, section 8)."""
FIRST_FIELDS = ("protocol", "key_exchange", "rsa_bits", "curve", "group", "cipher")
"""The dimensions of every case. Later dimensions are its variation."""
_RESUMED = {
    Resumption.SESSION_ID: "resumed by session id",
    Resumption.TICKET: "resumed by ticket",
    Resumption.PSK: "resumed with PSK",
    Resumption.PSK_DHE: "resumed with PSK and key share",
}
_CONTEXTS = {
    ContextUse.THREAD: "a context for each thread",
    ContextUse.CONNECTION: "a context for each connection",
    ContextUse.POOL: "a pool of contexts",
    ContextUse.LIBRARY: "a library context for each thread",
}
_PEER = rf"^(-|(client|server):({'|'.join(LIBRARIES)})@{SOURCE_PATTERN.strip('^$')})$"


def _tickets_label(tickets: Tickets) -> str:
    return "a session in the server's cache" if tickets is Tickets.CACHED else "the library's tickets"


def _tickets_trait(tickets: Tickets) -> str:
    return "sessions in a cache" if tickets is Tickets.CACHED else "session tickets"


def parse_peer(peer: str) -> tuple[str, SubjectRef]:
    """`server:openssl@system` as the peer's role and its subject. Raises ValueError."""
    role, _, reference = peer.partition(":")
    if role not in ("client", "server"):
        raise ValueError(f"{peer!r} is not a peer; use server:openssl@system or client:gnutls@debian/trixie")
    return role, SubjectRef.parse(reference)


def _known_peer(peer: str) -> str:
    if peer != NOTHING:
        parse_peer(peer)
    return peer


def _peer_part(peer: str) -> str:
    """`server-openssl-debian-trixie`; a hash is appended where meaningful characters are lost."""
    plain = re.sub(r"[^a-z0-9.]+", "-", peer.lower())
    lossless = re.fullmatch(r"[a-z0-9.:@/]+", peer)
    return plain if lossless else f"{plain}-{content_hash(peer, length=6)}"


class Case(Frozen):
    """A kind of handshake to measure. Only possible cases can be constructed: see `impossible`."""

    protocol: Protocol
    key_exchange: KeyExchange
    cipher: Cipher = Cipher.AES_128_GCM
    group: str = Field(NOTHING, description="key exchange group, or - with key exchange RSA and default settings")
    rsa_bits: int = Field(0, ge=0, le=16_384, description="size of the certificate's RSA key in bits, or 0")
    curve: str = Field(NOTHING, description="curve of the certificate's EC key, or -")
    # Each field from here on is a dimension. Ids and labels have them in this order, so add new ones at the end.
    chain_length: Annotated[
        int, Dimension("chain", "chain-{}", "chain of {}", "a chain of {} certificates", rank=2)
    ] = Field(1, ge=1, le=CHAIN_MAX, description="certificates that the server sends")
    client_authentication: Annotated[
        bool, Dimension("client authentication", "client-auth", "client certificate", "a client certificate", rank=3)
    ] = Field(False, description="whether the client sends a certificate too")
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
    ] = Field(False, description="whether the server requests another key share")
    ocsp_bytes: Annotated[
        int,
        Dimension("OCSP", "ocsp-{}", "OCSP response of {:,} bytes", "a stapled OCSP response", rank=4, in_setup=False),
    ] = Field(0, ge=0, le=OCSP_MAX, description="size of the stapled OCSP response, or 0 for none")
    fips: Annotated[bool, Dimension("FIPS", "fips", "FIPS", "FIPS", rank=1)] = Field(
        False, description="whether OpenSSL's FIPS provider does everything, with approved algorithms only"
    )
    threads: Annotated[
        int, Dimension("several threads", "threads-{}", "{} threads", "several threads", rank=9, kind="threads")
    ] = Field(1, ge=1, le=THREADS_MAX, description="threads that make handshakes at the same time")
    cpu_features: Annotated[
        CpuFeatures,
        Dimension("CPU features", "cpu-{}", "CPU features {}", "CPU features {}", rank=0, in_setup=False),
    ] = Field(CpuFeatures.NATIVE, description="CPU features that the library may use")
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
    verification: Annotated[
        bool, Dimension("verification", "verified", "verified", "verification", rank=11, kind="connection")
    ] = Field(
        False,
        description="whether the client verifies the server's chain, host name and time, and the server its client's",
    )
    trust_anchors: Annotated[
        int,
        Dimension("trust anchors", "anchors-{}", "{} trust anchors", "more trust anchors", rank=12, kind="connection"),
    ] = Field(
        1,
        ge=0,
        le=TRUST_ANCHORS_MAX,
        description="root certificates that a verifying side loads; 0: none, only without verification",
    )
    tickets: Annotated[
        Tickets,
        Dimension("tickets", "tickets-{}", _tickets_label, _tickets_trait, rank=13, kind="connection"),
    ] = Field(
        Tickets.NONE,
        description="what a full handshake leaves for later ones: none, the library's default of tickets, or a session "
        "that is cached by the server",
    )
    transfer_bytes: Annotated[
        int,
        Dimension("transfer", "transfer-{}", "transfer of {:,} bytes", "application data", rank=14, kind="connection"),
    ] = Field(
        0,
        ge=0,
        le=TRANSFER_MAX,
        description="application data that the server sends after the handshake, before both sides close; 0 for none",
    )
    context: Annotated[
        ContextUse,
        Dimension("context", "context-{}", _CONTEXTS.__getitem__, _CONTEXTS.__getitem__, rank=15, kind="connection"),
    ] = Field(ContextUse.SHARED, description="what shares configuration, certificate and key")
    server: Annotated[
        Server,
        Dimension("server", "{}", "served by {}", "the web server {}", rank=16, kind="servers", in_setup=False),
    ] = Field(Server.NONE, description="the web server that the library serves in, over sockets, or - for the worker")
    concurrency: Annotated[
        int,
        Dimension(
            "concurrency",
            "concurrency-{}",
            "connections at once: {}",
            "another number of connections at once",
            rank=17,
            kind="servers",
            in_setup=False,
        ),
    ] = Field(
        USUAL_CONCURRENCY,
        ge=1,
        le=CONCURRENCY_MAX,
        description="connections to the web server that are under way at once",
    )
    punctures: Annotated[
        int,
        Dimension(
            "punctures",
            "punctures-{}",
            "a key for {:,} connections",
            "punctured keys",
            rank=18,
            kind="zero-rtt",
            in_setup=False,
        ),
    ] = Field(
        0,
        ge=0,
        le=PUNCTURES_MAX,
        description="connections that a key of Bloom filter encryption is made for, or 0 for other key exchanges",
    )
    false_positive_bits: Annotated[
        int,
        Dimension(
            "false positives",
            "rate-{}",
            "false-positive rate 2^-{}",
            "false-positive rate 2^-{}",
            rank=19,
            kind="zero-rtt",
            in_setup=False,
        ),
    ] = Field(
        FALSE_POSITIVE_BITS,
        ge=1,
        le=FALSE_POSITIVE_BITS_MAX,
        description="how seldom a key that served all its connections refuses one more: at a rate of 2 to the power "
        "of minus this",
    )
    requests_per_connection: Annotated[
        int,
        Dimension(
            "requests",
            "requests-{}",
            "{:,} requests per connection",
            "several requests per connection",
            rank=20,
            kind="servers",
            in_setup=False,
        ),
    ] = Field(
        1,
        ge=1,
        le=REQUESTS_MAX,
        description="HTTP requests that each connection to the web server makes, one after the other; each downloads "
        "the transfer",
    )
    resumed_percent: Annotated[
        int,
        Dimension(
            "resumed share",
            "resumed-{}",
            "resumed in {}% of connections",
            "resumption in some connections",
            rank=21,
            kind="servers",
            in_setup=False,
        ),
    ] = Field(
        EVERY_CONNECTION,
        ge=1,
        le=EVERY_CONNECTION,
        description="percentage of the connections to the web server that resume; the others make full handshakes",
    )
    ecdsa_percent: Annotated[
        int,
        Dimension(
            "hybrid certificates",
            "ecdsa-{}",
            "{}% of connections with ECDSA P-256",
            "an ECDSA certificate beside the RSA one",
            rank=22,
            kind="servers",
            in_setup=False,
        ),
    ] = Field(
        0,
        ge=0,
        le=99,
        description="percentage of the connections to the web server whose clients take its second certificate, by "
        "ECDHE-ECDSA with P-256; the others make the case's key exchange; 0: the server has one certificate",
    )

    certificate_names: Annotated[
        int,
        Dimension(
            "certificate names",
            "names-{}",
            "certificate with {:,} names",
            "more names in the certificate",
            rank=23,
            kind="certificates",
        ),
    ] = Field(
        1,
        ge=1,
        le=NAMES_MAX,
        description="DNS names in the certificate's subjectAltName; the last one is the host that a client verifies",
    )
    certificate_policies: Annotated[
        int,
        Dimension(
            "certificate policies",
            "policies-{}",
            "{} certificate policies",
            "certificate policies",
            rank=24,
            kind="certificates",
        ),
    ] = Field(
        0,
        ge=0,
        le=EXTENSION_ENTRIES_MAX,
        description="policies in the certificate's certificatePolicies, each with the URI of its statement",
    )
    crl_distribution_points: Annotated[
        int,
        Dimension(
            "CRL distribution points",
            "crl-points-{}",
            "{} CRL distribution points",
            "CRL distribution points",
            rank=25,
            kind="certificates",
        ),
    ] = Field(
        0,
        ge=0,
        le=EXTENSION_ENTRIES_MAX,
        description="distribution points in the certificate's cRLDistributionPoints, each with a URI",
    )
    intermediate_bytes: Annotated[
        int,
        Dimension(
            "intermediate size",
            "intermediates-{}",
            "intermediates of {:,} bytes",
            "larger intermediate certificates",
            rank=26,
            kind="certificates",
        ),
    ] = Field(
        0,
        ge=0,
        le=INTERMEDIATE_MAX,
        description="bytes (DER) of each certificate of the chain after the first, or 0 for as many as it needs",
    )

    path: Annotated[
        str,
        BeforeValidator(
            canonical_path, json_schema_input_type=Annotated[str, Field(pattern=PATH_PATTERN)] | NetworkPath
        ),
        Dimension("path", "path-{}", path_label, path_label, rank=27, kind="paths", in_setup=False),
    ] = Field(
        NOTHING,
        description="the emulated path between client and server, whose handshakes are timed beside those in memory: a "
        "preset, numbers such as 50ms-loss-1, or a mapping; - for none",
    )

    trust_store: Annotated[
        TrustStore,
        Dimension(
            "trust store", "trust-{}", "trust anchors from {}", "trust anchors from {}", rank=28, kind="connection"
        ),
    ] = Field(
        TrustStore.FILE,
        description="what a verifying side loads its trust anchors from: one file, or a folder with a file for each, "
        "named by the hash of its subject",
    )
    reload_every: Annotated[
        int,
        Dimension(
            "reload",
            "reload-{}",
            "certificate reloaded every {:,} connections",
            "a certificate that is reloaded",
            rank=29,
            kind="connection",
        ),
    ] = Field(
        0,
        ge=0,
        le=RELOAD_MAX,
        description="connections after which the server's certificate and key are loaded into a new context that "
        "replaces the one in use, among the objects; 0 for never",
    )
    server_names: Annotated[
        int,
        Dimension(
            "server names",
            "server-names-{}",
            "{:,} server names",
            "servers with many names",
            rank=30,
            kind="connection",
        ),
    ] = Field(
        1,
        ge=1,
        le=SERVER_NAMES_MAX,
        description="names of the server, each with a context, key and chain of its own, chosen by the name that the "
        "client asks for; with 1 the client names no server",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if reason := impossible(self):
            raise ValueError(reason)
        return self

    @property
    def case_id(self) -> str:
        """A readable id that is safe in a URL: `tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm`."""
        return _case_id(self)

    @property
    def label(self) -> str:
        """The title for people: `TLS 1.2 ECDHE-RSA, RSA 2048, P-256`; the usual cipher is left out."""
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
        if self.key_exchange.key is Key.BFE:
            return f"{key}-{self.punctures}-{self.false_positive_bits}"
        return key if parameter == NOTHING else f"{key}-{parameter}"

    @property
    def dh_parameters_name(self) -> str | None:
        """The name of the custom Diffie-Hellman parameters, or None when the case has none."""
        return self.group if is_custom_dh(self.group) else None

    @property
    def variation(self) -> dict[str, Any]:
        """The JSON fields beyond FIRST_FIELDS that differ from their defaults."""
        return self.model_dump(mode="json", exclude=set(FIRST_FIELDS), exclude_defaults=True)

    @property
    def leaves_a_choice(self) -> bool:
        """Whether the library decides how much work is done: with default settings, and with a pre-shared key alone in
        TLS 1.3, where its client may make a key share that the server ignores."""
        psk_alone = self.key_exchange.method is Method.PSK and not self.protocol.has_tls_1_2
        return self.protocol is Protocol.DEFAULT or self.resumption is Resumption.PSK or psk_alone

    @property
    def is_whole_connection(self) -> bool:
        """Whether its CPU time is that of a whole connection, not of the handshake: it transfers data, loads a context
        for each connection or reloads a certificate, or has a web server."""
        return (
            self.transfer_bytes > 0 or self.context is ContextUse.CONNECTION or self.reload_every > 0 or self.has_server
        )

    @property
    def ages(self) -> bool:
        """Whether many connections can be made on one context of it, one after the other: one worker plays both roles
        on one thread, and no key is used up."""
        keeps_context = self.context is ContextUse.SHARED and not self.reload_every
        return keeps_context and not (self.has_server or self.peer != NOTHING or self.threads > 1 or self.punctures)

    @property
    def has_server(self) -> bool:
        """Whether the library serves in a web server."""
        return self.server is not Server.NONE

    @property
    def sends_at_once(self) -> bool:
        """Whether its client sends data with the ClientHello, before any answer."""
        return self.early_data_bytes > 0

    @property
    def network_path(self) -> NetworkPath | None:
        """The emulated path, or None where client and server exchange bytes in memory alone."""
        return None if self.path == NOTHING else parse_path(self.path)

    @property
    def ecdsa_case(self) -> Self | None:
        """What the clients negotiate that take the server's second certificate, or None if it has one only."""
        if not self.ecdsa_percent:
            return None
        group = self.group if self.key_exchange.method is Method.ECDHE else "P-256"
        other = {"key_exchange": KeyExchange.ECDHE_ECDSA, "group": group, "rsa_bits": 0, "curve": "P-256"}
        return self.model_copy(update={**other, "ecdsa_percent": 0})

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of the worker besides the kit's own, so that the library sees the CPU of the case."""
        return ENVIRONMENTS[self.cpu_features]

    @property
    def is_countable(self) -> bool:
        """Whether instructions can be counted: one thread plays both roles. With a path they are those in memory."""
        return self.threads == 1 and not self.peer_reference and not self.has_server

    @property
    def has_start(self) -> bool:
        """Whether processes can be started with it: one thread with one context plays both roles in memory."""
        return self.is_countable and self.context is ContextUse.SHARED and self.path == NOTHING

    @property
    def peer_reference(self) -> str | None:
        """The subject of the other side, `openssl@system`, or None where the subject plays both sides."""
        return None if self.peer == NOTHING else str(parse_peer(self.peer)[1])

    @property
    def roles(self) -> str:
        """The roles of the subject: `both`, `client` or `server`."""
        if self.peer == NOTHING:
            return "both"
        return "client" if parse_peer(self.peer)[0] == "server" else "server"

    def setup_fields(self) -> dict[str, str]:
        """The words of the worker's `setup` request, except `id` and the files."""
        values = {name: getattr(self, name) for name in Case.model_fields if name not in _NOT_IN_SETUP}
        words = {
            name: ("no", "yes")[value] if isinstance(value, bool) else str(value) for name, value in values.items()
        }
        return {**words, "roles": self.roles}


DIMENSIONS: Mapping[str, Dimension] = {
    name: row for name, field in Case.model_fields.items() for row in field.metadata if isinstance(row, Dimension)
}
"""The dimensions beyond FIRST_FIELDS, by field."""
_DEFAULTS = {name: Case.model_fields[name].default for name in DIMENSIONS}
_NOT_IN_SETUP = frozenset(name for name, row in DIMENSIONS.items() if not row.in_setup)
_BY_RANK = sorted(DIMENSIONS, key=lambda name: DIMENSIONS[name].rank)


def varied(case: Case) -> Iterator[tuple[Dimension, Any]]:
    """The dimensions in which a case differs from the defaults, each with its value."""
    for name, row in DIMENSIONS.items():
        if (value := getattr(case, name)) != _DEFAULTS[name]:
            yield row, value


_FIRST_NAMES = {
    "protocol": "protocol",
    "key_exchange": "key exchange",
    "rsa_bits": "RSA key bits",
    "curve": "curve of the key",
    "group": "group",
    "cipher": "cipher",
}


def differences(base: Case, other: Case) -> list[Difference]:
    """The dimensions in which two cases differ, in the order of the fields."""
    names = _FIRST_NAMES | {name: row.name for name, row in DIMENSIONS.items()}
    return [
        Difference(what=title, before=_value_text(getattr(base, name)), after=_value_text(getattr(other, name)))
        for name, title in names.items()
        if getattr(base, name) != getattr(other, name)
    ]


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (NOTHING, 0):
        return "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


def kinds_of(case: Case) -> list[Kind]:
    """The kinds that people can filter a case by."""
    kinds = {row.kind for row, _ in varied(case)}
    if has_post_quantum_key_exchange(case) or has_post_quantum_authentication(case):
        kinds.add("post-quantum")
    return [kind for kind in KINDS if kind in kinds] or ["plain"]


@lru_cache(maxsize=4096)
def _case_id(case: Case) -> str:
    """Kept, because every row of a page names its case."""
    key = case.key_name if case.rsa_bits or case.curve != NOTHING else NOTHING
    parts = [part for part in (case.protocol, case.key_exchange, key, case.group, case.cipher) if part != NOTHING]
    return "_".join([*parts, *(written(row.id, value) for row, value in varied(case))]).lower()


@lru_cache(maxsize=4096)
def case_order(case: Case) -> tuple[int | str, ...]:
    """Sorts cases by protocol, key exchange, then numbers as a person would. Variations of a case come after it. Enum
    values keep the order of the enum. Kept, because every page sorts its cells."""
    first = [getattr(case, name) for name in ("protocol", "key_exchange", "rsa_bits", "curve")]
    values = [*first, len(case.group), case.group, case.cipher, *(getattr(case, name) for name in _BY_RANK)]
    return tuple(list(type(value)).index(value) if isinstance(value, Enum) else value for value in values)
