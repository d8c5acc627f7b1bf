"""Which of several stacks is the cheapest: only by verdicts on pairs, and only among those that did the same work in
one run. Pure."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.answers.comparing import negotiated_differently
from kexbench.answers.stacks_shapes import Ranked, Standing
from kexbench.domain.intervals import Ratio
from kexbench.domain.samples import Negotiated
from kexbench.domain.upgrades import CellVerdict
from kexbench.store.port import AppearanceRow

OTHER_WORK = "as many stacks did one work as another"
NO_OTHER = "no other stack has a number that could be compared"


class Judgement(NamedTuple):
    """The verdict on the second of two stacks relative to the first."""

    verdict: CellVerdict
    ratio: Ratio | None
    reason: str = ""
    """Why there is no ratio."""
    caveats: tuple[str, ...] = ()
    """Why the comparison is weaker."""


Judge = Callable[[str, str], Judgement]


@dataclass(frozen=True)
class Candidate:
    """A stack with a number, all of one run."""

    name: str
    cost: float
    negotiated: Negotiated | None = None


class InRun(NamedTuple):
    """The stacks that a run measured beside each other."""

    run_id: str
    names: frozenset[str]


def run_of(rows: Iterable[AppearanceRow], case_ids: Collection[str]) -> InRun | None:
    """The run that has most stacks in all of the cases with invocations enough to compare them; of several, the newest.
    None if no run has a stack in all of them."""
    by_run: dict[str, dict[str, dict[str, AppearanceRow]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row.case.case_id in case_ids:
            by_run[row.run_id][row.subject][row.case.case_id] = row
    whole = {
        run_id: {name: by_case.values() for name, by_case in stacks.items() if len(by_case) == len(case_ids)}
        for run_id, stacks in by_run.items()
    }

    def order(run_id: str) -> tuple[object, ...]:
        stacks = whole[run_id].values()
        enough = [min(len(row.units) for row in of_stack) >= MIN_COMPARED_INVOCATIONS for of_stack in stacks]
        return sum(enough), len(enough), max(row.measured_at for of_stack in stacks for row in of_stack), run_id

    best = max((run_id for run_id, stacks in whole.items() if stacks), key=order, default=None)
    return InRun(best, frozenset(whole[best])) if best else None


def rank(candidates: Collection[Candidate], judge: Judge) -> dict[str, Ranked]:
    """Where each stands, by name."""
    ranked, others = comparable(candidates)
    if len(ranked) < 2:
        alone = {each.name: Ranked(standing="alone", reason=NO_OTHER) for each in ranked}
        return alone | others
    cheapest, judged = _cheapest(ranked, judge)
    return _standings(cheapest, judged, ranked) | others


def first_steps(candidates: Collection[Candidate]) -> list[tuple[str, str]]:
    """The pairs that `rank` asks a verdict on first, so that they can be judged together."""
    ranked, _ = comparable(candidates)
    first = min(ranked, key=_by_cost, default=None)
    return [(first.name, each.name) for each in ranked if first and each is not first]


def _by_cost(candidate: Candidate) -> tuple[float, str]:
    return candidate.cost, candidate.name


def comparable(candidates: Collection[Candidate]) -> tuple[list[Candidate], dict[str, Ranked]]:
    """Those that are ranked, and why the others are not. If two kinds of work are equally common, neither is the work
    of the column."""
    largest = _largest_alike(candidates)
    ranked = largest[0] if len(largest) == 1 else []
    no_majority = [OTHER_WORK] if len(largest) > 1 else []
    return ranked, {
        each.name: Ranked(
            standing="other work", reason="; ".join([*_difference(each, ranked or candidates), *no_majority])
        )
        for each in candidates
        if each not in ranked
    }


def _largest_alike(candidates: Collection[Candidate]) -> list[list[Candidate]]:
    """The largest groups in which any two did the same work. What one does not tell may fit two others that differ, so
    a group grows around each."""
    groups: list[list[Candidate]] = []
    for one in candidates:
        group = [one]
        for other in candidates:
            if other is not one and not _difference(other, group):
                group.append(other)
        if (ordered := [each for each in candidates if each in group]) not in groups:
            groups.append(ordered)
    most = max(map(len, groups), default=0)
    return [group for group in groups if len(group) == most]


def _difference(one: Candidate, others: Iterable[Candidate]) -> list[str]:
    """What the first of the others that did other work negotiated differently."""
    known = [other.negotiated for other in others if other.negotiated]
    differences = (negotiated_differently(one.negotiated, other) for other in known) if one.negotiated else ()
    return next(filter(None, differences), [])


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
        first = Ranked(standing=standing, against=following, ratio=_inverted(next_one.ratio), caveats=next_one.caveats)
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
    return Ranked(standing=standing, against=cheapest.name, ratio=judgement.ratio, caveats=judgement.caveats)


def _inverted(ratio: Ratio | None) -> Ratio | None:
    return ratio and ratio.inverse
