"""Pools whose nodes are not comparable: the host kinds of their nodes, and the differing facts."""

from collections import defaultdict
from collections.abc import Iterable

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostFacts, differing, kind_of, trait_of


class NodesOfKind(Frozen):
    """Nodes of a pool that are comparable with each other."""

    nodes: list[str]
    traits: list[str] = Field(
        description="how they differ from the pool's other nodes", examples=[["governor powersave"]]
    )


class MixedPool(Frozen):
    """A pool with nodes of several host kinds. Each kind has results of its own, so each has fewer."""

    pool: str
    kinds: list[NodesOfKind] = Field(description="two or more; the one with the most nodes first")


def mixed_pool(pool: str, nodes: Iterable[tuple[str, HostFacts]]) -> MixedPool | None:
    """None if all nodes of a pool are comparable by their recorded facts. A node that was changed may appear with its
    old and its new facts."""
    names: dict[str, set[str]] = defaultdict(set)
    hosts: dict[str, HostFacts] = {}
    for node, host in nodes:
        kind = kind_of(host)
        names[kind].add(node)
        hosts.setdefault(kind, host)
    if len(hosts) < 2:
        return None
    traits = differing(hosts.values())
    kinds = sorted(hosts, key=lambda kind: (-len(names[kind]), kind))
    return MixedPool(
        pool=pool,
        kinds=[
            NodesOfKind(nodes=sorted(names[kind]), traits=[trait_of(hosts[kind], trait) for trait in traits])
            for kind in kinds
        ],
    )
