"""Cases: each has one name, and what no library can do cannot be made."""

import re
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kexbench.domain.cases import (
    DIMENSIONS,
    FIRST_FIELDS,
    Case,
    Cipher,
    KeyExchange,
    Protocol,
    differences,
    impossible,
    kinds_of,
)
from kexbench.domain.dimensions import CERTIFICATE_KEYS, CURVES, EC_GROUPS, KINDS, Key, Method, group_fits
from tests.domain.spaces import FIRST_POINTS, GROUPS_OF, VARIATIONS, points

ECDHE = {"protocol": "TLSv1.3", "key_exchange": "ECDHE-ECDSA", "curve": "P-256", "group": "X25519"}
ECDHE_ID = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"
STATIC_RSA = {"key_exchange": "RSA", "rsa_bits": 2048, "curve": "-", "group": "-"}
PSK = {**ECDHE, "resumption": "psk"}
BFE = {"protocol": "BFE-0RTT-1", "key_exchange": "BFE", "group": "BLS12-381", "curve": "-", "punctures": 100}

OTHER_VALUES = [(name, values[1]) for name, values in VARIATIONS.items()]


def a_case(**fields: Any) -> Case:
    return Case.model_validate({**ECDHE, **fields})


def test_a_key_exchange_is_rsa_or_bfe_or_a_method_with_a_certificates_key_or_a_pre_shared_one() -> None:
    methods = [method for method in Method if method not in (Method.RSA, Method.BFE, Method.PSK)]
    pairs = list(product(methods, CERTIFICATE_KEYS))
    assert list(KeyExchange) == [
        "RSA",
        *(f"{method}-{key}" for method, key in pairs),
        "BFE",
        "PSK",
        "DHE-PSK",
        "ECDHE-PSK",
    ]
    assert all((KeyExchange(f"{m}-{k}").method, KeyExchange(f"{m}-{k}").key) == (m, k) for m, k in pairs)
    assert (KeyExchange.RSA.method, KeyExchange.RSA.key) == (Method.RSA, Key.RSA)
    assert (KeyExchange.BFE.method, KeyExchange.BFE.key) == (Method.BFE, Key.BFE)
    assert (KeyExchange.PSK.method, KeyExchange.PSK.key) == (Method.PSK, Key.PSK)
    assert (KeyExchange.ECDHE_PSK.method, KeyExchange.DHE_PSK.key) == (Method.ECDHE, Key.PSK)


def test_a_group_fits_one_method() -> None:
    groups = {group for groups in GROUPS_OF.values() for group in groups} - {"-"}
    assert all(sum(group_fits(group, method) for method in Method) == 1 for group in groups)
    assert not any(
        group_fits(group, method)
        for group in ("p-256", "dh-1", "dh-02048", "dh-2048 ", "dh-9999", "ffdhe1024", "")
        for method in Method
    )
    assert set(CURVES) < set(EC_GROUPS)


def test_every_point_has_a_name_and_a_label_of_its_own() -> None:
    assert len({point.case_id for point in FIRST_POINTS}) == len({point.label for point in FIRST_POINTS})
    assert len({point.case_id for point in FIRST_POINTS}) == len(FIRST_POINTS) > 1000


def test_every_variation_has_a_name_and_a_label_of_its_own() -> None:
    """Of any four dimensions at once, since all of them have millions of combinations."""
    changes = [dict(chosen) for count in range(5) for chosen in combinations(OTHER_VALUES, count)]
    varied = [a_case().model_copy(update=changed) for changed in changes]
    assert len({point.case_id for point in varied}) == len({point.label for point in varied}) == len(varied) > 10_000


@given(points())
def test_a_name_can_stand_in_an_address_and_in_the_workers_protocol(point: Case) -> None:
    assert re.fullmatch(r"[a-z0-9._-]{1,255}", point.case_id)


@pytest.mark.parametrize(
    ("fields", "case_id", "label"),
    [
        (
            {"protocol": "TLSv1.2", "key_exchange": "ECDHE-RSA", "rsa_bits": 2048, "curve": "-", "group": "P-256"},
            "tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm",
            "TLS 1.2 ECDHE-RSA, RSA 2048, P-256",
        ),
        (
            {"curve": "P-384", "cipher": "CHACHA20-POLY1305"},
            "tlsv1.3_ecdhe-ecdsa_ecdsa-p-384_x25519_chacha20-poly1305",
            "TLS 1.3 ECDHE-ECDSA, ECDSA P-384, X25519, CHACHA20-POLY1305",
        ),
        (
            {"key_exchange": "ECDHE-Ed25519", "curve": "-"},
            "tlsv1.3_ecdhe-ed25519_x25519_aes-128-gcm",
            "TLS 1.3 ECDHE-Ed25519, X25519",
        ),
        (
            {"key_exchange": "ECDHE-RSA-PSS", "curve": "-", "rsa_bits": 2048},
            "tlsv1.3_ecdhe-rsa-pss_rsa-pss-2048_x25519_aes-128-gcm",
            "TLS 1.3 ECDHE-RSA-PSS, RSA-PSS 2048, X25519",
        ),
        (
            {"key_exchange": "ECDHE-ML-DSA-65", "curve": "-", "group": "X25519MLKEM768", "resumption": "psk-dhe"},
            "tlsv1.3_ecdhe-ml-dsa-65_x25519mlkem768_aes-128-gcm_psk-dhe",
            "TLS 1.3 ECDHE-ML-DSA-65, X25519MLKEM768, resumed with PSK and key share",
        ),
        (
            {"protocol": "default", "key_exchange": "default-ECDSA", "group": "-", "cipher": "-"},
            "default_default-ecdsa_ecdsa-p-256",
            "Default settings, ECDSA P-256",
        ),
        (
            {"protocol": "default", "key_exchange": "default-Ed448", "group": "-", "cipher": "-", "curve": "-"},
            "default_default-ed448",
            "Default settings, Ed448",
        ),
        (
            {"chain_length": 3, "client_authentication": True, "hello_retry": True, "ocsp_bytes": 2048, "fips": True},
            f"{ECDHE_ID}_chain-3_client-auth_hello-retry_ocsp-2048_fips",
            (
                "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519, chain of 3, client certificate, HelloRetryRequest, "
                "OCSP response of 2,048 bytes, FIPS"
            ),
        ),
        (
            {"resumption": "psk", "early_data_bytes": 1024, "anti_replay": True},
            f"{ECDHE_ID}_psk_early-1024_anti-replay",
            "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519, resumed with PSK, early data of 1,024 bytes, anti-replay",
        ),
        (
            {"threads": 2, "cpu_features": "x86-64-v2"},
            f"{ECDHE_ID}_threads-2_cpu-x86-64-v2",
            "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519, 2 threads, CPU features x86-64-v2",
        ),
        (
            {"peer": "server:openssl@system"},
            f"{ECDHE_ID}_server-openssl-system",
            "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519, against server openssl@system",
        ),
        (
            {"server": "nginx", "transfer_bytes": 4096, "concurrency": 1},
            f"{ECDHE_ID}_transfer-4096_nginx_concurrency-1",
            (
                "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519, transfer of 4,096 bytes, served by nginx, "
                "connections at once: 1"
            ),
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_names_and_labels_are_what_people_know(fields: dict[str, Any], case_id: str, label: str) -> None:
    case = a_case(**fields)
    assert (case.case_id, case.label) == (case_id, label)


def test_peers_whose_names_differ_only_in_unsafe_characters_keep_different_names() -> None:
    sources = ["1.0+step=1.02", "1.0+step=1~02", "1.0-step-1.02", "1.0/step/1.02", "1.0/STEP/1.02"]
    assert len({a_case(peer=f"server:fake@{source}").case_id for source in sources}) == len(sources)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (STATIC_RSA, "no static RSA"),
        ({"key_exchange": "DHE-ECDSA", "group": "dh-2048"}, "no custom DH"),
        ({"group": "secp192r1"}, "no secp192r1 for key exchange"),
        ({"curve": "secp192r1"}, "no secp192r1 for signatures"),
        ({"resumption": "ticket"}, "resumes by psk"),
        (
            {
                **STATIC_RSA,
                "protocol": "TLSv1.2",
                "cipher": "CHACHA20-POLY1305",
            },
            "no cipher suite",
        ),
        ({"protocol": "TLSv1.2", "group": "X25519MLKEM768"}, "ML-KEM needs TLS 1.3"),
        ({"protocol": "TLSv1.2", "key_exchange": "ECDHE-ML-DSA-44", "curve": "-"}, "no ML-DSA signatures"),
        ({"protocol": "TLSv1.2", "key_exchange": "DHE-ECDSA", "group": "ffdhe2048"}, "with DHE and an ECDSA key"),
        ({"protocol": "TLSv1.2", "resumption": "psk"}, "session-id or ticket"),
        ({"protocol": "TLSv1.2", "hello_retry": True}, "no HelloRetryRequest"),
        ({"group": "-"}, "does not work with no group"),
        ({"group": "P-255"}, "does not work with group P-255"),
        ({"curve": "X25519"}, "an ECDSA key needs a curve"),
        ({"rsa_bits": 2048}, "an ECDSA key has no RSA bits"),
        ({"cipher": "-"}, "must be default together"),
        ({"protocol": "default"}, "must be default together"),
        ({"early_data_bytes": 1}, "early data needs"),
        ({**PSK, "anti_replay": True}, "needs early data"),
        ({**PSK, "early_data_bytes": 1, "anti_replay": True, "threads": 2}, "used once"),
        ({**PSK, "client_authentication": True}, "sends no certificates"),
        ({**PSK, "ocsp_bytes": 1000}, "no certificate to staple"),
        ({**PSK, "hello_retry": True}, "only in full handshakes"),
        ({**PSK, "peer": "server:openssl@system"}, "a peer allows"),
        ({"threads": 2, "peer": "server:openssl@system"}, "a peer allows"),
        ({"peer": "both:openssl@system"}, "is not a peer"),
        ({"peer": "server:nss@system"}, "unknown library 'nss'"),
        ({"peer": "server:openssl"}, "has no source"),
        ({"concurrency": 2}, "connections at once need a server"),
        ({"server": "nginx", "concurrency": 33}, "concurrency"),
        ({"server": "nginx", "threads": 2}, "a server allows one thread"),
        ({"server": "nginx", "peer": "server:openssl@system"}, "a server allows no peer"),
        ({"server": "nginx", "client_authentication": True}, "without client authentication"),
        ({"server": "nginx", "hello_retry": True}, "without HelloRetryRequest"),
        ({"server": "nginx", "ocsp_bytes": 1000}, "without OCSP response"),
        ({"server": "nginx", "fips": True}, "without FIPS"),
        ({"server": "nginx", "context": "connection"}, "allows only a shared context"),
        ({"server": "nginx", "tickets": "default"}, "allows tickets only for a resumption"),
        ({**PSK, "server": "nginx"}, "resumes TLS 1.3 sessions with a key share only"),
        ({**PSK, "resumption": "psk-dhe", "early_data_bytes": 1, "server": "nginx"}, "without early data"),
        (
            {"protocol": "default", "key_exchange": "default-ECDSA", "group": "-", "cipher": "-", "server": "nginx"},
            "has default settings of its own",
        ),
        (
            {**STATIC_RSA, "protocol": "TLSv1.2", "key_exchange": "DHE-RSA", "group": "ffdhe2048", "server": "nginx"},
            "use custom ones",
        ),
        ({"requests_per_connection": 2}, "requests need a server"),
        ({"resumption": "psk-dhe", "resumed_percent": 50}, "a share of resumed connections needs a server"),
        ({"server": "nginx", "resumed_percent": 50}, "needs a resumption"),
        ({**STATIC_RSA, "protocol": "TLSv1.2", "ecdsa_percent": 10}, "a second certificate needs a server"),
        ({"server": "nginx", "ecdsa_percent": 10}, "with RSA, DHE-RSA, ECDHE-RSA, not with ECDHE-ECDSA"),
        ({"server": "nginx", "requests_per_connection": 1001}, "requests_per_connection"),
        ({"server": "nginx", "resumption": "psk-dhe", "resumed_percent": 0}, "resumed_percent"),
        ({**STATIC_RSA, "protocol": "TLSv1.2", "server": "nginx", "ecdsa_percent": 100}, "ecdsa_percent"),
        ({"threads": 0}, "threads"),
        ({"punctures": 100}, "punctures need BFE"),
        ({"false_positive_bits": 8}, "needs BFE"),
        ({"protocol": "BFE-0RTT-1"}, "need each other"),
        ({"protocol": "QUICv1", "transfer_bytes": 1}, "QUIC is measured without a transfer"),
        ({"protocol": "QUICv1", "fips": True}, "QUIC is measured without FIPS"),
        ({"protocol": "QUICv1", "peer": "server:ngtcp2@system"}, "QUIC is measured without a peer"),
        ({"protocol": "QUICv1", "server": "nginx"}, "nginx is measured without QUIC"),
        ({"protocol": "QUICv1", "resumption": "ticket"}, "TLS 1.3 resumes by psk"),
        ({"protocol": "QUICv1", "early_data_bytes": 1}, "early data needs resumption psk"),
        ({**BFE, "punctures": 0}, "needs punctures"),
        ({**BFE, "group": "X25519"}, "the group BLS12-381 only"),
        ({**BFE, "cipher": "AES-256-GCM"}, "the cipher AES-128-GCM"),
        ({**BFE, "threads": 2}, "varies in early data"),
        ({**BFE, "requests_per_connection": 2}, "varies in early data"),
        ({**BFE, "resumed_percent": 50}, "varies in early data"),
        ({**BFE, "ecdsa_percent": 50}, "varies in early data"),
        ({**BFE, "anti_replay": True, "early_data_bytes": 1}, "varies in early data"),
        (
            {"protocol": "QUICv1", "resumption": "psk", "anti_replay": True, "early_data_bytes": 10_261},
            "at most 10,260 bytes of early data",
        ),
        ({"chain_length": 11}, "chain_length"),
        ({"ocsp_bytes": 16_381}, "ocsp_bytes"),
    ],
)
def test_what_no_library_can_do_cannot_be_made(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        a_case(**fields)


@given(points().filter(lambda point: not impossible(point)))
def test_clients_of_a_second_certificate_make_a_case_that_exists(point: Case) -> None:
    second = point.ecdsa_case
    assert (second is None) == (point.ecdsa_percent == 0)
    if second:
        assert Case.model_validate(second.model_dump()) == second
        assert (second.key_exchange, second.curve) == (KeyExchange.ECDHE_ECDSA, "P-256")
        same = point.model_dump(exclude={"key_exchange", "group", "rsa_bits", "curve", "ecdsa_percent"})
        assert second.model_dump().items() >= same.items()


def test_of_the_first_dimensions_nothing_else_is_impossible() -> None:
    reasons = {impossible(point) for point in FIRST_POINTS if point.protocol is not Protocol.TLS_1_3}
    assert {(reason or "").partition(" ")[0] for reason in reasons} == {"", "TLS", "QUIC", "the"}
    modern, quic = (
        [point for point in FIRST_POINTS if point.protocol is protocol and not impossible(point)]
        for protocol in (Protocol.TLS_1_3, Protocol.QUIC_V1)
    )
    with_certificates = [point for point in modern if point.key_exchange.key is not Key.PSK]
    assert quic == [point.model_copy(update={"protocol": Protocol.QUIC_V1}) for point in with_certificates]
    for stream, dtls in ((Protocol.TLS_1_2, Protocol.DTLS_1_2), (Protocol.TLS_1_3, Protocol.DTLS_1_3)):
        over_stream, over_datagrams = (
            [point for point in FIRST_POINTS if point.protocol is protocol and not impossible(point)]
            for protocol in (stream, dtls)
        )
        assert over_datagrams == [point.model_copy(update={"protocol": dtls}) for point in over_stream]
    groups = {group for groups in GROUPS_OF.values() for group in groups if not group.startswith("dh-")}
    assert {point.group for point in with_certificates} == groups - {"-", "secp192r1", "BLS12-381"}
    assert {point.key_exchange.key for point in modern} == set(CERTIFICATE_KEYS)


@pytest.mark.parametrize(
    ("fields", "key", "parameters"),
    [
        (
            {"protocol": "TLSv1.2", "key_exchange": "DHE-RSA", "rsa_bits": 1776, "curve": "-", "group": "dh-1776"},
            "rsa-1776",
            "dh-1776",
        ),
        ({"key_exchange": "DHE-RSA", "rsa_bits": 1776, "curve": "-", "group": "ffdhe2048"}, "rsa-1776", None),
        ({"curve": "P-521"}, "ecdsa-P-521", None),
        ({"key_exchange": "ECDHE-RSA-PSS", "rsa_bits": 3072, "curve": "-"}, "rsa-pss-3072", None),
        ({"key_exchange": "ECDHE-Ed25519", "curve": "-"}, "ed25519", None),
        ({"key_exchange": "ECDHE-ML-DSA-87", "curve": "-"}, "ml-dsa-87", None),
        ({**BFE, "false_positive_bits": 8}, "bfe-100-8", None),
    ],
)
def test_the_key_and_the_parameters_of_a_case_have_the_names_of_the_material(
    fields: dict[str, Any], key: str, parameters: str | None
) -> None:
    case = a_case(**fields)
    assert (case.key_name, case.dh_parameters_name) == (key, parameters)


@pytest.mark.parametrize(
    ("peer", "roles", "reference"),
    [
        ("-", "both", None),
        ("server:openssl@system", "client", "openssl@system"),
        ("client:gnutls@debian/trixie", "server", "gnutls@debian/trixie"),
    ],
)
def test_a_subject_plays_the_role_that_its_peer_leaves(peer: str, roles: str, reference: str | None) -> None:
    case = a_case(peer=peer)
    assert (case.roles, case.setup_fields()["roles"], case.peer_reference) == (roles, roles, reference)


def test_a_server_serves_whole_connections_whose_instructions_cannot_be_counted() -> None:
    served = a_case(server="nginx")
    assert (served.has_server, served.is_whole_connection, served.is_countable) == (True, True, False)
    assert not {"server", "concurrency"} & set(served.setup_fields()), "the worker hears nothing of it"


def test_only_what_differs_from_the_defaults_is_a_variation() -> None:
    assert a_case().variation == {}
    assert a_case(cipher="AES-256-GCM", threads=2, resumption="psk", fips=True).variation == {
        "resumption": "psk",
        "fips": True,
        "threads": 2,
    }
    assert Case.model_validate({**ECDHE, **a_case(threads=2).variation}) == a_case(threads=2)


@pytest.mark.parametrize(
    ("fields", "kinds"),
    [
        ({}, ["plain"]),
        ({"resumption": "psk-dhe", "threads": 2}, ["resumption", "threads"]),
        ({**PSK, "early_data_bytes": 1024, "anti_replay": True}, ["resumption"]),
        ({"protocol": "QUICv1"}, ["plain"]),
        ({"group": "X25519MLKEM768"}, ["post-quantum"]),
        ({"key_exchange": "MLKEM-ECDSA", "group": "MLKEM768"}, ["post-quantum"]),
        ({"key_exchange": "ECDHE-ML-DSA-65", "curve": "-"}, ["post-quantum"]),
        ({"peer": "server:openssl@system"}, ["peers"]),
        ({"chain_length": 3}, ["other"]),
        (BFE, ["zero-rtt"]),
        ({"client_authentication": True}, ["other"]),
        ({"hello_retry": True}, ["other"]),
        ({"ocsp_bytes": 500}, ["other"]),
        ({"fips": True}, ["other"]),
        ({"cpu_features": "no-aes"}, ["other"]),
        ({"server": "nginx", "transfer_bytes": 4096, "concurrency": 1}, ["connection", "servers"]),
    ],
)
def test_a_case_is_of_all_the_kinds_that_its_dimensions_are_of(fields: dict[str, Any], kinds: list[str]) -> None:
    assert kinds_of(a_case(**fields)) == kinds


def test_every_dimension_beyond_the_first_has_a_row_with_a_rank_of_its_own() -> None:
    assert {*FIRST_FIELDS, *DIMENSIONS} == set(Case.model_fields)
    assert len({row.rank for row in DIMENSIONS.values()}) == len({row.name for row in DIMENSIONS.values()})
    assert len({row.name for row in DIMENSIONS.values()}) == len(DIMENSIONS)
    assert {row.kind for row in DIMENSIONS.values()} < set(KINDS)


def test_a_case_of_before_its_later_dimensions_reads_as_it_was() -> None:
    assert Case.model_validate_json('{"protocol":"TLSv1.2","key_exchange":"RSA","rsa_bits":2048}') == Case(
        protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.RSA, cipher=Cipher.AES_128_GCM, rsa_bits=2048
    )


@given(st.one_of(points(), st.sampled_from(FIRST_POINTS)).filter(lambda point: not impossible(point)))
def test_a_case_comes_back_from_json_unchanged(point: Case) -> None:
    assert Case.model_validate_json(point.model_dump_json()) == point


def test_what_a_case_lacks_is_none_in_differences_and_no_number() -> None:
    rsa = Case(
        protocol=Protocol.TLS_1_3,
        cipher=Cipher.AES_128_GCM,
        key_exchange=KeyExchange.ECDHE_RSA,
        rsa_bits=2048,
        group="X25519",
    )
    ecdsa = Case(
        protocol=Protocol.TLS_1_3,
        cipher=Cipher.AES_128_GCM,
        key_exchange=KeyExchange.ECDHE_ECDSA,
        curve="P-256",
        group="X25519",
    )
    found = {one.what: (one.before, one.after) for one in differences(rsa, ecdsa)}
    assert found == {
        "key exchange": ("ECDHE-RSA", "ECDHE-ECDSA"),
        "RSA key bits": ("2,048", "none"),
        "curve of the key": ("none", "P-256"),
    }
