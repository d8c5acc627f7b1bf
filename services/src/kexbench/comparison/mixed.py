"""Pools whose nodes are not comparable: which nodes are unlike, and in what."""

from collections import defaultdict
from collections.abc import Iterable

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostFacts, differing, kind_of, trait_of


class NodesOfKind(Frozen):
    """Nodes of a pool that are comparable with each other."""

    nodes: list[str]
    traits: list[str] = Field(
        description="what they are told apart by from the pool's other nodes", examples=[["governor powersave"]]
    )


class MixedPool(Frozen):
    """A pool with nodes of several host kinds: their numbers are kept apart, so each kind has fewer."""

    pool: str
    kinds: list[NodesOfKind] = Field(description="two or more; the one with most nodes first")


def mixed_pool(pool: str, nodes: Iterable[tuple[str, HostFacts]]) -> MixedPool | None:
    """None where all nodes of a pool, each with what was recorded of it, are comparable. A node that was changed may
    be among them as what it was and as what it is."""
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
