"""Which stack is the cheapest: by verdicts alone, among those that did the same work in the same run."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from kexbench.answers.ranking import NO_OTHER, Candidate, Judgement, first_steps, rank
from kexbench.answers.stacks_shapes import Ranked
from kexbench.domain.intervals import Ratio
from kexbench.domain.samples import Negotiated
from kexbench.domain.upgrades import CellVerdict
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


def of(name: str, cost: float, negotiated: Negotiated | None = PLAIN, day: int = 0) -> Candidate:
    return Candidate(name, name.upper(), cost, NOON + timedelta(days=day), negotiated)


def always(one: str, other: str) -> bool:
    return one != other


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
    return rank([of(name, cost) for name, cost in costs.items()], always, judged(verdicts or {}, costs))


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

    ranked = rank([of(name, cost) for name, cost in costs.items()], always, judge)
    assert {name: each.standing for name, each in ranked.items()} == {"a": "more", "b": "cheapest", "c": "more"}


def test_verdicts_that_contradict_each_other_end() -> None:
    ranked = standings({"a": 100.0, "b": 100.0}, {("a", "b"): "less", ("b", "a"): "less"})
    assert {each.standing for each in ranked.values()} == {"equal"}


def test_other_work_is_never_ranked() -> None:
    costs = {"a": 50.0, "b": 100.0, "c": 150.0}
    candidates = [of("a", 50.0, TWO_SHARES), of("b", 100.0), of("c", 150.0)]
    ranked = rank(candidates, always, judged({}, costs))
    assert {name: each.standing for name, each in ranked.items()} == {"a": "other work", "b": "cheapest", "c": "more"}
    assert ranked["a"] == Ranked(
        standing="other work", reason="negotiated differently: client key shares 2 instead of 1"
    )


def test_of_two_equally_common_works_none_is_ranked() -> None:
    ranked = rank([of("a", 50.0, TWO_SHARES), of("b", 100.0)], always, judged({}, {}))
    assert {each.standing for each in ranked.values()} == {"other work"}
    assert ranked["b"].reason
    assert ranked["b"].reason.startswith("negotiated differently: client key shares 1 instead of 2")


def test_those_of_other_runs_are_not_ranked() -> None:
    costs = {"a": 50.0, "b": 100.0, "c": 150.0}
    ranked = rank(
        [of(name, cost) for name, cost in costs.items()],
        lambda one, other: "a" not in (one, other),
        judged({}, costs),
    )
    assert ranked["a"] == Ranked(standing="not compared", reason="not measured in the same run as B")
    assert (ranked["b"].standing, ranked["c"].standing) == ("cheapest", "more")


def test_of_two_groups_of_runs_the_newer_one_is_ranked() -> None:
    costs = {"a": 50.0, "b": 60.0, "c": 100.0, "d": 150.0}
    ranked = rank(
        [of(name, cost, day=name in "cd") for name, cost in costs.items()],
        lambda one, other: {one, other} in ({"a", "b"}, {"c", "d"}),
        judged({}, costs),
    )
    assert [ranked[name].standing for name in "abcd"] == ["not compared", "not compared", "cheapest", "more"]


def test_a_verdict_across_blocks_of_a_run_is_said_to_be_unpaired() -> None:
    def judge(first: str, second: str) -> Judgement:
        return Judgement("more", Ratio(ratio=2.0, low=1.9, high=2.1), paired=second != "b")

    ranked = rank([of("a", 1.0), of("b", 2.0), of("c", 2.1)], always, judge)
    assert {name: each.paired for name, each in ranked.items()} == {"a": False, "b": False, "c": True}


def test_one_stack_is_no_cheapest() -> None:
    assert rank([of("a", 1.0)], always, judged({}, {})) == {"a": Ranked(standing="alone", reason=NO_OTHER)}
    assert rank([], always, judged({}, {})) == {}


def test_a_pair_without_a_ratio_has_its_reason() -> None:
    def judge(first: str, second: str) -> Judgement:
        return Judgement("unlike", None, f"{first} and {second} differ")

    ranked = rank([of("a", 1.0), of("b", 2.0)], always, judge)
    assert ranked["b"] == Ranked(standing="other work", reason="a and b differ")
    assert ranked["a"].standing == "alone"


def test_the_first_pairs_are_those_with_the_lowest_cost() -> None:
    candidates = [of("a", 2.0), of("b", 1.0), of("c", 3.0), of("d", 0.5, TWO_SHARES)]
    assert first_steps(candidates, always) == [("b", "a"), ("b", "c")]
