"""Handshakes by their strength, as pages and commands show them."""

from datetime import datetime

from pydantic import Field

from kexbench.answers.shapes import CaseView
from kexbench.domain.dimensions import Cipher, Key
from kexbench.domain.frozen import Frozen
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.security import SecurityModel
from kexbench.domain.strength import (
    Role,
)
from kexbench.domain.upgrades import CellVerdict


class ModelView(Frozen):
    """An authority's view of what is how strong."""

    model: SecurityModel
    title: str = Field(examples=["NIST"])
    sources: list[str]


class SizesView(Frozen):
    """The weakest sizes that reach a level, in either protocol; empty where no size does."""

    level_bits: int
    rsa_bits: int | None
    dh_groups: list[str] = Field(description="the second one, if any, is for TLS 1.3")
    ecdhe_groups: list[str]
    mlkem_groups: list[str]
    curves: list[str] = Field(description="of ECDSA certificates")
    keys: list[Key] = Field(description="other keys of certificates")
    cipher: Cipher | None


class PartStrength(Frozen):
    role: Role
    name: str = Field(examples=["RSA 3072"])
    bits: int | None = Field(description="null where the authority says nothing about it")


class HandshakeView(Frozen):
    """One measured handshake: its strength and its cost."""

    case: CaseView
    bits: int | None = Field(description="the strength of its weakest part; null if one is unknown")
    parts: list[PartStrength]
    limited_by: str = Field(
        description="the weakest parts in words, or what the authority says nothing about",
        examples=["P-256 and AES-128-GCM"],
    )
    forward_secret: bool
    post_quantum_key_exchange: bool
    post_quantum_authentication: bool
    cost: Estimate
    against_rsa: Ratio | None = Field(
        description="cost relative to the level's RSA key exchange; null without one in the same run"
    )
    verdict: CellVerdict | None = Field(description="of that ratio")
    resolves: float | None = Field(description="smallest detectable difference, as a share; null without a verdict")
    not_compared: str | None = Field(description="why there is no ratio, in words")
    run_id: str
    measured_at: datetime


class LevelView(Frozen):
    """One level of security, with the measured handshakes of this strength, cheapest first."""

    level_bits: int
    sizes: SizesView
    cheapest: str = Field(description="the cheapest handshake with this strength or more and forward secrecy")
    forward_secrecy_adds: str = Field(description="its cost relative to RSA key exchange")
    cheapest_case: str | None
    rsa_case: str | None = Field(description="the RSA key exchange that this level is compared with")
    rsa_title: str | None = Field(examples=["TLS 1.2 RSA, RSA 3072"])
    missing: str | None = Field(description="how to measure this level, if it lacks a handshake that an answer needs")
    handshakes: list[HandshakeView]
