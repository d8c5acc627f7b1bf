"""A case: one point of the matrix, and the rules that say which points can exist at all."""

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

NOTHING = "-"
"""The value of a dimension that a case does not have, the same word as in the worker's protocol."""


class Protocol(StrEnum):
    TLS_1_2 = "TLSv1.2"
    TLS_1_3 = "TLSv1.3"


class KeyExchange(StrEnum):
    """With TLS 1.3 the part behind the hyphen names the certificate's key."""

    RSA = "RSA"
    DHE_RSA = "DHE-RSA"
    ECDHE_RSA = "ECDHE-RSA"
    ECDHE_ECDSA = "ECDHE-ECDSA"


class Cipher(StrEnum):
    AES_128_GCM = "AES-128-GCM"
    AES_256_GCM = "AES-256-GCM"
    CHACHA20_POLY1305 = "CHACHA20-POLY1305"


EC_GROUPS = ("secp192r1", "P-256", "P-384", "P-521", "X25519")
CURVES = ("secp192r1", "P-256", "P-384", "P-521")
DH_GROUPS = ("ffdhe2048", "ffdhe3072", "ffdhe4096")
DH_BITS = (1024, 1536, 1776, 2048, 2432, 3072)
"""Sizes of custom Diffie-Hellman parameters that are shipped, so that all installations use the same."""
RSA_BITS_MIN, RSA_BITS_MAX = 1024, 8192


def custom_dh_group(dh_bits: int) -> str:
    """The group name of custom (not RFC 7919) Diffie-Hellman parameters."""
    return f"dh-{dh_bits}"


class Case(BaseModel):
    """One handshake to measure. Construct only possible ones: see `impossible`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    protocol: Protocol
    key_exchange: KeyExchange
    cipher: Cipher = Cipher.AES_128_GCM
    group: str = Field(NOTHING, description="key exchange group, or - with key exchange RSA")
    rsa_bits: int = Field(0, description="size of the certificate's RSA key in bits, or 0")
    curve: str = Field(NOTHING, description="curve of the certificate's EC key, or -")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if reason := impossible(self):
            raise ValueError(reason)
        return self

    @property
    def case_id(self) -> str:
        """A readable identity that is safe in a URL: `tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm`."""
        authentication = f"rsa-{self.rsa_bits}" if self.rsa_bits else f"ecdsa-{self.curve}"
        parts = [self.protocol, self.key_exchange, authentication, self.group, self.cipher]
        return "_".join(part for part in parts if part != NOTHING).lower()

    @property
    def label(self) -> str:
        """What a person reads: `TLS 1.2 ECDHE-RSA, RSA 2048, P-256`; the usual cipher is left out."""
        authentication = f"RSA {self.rsa_bits}" if self.rsa_bits else f"ECDSA {self.curve}"
        parts = [f"{self.protocol.replace('TLSv', 'TLS ')} {self.key_exchange}", authentication]
        if self.group != NOTHING:
            parts.append(self.group)
        if self.cipher != Cipher.AES_128_GCM:
            parts.append(self.cipher)
        return ", ".join(parts)

    @property
    def key_name(self) -> str:
        """The name of the certificate's key among the key material."""
        return f"rsa-{self.rsa_bits}" if self.rsa_bits else f"ecdsa-{self.curve}"

    @property
    def dh_parameters_name(self) -> str | None:
        """The name of the custom Diffie-Hellman parameters, or None when the case has none."""
        return self.group if self.group.startswith("dh-") else None


def impossible(case: Case) -> str | None:
    """Why no library can perform this case, or None.

    Static RSA, custom Diffie-Hellman groups and secp192r1 are not part of TLS 1.3 (RFC 8446,
    sections 1.2, 4.2.3 and 4.2.7); RFC 7905 defines no ChaCha20 suite for RSA key exchange.
    """
    if case.protocol is Protocol.TLS_1_3:
        if case.key_exchange is KeyExchange.RSA:
            return "TLS 1.3 has no static RSA key exchange"
        if case.dh_parameters_name:
            return "TLS 1.3 has no custom DH parameters, only the ffdhe groups"
        if "secp192r1" in (case.group, case.curve):
            return "TLS 1.3 has no secp192r1"
    if case.key_exchange is KeyExchange.RSA and case.cipher is Cipher.CHACHA20_POLY1305:
        return "no cipher suite joins RSA key exchange with CHACHA20-POLY1305"
    return None
