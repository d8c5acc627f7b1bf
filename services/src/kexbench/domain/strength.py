"""What a case's handshake protects: its strength part by part, forward secrecy, and what a quantum computer would not
break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kexbench.domain.dimensions import (
    HYBRID_GROUPS,
    ML_DSA_KEYS,
    MLKEM_GROUPS,
    NOTHING,
    RSA_KEYS,
    Cipher,
    Key,
    Method,
    Resumption,
)
from kexbench.domain.security import (
    AUTHORITIES,
    Hash,
    SecurityModel,
    group_security_bits,
    key_security_bits,
    rsa_security_bits,
)

if TYPE_CHECKING:
    from kexbench.domain.cases import Case

Role = Literal["key exchange", "certificate's key", "pre-shared key", "hash of the signature", "cipher"]
LIBRARYS_CHOICE = "the library's choice"
PSK_BITS = 256
"""Of the external pre-shared key, as the material has it."""


@dataclass(frozen=True)
class Part:
    """A part of a handshake with its strength; None where the authority says nothing about it."""

    role: Role
    name: str
    bits: int | None


@dataclass(frozen=True)
class Strength:
    parts: tuple[Part, ...]

    @property
    def bits(self) -> int | None:
        """An attacker breaks the weakest part. None where the authority says nothing about one of them."""
        known = [part.bits for part in self.parts if part.bits is not None]
        return min(known) if len(known) == len(self.parts) else None

    @property
    def weakest(self) -> tuple[Part, ...]:
        """The parts that limit it, or those that the authority says nothing about."""
        return tuple(part for part in self.parts if part.bits == self.bits)


def strength(case: Case, model: SecurityModel) -> Strength:
    """The strength of a case. A resumed case has that of the full handshake which it resumes. A server with two
    certificates is as strong as the weaker kind of its connections.

    A signature is no stronger than its hash (SP 800-57 Part 1 Rev. 5, section 5.6.2 and table 3), and traffic no
    stronger than its cipher. RSA key exchange signs nothing: only who has the key can decrypt the secret. A pre-shared
    key of random bits is as strong as it is long.
    """
    parts = _parts(case, model)
    further = _parts(case.ecdsa_case, model) if case.ecdsa_case else ()
    return Strength(tuple(dict.fromkeys((*parts, *further))))


def _parts(case: Case, model: SecurityModel) -> tuple[Part, ...]:
    exchange = case.key_exchange
    parts = [] if exchange.method is Method.PSK else [_exchange_part(case, model)]
    if exchange.key is Key.PSK:
        parts.append(Part("pre-shared key", f"{PSK_BITS} bits", PSK_BITS))
    elif exchange.method not in (Method.RSA, Method.BFE):
        name = " ".join([exchange.key, str(case.rsa_bits or case.curve)]).removesuffix(f" {NOTHING}")
        parts.append(Part("certificate's key", name, key_security_bits(model, exchange.key, case.rsa_bits, case.curve)))
    if used := signature_hash(case):
        parts.append(Part("hash of the signature", used, AUTHORITIES[model].hashes.get(used)))
    cipher = LIBRARYS_CHOICE if case.cipher is Cipher.DEFAULT else case.cipher
    return (*parts, Part("cipher", cipher, AUTHORITIES[model].ciphers.get(case.cipher)))


def _exchange_part(case: Case, model: SecurityModel) -> Part:
    if case.key_exchange.method is Method.RSA:
        return Part("key exchange", f"RSA {case.rsa_bits}", rsa_security_bits(model, case.rsa_bits))
    name = LIBRARYS_CHOICE if case.key_exchange.method is Method.DEFAULT else case.group
    return Part("key exchange", name, group_security_bits(model, case.group))


def signature_hash(case: Case) -> Hash | None:
    """The hash of the handshake's signature, where a key could have several: the worker's `case_signature`. A test
    compares both. None for keys that hash themselves, and with RSA key exchange, which signs nothing."""
    method, key = case.key_exchange.method, case.key_exchange.key
    if method in (Method.RSA, Method.DEFAULT) or key not in (*RSA_KEYS, Key.ECDSA):
        return None
    return {"P-384": Hash.SHA_384, "P-521": Hash.SHA_512}.get(case.curve, Hash.SHA_256)


def is_forward_secret(case: Case) -> bool | None:
    """Whether recorded traffic stays secret once long-lived keys leak: the certificate's, and what resumes sessions.

    RSA key exchange is not (RFC 9325, section 4.1), nor a pre-shared key alone (RFC 4279, section 7.1; RFC 8446,
    section 2.2), nor are resumptions without a new key share (RFC 8446, section 2.2; in TLS 1.2 they reuse the master
    secret, RFC 9325, section 7.3) and early data (RFC 8446, section 2.3). Early data of BFE-0RTT-1 is, since the server
    punctures its key before it decrypts them. None where the library chooses the protocol."""
    if case.key_exchange.method is Method.DEFAULT:
        return None
    if case.key_exchange.method is Method.BFE:
        return True
    shared_anew = case.resumption in (Resumption.NONE, Resumption.PSK_DHE)
    return case.key_exchange.method not in (Method.RSA, Method.PSK) and shared_anew and case.early_data_bytes == 0


def has_post_quantum_key_exchange(case: Case) -> bool:
    """Whether ML-KEM keeps traffic secret that is recorded today. An external pre-shared key would too, without it."""
    return case.group in (*HYBRID_GROUPS, *MLKEM_GROUPS)


def has_post_quantum_authentication(case: Case) -> bool:
    """Whether nobody can pose as the server. This matters only once there is a quantum computer."""
    return case.key_exchange.key in ML_DSA_KEYS
