"""The weakest sizes at a level: enough, and nothing weaker would be."""

from itertools import product

import pytest

from kexbench.domain.dimensions import (
    CERTIFICATE_KEYS,
    CURVES,
    DH_BITS,
    DH_GROUPS,
    EC_GROUPS,
    HYBRID_GROUPS,
    MLKEM_GROUPS,
    RSA_KEYS,
    Cipher,
    Key,
    Method,
    Protocol,
    custom_dh_group,
)
from kexbench.domain.security import AUTHORITIES, HYBRID_PARTS, SecurityModel, group_security_bits, rsa_security_bits
from kexbench.domain.security_levels import (
    FAMILIES,
    KEY_FAMILIES,
    RSA_SIZES,
    SECURITY_LEVELS,
    LevelSizes,
    level_of,
    level_sizes,
)

NIST, ECRYPT, CNSA, CNSA_2 = SecurityModel
TLS_1_2, TLS_1_3 = Protocol.TLS_1_2, Protocol.TLS_1_3


def test_the_usual_level_under_nist() -> None:
    assert level_sizes(NIST, 128, TLS_1_3) == LevelSizes(
        rsa_bits=3072,
        dh_groups=("ffdhe3072",),
        ecdhe_groups=("P-256", "X25519", "X25519MLKEM768", "SecP256r1MLKEM768"),
        mlkem_groups=("MLKEM512",),
        curves=("P-256",),
        keys=(Key.ED25519, Key.ML_DSA_44),
        cipher=Cipher.AES_128_GCM,
    )


def test_the_first_articles_level_under_ecrypt_is_what_the_article_used() -> None:
    sizes = level_sizes(ECRYPT, 96, TLS_1_2)
    assert (sizes.rsa_bits, sizes.dh_groups, sizes.curves) == (1776, ("dh-1776",), ("secp192r1",))
    assert sizes.ecdhe_groups == ("secp192r1", "X25519")
    newer = level_sizes(ECRYPT, 96, TLS_1_3)
    assert (newer.dh_groups, newer.curves) == (("ffdhe2048",), ("P-256",)), "TLS 1.3 lacks the weaker ones"


@pytest.mark.parametrize(
    ("level", "rsa", "curve", "cipher"), [(112, 2048, "P-256", "128"), (128, 3072, "P-384", "256")]
)
def test_the_second_articles_levels_under_cnsa(level: int, rsa: int, curve: str, cipher: str) -> None:
    sizes = level_sizes(CNSA, level, TLS_1_3)
    assert (sizes.rsa_bits, sizes.dh_groups, sizes.curves) == (rsa, (f"ffdhe{rsa}",), (curve,))
    assert sizes.cipher == f"AES-{cipher}-GCM"


def test_a_level_that_no_key_reaches_has_none() -> None:
    top = level_sizes(NIST, 256, TLS_1_3)
    assert (top.rsa_bits, top.dh_groups) == (None, ())
    assert (top.ecdhe_groups, top.keys) == (("P-521", "SecP384r1MLKEM1024"), (Key.ML_DSA_87,))
    assert level_sizes(CNSA, 192, TLS_1_2) == LevelSizes(None, (), (), (), (), (), None)


@pytest.mark.parametrize(("model", "level", "protocol"), [*product(SecurityModel, SECURITY_LEVELS, (TLS_1_2, TLS_1_3))])
def test_what_is_chosen_reaches_the_level_and_the_next_weaker_does_not(
    model: SecurityModel, level: int, protocol: Protocol
) -> None:
    sizes = level_sizes(model, level, protocol)
    for method in Method:
        assert all((group_security_bits(model, group) or 0) >= level for group in sizes.groups(method))
    weaker = [size for size in RSA_SIZES if sizes.rsa_bits is None or size < sizes.rsa_bits]
    assert all((rsa_security_bits(model, size) or 0) < level for size in weaker)
    curves: list[str] = [curve for curve in CURVES if protocol is TLS_1_2 or curve != "secp192r1"]
    kems: list[str] = list(MLKEM_GROUPS) if protocol is TLS_1_3 else []
    for chosen, family in ((sizes.curves, curves), (sizes.mlkem_groups, kems)):
        below = family[: family.index(chosen[0])] if chosen else family
        assert all((group_security_bits(model, name) or 0) < level for name in below)
    assert sizes.cipher is None or AUTHORITIES[model].ciphers[sizes.cipher] >= level


def test_every_group_and_key_belongs_to_a_family() -> None:
    """A new one must be added here, or no level would ever choose it."""
    by_method = {method: [group for family in families for group in family] for method, families in FAMILIES.items()}
    assert sorted(by_method[Method.ECDHE]) == sorted((*EC_GROUPS, *HYBRID_GROUPS))
    assert sorted(by_method[Method.MLKEM]) == sorted(MLKEM_GROUPS)
    assert sorted(by_method[Method.DHE]) == sorted((*DH_GROUPS, *map(custom_dh_group, DH_BITS)))
    assert set(HYBRID_PARTS) == set(HYBRID_GROUPS)
    assert {key for family in KEY_FAMILIES for key in family} == set(CERTIFICATE_KEYS) - {*RSA_KEYS, Key.ECDSA}


def test_a_strength_belongs_to_the_highest_level_that_it_reaches() -> None:
    assert [level_of(bits) for bits in (None, 73, 80, 95, 96, 126, 152, 260)] == [None, None, 80, 80, 96, 112, 128, 256]
