"""Which functions the difference of two profiles is in."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from kexbench.analysis.parts import parts_of
from kexbench.domain.instruments import root_of
from kexbench.domain.profiles import Explanation, FunctionChange, FunctionCost, PathStep, Profile

Name = str
_DOMINANT = 0.6
"""The path follows a callee that has at least this share of its caller's change."""
_DEEPEST = 40
_PREFIXES = ("ossl_", "OSSL_", "openssl_")
_VARIANT = re.compile(
    r"(_(sse[0-9_]*|ssse3|avx\w*|shaext|adx|bmi2|x86_64|aesni|vaes\w*|evex\w*|erms|unaligned|nohw))+$"
)
"""Suffixes of assembly and of ifuncs for some CPUs."""
_NAMESPACES = r"(?:bssl::|\(anonymous namespace\)::)*"
_IN_CPP = re.compile(_NAMESPACES + r"((?:\w+::|\(anonymous namespace\)::)*~?\w+)\(.*\)(?: const)?(?: \[clone .*\])?")
"""A function of C++, whose namespace and parameters may be others in each library of a family."""


def explain(before: Profile, after: Profile, spread: float = 0.0) -> Explanation:
    """The change of each function, and the path to the one that most of it happens in. `spread`: the difference of two
    counts of one version, as a share."""
    renamed = earlier_names(before, after)
    later = {earlier: name for name, earlier in renamed.items()}
    first, second = costs_by_name(before, {}), costs_by_name(after, renamed)
    total = after.amount - before.amount
    names = list(dict.fromkeys([*first, *second]))
    changes = [_change(name, later.get(name, name), first.get(name), second.get(name), total) for name in names]
    explanation = Explanation(
        instrument=after.instrument,
        side=after.side,
        before=before.amount,
        after=after.amount,
        functions=tuple(sorted(changes, key=lambda change: -abs(change.change))),
        path=(),
        spread=spread,
    )
    if not explanation.has_changed:
        return explanation
    path, is_explained = _path(before, after, renamed)
    place = _place(explanation.functions, path, is_explained)
    return explanation.model_copy(update={"path": path, "place": place})


def explain_libraries(before: Profile, after: Profile, spread: float = 0.0) -> Explanation:
    """The difference of two libraries: the change of each function that both have by name, all other functions, and
    the same by parts. There is no path, since the callers of a function need not be the same in both."""
    explanation = explain(before, after, spread)
    parts = parts_of(explanation.functions, before, after)
    return explanation.model_copy(update={"path": (), "place": None, "parts": parts})


def earlier_names(before: Profile, after: Profile) -> dict[Name, Name]:
    """The names that functions of the later version had in the earlier one, where they differ. Functions are matched by
    name, whatever file or library they are in, and also where a version put `ossl_` before the name or chose code for
    another CPU."""
    first, second = costs_by_name(before, {}), costs_by_name(after, {})
    gone = first.keys() - second.keys()
    claims = {earlier: name for name in second if name not in first and (earlier := _renamed(name, gone))}
    return {name: earlier for earlier, name in claims.items()}


def costs_by_name(profile: Profile, renamed: Mapping[Name, Name]) -> dict[Name, FunctionCost]:
    """The cost of each function, under its earlier name if `renamed` has one."""
    merged: dict[Name, FunctionCost] = {}
    for cost in profile.functions:
        shown = shown_name(cost.name, cost.library)
        name = renamed.get(shown, shown)
        known = merged.get(name)
        merged[name] = (
            cost
            if known is None
            else known.model_copy(
                update={
                    "amount": known.amount + cost.amount,
                    "calls": known.calls + cost.calls,
                }
            )
        )
    return merged


def shown_name(name: str, library: str) -> Name:
    if in_cpp := _IN_CPP.fullmatch(name):
        return in_cpp[1]
    return f"{name} of {library}" if " " in name else name


@dataclass
class Edge:
    """All calls of a function by another one."""

    cost: float = 0.0
    calls: float = 0.0


def calls_by_name(profile: Profile, renamed: Mapping[Name, Name]) -> dict[Name, dict[Name, Edge]]:
    """The calls of each function, by callee, under earlier names as in `costs_by_name`."""
    edges: dict[Name, dict[Name, Edge]] = defaultdict(lambda: defaultdict(Edge))
    for call in profile.calls:
        caller, callee = (shown_name(*end) for end in (call.caller, call.callee))
        edge = edges[renamed.get(caller, caller)][renamed.get(callee, callee)]
        edge.cost += call.inclusive
        edge.calls += call.calls
    return edges


def _renamed(name: Name, gone: Set[Name]) -> Name | None:
    """The name of a function that is gone, if it differs by a prefix that versions put before their functions, or is
    code for another CPU that does the same."""
    candidates = [name.removeprefix(prefix) for prefix in _PREFIXES] + [prefix + name for prefix in _PREFIXES]
    if exact := next((candidate for candidate in candidates if candidate in gone), None):
        return exact
    plain = _VARIANT.sub("", name)
    alike = sorted(each for each in gone if _VARIANT.sub("", each) == plain)
    return alike[0] if len(alike) == 1 else None


def _change(
    name: Name, later_name: Name, first: FunctionCost | None, second: FunctionCost | None, total: float
) -> FunctionChange:
    before, after = (cost.amount if cost else 0.0 for cost in (first, second))
    present = second or first
    assert present is not None
    return FunctionChange(
        name=name,
        later_name=later_name,
        library=present.library,
        before=before,
        after=after,
        calls_before=first.calls if first else 0.0,
        calls_after=second.calls if second else 0.0,
        share=(after - before) / total if total else 0.0,
    )


def _path(before: Profile, after: Profile, renamed: Mapping[Name, Name]) -> tuple[tuple[PathStep, ...], bool]:
    """From the side's root down the calls whose cost changed most, as long as one callee has most of its caller's
    change. A callee that is called by one version alone, or more often at the same cost, explains the change, so the
    path ends there, unless one version has nothing at all. Also returns whether it ends at such a one."""
    edges = [calls_by_name(profile, renamed) for profile in (before, after)]
    path: list[PathStep] = []
    function, change = root_of(after.instrument, after.side), after.amount - before.amount
    while change and len(path) < _DEEPEST:
        first, second = (of_profile.get(function, {}) for of_profile in edges)
        name = max(
            first | second,
            key=lambda callee: (second.get(callee, _NONE).cost - first.get(callee, _NONE).cost) / change,
            default=None,
        )
        if name is None or name in {step.name for step in path}:
            break
        old, new = first.get(name, _NONE), second.get(name, _NONE)
        if (new.cost - old.cost) / change < _DOMINANT:
            break
        path.append(PathStep(name=name, before=old.cost, after=new.cost))
        if before.amount and after.amount and _explains(old, new):
            return tuple(path), True
        function, change = name, new.cost - old.cost
    return tuple(path), False


def _place(functions: Sequence[FunctionChange], path: Sequence[PathStep], is_explained: bool) -> PathStep | None:
    """Where most of the change is. A function that is called from everywhere, such as a hash, is at the end of no path,
    but its own cost tells. A function whose own change is much larger than the whole one does not: others offset it, as
    where a function got a new name."""
    largest = functions[0] if functions else None
    if largest and not is_explained and _DOMINANT <= largest.share <= 1 / _DOMINANT:
        return PathStep(name=largest.name, before=largest.before, after=largest.after)
    return path[-1] if path else None


_NONE = Edge()
_SAME_COST = 0.1
"""A call costs the same if it differs by less than this share."""
_MORE_OFTEN = 0.01


def _explains(old: Edge, new: Edge) -> bool:
    if not (old.cost and new.cost):
        return True
    if not (old.calls and new.calls) or abs(new.calls / old.calls - 1) < _MORE_OFTEN:
        return False
    return abs((new.cost / new.calls) / (old.cost / old.calls) - 1) < _SAME_COST
