"""The answers at a level of security, from costs that are known."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.forward_secrecy import Handshake, answer, relative_to
from kexbench.domain.cases import Case, KeyExchange, Protocol

RSA = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.RSA, rsa_bits=2048)
ECDHE = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.ECDHE_RSA, rsa_bits=2048, group="P-256")
ECDSA = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="P-256")
DHE = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.DHE_RSA, rsa_bits=2048, group="ffdhe2048")
SPREAD = (-2, -1, 0, 0, 1, 2)


def measured(case: Case, cost_us: float, bits: int | None = 112, run: str = "run", invocations: int = 6) -> Handshake:
    costs = [cost_us * 1000 * (1 + 0.001 * step) for step in SPREAD[:invocations]]
    return Handshake(case, bits, run, {f"job/{number}": (cost,) for number, cost in zip(count(), costs, strict=False)})


def test_the_cheapest_handshake_may_be_stronger_than_the_level() -> None:
    rsa, ecdhe, ecdsa = measured(RSA, 1000), measured(ECDHE, 1200), measured(ECDSA, 400, bits=128)
    at_level = answer([rsa, ecdhe, ecdsa], 112)
    assert (at_level.cheapest, at_level.plain_rsa, at_level.as_cheap, at_level.with_rsa_key) == (ecdsa, rsa, (), ecdhe)
    against = at_level.against_rsa[ECDSA.case_id]
    assert against.verdict == "less"
    assert against.ratio.low < 0.4 < against.ratio.high
    assert at_level.against_rsa[ECDHE.case_id].verdict == "more"
    assert at_level.against_rsa[RSA.case_id].ratio.ratio == 1


def test_what_is_too_weak_or_of_unknown_strength_answers_nothing() -> None:
    at_level = answer([measured(RSA, 1000), measured(ECDHE, 900, bits=None), measured(ECDSA, 400, bits=80)], 112)
    assert (at_level.cheapest, at_level.plain_rsa) == (None, measured(RSA, 1000))


def test_a_handshake_within_the_noise_is_as_cheap() -> None:
    ecdsa, ecdhe, dhe = measured(ECDSA, 400), measured(ECDHE, 400.2), measured(DHE, 800)
    assert answer([ecdsa, ecdhe, dhe], 112).as_cheap == (ecdhe,)


def test_costs_of_different_runs_are_not_compared() -> None:
    ecdsa, rsa = measured(ECDSA, 400, run="today"), measured(RSA, 1000, run="before")
    at_level = answer([ecdsa, rsa, measured(ECDHE, 400, run="before")], 112)
    assert at_level.plain_rsa == rsa
    assert set(at_level.against_rsa) == {RSA.case_id, ECDHE.case_id}
    assert at_level.as_cheap == ()


def test_an_rsa_key_exchange_of_the_same_run_is_preferred_to_a_cheaper_one_of_another() -> None:
    near, far = measured(RSA, 1000), measured(RSA.model_copy(update={"rsa_bits": 3072}), 900, run="before")
    assert answer([measured(ECDSA, 400), far, near], 112).plain_rsa == near


def test_too_few_invocations_are_not_compared() -> None:
    at_level = answer([measured(ECDSA, 400, invocations=2), measured(RSA, 1000)], 112)
    assert set(at_level.against_rsa) == {RSA.case_id}


def test_invocations_with_the_same_number_in_two_cases_are_no_pairs() -> None:
    against = relative_to(measured(RSA, 1000), [measured(ECDHE, 1000)])[ECDHE.case_id]
    assert against.ratio.high - against.ratio.low > 0.001, "the two vary alike, which pairs would cancel"


COSTS = st.lists(st.floats(100, 10_000), min_size=4, max_size=4)
STRENGTHS = st.lists(st.sampled_from([None, 80, 112, 128, 192]), min_size=4, max_size=4)


@given(costs=COSTS, strengths=STRENGTHS, level=st.sampled_from([80, 112, 128]))
def test_a_higher_level_is_never_cheaper(costs: list[float], strengths: list[int | None], level: int) -> None:
    cases = zip((RSA, ECDHE, ECDSA, DHE), costs, strengths, strict=True)
    handshakes = [measured(case, cost, bits) for case, cost, bits in cases]
    lower, higher = (answer(handshakes, bits).cheapest for bits in (level, 192))
    assert higher is None or (lower is not None and lower.cost_ns <= higher.cost_ns)


@pytest.mark.parametrize("level", [80, 112])
def test_without_handshakes_there_is_no_answer(level: int) -> None:
    at_level = answer([], level)
    assert (at_level.cheapest, at_level.as_cheap, at_level.plain_rsa, at_level.against_rsa) == (None, (), None, {})
