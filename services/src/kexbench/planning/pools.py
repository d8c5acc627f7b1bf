"""Reads the pools of a cluster (`kind: Pools`), with every fault at its place."""

from typing import Annotated, Literal

from pydantic import Field

from kexbench.domain.pools import Architecture, Memory, Pool, PoolName, contradiction
from kexbench.planning.documents import Document, Fault, parse_document, same_names, valid
from kexbench.planning.written import KIND, ApiVersion, Written

MAX_POOLS = 200
_Text = Annotated[str, Field(min_length=1, max_length=317)]
"""The longest key of a label, with its prefix."""


class TolerationEntry(Written):
    """A node taint that the pool's pods tolerate."""

    key: Annotated[_Text, Field(description="the key of the taint")]
    operator: Annotated[
        Literal["Exists", "Equal"], Field(description="Exists: any value of the taint; Equal: this value")
    ] = "Equal"
    value: Annotated[str | None, Field(description="only with the operator Equal")] = None
    effect: Annotated[
        Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None, Field(description="default: every effect")
    ] = None


class PoolEntry(Written):
    """Nodes of one hardware type, and the resources of one pod."""

    name: Annotated[PoolName, Field(description="the name that specs use")]
    architecture: Annotated[Architecture, Field(description="as the kernel names it")]
    node_selector: Annotated[
        dict[_Text, str], Field(min_length=1, description="labels that only the pool's nodes have")
    ]
    tolerations: Annotated[list[TolerationEntry], Field(max_length=50)] = Field(
        default_factory=list, description="taints of its nodes that its pods tolerate"
    )
    cpus: Annotated[int, Field(ge=1, le=1024, description="whole CPUs of a pod")]
    memory: Annotated[Memory, Field(description="of a pod, such as 1Gi")]
    notes: Annotated[str, Field(max_length=2000, description="a remark for readers")] = ""


class Pools(Written):
    """The pools that specs of this cluster may name."""

    api_version: ApiVersion
    kind: Annotated[Literal["Pools"], KIND]
    pools: Annotated[list[PoolEntry], Field(min_length=1, max_length=MAX_POOLS, description="the pools")]


def read_pools(text: str, file: str) -> tuple[Pool, ...]:
    """The pools in the order of the file. Raises DocumentError with every fault."""
    document = parse_document(text, file)
    written = valid(document, Pools, _inconsistent(document))
    return tuple(Pool.model_validate(entry.model_dump()) for entry in written.pools)


def _inconsistent(document: Document) -> list[Fault]:
    """Faults that no single field shows, checked even where other parts of the document have faults."""
    faults = same_names(document, "pools")
    entries = document.value.get("pools")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict):
            continue
        tolerations = entry.get("tolerations")
        for position, toleration in enumerate(tolerations if isinstance(tolerations, list) else []):
            if not isinstance(toleration, dict):
                continue
            if reason := contradiction(toleration.get("operator", "Equal"), toleration.get("value")):
                faults.append(document.fault(("pools", index, "tolerations", position), reason))
    return faults
