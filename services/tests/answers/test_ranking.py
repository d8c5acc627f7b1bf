"""Which stack is the cheapest: by verdicts alone, among those that did the same work in one run."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.answers.comparing import negotiated_differently
from kexbench.answers.ranking import (
    NO_OTHER,
    OTHER_WORK,
    Candidate,
    InRun,
    Judgement,
    comparable,
    first_steps,
    rank,
    run_of,
)
from kexbench.answers.stacks_shapes import Ranked
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Cipher, KeyExchange, Protocol, Resumption
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Ratio
from kexbench.domain.samples import Negotiated
from kexbench.domain.upgrades import CellVerdict
from kexbench.store.port import AppearanceRow
from tests.builders import NOON

PLAIN = Negotiated(
    protocol="TLSv1.3",
    cipher="AES-128-GCM",
    group="X25519",
    signature="ecdsa_secp256r1_sha256",
    peer_key="EC",
    peer_key_bits=256,
    resumed=False,
    key_shares=1,
    tickets=0,
)
TWO_SHARES = PLAIN.model_copy(update={"key_shares": 2})


def of(name: str, cost: float, negotiated: Negotiated | None = PLAIN) -> Candidate:
    return Candidate(name, cost, negotiated)


def judged(verdicts: Mapping[tuple[str, str], CellVerdict], costs: Mapping[str, float]):  # type: ignore[no-untyped-def]
    """Verdicts by pair; others follow from the costs."""

    def judge(first: str, second: str) -> Judgement:
        ratio = costs[second] / costs[first]
        verdict = verdicts.get((first, second)) or ("more" if ratio > 1 else "less")
        return Judgement(verdict, Ratio(ratio=ratio, low=ratio * 0.99, high=ratio * 1.01))

    return judge


def standings(
    costs: Mapping[str, float], verdicts: Mapping[tuple[str, str], CellVerdict] | None = None
) -> dict[str, Ranked]:
    return rank([of(name, cost) for name, cost in costs.items()], judged(verdicts or {}, costs))


def test_the_cheapest_has_its_interval_against_the_next() -> None:
    ranked = standings({"a": 200.0, "b": 100.0, "c": 125.0})
    assert {name: each.standing for name, each in ranked.items()} == {"a": "more", "b": "cheapest", "c": "more"}
    assert (ranked["b"].against, ranked["a"].against, ranked["c"].against) == ("c", "b", "b")
    assert ranked["b"].ratio == Ratio(ratio=0.8, low=1 / (1.25 * 1.01), high=1 / (1.25 * 0.99))
    assert ranked["a"].ratio == Ratio(ratio=2.0, low=1.98, high=2.02)


@pytest.mark.parametrize("verdict", ["same", "unresolved"])
def test_those_not_told_apart_from_the_lowest_are_equal(verdict: CellVerdict) -> None:
    ranked = standings({"a": 100.0, "b": 101.0, "c": 150.0}, {("a", "b"): verdict})
    assert {name: each.standing for name, each in ranked.items()} == {"a": "equal", "b": "equal", "c": "more"}
    assert (ranked["a"].against, ranked["b"].against) == ("b", "a")


def test_a_verdict_outweighs_the_medians() -> None:
    """In pairs, b costs less than a, although its median is higher."""
    costs = {"a": 100.0, "b": 101.0, "c": 150.0}
    pairs = {("a", "b"): 0.9, ("b", "a"): 1 / 0.9, ("a", "c"): 1.5, ("b", "c"): 1.6}

    def judge(first: str, second: str) -> Judgement:
        ratio = pairs[first, second]
        return Judgement("more" if ratio > 1 else "less", Ratio(ratio=ratio, low=ratio, high=ratio))

    ranked = rank([of(name, cost) for name, cost in costs.items()], judge)
    assert {name: each.standing for name, each in ranked.items()} == {"a": "more", "b": "cheapest", "c": "more"}


def test_verdicts_that_contradict_each_other_end() -> None:
    ranked = standings({"a": 100.0, "b": 100.0}, {("a", "b"): "less", ("b", "a"): "less"})
    assert {each.standing for each in ranked.values()} == {"equal"}


def test_other_work_is_never_ranked() -> None:
    costs = {"a": 50.0, "b": 100.0, "c": 150.0}
    candidates = [of("a", 50.0, TWO_SHARES), of("b", 100.0), of("c", 150.0)]
    ranked = rank(candidates, judged({}, costs))
    assert {name: each.standing for name, each in ranked.items()} == {"a": "other work", "b": "cheapest", "c": "more"}
    assert ranked["a"] == Ranked(
        standing="other work", reason="negotiated differently: client key shares 2 instead of 1"
    )


def test_of_two_equally_common_works_none_is_ranked() -> None:
    ranked = rank([of("a", 50.0, TWO_SHARES), of("b", 100.0)], judged({}, {}))
    assert {each.standing for each in ranked.values()} == {"other work"}
    assert ranked["b"].reason
    assert ranked["b"].reason.startswith("negotiated differently: client key shares 1 instead of 2")


def test_what_one_does_not_tell_makes_no_group_of_two_that_differ() -> None:
    """a does not tell its key shares, so it fits b and c, which do not fit each other."""
    untold = PLAIN.model_copy(update={"key_shares": None})
    candidates = [of("a", 50.0, untold), of("b", 100.0), of("c", 150.0, TWO_SHARES)]
    ranked = rank(candidates, judged({}, {}))
    assert {each.standing for each in ranked.values()} == {"other work"}
    assert ranked["a"].reason == OTHER_WORK
    assert ranked["c"].reason == f"negotiated differently: client key shares 2 instead of 1; {OTHER_WORK}"
    ranked = rank([*candidates, of("d", 200.0)], judged({}, {"a": 50.0, "b": 100.0, "d": 200.0}))
    assert {name: each.standing for name, each in ranked.items()} == {
        "a": "cheapest",
        "b": "more",
        "c": "other work",
        "d": "more",
    }


@given(st.lists(st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, 0, 2])), max_size=7))
def test_any_two_that_are_ranked_did_the_same_work(works: list[tuple[int | None, int | None]]) -> None:
    candidates = [
        of(str(place), 1.0, PLAIN.model_copy(update={"key_shares": shares, "tickets": tickets}))
        for place, (shares, tickets) in enumerate(works)
    ]
    ranked, others = comparable(candidates)
    assert {each.name for each in ranked} | others.keys() == {each.name for each in candidates}
    for one, other in combinations(ranked, 2):
        assert one.negotiated
        assert other.negotiated
        assert negotiated_differently(one.negotiated, other.negotiated) == []


FULL = Case(
    protocol=Protocol.TLS_1_3,
    key_exchange=KeyExchange.ECDHE_ECDSA,
    group="X25519",
    curve="P-256",
    cipher=Cipher.AES_128_GCM,
)
RESUMED = FULL.model_copy(update={"resumption": Resumption.PSK_DHE})
KIND = HostKind("local", "Example CPU 9000")


def seen(
    run_id: str, names: str, cases: Collection[Case] = (FULL,), *, invocations: int = 3, day: int = 0
) -> list[AppearanceRow]:
    units = frozenset(map(str, range(invocations)))
    at = NOON + timedelta(days=day)
    return [AppearanceRow(case, name, KIND, run_id, at, units) for case in cases for name in names]


def test_the_run_that_ranks_has_most_stacks_then_is_the_newest() -> None:
    old, new = seen("old", "abc"), seen("new", "ab", day=1)
    assert run_of([*old, *new], [FULL.case_id]) == InRun("old", frozenset("abc"))
    assert run_of([*old, *new, *seen("newest", "abd", day=2)], [FULL.case_id]) == InRun("newest", frozenset("abd"))
    assert run_of([], [FULL.case_id]) is None


def test_a_run_with_too_few_invocations_ranks_only_if_there_is_no_other() -> None:
    few = seen("few", "abc", invocations=2, day=1)
    assert run_of([*seen("enough", "ab"), *few], [FULL.case_id]) == InRun("enough", frozenset("ab"))
    assert run_of(few, [FULL.case_id]) == InRun("few", frozenset("abc"))


def test_several_cases_are_ranked_by_a_run_that_has_all_of_them() -> None:
    both = [FULL.case_id, RESUMED.case_id]
    apart = [*seen("full", "abc", day=1), *seen("resumed", "abc", [RESUMED], day=1)]
    assert run_of(apart, both) is None
    assert run_of([*apart, *seen("both", "ab", [FULL, RESUMED])], both) == InRun("both", frozenset("ab"))


def test_the_caveats_of_a_verdict_are_those_of_both_stacks() -> None:
    def judge(first: str, second: str) -> Judgement:
        return Judgement("more", Ratio(ratio=2.0, low=1.9, high=2.1), caveats=("weak",) if second == "b" else ())

    ranked = rank([of("a", 1.0), of("b", 2.0), of("c", 2.1)], judge)
    assert {name: each.caveats for name, each in ranked.items()} == {"a": ("weak",), "b": ("weak",), "c": ()}


def test_one_stack_is_no_cheapest() -> None:
    assert rank([of("a", 1.0)], judged({}, {})) == {"a": Ranked(standing="alone", reason=NO_OTHER)}
    assert rank([], judged({}, {})) == {}


def test_a_pair_without_a_ratio_has_its_reason() -> None:
    def judge(first: str, second: str) -> Judgement:
        return Judgement("unlike", None, f"{first} and {second} differ")

    ranked = rank([of("a", 1.0), of("b", 2.0)], judge)
    assert ranked["b"] == Ranked(standing="other work", reason="a and b differ")
    assert ranked["a"].standing == "alone"


def test_the_first_pairs_are_those_with_the_lowest_cost() -> None:
    candidates = [of("a", 2.0), of("b", 1.0), of("c", 3.0), of("d", 0.5, TWO_SHARES)]
    assert first_steps(candidates) == [("b", "a"), ("b", "c")]
