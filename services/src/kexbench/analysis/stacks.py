"""One tree of the calls of two versions, from their call graphs.

A call graph does not tell whole stacks, so the cost of a function is divided among its callers in proportion to the
cost of their calls, as gprof does (S. Graham, P. Kessler, M. McKusick: "gprof: a call graph execution profiler",
SIGPLAN Symposium on Compiler Construction, 1982).
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from kexbench.analysis.why import Name, calls_by_name, costs_by_name, earlier_names, shown_name
from kexbench.domain.instruments import root_of
from kexbench.domain.profiles import CallNode, Profile

SMALLEST_NODE = 0.003
"""Calls below this share of the larger total are left out: nobody could see them."""
MOST_NODES = 500
DEEPEST = 60


def merged_calls(before: Profile, after: Profile) -> CallNode:
    """The calls below the side's turn. What is left out counts as own cost of its caller: calls that are small, beyond
    the largest MOST_NODES or deeper than DEEPEST, and calls of functions that are on the path already."""
    renamed = earlier_names(before, after)
    root = root_of(after.instrument, after.side)
    graphs = _Graph(before, root, {}), _Graph(after, root, renamed)
    described = _Described(before, after, renamed)
    top = _Branch(root, (before.amount, after.amount), frozenset({root}))
    smallest = SMALLEST_NODE * max(top.costs)
    order = count()
    waiting = [(-max(top.costs), next(order), top)]
    kept = 0
    while waiting and kept < MOST_NODES:
        _, _, branch = heappop(waiting)
        kept += 1
        if branch.parent:
            branch.parent.children.append(branch)
        if len(branch.path) < DEEPEST:
            for callee in branch.callees(graphs):
                if max(callee.costs) >= smallest:
                    heappush(waiting, (-max(callee.costs), next(order), callee))
    return described.node(top)


class _Graph:
    """The calls of one version, under the names that both versions share."""

    def __init__(self, profile: Profile, root: Name, renamed: Mapping[Name, Name]) -> None:
        own = {name: cost.amount for name, cost in costs_by_name(profile, renamed).items()}
        called: dict[Name, float] = defaultdict(float, {root: profile.amount})
        self._calls: dict[Name, dict[Name, float]] = defaultdict(dict)
        for caller, edges in calls_by_name(profile, renamed).items():
            for callee, edge in edges.items():
                if callee not in (caller, root) and edge.cost > 0:
                    self._calls[caller][callee] = edge.cost
                    called[callee] += edge.cost
        self._inclusive = {
            caller: max(called[caller], own.get(caller, 0.0) + sum(callees.values()))
            for caller, callees in self._calls.items()
        }
        """The larger of what its calls cost and what it does: profiles leave out slight calls on both sides."""

    def callees(self, caller: Name, cost: float) -> dict[Name, float]:
        """What each callee has of a part of the caller's cost."""
        callees = self._calls.get(caller, {})
        return {callee: cost * of_callee / self._inclusive[caller] for callee, of_callee in callees.items()}


@dataclass
class _Branch:
    name: Name
    costs: tuple[float, float]
    path: frozenset[Name]
    parent: "_Branch | None" = None
    children: list["_Branch"] = field(default_factory=list)
    """Those that are kept, the largest first."""

    def callees(self, graphs: tuple[_Graph, _Graph]) -> list["_Branch"]:
        first, second = (graph.callees(self.name, cost) for graph, cost in zip(graphs, self.costs, strict=True))
        return [
            _Branch(name, (first.get(name, 0.0), second.get(name, 0.0)), self.path | {name}, self)
            for name in sorted(first.keys() | second.keys())
            if name not in self.path
        ]


class _Described:
    """Later names and libraries of functions."""

    def __init__(self, before: Profile, after: Profile, renamed: Mapping[Name, Name]) -> None:
        self._later_names = {earlier: name for name, earlier in renamed.items()}
        self._libraries: dict[Name, str] = {}
        for profile in (before, after):
            ends = [end for call in profile.calls for end in (call.caller, call.callee)]
            for name, library in [*ends, *((cost.name, cost.library) for cost in profile.functions)]:
                shown = shown_name(name, library)
                self._libraries[renamed.get(shown, shown)] = library

    def node(self, branch: _Branch) -> CallNode:
        before, after = branch.costs
        return CallNode(
            name=branch.name,
            later_name=self._later_names.get(branch.name, branch.name),
            library=self._libraries.get(branch.name, ""),
            before=before,
            after=after,
            children=tuple(map(self.node, branch.children)),
        )
