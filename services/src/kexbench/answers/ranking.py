"""Which of several stacks is the cheapest: only by verdicts on pairs, and only among those that did the same work in
the same run. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from kexbench.answers.comparing import negotiated_differently
from kexbench.answers.stacks_shapes import Ranked, Standing
from kexbench.domain.intervals import Ratio
from kexbench.domain.samples import Negotiated
from kexbench.domain.upgrades import CellVerdict

OTHER_WORK = "as many stacks did one work as another"
NO_OTHER = "no other stack has a number that could be compared"


class Judgement(NamedTuple):
    """The verdict on the second of two stacks relative to the first."""

    verdict: CellVerdict
    ratio: Ratio | None
    reason: str = ""
    """Why there is no ratio."""
    paired: bool = True
    """Whether the same invocations have both."""


Judge = Callable[[str, str], Judgement]


@dataclass(frozen=True)
class Candidate:
    """A stack with a number."""

    name: str
    label: str
    cost: float
    measured_at: datetime
    negotiated: Negotiated | None = None


def rank(candidates: Collection[Candidate], together: Callable[[str, str], bool], judge: Judge) -> dict[str, Ranked]:
    """Where each stands, by name. `together`: whether a run has enough invocations of both."""
    ranked, others = _comparable(candidates, together)
    if len(ranked) < 2:
        alone = {each.name: Ranked(standing="alone", reason=NO_OTHER) for each in ranked}
        return alone | others
    cheapest, judged = _cheapest(ranked, judge)
    return _standings(cheapest, judged, ranked) | others


def first_steps(candidates: Collection[Candidate], together: Callable[[str, str], bool]) -> Iterable[tuple[str, str]]:
    """The pairs that `rank` asks a verdict on first, so that they can be judged together."""
    ranked, _ = _comparable(candidates, together)
    first = min(ranked, key=_by_cost, default=None)
    return [(first.name, each.name) for each in ranked if first and each is not first]


def _by_cost(candidate: Candidate) -> tuple[float, str]:
    return candidate.cost, candidate.name


def _comparable(
    candidates: Collection[Candidate], together: Callable[[str, str], bool]
) -> tuple[list[Candidate], dict[str, Ranked]]:
    """Those that are ranked, and why the others are not."""
    if not candidates:
        return [], {}
    alike = _largest(candidates, lambda one, other: not _differ(one, other))
    if len(alike) != 1:  # two kinds of work are equally common, so neither is the work of the column
        return [], {
            each.name: Ranked(standing="other work", reason="; ".join([*_differences(each, candidates), OTHER_WORK]))
            for each in candidates
        }
    same = alike[0]
    others = {
        each.name: Ranked(standing="other work", reason="; ".join(_differ(each, same[0])))
        for each in candidates
        if each not in same
    }
    groups = _largest(same, lambda one, other: together(one.name, other.name))
    ranked = max(groups, key=lambda group: max(each.measured_at for each in group))
    for each in same:
        if each not in ranked:
            reason = f"not measured in the same run as {ranked[0].label}"
            others[each.name] = Ranked(standing="not compared", reason=reason)
    return ranked, others


def _largest(candidates: Collection[Candidate], fits: Callable[[Candidate, Candidate], bool]) -> list[list[Candidate]]:
    """The largest groups in which everybody fits the one that the group was made for."""
    groups = [[other for other in candidates if other is one or fits(one, other)] for one in candidates]
    most = max(map(len, groups), default=0)
    largest: list[list[Candidate]] = []
    for group in groups:
        if len(group) == most and group not in largest:
            largest.append(group)
    return largest


def _differ(one: Candidate, other: Candidate) -> list[str]:
    if one.negotiated is None or other.negotiated is None:
        return []
    return negotiated_differently(one.negotiated, other.negotiated)


def _differences(one: Candidate, others: Iterable[Candidate]) -> list[str]:
    return next((reasons for other in others if (reasons := _differ(one, other))), [])


def _cheapest(ranked: Collection[Candidate], judge: Judge) -> tuple[Candidate, dict[str, Judgement]]:
    """The one that none is cheaper than. It begins with the lowest median: a verdict is on paired rounds, and may say
    otherwise."""
    order = sorted(ranked, key=_by_cost)
    cheapest, tried = order[0], {order[0].name}
    while True:
        judged = {each.name: judge(cheapest.name, each.name) for each in ranked if each is not cheapest}
        cheaper = [each for each in order if each.name not in tried and judged[each.name].verdict == "less"]
        if not cheaper:
            return cheapest, judged
        cheapest = min(cheaper, key=lambda each: _ratio(judged[each.name]))
        tried.add(cheapest.name)


def _ratio(judgement: Judgement) -> float:
    return judgement.ratio.ratio if judgement.ratio else 1.0


def _standings(cheapest: Candidate, judged: Mapping[str, Judgement], ranked: Iterable[Candidate]) -> dict[str, Ranked]:
    standings = {each.name: _standing(cheapest, judged[each.name]) for each in ranked if each is not cheapest}
    following = _following(standings)
    if following is None:
        first = Ranked(standing="alone", reason=NO_OTHER)
    else:
        standing: Standing = "cheapest" if standings[following].standing == "more" else "equal"
        next_one = judged[following]
        first = Ranked(standing=standing, against=following, ratio=_inverted(next_one.ratio), paired=next_one.paired)
    return standings | {cheapest.name: first}


def _following(standings: Mapping[str, Ranked]) -> str | None:
    """The next one: of those that are not told apart, if there are any, the one with the lowest cost."""
    ratios = {name: (own.standing == "more", own.ratio.ratio) for name, own in standings.items() if own.ratio}
    return min(ratios, key=lambda name: ratios[name], default=None)


def _standing(cheapest: Candidate, judgement: Judgement) -> Ranked:
    if judgement.ratio is None:
        standing: Standing = "other work" if judgement.verdict == "unlike" else "not compared"
        return Ranked(standing=standing, reason=judgement.reason)
    standing = "more" if judgement.verdict == "more" else "equal"
    return Ranked(standing=standing, against=cheapest.name, ratio=judgement.ratio, paired=judgement.paired)


def _inverted(ratio: Ratio | None) -> Ratio | None:
    return ratio and Ratio(ratio=1 / ratio.ratio, low=1 / ratio.high, high=1 / ratio.low)
