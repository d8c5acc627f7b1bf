"""Which cases can exist: the rules of the worker's `case_check`, with reasons for people.

A test drives the worker over a sample of the space and holds the two to each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kexbench.domain.dimensions import (
    CURVES,
    HYBRID_GROUPS,
    ML_DSA_KEYS,
    MLKEM_GROUPS,
    NOTHING,
    PSK_RESUMPTIONS,
    RSA_KEYS,
    Cipher,
    Key,
    Method,
    Protocol,
    Resumption,
    group_fits,
    is_custom_dh,
)

if TYPE_CHECKING:
    from kexbench.domain.cases import Case


Rules = tuple[tuple[bool, str], ...]
"""Whether a case breaks a rule, and the reason."""


def impossible(case: Case) -> str | None:
    """Why no library can perform this case, or None: its parts contradict each other, or TLS lacks one of them."""
    rules = _settings(case) + _keys(case)
    if case.protocol is not Protocol.DEFAULT:
        rules += _tls_1_2(case) if case.protocol is Protocol.TLS_1_2 else _tls_1_3(case)
    return next((reason for broken, reason in rules if broken), None)


def _settings(case: Case) -> Rules:
    defaults = case.key_exchange.method is Method.DEFAULT
    resumed = case.resumption is not Resumption.NONE
    return (
        (
            defaults != (case.protocol is Protocol.DEFAULT) or defaults != (case.cipher is Cipher.DEFAULT),
            "default settings leave protocol, key exchange and cipher open all together, or none of them",
        ),
        (defaults and resumed, "default settings take no resumption"),
        (defaults and case.hello_retry, "default settings take no HelloRetryRequest"),
        (resumed and case.client_authentication, "a resumption shows no certificates (RFC 8446, section 2.2)"),
        (resumed and case.ocsp_bytes > 0, "a resumption shows no certificate to staple an OCSP response to"),
        (resumed and case.hello_retry, "a HelloRetryRequest is measured in full handshakes only"),
        (
            case.early_data_bytes > 0 and case.resumption not in PSK_RESUMPTIONS,
            "early data needs a resumption by psk or psk-dhe (RFC 8446, section 2.3)",
        ),
        (case.anti_replay and case.early_data_bytes == 0, "without early data there is nothing to replay"),
        (case.anti_replay and case.threads > 1, "with anti-replay a session is used once, so by one thread"),
        (case.peer != NOTHING and case.threads > 1, "against a peer handshakes are made in one thread only"),
        (case.peer != NOTHING and resumed, "against a peer only full handshakes are made"),
    )


def _keys(case: Case) -> Rules:
    key = case.key_exchange.key
    ec, rsa = key is Key.ECDSA, key in RSA_KEYS
    group = "no group" if case.group == NOTHING else f"group {case.group}"
    return (
        (
            not group_fits(case.group, case.key_exchange.method),
            f"{case.key_exchange} key exchange can't be done with {group}",
        ),
        (
            case.curve not in (CURVES if ec else (NOTHING,)),
            f"a certificate with an {key} key {'needs a curve' if ec else 'has no curve'}",
        ),
        (
            rsa != (case.rsa_bits > 0),
            f"a certificate with an {key} key {'needs RSA bits' if rsa else 'has no RSA bits'}",
        ),
    )


def _tls_1_2(case: Case) -> Rules:
    method, key = case.key_exchange.method, case.key_exchange.key
    return (
        (
            method is Method.RSA and case.cipher is Cipher.CHACHA20_POLY1305,
            "no cipher suite joins RSA key exchange with CHACHA20-POLY1305 (RFC 7905, section 2)",
        ),
        (
            case.group in HYBRID_GROUPS or case.group in MLKEM_GROUPS,
            f"TLS 1.2 has no group {case.group}: ML-KEM needs TLS 1.3",
        ),
        (key in ML_DSA_KEYS, "TLS 1.2 has no signatures with ML-DSA: they need TLS 1.3"),
        (
            method is Method.DHE and key not in RSA_KEYS,
            f"TLS 1.2 has no cipher suite that joins DHE with an {key} key (RFC 5246, appendix A.5)",
        ),
        (
            case.resumption in PSK_RESUMPTIONS,
            "TLS 1.2 resumes by session-id or ticket (RFC 5246, section 7.3; RFC 5077)",
        ),
        (case.hello_retry, "TLS 1.2 has no HelloRetryRequest (RFC 8446, section 4.1.4, brought it)"),
    )


def _tls_1_3(case: Case) -> Rules:
    return (
        (
            case.key_exchange.method is Method.RSA,
            "TLS 1.3 has no static RSA key exchange (RFC 8446, section 1.2)",
        ),
        (
            is_custom_dh(case.group),
            "TLS 1.3 has no custom DH parameters, only the ffdhe groups (RFC 8446, section 4.2.7)",
        ),
        (case.group == "secp192r1", "TLS 1.3 has no secp192r1 for key exchange (RFC 8446, section 4.2.7)"),
        (case.curve == "secp192r1", "TLS 1.3 has no secp192r1 for signatures (RFC 8446, section 4.2.3)"),
        (
            case.resumption in (Resumption.SESSION_ID, Resumption.TICKET),
            "TLS 1.3 resumes by psk or psk-dhe (RFC 8446, section 2.2)",
        ),
    )
