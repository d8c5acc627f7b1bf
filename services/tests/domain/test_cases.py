"""Cases: each has one name, and what no library can do cannot be made."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kexbench.domain.cases import (
    CURVES,
    DH_BITS,
    DH_GROUPS,
    EC_GROUPS,
    Case,
    Cipher,
    KeyExchange,
    Protocol,
    custom_dh_group,
    impossible,
)

SIGNED_BY = {
    KeyExchange.RSA: ["-"],
    KeyExchange.DHE_RSA: [*DH_GROUPS, *map(custom_dh_group, DH_BITS)],
    KeyExchange.ECDHE_RSA: list(EC_GROUPS),
    KeyExchange.ECDHE_ECDSA: list(EC_GROUPS),
}


def all_points() -> list[Case]:
    """Every point of the whole space, possible or not."""
    found = []
    for protocol, exchange, cipher in product(Protocol, KeyExchange, Cipher):
        ecdsa = exchange is KeyExchange.ECDHE_ECDSA
        for group, bits, curve in product(
            SIGNED_BY[exchange], [0] if ecdsa else [1024, 2048], CURVES if ecdsa else ["-"]
        ):
            found.append(
                Case.model_construct(
                    protocol=protocol, key_exchange=exchange, cipher=cipher, group=group, rsa_bits=bits, curve=curve
                )
            )
    return found


POINTS = all_points()


def test_every_point_has_a_name_and_a_label_of_its_own() -> None:
    assert len({point.case_id for point in POINTS}) == len({point.label for point in POINTS}) == len(POINTS) == 300


@pytest.mark.parametrize("point", POINTS[::7], ids=lambda point: point.case_id)
def test_a_name_can_stand_in_an_address_and_in_the_workers_protocol(point: Case) -> None:
    assert re.fullmatch(r"[a-z0-9._-]+", point.case_id)
    assert len(point.case_id) < 100


def test_names_and_labels_are_what_people_know() -> None:
    case = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.ECDHE_RSA, rsa_bits=2048, group="P-256")
    assert case.case_id == "tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm"
    assert case.label == "TLS 1.2 ECDHE-RSA, RSA 2048, P-256"
    other = Case(
        protocol=Protocol.TLS_1_3,
        key_exchange=KeyExchange.ECDHE_ECDSA,
        curve="P-384",
        group="X25519",
        cipher=Cipher.CHACHA20_POLY1305,
    )
    assert other.case_id == "tlsv1.3_ecdhe-ecdsa_ecdsa-p-384_x25519_chacha20-poly1305"
    assert other.label == "TLS 1.3 ECDHE-ECDSA, ECDSA P-384, X25519, CHACHA20-POLY1305"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"protocol": "TLSv1.3", "key_exchange": "RSA", "rsa_bits": 2048}, "no static RSA"),
        ({"protocol": "TLSv1.3", "key_exchange": "DHE-RSA", "rsa_bits": 2048, "group": "dh-2048"}, "no custom DH"),
        ({"protocol": "TLSv1.3", "key_exchange": "ECDHE-RSA", "rsa_bits": 2048, "group": "secp192r1"}, "no secp192r1"),
        (
            {"protocol": "TLSv1.3", "key_exchange": "ECDHE-ECDSA", "curve": "secp192r1", "group": "P-256"},
            "no secp192r1",
        ),
        (
            {"protocol": "TLSv1.2", "key_exchange": "RSA", "rsa_bits": 2048, "cipher": "CHACHA20-POLY1305"},
            "no cipher suite",
        ),
    ],
)
def test_what_no_library_can_do_cannot_be_made(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Case.model_validate(fields)


def test_nothing_else_is_impossible() -> None:
    reasons = [impossible(point) for point in POINTS if point.protocol is Protocol.TLS_1_2]
    assert {reason for reason in reasons if reason} == {"no cipher suite joins RSA key exchange with CHACHA20-POLY1305"}
    modern = [point for point in POINTS if point.protocol is Protocol.TLS_1_3 and not impossible(point)]
    assert {point.group for point in modern} == {*DH_GROUPS, *EC_GROUPS} - {"secp192r1"}


def test_the_key_and_the_parameters_of_a_case_have_the_names_of_the_material() -> None:
    dhe = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.DHE_RSA, rsa_bits=1776, group="dh-1776")
    assert (dhe.key_name, dhe.dh_parameters_name) == ("rsa-1776", "dh-1776")
    named = dhe.model_copy(update={"group": "ffdhe2048"})
    assert named.dh_parameters_name is None
    ecdsa = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-521", group="P-256")
    assert (ecdsa.key_name, ecdsa.dh_parameters_name) == ("ecdsa-P-521", None)


@given(st.sampled_from([point for point in POINTS if not impossible(point)]))
def test_a_case_comes_back_from_json_unchanged(point: Case) -> None:
    assert Case.model_validate_json(point.model_dump_json()) == point
