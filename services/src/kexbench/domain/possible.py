"""Which cases are possible: the rules of the worker's `case_check`, with reasons for people.

A test compares these rules with the worker over a sample of cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kexbench.domain.dimensions import (
    CURVES,
    DH_GROUPS,
    FALSE_POSITIVE_BITS,
    HYBRID_GROUPS,
    ML_DSA_KEYS,
    MLKEM_GROUPS,
    NOTHING,
    PSK_RESUMPTIONS,
    RSA_KEYS,
    Cipher,
    ContextUse,
    Key,
    KeyExchange,
    Method,
    Protocol,
    Resumption,
    Server,
    Tickets,
    TrustStore,
    group_fits,
    is_custom_dh,
)
from kexbench.domain.paths import DATAGRAM_BYTES, DATAGRAM_HEADERS_BYTES, NetworkPath

if TYPE_CHECKING:
    from kexbench.domain.cases import Case

USUAL_CONCURRENCY = 8
QUIC_EARLY_DATA_MAX = 10_260
"""The worker's own limit (EARLY_WINDOW_BYTES): a first congestion window of RFC 9002, section 7.2."""
EVERY_CONNECTION = 100
"""The percentage of connections that resume where a case has a resumption and says no more."""
POOL_THREADS = 4
"""That share a context of a pool, which has two of them at least (case_contexts of the worker)."""
HYBRID_KEY_EXCHANGES = (KeyExchange.RSA, KeyExchange.DHE_RSA, KeyExchange.ECDHE_RSA)
"""What clients can negotiate with the RSA certificate of a server that has an ECDSA one too."""
HAPROXY_BYTES = 15_360
"""Its buffer of 16 KiB, less what it reserves for headers."""

Rules = tuple[tuple[bool, str], ...]
"""Whether a case breaks a rule, and the reason."""


def impossible(case: Case) -> str | None:
    """Why a case is impossible, or None. Its parts contradict each other, or TLS lacks one of them."""
    if case.protocol is Protocol.BFE_0RTT or case.key_exchange.method is Method.BFE:
        return next((reason for broken, reason in _bfe(case) if broken), None)
    rules = _settings(case) + _connection(case) + _keys(case) + _server(case) + _path(case) + _without_bfe(case)
    if case.key_exchange.key is Key.PSK:
        rules += _psk(case)
    if case.protocol is not Protocol.DEFAULT:
        rules += _tls_1_2(case) if case.protocol.has_tls_1_2 else _tls_1_3(case)
    if case.protocol.is_dtls:
        rules += _dtls(case)
    if case.protocol is Protocol.QUIC_V1:
        rules += _quic(case)
    return next((reason for broken, reason in rules if broken), None)


def _quic(case: Case) -> Rules:
    return (
        (
            case.early_data_bytes > QUIC_EARLY_DATA_MAX,
            f"QUIC has at most {QUIC_EARLY_DATA_MAX:,} bytes of early data, its first congestion window",
        ),
        (case.transfer_bytes > 0, "QUIC is measured without a transfer after the handshake"),
        (case.fips, "QUIC is measured without FIPS"),
        (case.peer != NOTHING, "QUIC is measured without a peer: the subject plays both sides"),
        (case.key_exchange.key is Key.PSK, "QUIC is measured with certificates"),
        (case.server is not Server.NONE, f"{case.server} is measured without QUIC"),
    )


def _dtls(case: Case) -> Rules:
    return (
        (case.early_data_bytes > 0, "DTLS is measured without early data"),
        (case.hello_retry, "DTLS is measured without another HelloRetryRequest than that of its cookie"),
        (case.tickets is not Tickets.NONE, "DTLS is measured with tickets only for a resumption"),
        (case.transfer_bytes > 0, "DTLS is measured without a transfer after the handshake"),
        (case.peer != NOTHING, "DTLS is measured without a peer: the subject plays both sides"),
        (case.server is not Server.NONE, f"{case.server} is measured without DTLS"),
        (case.path != NOTHING, "DTLS is measured in memory, without a path"),
    )


def _psk(case: Case) -> Rules:
    return (
        (case.resumption is not Resumption.NONE, "an external pre-shared key is measured in full handshakes only"),
        (case.tickets is not Tickets.NONE, "an external pre-shared key is measured without tickets"),
        (case.hello_retry, "an external pre-shared key is measured without HelloRetryRequest"),
        (
            case.client_authentication
            or case.verification
            or case.ocsp_bytes > 0
            or case.chain_length > 1
            or case.certificate_names > 1
            or case.certificate_policies > 0
            or case.crl_distribution_points > 0
            or case.server_names > 1,
            "an external pre-shared key stands in place of certificates (RFC 4279, section 2; RFC 8446, section 2.2)",
        ),
        (case.server is not Server.NONE, f"{case.server} is measured with certificates"),
        (
            not case.protocol.has_tls_1_2 and case.cipher is Cipher.AES_256_GCM,
            "the pre-shared key's hash is SHA-256, and TLS 1.3 has AES-256-GCM with SHA-384 only (RFC 8446, B.4)",
        ),
    )


def _bfe(case: Case) -> Rules:
    return (
        (
            case.protocol is not Protocol.BFE_0RTT or case.key_exchange.method is not Method.BFE,
            "protocol BFE-0RTT-1 and key exchange BFE need each other",
        ),
        (
            case.cipher is not Cipher.AES_128_GCM
            or not group_fits(case.group, case.key_exchange.method)
            or case.rsa_bits > 0
            or case.curve != NOTHING,
            "BFE-0RTT-1 has the cipher AES-128-GCM and the group BLS12-381 only",
        ),
        (case.punctures == 0, "BFE key exchange needs punctures: the connections that its key is made for"),
        (
            case.resumption is not Resumption.NONE
            or case.tickets is not Tickets.NONE
            or case.context is not ContextUse.SHARED
            or case.peer != NOTHING
            or case.server is not Server.NONE
            or case.path != NOTHING
            or case.concurrency != USUAL_CONCURRENCY
            or case.resumed_percent != EVERY_CONNECTION
            or case.trust_store is not TrustStore.FILE
            or case.reload_every > 0
            or case.server_names > 1
            or any((case.client_authentication, case.anti_replay, case.hello_retry, case.fips, case.verification))
            or any((case.ocsp_bytes, case.transfer_bytes, case.ecdsa_percent))
            or any((case.certificate_policies, case.crl_distribution_points, case.intermediate_bytes))
            or any(
                count != 1
                for count in (
                    *(case.chain_length, case.threads, case.trust_anchors, case.requests_per_connection),
                    case.certificate_names,
                )
            ),
            "BFE-0RTT-1 varies in early data, punctures and false-positive rate only",
        ),
    )


def _without_bfe(case: Case) -> Rules:
    return (
        (case.punctures > 0, "punctures need BFE key exchange"),
        (case.false_positive_bits != FALSE_POSITIVE_BITS, "a false-positive rate needs BFE key exchange"),
    )


def _settings(case: Case) -> Rules:
    defaults = case.key_exchange.method is Method.DEFAULT
    resumed = case.resumption is not Resumption.NONE
    return (
        (
            defaults != (case.protocol is Protocol.DEFAULT) or defaults != (case.cipher is Cipher.DEFAULT),
            "protocol, key exchange and cipher must be default together, or none of them",
        ),
        (defaults and resumed, "default settings allow no resumption"),
        (defaults and case.hello_retry, "default settings allow no HelloRetryRequest"),
        (resumed and case.client_authentication, "a resumption sends no certificates (RFC 8446, section 2.2)"),
        (resumed and case.ocsp_bytes > 0, "a resumption sends no certificate to staple an OCSP response to"),
        (resumed and case.hello_retry, "a HelloRetryRequest is measured only in full handshakes"),
        (
            case.early_data_bytes > 0 and case.resumption not in PSK_RESUMPTIONS,
            "early data needs resumption psk or psk-dhe (RFC 8446, section 2.3)",
        ),
        (case.anti_replay and case.early_data_bytes == 0, "anti-replay needs early data"),
        (case.anti_replay and case.threads > 1, "anti-replay allows one thread, since a session is used once"),
        (case.peer != NOTHING and case.threads > 1, "a peer allows one thread only"),
        (case.peer != NOTHING and resumed, "a peer allows full handshakes only"),
    )


def _connection(case: Case) -> Rules:
    resumed = case.resumption is not Resumption.NONE
    tickets, peer = case.tickets is not Tickets.NONE, case.peer != NOTHING
    return (
        (case.trust_anchors > 1 and not case.verification, "trust anchors need verification"),
        (
            case.trust_anchors == 0 and case.verification,
            "verification needs a trust anchor: without any, no handshake is possible",
        ),
        (case.reload_every > 0 and resumed, "a reloaded certificate needs full handshakes"),
        (
            case.reload_every > 0 and (case.threads > 1 or case.context is not ContextUse.SHARED),
            "a reloaded certificate needs one thread and a shared context",
        ),
        (
            case.reload_every > 0 and (peer or case.server is not Server.NONE or case.path != NOTHING),
            "a certificate is reloaded only in memory, where one worker plays both sides",
        ),
        (case.server_names > 1 and resumed, "several server names need full handshakes"),
        (
            case.server_names > 1 and (case.threads > 1 or case.context is not ContextUse.SHARED),
            "several server names need one thread and a shared context",
        ),
        (
            case.server_names > 1 and (peer or case.server is not Server.NONE or case.path != NOTHING),
            "a server has several names only in memory, where one worker plays both sides",
        ),
        (case.server_names > 1 and case.reload_every > 0, "a certificate is reloaded where the server has one name"),
        (case.trust_store is not TrustStore.FILE and not case.verification, "a trust store needs verification"),
        (
            case.trust_store is not TrustStore.FILE and case.server is not Server.NONE,
            f"{case.server} is measured with a file of trust anchors",
        ),
        (
            case.intermediate_bytes > 0 and case.chain_length == 1,
            "a size of intermediate certificates needs a chain of at least 2 certificates",
        ),
        (resumed and case.verification, "a resumption sends no certificates to verify (RFC 8446, section 2.2)"),
        (
            case.verification and case.ocsp_bytes > 0 and case.chain_length == 1,
            "a verified chain with a stapled OCSP response needs a chain of at least 2 certificates",
        ),
        (resumed and tickets, "the tickets of a resumption are part of it"),
        (resumed and case.context is not ContextUse.SHARED, "a resumption needs a shared context"),
        (tickets and case.protocol is Protocol.DEFAULT, "default settings already issue the library's tickets"),
        (case.anti_replay and case.transfer_bytes > 0, "anti-replay allows no transfer after the handshake"),
        (
            case.context in (ContextUse.THREAD, ContextUse.LIBRARY) and case.threads == 1,
            "a context for each thread needs several threads",
        ),
        (
            case.context is ContextUse.POOL and case.threads < POOL_THREADS,
            f"a pool of contexts needs at least {POOL_THREADS} threads",
        ),
        (peer and tickets, "a peer allows no tickets"),
        (peer and case.transfer_bytes > 0, "a peer allows no transfer"),
        (peer and case.context is not ContextUse.SHARED, "a peer allows only a shared context"),
    )


def _server(case: Case) -> Rules:
    if case.server is Server.NONE:
        return (
            (case.concurrency != USUAL_CONCURRENCY, "connections at once need a server"),
            (case.requests_per_connection > 1, "requests need a server"),
            (case.resumed_percent != EVERY_CONNECTION, "a share of resumed connections needs a server"),
            (case.ecdsa_percent > 0, "a second certificate needs a server"),
        )
    return (
        (case.protocol is Protocol.DEFAULT, f"{case.server} has default settings of its own, not the library's"),
        (case.threads > 1, "a server allows one thread; concurrency says how many connections it has at once"),
        (case.peer != NOTHING, "a server allows no peer: the subject plays both sides"),
        (case.client_authentication, "a server is measured without client authentication"),
        (case.early_data_bytes > 0, "a server is measured without early data"),
        (case.hello_retry, "a server is measured without HelloRetryRequest"),
        (case.ocsp_bytes > 0, "a server is measured without OCSP response"),
        (case.fips, "a server is measured without FIPS"),
        (case.context is not ContextUse.SHARED, "a server allows only a shared context"),
        (case.tickets is not Tickets.NONE, "a server allows tickets only for a resumption"),
        (
            case.resumption is Resumption.PSK,
            f"{case.server} resumes TLS 1.3 sessions with a key share only: use psk-dhe",
        ),
        (
            case.protocol is Protocol.TLS_1_2 and case.group in DH_GROUPS,
            f"{case.server} takes Diffie-Hellman parameters of TLS 1.2 from a file: use custom ones",
        ),
        (
            case.resumed_percent != EVERY_CONNECTION and case.resumption is Resumption.NONE,
            "a share of resumed connections needs a resumption",
        ),
        (
            case.ecdsa_percent > 0 and case.key_exchange not in HYBRID_KEY_EXCHANGES,
            f"a second certificate is measured with {', '.join(HYBRID_KEY_EXCHANGES)}, not with {case.key_exchange}",
        ),
        (
            case.server is Server.HAPROXY and case.ecdsa_percent > 0,
            "haproxy is measured with one certificate: use nginx or httpd",
        ),
        (
            case.server is Server.HAPROXY and case.transfer_bytes > HAPROXY_BYTES,
            f"haproxy answers from one buffer, with at most {HAPROXY_BYTES:,} bytes",
        ),
    )


def _path(case: Case) -> Rules:
    if case.path == NOTHING:
        return ()
    return (
        *_quic_path(case),
        (case.threads > 1, "a path allows one thread; its connections are under way at once all the same"),
        (case.peer != NOTHING, "a path allows no peer: the subject plays both sides"),
        (case.server is not Server.NONE, f"{case.server} is measured without a path"),
        (case.context is not ContextUse.SHARED, "a path allows only a shared context"),
        (
            case.anti_replay and case.protocol is not Protocol.QUIC_V1,
            "a path allows no anti-replay but in QUIC, since all its connections resume one session",
        ),
    )


def _quic_path(case: Case) -> Rules:
    path, least = case.network_path, DATAGRAM_BYTES + DATAGRAM_HEADERS_BYTES
    if path is None or case.protocol is not Protocol.QUIC_V1:
        return ()
    usual = NetworkPath.model_fields["initial_window"].default
    return (
        (path.mtu < least, f"QUIC needs a path with an MTU of at least {least:,} bytes"),
        (path.initial_window != usual, "QUIC takes no initialWindow, which is TCP's: its library has its own"),
    )


def _keys(case: Case) -> Rules:
    key = case.key_exchange.key
    ec, rsa = key is Key.ECDSA, key in RSA_KEYS
    group = "no group" if case.group == NOTHING else f"group {case.group}"
    return (
        (
            not group_fits(case.group, case.key_exchange.method),
            f"{case.key_exchange} key exchange does not work with {group}",
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
    exchange = case.key_exchange if key is Key.PSK else method
    return (
        (
            method is Method.RSA and case.cipher is Cipher.CHACHA20_POLY1305,
            "TLS 1.2 has no cipher suite with RSA key exchange and CHACHA20-POLY1305 (RFC 7905, section 2)",
        ),
        (
            case.cipher
            is (Cipher.AES_256_CBC_SHA256 if method is Method.ECDHE or key is Key.PSK else Cipher.AES_256_CBC_SHA384),
            f"TLS 1.2 has no cipher suite with {exchange} key exchange and {case.cipher} (RFC 5246, 5289, 5487)",
        ),
        (
            case.group in HYBRID_GROUPS or case.group in MLKEM_GROUPS,
            f"TLS 1.2 has no group {case.group}: ML-KEM needs TLS 1.3",
        ),
        (key in ML_DSA_KEYS, "TLS 1.2 has no ML-DSA signatures: they need TLS 1.3"),
        (
            method is Method.DHE and key not in (*RSA_KEYS, Key.PSK),
            f"TLS 1.2 has no cipher suite with DHE and an {key} key (RFC 5246, appendix A.5)",
        ),
        (
            case.resumption in PSK_RESUMPTIONS,
            "TLS 1.2 resumes by session-id or ticket (RFC 5246, section 7.3; RFC 5077)",
        ),
        (case.hello_retry, "TLS 1.2 has no HelloRetryRequest (introduced by RFC 8446, section 4.1.4)"),
    )


def _tls_1_3(case: Case) -> Rules:
    return (
        (
            case.key_exchange.method is Method.RSA,
            "TLS 1.3 has no static RSA key exchange (RFC 8446, section 1.2)",
        ),
        (case.cipher.is_cbc, f"TLS 1.3 has no cipher {case.cipher}: CBC needs TLS 1.2 (RFC 8446, section 1.2)"),
        (
            is_custom_dh(case.group),
            "TLS 1.3 has no custom DH parameters, only the ffdhe groups (RFC 8446, section 4.2.7)",
        ),
        (case.group == "secp192r1", "TLS 1.3 has no secp192r1 for key exchange (RFC 8446, section 4.2.7)"),
        (case.curve == "secp192r1", "TLS 1.3 has no secp192r1 for signatures (RFC 8446, section 4.2.3)"),
        (case.tickets is Tickets.CACHED, "TLS 1.3 has no session ids to cache (RFC 8446, section 4.1.2)"),
        (
            case.resumption in (Resumption.SESSION_ID, Resumption.TICKET),
            "TLS 1.3 resumes by psk or psk-dhe (RFC 8446, section 2.2)",
        ),
    )
