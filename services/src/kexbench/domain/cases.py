"""A case: one point of the matrix. Its dimensions' values are in `dimensions`, its rules in `possible`."""

import re
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kexbench.domain.canonical import content_hash
from kexbench.domain.cpu_features import ENVIRONMENTS, CpuFeatures
from kexbench.domain.dimensions import NOTHING, Cipher, KeyExchange, Method, Protocol, Resumption, is_custom_dh
from kexbench.domain.kits import SubjectRef
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


class Case(BaseModel):
    """One handshake to measure. Construct only possible ones: see `impossible`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    protocol: Protocol
    key_exchange: KeyExchange
    cipher: Cipher = Cipher.AES_128_GCM
    group: str = Field(NOTHING, description="key exchange group, or - with key exchange RSA and default settings")
    rsa_bits: int = Field(0, ge=0, le=16_384, description="size of the certificate's RSA key in bits, or 0")
    curve: str = Field(NOTHING, description="curve of the certificate's EC key, or -")
    chain_length: int = Field(1, ge=1, le=CHAIN_MAX, description="certificates that the server sends")
    client_authentication: bool = Field(False, description="the client shows a certificate as well")
    resumption: Resumption = Resumption.NONE
    early_data_bytes: int = Field(0, ge=0, le=EARLY_DATA_MAX, description="application data in the first flight")
    anti_replay: bool = Field(False, description="the server refuses early data that it may have seen before")
    hello_retry: bool = Field(False, description="the client's key share is of a group the server doesn't take")
    ocsp_bytes: int = Field(0, ge=0, le=OCSP_MAX, description="size of the stapled OCSP response, or 0")
    fips: bool = Field(False, description="OpenSSL's FIPS provider and nothing that is not approved")
    threads: int = Field(1, ge=1, le=THREADS_MAX, description="that share one context")
    cpu_features: CpuFeatures = Field(CpuFeatures.NATIVE, description="what the library may use of the CPU")
    peer: str = Field(
        NOTHING, description="the other side: server: or client: with a subject, or - where both are the subject"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.peer != NOTHING:
            parse_peer(self.peer)
        if reason := impossible(self):
            raise ValueError(reason)
        return self

    @property
    def case_id(self) -> str:
        """A readable identity that is safe in a URL: `tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm`."""
        key = self.key_name if self.rsa_bits or self.curve != NOTHING else NOTHING
        parts = [self.protocol, self.key_exchange, key, self.group, self.cipher, *_id_parts(self)]
        return "_".join(part for part in parts if part != NOTHING).lower()

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
            *_label_parts(self),
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
        written = {
            "protocol": self.protocol,
            "key_exchange": self.key_exchange,
            "cipher": self.cipher,
            "group": self.group,
            "rsa_bits": self.rsa_bits,
            "curve": self.curve,
            "chain_length": self.chain_length,
            "client_authentication": self.client_authentication,
            "resumption": self.resumption,
            "early_data_bytes": self.early_data_bytes,
            "anti_replay": self.anti_replay,
            "hello_retry": self.hello_retry,
            "fips": self.fips,
            "threads": self.threads,
            "roles": self.roles,
        }
        return {key: ("no", "yes")[value] if isinstance(value, bool) else str(value) for key, value in written.items()}


def parse_peer(peer: str) -> tuple[str, SubjectRef]:
    """`server:openssl@system` as the role that the peer plays and the subject that plays it. Raises ValueError."""
    role, _, reference = peer.partition(":")
    if role not in ("client", "server"):
        raise ValueError(f"{peer!r} is no peer; peers look like server:openssl@system or client:gnutls@debian/trixie")
    return role, SubjectRef.parse(reference)


def _id_parts(case: Case) -> list[str]:
    """What differs from the defaults, in a fixed order."""
    parts = {
        f"chain-{case.chain_length}": case.chain_length > 1,
        "client-auth": case.client_authentication,
        str(case.resumption): case.resumption is not Resumption.NONE,
        f"early-{case.early_data_bytes}": case.early_data_bytes > 0,
        "anti-replay": case.anti_replay,
        "hello-retry": case.hello_retry,
        f"ocsp-{case.ocsp_bytes}": case.ocsp_bytes > 0,
        "fips": case.fips,
        f"threads-{case.threads}": case.threads > 1,
        f"cpu-{case.cpu_features}": case.cpu_features is not CpuFeatures.NATIVE,
    }
    peer = [_peer_part(case.peer)] if case.peer != NOTHING else []
    return [*(part for part, differs in parts.items() if differs), *peer]


def _label_parts(case: Case) -> list[str]:
    parts = {
        f"chain of {case.chain_length}": case.chain_length > 1,
        "client certificate": case.client_authentication,
        _RESUMED.get(case.resumption, ""): case.resumption is not Resumption.NONE,
        f"early data of {case.early_data_bytes:,} bytes": case.early_data_bytes > 0,
        "anti-replay": case.anti_replay,
        "HelloRetryRequest": case.hello_retry,
        f"OCSP response of {case.ocsp_bytes:,} bytes": case.ocsp_bytes > 0,
        "FIPS": case.fips,
        f"{case.threads} threads": case.threads > 1,
        f"CPU features {case.cpu_features}": case.cpu_features is not CpuFeatures.NATIVE,
        f"against {' '.join(case.peer.split(':'))}": case.peer != NOTHING,
    }
    return [part for part, differs in parts.items() if differs]


def _peer_part(peer: str) -> str:
    """`server-openssl-debian-trixie`; a hash goes behind where characters that say something are lost."""
    plain = re.sub(r"[^a-z0-9.]+", "-", peer.lower())
    lossless = re.fullmatch(r"[a-z0-9.:@/]+", peer)
    return plain if lossless else f"{plain}-{content_hash(peer, length=6)}"
