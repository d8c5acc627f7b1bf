"""What a kit's worker was found to do: features, each proven by a handshake, and what the library does by default.

What is tried is a list of cases, so that a feature has no name or rule of its own: it is a field of a case and that
field's value. What a probe tells of time is a single look and no measurement.
"""

from typing import Literal

from pydantic import Field

from kexbench.domain.cases import Case, Cipher, KeyExchange, Protocol, Resumption
from kexbench.domain.dimensions import RSA_KEYS, Key, Method, group_fits
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.samples import Negotiated, OutcomeKind

Dimension = Literal[
    "protocol", "group", "key_exchange", "cipher", "resumption", "early_data_bytes", "ocsp_bytes", "fips"
]
"""The field of a case that a feature is about."""
_GROUPS = (
    *("P-256", "P-384", "P-521", "X25519", "X448", "ffdhe2048"),
    *("X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024", "MLKEM768", "MLKEM1024"),
)
_CIPHERS = (Cipher.AES_128_GCM, Cipher.AES_256_GCM, Cipher.CHACHA20_POLY1305)
_RSA_BITS, _CURVE = 2048, "P-256"
_BYTES = 1024


class ProbeFailed(Exception):
    """A worker that can't be asked: it doesn't start, or keeps ending."""


class ProbeCutShort(ProbeFailed):
    """Somebody outside ended the worker, for example by deleting its pod. That says nothing about the kit."""


class Finding(Frozen):
    """What came of trying a case."""

    case_id: str
    result: Literal["supported"] | OutcomeKind
    reason: str | None = Field(None, description="why it isn't supported")
    detail: str | None = Field(None, description="the library's own error text")

    @property
    def supported(self) -> bool:
        return self.result == "supported"

    @property
    def why(self) -> str:
        """The reason with the library's own words, for people."""
        return ": ".join(text for text in (self.reason, self.detail) if text) or self.result


class Feature(Finding):
    """Whether a library can do something. `value` is that of the case's field `dimension`."""

    dimension: Dimension
    value: str

    @property
    def label(self) -> str:
        """What a person reads: `X25519`, `RSA-PSS`, `early data`, `FIPS`."""
        if self.dimension == "key_exchange":
            return KeyExchange(self.value).key
        words = {"early_data_bytes": "early data", "ocsp_bytes": "OCSP stapling", "fips": "FIPS"}
        return words.get(self.dimension, self.value)


class DefaultHandshake(Finding):
    """What the library does when nothing but the certificate is given. Numbers are null where it isn't supported."""

    negotiated: Negotiated | None = None
    client_bytes: float | None = Field(None, ge=0, description="on the wire, mean of some handshakes")
    server_bytes: float | None = Field(None, ge=0, description="on the wire, mean of some handshakes")
    round_trips: float | None = Field(None, ge=0, description="before the client may send application data")
    setup_cpu_ns: float | None = Field(
        None, ge=0, description="of setting the case up with its first handshake; median of a few"
    )


class KitProbe(Frozen):
    """What one kit's worker did on one machine. No part of the kit's identity."""

    format_version: Literal[1] = 1
    library: Library
    version: str = Field(description="as the worker says")
    features: tuple[Feature, ...]
    defaults: tuple[DefaultHandshake, ...]

    def of(self, case: Case) -> Finding:
        """What came of a case that was tried. Raises StopIteration for any other."""
        return next(found for found in self.features if found.case_id == case.case_id)


def _case(protocol: Protocol = Protocol.TLS_1_3, key: Key = Key.RSA, group: str = "P-256", **more: object) -> Case:
    """A full handshake with what every library has, but for what is asked for."""
    method = next(method for method in Method if group_fits(group, method))
    certificate = {"rsa_bits": _RSA_BITS} if key in RSA_KEYS else {}
    curve = {"curve": _CURVE} if key is Key.ECDSA else {}
    fields = {"protocol": protocol, "key_exchange": f"{method}-{key}", "group": group}
    return Case.model_validate({**fields, **certificate, **curve, **more})


FULL_HANDSHAKES = (_case(Protocol.TLS_1_2), _case(Protocol.TLS_1_3))
"""What every kit has to make before it is admitted."""
DEFAULTS = tuple(
    Case(protocol=Protocol.DEFAULT, key_exchange=key_exchange, cipher=Cipher.DEFAULT, rsa_bits=bits, curve=curve)
    for key_exchange, bits, curve in (
        (KeyExchange.DEFAULT_RSA, _RSA_BITS, "-"),
        (KeyExchange.DEFAULT_ECDSA, 0, _CURVE),
    )
)


def tried(*, fips: bool) -> tuple[tuple[Dimension, Case], ...]:
    """Every feature that is looked for, as the field that it is about and the case that proves it."""
    tls_1_2, psk_dhe = Protocol.TLS_1_2, Resumption.PSK_DHE
    found: list[tuple[Dimension, Case]] = [("protocol", case) for case in FULL_HANDSHAKES]
    found += [("group", _case(group=group)) for group in _GROUPS]
    found += [("key_exchange", _case(key=key)) for key in Key]
    found += [("cipher", _case(cipher=cipher)) for cipher in _CIPHERS]
    found += [("resumption", _case(tls_1_2, resumption=kind)) for kind in (Resumption.SESSION_ID, Resumption.TICKET)]
    found += [("resumption", _case(resumption=kind)) for kind in (Resumption.PSK, psk_dhe)]
    # GnuTLS takes early data only so.
    found.append(("early_data_bytes", _case(resumption=psk_dhe, early_data_bytes=_BYTES, anti_replay=True)))
    found.append(("ocsp_bytes", _case(ocsp_bytes=_BYTES)))
    if fips:
        found.append(("fips", _case(fips=True)))
    return tuple(found)
