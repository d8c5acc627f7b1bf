"""The strength of cases, and what they protect in the long run."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.cases import Case, kinds_of
from kexbench.domain.dimensions import CURVES, Cipher, Key, KeyExchange, Method, Protocol, Resumption
from kexbench.domain.possible import impossible
from kexbench.domain.security import Hash, SecurityModel
from kexbench.domain.strength import (
    has_post_quantum_authentication,
    has_post_quantum_key_exchange,
    is_forward_secret,
    signature_hash,
    strength,
)
from kexbench.settings import Settings
from tests.domain.spaces import FIRST_POINTS

NIST, ECRYPT, CNSA, CNSA_2 = SecurityModel
POSSIBLE = [case for case in FIRST_POINTS if impossible(case) is None]
FORWARD_SECRET = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.ECDHE_RSA, group="secp192r1", rsa_bits=1776)
PLAIN_RSA = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.RSA, rsa_bits=1776)
CNSA_2_CASE = Case(
    protocol=Protocol.TLS_1_3,
    key_exchange=KeyExchange.MLKEM_ML_DSA_87,
    group="MLKEM1024",
    cipher=Cipher.AES_256_GCM,
)
DEFAULTS = Case(protocol=Protocol.DEFAULT, key_exchange=KeyExchange.DEFAULT_ML_DSA_65, cipher=Cipher.DEFAULT)


def bits_of(case: Case) -> list[int | None]:
    return [strength(case, model).bits for model in SecurityModel]


def test_a_handshake_is_as_strong_as_its_weakest_part() -> None:
    case = FORWARD_SECRET.model_copy(update={"rsa_bits": 1024})
    weakest = strength(case, ECRYPT).weakest
    assert [(part.role, part.name, part.bits) for part in weakest] == [("certificate's key", "RSA 1024", 73)]
    assert strength(case, ECRYPT).bits == 73


def test_the_handshakes_of_the_first_article_are_equal_under_ecrypt() -> None:
    assert bits_of(FORWARD_SECRET) == bits_of(PLAIN_RSA) == [80, 96, None, None]


def test_a_long_rsa_key_is_no_stronger_than_the_hash_that_it_signs() -> None:
    case = Case(
        protocol=Protocol.TLS_1_3,
        key_exchange=KeyExchange.ECDHE_RSA,
        group="P-384",
        rsa_bits=7680,
        cipher=Cipher.AES_256_GCM,
    )
    assert [(part.name, part.bits) for part in strength(case, NIST).weakest] == [("SHA-256", 128)]


def test_rsa_key_exchange_signs_nothing_so_its_key_alone_counts() -> None:
    case = PLAIN_RSA.model_copy(update={"rsa_bits": 7680, "cipher": Cipher.AES_256_GCM})
    assert [(part.role, part.bits) for part in strength(case, NIST).parts] == [("key exchange", 192), ("cipher", 256)]


def test_a_cipher_limits_a_strong_key_exchange() -> None:
    case = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, group="P-521", curve="P-521")
    assert bits_of(case)[0] == 128
    assert bits_of(case.model_copy(update={"cipher": Cipher.AES_256_GCM}))[0] == 256


def test_a_server_with_two_certificates_is_as_strong_as_the_weaker_kind_of_its_connections() -> None:
    def hybrid(**fields: object) -> Case:
        first = {"protocol": Protocol.TLS_1_2, "key_exchange": KeyExchange.RSA, "server": "nginx", "ecdsa_percent": 10}
        return Case.model_validate(first | fields)

    weak = strength(hybrid(rsa_bits=1024), ECRYPT)
    assert [part.name for part in weak.weakest] == ["RSA 1024"]
    strong = strength(hybrid(rsa_bits=8192, cipher=Cipher.AES_256_GCM), NIST)
    assert (strong.bits, {part.name for part in strong.weakest}) == (128, {"P-256", "ECDSA P-256", "SHA-256"})
    assert is_forward_secret(hybrid(rsa_bits=2048)) is False
    assert is_forward_secret(hybrid(key_exchange=KeyExchange.ECDHE_RSA, rsa_bits=2048, group="P-256")) is True


def test_an_unknown_part_leaves_the_whole_unknown() -> None:
    assert bits_of(CNSA_2_CASE) == [256, None, None, 256]
    assert [part.name for part in strength(CNSA_2_CASE, ECRYPT).weakest] == ["MLKEM1024", "ML-DSA-87"]
    assert bits_of(DEFAULTS) == [None] * 4


@given(case=st.sampled_from(POSSIBLE), model=st.sampled_from(list(SecurityModel)))
def test_a_case_is_never_stronger_than_a_part(case: Case, model: SecurityModel) -> None:
    whole = strength(case, model)
    bits = [part.bits for part in whole.parts]
    assert whole.bits == (None if None in bits else min(known for known in bits if known))
    assert whole.weakest


def test_forward_secrecy_takes_a_new_key_share() -> None:
    resumed = {kind: FORWARD_SECRET.model_copy(update={"resumption": kind}) for kind in Resumption}
    assert [is_forward_secret(case) for case in resumed.values()] == [True, False, False, False, True]
    early = resumed[Resumption.PSK_DHE].model_copy(update={"early_data_bytes": 1024})
    assert not is_forward_secret(early)
    assert not is_forward_secret(PLAIN_RSA)
    assert is_forward_secret(DEFAULTS) is None


def test_key_exchange_and_authentication_are_post_quantum_each_by_itself() -> None:
    hybrid = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_RSA, group="X25519MLKEM768", rsa_bits=2048)
    signed = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ML_DSA_44, group="X25519")
    answers = [
        (has_post_quantum_key_exchange(case), has_post_quantum_authentication(case))
        for case in (hybrid, signed, CNSA_2_CASE, FORWARD_SECRET)
    ]
    assert answers == [(True, False), (False, True), (True, True), (False, False)]
    assert [kinds_of(case) for case in (hybrid, signed, FORWARD_SECRET)] == [
        ["post-quantum"],
        ["post-quantum"],
        ["plain"],
    ]


def test_the_worker_signs_with_these_hashes() -> None:
    """`case_signature` in the worker names a scheme for each key; its end is the hash."""
    source = (Settings().workers / "case.c").read_text()
    function = source[source.index("const char *case_signature") :].partition("\n}\n")[0]
    schemes = re.findall(r'"(\w*_sha(?:256|384|512))"', function)
    used = {
        (case.key_exchange.key, case.curve): signature_hash(case)
        for case in POSSIBLE
        if case.key_exchange.method is Method.ECDHE
    }
    rsa = {hashed for (key, _), hashed in used.items() if key in (Key.RSA, Key.RSA_PSS)}
    assert rsa == {Hash.SHA_256} == {_hash(scheme) for scheme in schemes if scheme.startswith("rsa")}
    ecdsa = {scheme.split("_")[1]: _hash(scheme) for scheme in schemes if scheme.startswith("ecdsa")}
    names = {"P-256": "secp256r1", "P-384": "secp384r1", "P-521": "secp521r1", "secp192r1": "secp256r1"}
    assert {names[curve]: used[Key.ECDSA, curve] for curve in CURVES} == ecdsa
    assert {used[key, "-"] for key in (Key.ED25519, Key.ED448)} == {None}


def _hash(scheme: str) -> Hash:
    return Hash(f"SHA-{scheme.rpartition('sha')[2]}")


@pytest.mark.parametrize(("model", "case"), [*product(SecurityModel, [PLAIN_RSA, FORWARD_SECRET, CNSA_2_CASE])])
def test_parts_have_names_for_people(model: SecurityModel, case: Case) -> None:
    assert all(part.name and " -" not in part.name for part in strength(case, model).parts)
