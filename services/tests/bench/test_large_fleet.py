"""The store of a large fleet: as many nodes as asked for, and one with each kind of trouble."""

import pytest

from bench.large_fleet import FleetExtent, fill_fleet, node_name, troubled_of
from kexbench.answers.fleet import NodeState, fleet
from kexbench.store.clickhouse import ClickHouseStore

pytestmark = pytest.mark.thorough

EXTENT = FleetExtent(pools=5, nodes=3, nights=23)


@pytest.mark.long
def test_one_node_has_each_trouble(empty_store: ClickHouseStore) -> None:
    fill_fleet(empty_store, EXTENT)
    states = {node.node: node.state for pool in fleet(empty_store).pools for node in pool.nodes}
    troubled = troubled_of(EXTENT)
    assert len(states) == EXTENT.pools * EXTENT.nodes
    assert {name: state for name, state in states.items() if state is not NodeState.FINE} == {
        node_name(troubled.slow): NodeState.DIFFERS,
        node_name(troubled.silent): NodeState.SILENT,
        node_name(troubled.evicted): NodeState.JOBS,
        node_name(troubled.set_aside): NodeState.SET_ASIDE,
        node_name(troubled.powersave): NodeState.WARNING,
    }
