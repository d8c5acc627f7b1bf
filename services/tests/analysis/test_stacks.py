"""The calls of two versions as one tree."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.stacks import DEEPEST, MOST_NODES, SMALLEST_NODE, merged_calls
from kexbench.domain.profiles import CallCost, CallNode, FunctionCost, Profile

TURN = "server_turn"
NAMES = (TURN, "read", "write", "sign", "hash", "verify")


def a_graph(own: dict[str, float], calls: dict[tuple[str, str], float], library: str = "libcrypto") -> Profile:
    return Profile(
        side="server",
        handshakes=20,
        amount=sum(own.values()),
        functions=tuple(
            FunctionCost(name=name, library=library, amount=instructions, calls=1) for name, instructions in own.items()
        ),
        calls=tuple(
            CallCost(caller=(caller, library), callee=(callee, library), inclusive=inclusive, calls=1)
            for (caller, callee), inclusive in calls.items()
        ),
    )


COSTS = st.floats(0, 1e7, allow_subnormal=False)
GRAPHS = st.builds(
    a_graph,
    st.dictionaries(st.sampled_from(NAMES), COSTS),
    st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), COSTS, max_size=20),
)


def nodes(node: CallNode, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], CallNode]]:
    """Each node with the names from the root to it."""
    names = (*path, node.name)
    yield names, node
    for child in node.children:
        yield from nodes(child, names)


def shape(node: CallNode) -> dict[tuple[str, ...], tuple[float, float]]:
    return {path: (each.before, each.after) for path, each in nodes(node)}


def test_a_function_that_both_versions_call_is_one_node_with_both_costs() -> None:
    before = a_graph(
        {TURN: 10, "sign": 30, "hash": 60}, {(TURN, "sign"): 90, ("sign", "hash"): 60, ("hash", "sign"): 0}
    )
    after = a_graph(
        {TURN: 10, "sign": 20, "hash": 90, "new": 15}, {(TURN, "sign"): 125, ("sign", "hash"): 90, ("sign", "new"): 15}
    )
    assert shape(merged_calls(before, after)) == {
        (TURN,): (100, 135),
        (TURN, "sign"): (90, 125),
        (TURN, "sign", "hash"): (60, 90),
        (TURN, "sign", "new"): (0, 15),
    }


def test_the_cost_of_a_function_is_divided_among_its_callers_by_the_cost_of_their_calls() -> None:
    calls = {
        (TURN, "sign"): 80.0,
        (TURN, "verify"): 40.0,
        ("sign", "hash"): 75.0,
        ("verify", "hash"): 25.0,
        ("hash", "block"): 60.0,
    }
    graph = a_graph({"sign": 5, "verify": 15, "hash": 40, "block": 60}, calls)
    costs = shape(merged_calls(graph, graph))
    assert costs[TURN, "sign", "hash", "block"] == pytest.approx((45, 45))
    assert costs[TURN, "verify", "hash", "block"] == pytest.approx((15, 15))


def test_the_largest_is_first_in_whichever_version_it_is_larger() -> None:
    before = a_graph({"gone": 70, "sign": 30}, {(TURN, "gone"): 70, (TURN, "sign"): 30})
    after = a_graph({"sign": 60}, {(TURN, "sign"): 60})
    assert [child.name for child in merged_calls(before, after).children] == ["gone", "sign"]


def test_functions_are_matched_as_in_the_table_of_functions() -> None:
    before = a_graph(
        {"rsa_private": 10, "block_avx2": 20}, {(TURN, "rsa_private"): 30, ("rsa_private", "block_avx2"): 20}
    )
    after = a_graph(
        {"ossl_rsa_private": 10, "block_avx": 25},
        {(TURN, "ossl_rsa_private"): 35, ("ossl_rsa_private", "block_avx"): 25},
        "libcrypto-new",
    )
    (private,) = merged_calls(before, after).children
    (block,) = private.children
    assert [(node.name, node.later_name, node.library) for node in (private, block)] == [
        ("rsa_private", "ossl_rsa_private", "libcrypto-new"),
        ("block_avx2", "block_avx", "libcrypto-new"),
    ]
    assert (block.before, block.after) == (20, 25)


def test_a_function_on_the_path_is_not_entered_again() -> None:
    graph = a_graph(
        {"parse": 60, "item": 40},
        {(TURN, "parse"): 100, ("parse", "parse"): 30, ("parse", "item"): 50, ("item", "parse"): 10},
    )
    assert set(shape(merged_calls(graph, graph))) == {(TURN,), (TURN, "parse"), (TURN, "parse", "item")}


def test_what_nobody_could_see_is_left_in_its_caller() -> None:
    slight = 1000 * SMALLEST_NODE
    graph = a_graph(
        {"sign": 1000 - 2 * slight, "seen": slight, "unseen": slight - 0.1, "rest": 0.1},
        {(TURN, "sign"): 1000, ("sign", "seen"): slight, ("sign", "unseen"): slight - 0.1},
    )
    (sign,) = merged_calls(graph, graph).children
    assert [child.name for child in sign.children] == ["seen"]


def test_a_large_graph_has_a_bounded_tree() -> None:
    """The turn calls the first function of many chains, which are deeper than a tree may be."""
    chains = [
        [TURN, *(f"f{chain}_{level}" for level in range(2 * DEEPEST))] for chain in range(MOST_NODES // DEEPEST * 2)
    ]
    calls = {pair: 1000.0 for chain in chains for pair in pairwise(chain)}
    graph = a_graph({chain[-1]: 1000 for chain in chains}, calls)
    paths = list(shape(merged_calls(graph, graph)))
    assert len(paths) == MOST_NODES
    (chain,) = chains[:1]
    alone = a_graph({chain[-1]: 1000}, dict.fromkeys(pairwise(chain), 1000.0))
    assert max(shape(merged_calls(alone, alone)), key=len) == tuple(chain[:DEEPEST])


@given(GRAPHS, GRAPHS)
def test_whatever_the_graphs_no_node_has_less_than_its_children_or_repeats_on_a_path(
    before: Profile, after: Profile
) -> None:
    root = merged_calls(before, after)
    assert (root.before, root.after) == (before.amount, after.amount)
    for path, node in nodes(root):
        assert len(set(path)) == len(path)
        for side in ("before", "after"):
            cost = getattr(node, side)
            assert cost >= 0
            assert sum(getattr(child, side) for child in node.children) <= cost * (1 + 1e-9)


@given(GRAPHS, GRAPHS)
def test_the_other_way_round_only_the_costs_are_swapped(before: Profile, after: Profile) -> None:
    swapped = {path: (later, earlier) for path, (earlier, later) in shape(merged_calls(after, before)).items()}
    assert shape(merged_calls(before, after)) == swapped
