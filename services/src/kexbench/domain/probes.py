"""The capabilities of a kit's worker: features, each proven by a handshake, and the library's defaults.

A probe tries a list of cases, so a feature needs no name of its own: it is a field of a case and the field's value.
Times in a probe come from a single attempt and are not measurements.
"""

from typing import Literal

from pydantic import Field

from kexbench.domain.cases import Case, Cipher, KeyExchange, Protocol, Resumption
from kexbench.domain.dimensions import CERTIFICATE_KEYS, RSA_KEYS, Key, Method, group_fits
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.libraries import LIBRARIES
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
_OLDER_CIPHERS = (
    (Cipher.AES_128_CBC_SHA, "P-256"),
    (Cipher.AES_256_CBC_SHA, "P-256"),
    (Cipher.AES_128_CBC_SHA256, "P-256"),
    (Cipher.AES_256_CBC_SHA256, "ffdhe2048"),
    (Cipher.AES_256_CBC_SHA384, "P-256"),
)
"""Of TLS 1.2, each with a group that its suites have."""
_RSA_BITS, _CURVE = 2048, "P-256"
_BYTES = 1024
_PUNCTURES = 20
"""A key that is made in a moment, with room for the handshakes of a probe."""


class ProbeFailed(Exception):
    """A worker that can't be probed: it doesn't start, or keeps ending."""


class ProbeCutShort(ProbeFailed):
    """The worker was ended from outside, for example by deleting its pod. That says nothing about the kit."""


class Finding(Frozen):
    """The result of trying a case."""

    case_id: str
    result: Literal["supported"] | OutcomeKind
    reason: str | None = Field(None, description="why it isn't supported")
    detail: str | None = Field(None, description="the library's own error text")

    @property
    def supported(self) -> bool:
        return self.result == "supported"

    @property
    def why(self) -> str:
        """The reason for people, with the library's own text."""
        return ": ".join(text for text in (self.reason, self.detail) if text) or self.result


class Feature(Finding):
    """Whether a library supports a feature: the value `value` of the case's field `dimension`."""

    dimension: Dimension
    value: str

    @property
    def label(self) -> str:
        """The title for people: `X25519`, `RSA-PSS`, `early data`, `FIPS`."""
        if self.dimension == "key_exchange":
            return KeyExchange(self.value).key
        words = {"early_data_bytes": "early data", "ocsp_bytes": "OCSP stapling", "fips": "FIPS"}
        return words.get(self.dimension, self.value)


class DefaultHandshake(Finding):
    """What the library does if only the certificate is given. Numbers are null where it isn't supported."""

    negotiated: Negotiated | None = None
    client_bytes: float | None = Field(None, ge=0, description="on the wire, mean of some handshakes")
    server_bytes: float | None = Field(None, ge=0, description="on the wire, mean of some handshakes")
    round_trips: float | None = Field(None, ge=0, description="before the client may send application data")
    setup_cpu_ns: float | None = Field(
        None, ge=0, description="of setting the case up with its first handshake; median of a few"
    )


class KitProbe(Frozen):
    """What a kit's worker did on one machine. It is not part of the kit's identity."""

    format_version: Literal[1] = 1
    library: Library
    version: str = Field(description="as the worker says")
    features: tuple[Feature, ...]
    defaults: tuple[DefaultHandshake, ...]

    def of(self, case: Case) -> Finding:
        """The result of a case. Raises StopIteration for a case that was not tried."""
        return next(feature for feature in self.features if feature.case_id == case.case_id)


def _case(protocol: Protocol = Protocol.TLS_1_3, key: Key = Key.RSA, group: str = "P-256", **more: object) -> Case:
    """A full handshake with features of every library, except for the given ones."""
    method = next(method for method in Method if group_fits(group, method))
    certificate = {"rsa_bits": _RSA_BITS} if key in RSA_KEYS else {}
    curve = {"curve": _CURVE} if key is Key.ECDSA else {}
    fields = {"protocol": protocol, "key_exchange": f"{method}-{key}", "group": group}
    return Case.model_validate({**fields, **certificate, **curve, **more})


FULL_HANDSHAKES = (_case(Protocol.TLS_1_2), _case(Protocol.TLS_1_3))
"""Of TLS libraries."""
_BFE = Case(
    protocol=Protocol.BFE_0RTT,
    key_exchange=KeyExchange.BFE,
    group="BLS12-381",
    early_data_bytes=_BYTES,
    punctures=_PUNCTURES,
)


def full_handshakes(library: Library) -> tuple[Case, ...]:
    """The handshakes that a kit must support to be admitted."""
    protocol = LIBRARIES[library].only_protocol
    return FULL_HANDSHAKES if protocol is None else (_BFE if protocol is Protocol.BFE_0RTT else _case(protocol),)


DEFAULTS = tuple(
    Case(protocol=Protocol.DEFAULT, key_exchange=key_exchange, cipher=Cipher.DEFAULT, rsa_bits=bits, curve=curve)
    for key_exchange, bits, curve in (
        (KeyExchange.DEFAULT_RSA, _RSA_BITS, "-"),
        (KeyExchange.DEFAULT_ECDSA, 0, _CURVE),
    )
)


def defaults(library: Library) -> tuple[Case, ...]:
    """The cases that leave everything but the certificate to the library."""
    return DEFAULTS if LIBRARIES[library].only_protocol is None else ()


def tried(library: Library = "openssl", *, fips: bool) -> tuple[tuple[Dimension, Case], ...]:
    """The features to probe, each as its field and the case that proves it."""
    only = LIBRARIES[library].only_protocol
    if only is Protocol.BFE_0RTT:
        return (("protocol", _BFE),)
    usual, tls_1_2, psk_dhe = only or Protocol.TLS_1_3, Protocol.TLS_1_2, Resumption.PSK_DHE
    older = (Resumption.SESSION_ID, Resumption.TICKET) if only is None else ()
    older_ciphers = _OLDER_CIPHERS if only is None else ()
    cases: list[tuple[Dimension, Case]] = [("protocol", case) for case in full_handshakes(library)]
    cases += [("group", _case(usual, group=group)) for group in _GROUPS]
    cases += [("key_exchange", _case(usual, key=key)) for key in CERTIFICATE_KEYS]
    cases += [("cipher", _case(usual, cipher=cipher)) for cipher in _CIPHERS]
    cases += [("cipher", _case(tls_1_2, group=group, cipher=cipher)) for cipher, group in older_ciphers]
    cases += [("resumption", _case(tls_1_2, resumption=kind)) for kind in older]
    cases += [("resumption", _case(usual, resumption=kind)) for kind in (Resumption.PSK, psk_dhe)]
    # GnuTLS accepts early data only with anti-replay.
    guarded = LIBRARIES[library].anti_replay
    cases.append(("early_data_bytes", _case(usual, resumption=psk_dhe, early_data_bytes=_BYTES, anti_replay=guarded)))
    cases.append(("ocsp_bytes", _case(usual, ocsp_bytes=_BYTES)))
    if fips:
        cases.append(("fips", _case(fips=True)))
    return tuple(cases)
