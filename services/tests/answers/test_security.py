"""The handshakes of a library version by strength, and the sentences about them."""

from collections.abc import Sequence

import pytest

from kexbench.answers.security import handshakes_of, model_views, sizes_view
from kexbench.answers.security_shapes import LevelView
from kexbench.domain.cases import Case, Cipher, KeyExchange, Protocol
from kexbench.domain.security import SecurityModel
from kexbench.domain.security_levels import SECURITY_LEVELS
from kexbench.domain.subjects import Subject
from kexbench.domain.versions import version_key
from kexbench.store.port import SampleRow
from tests.builders import NOON
from tests.golden import GOLDEN, assert_texts

NIST, ECRYPT, CNSA, CNSA_2 = SecurityModel
SUBJECT = Subject("openssl", "3.5.4", version_key("3.5.4"), "system", "p", "label", "kit")
RSA = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.RSA, rsa_bits=3072)
ECDHE_RSA = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.ECDHE_RSA, rsa_bits=3072, group="P-256")
ECDSA = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519")
HYBRID = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519MLKEM768")
CHACHA = ECDSA.model_copy(update={"cipher": Cipher.CHACHA20_POLY1305})


def rows(*costs: tuple[Case, float], run: str = "run", invocations: int = 6, noise: float = 0.0005) -> list[SampleRow]:
    return [
        SampleRow(case, SUBJECT, run, NOON, f"job/{number}", level, [level])
        for case, cost_us in costs
        for number in range(invocations)
        for level in [cost_us * 1000 * (1 + noise * (number - 2.5))]
    ]


def level_of(rows: Sequence[SampleRow], level_bits: int = 128, model: SecurityModel = NIST) -> LevelView:
    levels, _ = handshakes_of(rows, model)
    return next(level for level in levels if level.level_bits == level_bits)


NOISE = 0.09
SITUATIONS: dict[str, LevelView] = {
    "the forward secret handshake costs less": level_of(rows((RSA, 1500), (ECDSA, 200), (ECDHE_RSA, 1700))),
    "it costs somewhat more": level_of(rows((RSA, 1500), (ECDHE_RSA, 1700))),
    "it costs several times as much": level_of(rows((RSA, 150), (ECDHE_RSA, 1700))),
    "it costs somewhat less": level_of(rows((RSA, 1500), (ECDHE_RSA, 1000))),
    "no difference": level_of(rows((RSA, 1500), (ECDHE_RSA, 1500.1))),
    "two as cheap": level_of(rows((RSA, 1500), (ECDSA, 200), (HYBRID, 200.01))),
    "with an RSA certificate it costs less as well": level_of(rows((RSA, 1500), (ECDSA, 200), (ECDHE_RSA, 1000))),
    "with an RSA certificate no difference": level_of(rows((RSA, 1500), (ECDSA, 200), (ECDHE_RSA, 1500.1))),
    "unresolved, although its interval has no zero": level_of(rows((RSA, 1500), (ECDHE_RSA, 2100), noise=NOISE)),
    "with an RSA certificate unresolved": level_of(rows((RSA, 1500), (ECDSA, 200), (ECDHE_RSA, 2100), noise=NOISE)),
    "a stronger handshake": level_of(rows((RSA, 1500), (ECDSA, 200)), 112),
    "different runs": level_of([*rows((RSA, 1500)), *rows((ECDSA, 200), run="another")]),
    "too few invocations": level_of([*rows((RSA, 1500)), *rows((ECDSA, 200), invocations=2)]),
    "nothing measured": level_of([]),
    "no RSA key exchange": level_of(rows((ECDSA, 200))),
    "RSA key exchange alone": level_of(rows((RSA, 1500))),
    "beyond all RSA keys": level_of(rows((ECDSA, 200)), 256),
    "a level that the authority does not have": level_of(rows((ECDSA, 200)), 192, CNSA),
    "an authority without RSA": level_of(rows((ECDSA, 200)), 256, CNSA_2),
}


def test_the_sentences_about_a_level() -> None:
    assert_texts(
        GOLDEN / "forward-secrecy.txt",
        {
            situation: "\n".join([level.cheapest, level.forward_secrecy_adds, level.missing or "nothing is missing"])
            for situation, level in SITUATIONS.items()
        },
    )


def test_a_difference_is_denied_only_where_the_verdict_denies_it() -> None:
    """An interval without zero may belong to a difference below the resolution."""
    (unresolved, *_) = level_of(rows((RSA, 1500), (ECDHE_RSA, 2100), noise=NOISE)).handshakes[::-1]
    assert (unresolved.case.id, unresolved.verdict) == (ECDHE_RSA.case_id, "unresolved")
    assert unresolved.against_rsa is not None
    assert unresolved.resolves is not None
    assert 1 < unresolved.against_rsa.low < unresolved.against_rsa.ratio < 1 + unresolved.resolves
    for level in SITUATIONS.values():
        compared = {each.verdict for each in level.handshakes if each.case.id != level.rsa_case}
        assert ("o difference" in level.forward_secrecy_adds) <= ("same" in compared)
        assert ("unresolved" in level.forward_secrecy_adds) <= ("unresolved" in compared)


def test_each_handshake_is_listed_once_cheapest_first_with_what_limits_it() -> None:
    levels, unranked = handshakes_of(rows((RSA, 1500), (ECDSA, 200), (HYBRID, 300), (CHACHA, 190)), NIST)
    listed = {level.level_bits: [each.case.id for each in level.handshakes] for level in levels if level.handshakes}
    assert listed == {128: [ECDSA.case_id, HYBRID.case_id, RSA.case_id]}
    assert [(each.case.id, each.bits, each.limited_by) for each in unranked] == [
        (CHACHA.case_id, None, "NIST says nothing about CHACHA20-POLY1305")
    ]
    ecdsa, hybrid, rsa = next(level for level in levels if level.handshakes).handshakes
    assert hybrid.limited_by == "ECDSA P-256, SHA-256 and AES-128-GCM"
    assert [each.forward_secret for each in (ecdsa, hybrid, rsa)] == [True, True, False]
    assert [each.post_quantum_key_exchange for each in (ecdsa, hybrid, rsa)] == [False, True, False]
    assert ecdsa.against_rsa is not None
    assert ecdsa.against_rsa.ratio == pytest.approx(200 / 1500, rel=0.001)
    assert (ecdsa.verdict, rsa.verdict) == ("less", "same")
    assert ecdsa.cost.value == pytest.approx(200_000, rel=0.001)


def test_a_handshake_without_a_ratio_says_why() -> None:
    apart = level_of([*rows((RSA, 1500), (ECDSA, 200)), *rows((HYBRID, 300), run="another")])
    few = level_of([*rows((RSA, 1500), (ECDSA, 200)), *rows((HYBRID, 300), invocations=2)])
    alone = level_of(rows((ECDSA, 200), (HYBRID, 300)))
    assert [
        {each.case.id: each.not_compared for each in level.handshakes}[HYBRID.case_id] for level in (apart, few, alone)
    ] == ["another run", "too few invocations", "no RSA key exchange"]
    assert {each.not_compared for each in apart.handshakes if each.case.id != HYBRID.case_id} == {None}
    assert (apart.rsa_title, alone.rsa_title) == ("TLS 1.2 RSA, RSA 3072", None)


def test_resumptions_default_settings_and_variations_are_not_compared() -> None:
    defaults = Case(protocol=Protocol.DEFAULT, key_exchange=KeyExchange.DEFAULT_ED25519, cipher=Cipher.DEFAULT)
    varied = [ECDSA.model_copy(update={"chain_length": 3}), ECDSA.model_copy(update={"threads": 2}), defaults]
    levels, unranked = handshakes_of(rows(*((case, 200.0) for case in varied)), NIST)
    assert [each for level in levels for each in level.handshakes] + unranked == []


def test_the_same_handshakes_have_other_levels_under_another_authority() -> None:
    first_article = Case(
        protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.ECDHE_RSA, rsa_bits=1776, group="secp192r1"
    )
    assert [each.case.id for each in level_of(rows((first_article, 300)), 96, ECRYPT).handshakes] == [
        first_article.case_id
    ]
    assert [each.case.id for each in level_of(rows((first_article, 300)), 80, NIST).handshakes] == [
        first_article.case_id
    ]


def test_sizes_of_both_protocols_are_listed() -> None:
    sizes = sizes_view(ECRYPT, 96)
    assert (sizes.rsa_bits, sizes.dh_groups, sizes.curves) == (1776, ["dh-1776", "ffdhe2048"], ["secp192r1", "P-256"])
    assert [sizes_view(CNSA, level_bits).rsa_bits for level_bits in SECURITY_LEVELS] == [2048] * 3 + [3072, None, None]


def test_every_model_has_a_title_and_sources() -> None:
    assert [(view.model, bool(view.title and view.sources)) for view in model_views()] == [
        (model, True) for model in SecurityModel
    ]
