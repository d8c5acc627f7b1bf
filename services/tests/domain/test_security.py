"""The models against the tables of their authorities, typed out here, and against the tables of two articles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.dimensions import (
    CURVES,
    DH_BITS,
    DH_GROUPS,
    EC_GROUPS,
    HYBRID_GROUPS,
    ML_DSA_KEYS,
    MLKEM_GROUPS,
    Cipher,
    Key,
    custom_dh_group,
)
from kexbench.domain.security import (
    AUTHORITIES,
    HYBRID_PARTS,
    Hash,
    SecurityModel,
    dh_bits_of,
    dh_security_bits,
    group_security_bits,
    key_security_bits,
    rsa_security_bits,
)

NIST, ECRYPT, CNSA, CNSA_2 = SecurityModel
MODELS = st.sampled_from(list(SecurityModel))

SP_800_57_TABLE_2 = [  # bits, FFC and IFC, ECC
    (80, 1024, "secp192r1"),
    (112, 2048, None),
    (128, 3072, "P-256"),
    (192, 7680, "P-384"),
    (256, 15_360, "P-521"),
]
ECRYPT_TABLES_7_2_AND_7_4 = [  # bits, RSA and discrete logarithms, elliptic curve
    (80, 1248, None),
    (96, 1776, "secp192r1"),
    (112, 2432, None),
    (128, 3248, "P-256"),
    (160, 5312, None),
    (192, 7936, "P-384"),
    (256, 15_424, None),
]
ECRYPT_TABLE_7_3 = [(73, 1024), (89, 1536), (103, 2048)]  # of commonly used keys
SECOND_ARTICLE = [  # bits, RSA, DH, curve, hash, cipher
    (112, 2048, 2048, "P-256", Hash.SHA_256, Cipher.AES_128_GCM),
    (128, 3072, 3072, "P-384", Hash.SHA_384, Cipher.AES_256_GCM),
]


@pytest.mark.parametrize(("bits", "size", "curve"), SP_800_57_TABLE_2)
def test_nist_gives_what_its_table_2_says(bits: int, size: int, curve: str | None) -> None:
    assert rsa_security_bits(NIST, size) == dh_security_bits(NIST, size) == bits
    assert curve is None or group_security_bits(NIST, curve) == key_security_bits(NIST, Key.ECDSA, 0, curve) == bits


@pytest.mark.parametrize(("size", "bits"), [(4096, 152), (6144, 176), (8192, 200)])
def test_nist_gives_the_sizes_between_from_its_schemes(size: int, bits: int) -> None:
    assert rsa_security_bits(NIST, size) == group_security_bits(NIST, f"ffdhe{size}") == bits


@pytest.mark.parametrize(("used", "bits"), [(Hash.SHA_256, 128), (Hash.SHA_384, 192), (Hash.SHA_512, 256)])
def test_a_hash_in_a_signature_has_the_strength_of_table_3(used: Hash, bits: int) -> None:
    assert AUTHORITIES[NIST].hashes[used] == bits


def test_a_category_is_comparable_with_the_key_that_defines_it() -> None:
    categories = {1: 128, 2: 128, 3: 192, 5: 256}
    assert [group_security_bits(NIST, group) for group in MLKEM_GROUPS] == [categories[each] for each in (1, 3, 5)]
    assert [key_security_bits(NIST, key, 0, "-") for key in ML_DSA_KEYS] == [categories[each] for each in (2, 3, 5)]


@pytest.mark.parametrize(("bits", "size", "curve"), ECRYPT_TABLES_7_2_AND_7_4)
def test_ecrypt_gives_what_its_tables_say(bits: int, size: int, curve: str | None) -> None:
    assert rsa_security_bits(ECRYPT, size) == dh_security_bits(ECRYPT, size) == bits
    assert curve is None or group_security_bits(ECRYPT, curve) == key_security_bits(ECRYPT, Key.ECDSA, 0, curve) == bits


@pytest.mark.parametrize(("bits", "size"), ECRYPT_TABLE_7_3)
def test_ecrypt_gives_common_keys_what_its_table_says(bits: int, size: int) -> None:
    assert rsa_security_bits(ECRYPT, size) == bits


def test_the_first_articles_sizes_are_equal_under_ecrypt_only() -> None:
    def sizes(model: SecurityModel) -> list[int | None]:
        return [rsa_security_bits(model, 1776), group_security_bits(model, "dh-1776"), *curve(model)]

    def curve(model: SecurityModel) -> list[int | None]:
        return [group_security_bits(model, "secp192r1"), key_security_bits(model, Key.ECDSA, 0, "secp192r1")]

    assert sizes(ECRYPT) == [96, 96, 96, 96]
    assert sizes(NIST) == [80, 80, 80, 80], "1776 bits do not reach 2048, and a curve of 192 bits has at most 80"
    assert sizes(CNSA) == [None] * 4


@pytest.mark.parametrize(("bits", "rsa", "dh", "curve", "used", "cipher"), SECOND_ARTICLE)
def test_cnsa_gives_what_the_second_article_says(
    bits: int, rsa: int, dh: int, curve: str, used: Hash, cipher: Cipher
) -> None:
    authority = AUTHORITIES[CNSA]
    assert rsa_security_bits(CNSA, rsa) == dh_security_bits(CNSA, dh) == group_security_bits(CNSA, curve) == bits
    assert authority.hashes[used] == authority.ciphers[cipher] == bits


def test_cnsa_2_knows_its_own_algorithms_and_no_others() -> None:
    groups = [*EC_GROUPS, *HYBRID_GROUPS, *MLKEM_GROUPS, *DH_GROUPS]
    strong = {group for group in groups if group_security_bits(CNSA_2, group)}
    assert strong == {"MLKEM1024", "SecP384r1MLKEM1024"}
    assert [key for key in Key if key_security_bits(CNSA_2, key, 0, "P-384")] == [Key.ML_DSA_87]
    assert rsa_security_bits(CNSA_2, 15_360) is None


def test_an_authority_says_nothing_about_what_came_after_it() -> None:
    for model in (ECRYPT, CNSA):
        assert [group_security_bits(model, group) for group in MLKEM_GROUPS] == [None] * 3
        assert [key_security_bits(model, key, 0, "-") for key in ML_DSA_KEYS] == [None] * 3
    assert group_security_bits(CNSA, "X25519") is None
    assert rsa_security_bits(NIST, 1016) is None


@given(model=MODELS, sizes=st.tuples(st.integers(0, 20_000), st.integers(0, 20_000)))
def test_more_bits_are_never_weaker(model: SecurityModel, sizes: tuple[int, int]) -> None:
    weaker, stronger = sorted(sizes)
    assert (rsa_security_bits(model, weaker) or 0) <= (rsa_security_bits(model, stronger) or 0)


@pytest.mark.parametrize("model", SecurityModel)
@pytest.mark.parametrize("names", [CURVES, ("X25519", "X448"), MLKEM_GROUPS, DH_GROUPS])
def test_a_larger_group_is_never_weaker(model: SecurityModel, names: tuple[str, ...]) -> None:
    bits = [strength for name in names if (strength := group_security_bits(model, name))]
    assert bits == sorted(bits)


@pytest.mark.parametrize("model", SecurityModel)
@pytest.mark.parametrize("group", HYBRID_GROUPS)
def test_a_hybrid_group_is_as_strong_as_its_stronger_part(model: SecurityModel, group: str) -> None:
    parts = [group_security_bits(model, part) for part in HYBRID_PARTS[group]]
    assert (group_security_bits(model, group) or 0) == max(bits or 0 for bits in parts)


def test_hybrids_of_each_authority() -> None:
    hybrid = "SecP256r1MLKEM768"
    assert [group_security_bits(model, hybrid) for model in SecurityModel] == [192, 128, 112, None]


def test_only_diffie_hellman_groups_have_a_prime() -> None:
    assert {dh_bits_of(group) for group in (*EC_GROUPS, *HYBRID_GROUPS, *MLKEM_GROUPS, "-")} == {None}
    assert [dh_bits_of(custom_dh_group(bits)) for bits in DH_BITS] == list(DH_BITS)
    assert dh_bits_of("ffdhe4096") == 4096


def test_every_authority_names_its_sources() -> None:
    assert set(AUTHORITIES) == set(SecurityModel)
    assert all(authority.sources for authority in AUTHORITIES.values())
