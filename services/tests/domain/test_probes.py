"""What is tried of a kit: cases and nothing else."""

from typing import get_args

import pytest

from kexbench.domain.dimensions import CERTIFICATE_KEYS, Cipher, Protocol, Resumption
from kexbench.domain.probes import DEFAULTS, FULL_HANDSHAKES, Dimension, Feature, defaults, full_handshakes, tried
from tests.builders import a_probe


def test_every_dimension_is_tried_and_no_feature_twice() -> None:
    found = [(dimension, str(getattr(case, dimension))) for dimension, case in tried(fips=True)]
    assert {dimension for dimension, _ in found} == set(get_args(Dimension))
    assert len(found) == len(set(found))


def test_whatever_has_a_list_of_its_own_is_tried_whole() -> None:
    cases = tried(fips=False)
    assert {case.key_exchange.key for dimension, case in cases if dimension == "key_exchange"} == set(CERTIFICATE_KEYS)
    assert {case.cipher for dimension, case in cases if dimension == "cipher"} == set(Cipher) - {Cipher.DEFAULT}
    resumptions = {case.resumption for dimension, case in cases if dimension == "resumption"}
    assert resumptions == set(Resumption) - {Resumption.NONE}


def test_the_groups_of_three_methods_are_tried() -> None:
    groups = {case.group: case.key_exchange.method for dimension, case in tried(fips=False) if dimension == "group"}
    assert {"X25519": "ECDHE", "X25519MLKEM768": "ECDHE", "ffdhe2048": "DHE", "MLKEM1024": "MLKEM"}.items() <= set(
        groups.items()
    )


def test_fips_is_tried_only_where_there_is_a_module() -> None:
    assert [case.fips for dimension, case in tried(fips=True) if dimension == "fips"] == [True]
    assert not any(case.fips for _, case in tried(fips=False))


def test_the_handshakes_that_count_are_ecdhe_with_rsa_2048_in_both_protocols() -> None:
    assert [case.protocol for case in FULL_HANDSHAKES] == [Protocol.TLS_1_2, Protocol.TLS_1_3]
    assert {(case.key_exchange, case.rsa_bits) for case in FULL_HANDSHAKES} == {("ECDHE-RSA", 2048)}
    assert all(a_probe().of(case).supported for case in FULL_HANDSHAKES)


def test_of_a_library_without_tls_its_own_protocol_alone_is_tried() -> None:
    (handshake,) = full_handshakes("bfe")
    assert handshake.protocol is Protocol.BFE_0RTT
    assert tried("bfe", fips=False) == (("protocol", handshake),)
    assert defaults("bfe") == ()
    assert (full_handshakes("gnutls"), defaults("gnutls")) == (FULL_HANDSHAKES, DEFAULTS)


def test_of_quic_the_features_of_tls_1_3_are_tried() -> None:
    (handshake,) = full_handshakes("ngtcp2")
    cases = tried("ngtcp2", fips=False)
    assert (handshake.protocol, defaults("ngtcp2")) == (Protocol.QUIC_V1, ())
    assert {case.protocol for _, case in cases} == {Protocol.QUIC_V1}
    of_tls_1_3 = [pair for pair in tried("gnutls", fips=False) if pair[1].protocol is Protocol.TLS_1_3]
    assert [dimension for dimension, _ in cases] == [dimension for dimension, _ in of_tls_1_3]


def test_defaults_force_nothing_but_the_certificate() -> None:
    assert {(case.protocol, case.cipher, case.group) for case in DEFAULTS} == {("default", "-", "-")}


@pytest.mark.parametrize(
    ("dimension", "value", "label"),
    [
        ("group", "X25519", "X25519"),
        ("key_exchange", "ECDHE-ML-DSA-44", "ML-DSA-44"),
        ("early_data_bytes", "1024", "early data"),
        ("fips", "True", "FIPS"),
    ],
)
def test_a_feature_has_the_words_of_its_case(dimension: Dimension, value: str, label: str) -> None:
    assert Feature(case_id="x", result="supported", dimension=dimension, value=value).label == label
