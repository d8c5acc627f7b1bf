"""A pool: nodes of one hardware type, how a cluster selects them, and what jobs may use."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from kexbench.domain.frozen import Frozen

LOCAL = "local"
"""The only pool outside a cluster."""
LABEL_VALUE = r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"
"""A valid Kubernetes label value, as a pool's name is one."""
PoolName = Annotated[str, Field(pattern=LABEL_VALUE)]
Architecture = Literal["x86_64", "aarch64"]
Memory = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,11}(Ki|Mi|Gi|Ti)$")]


def contradiction(operator: str, value: str | None) -> str | None:
    """The fault of a toleration's operator with its value, or None."""
    if operator == "Equal" and value is None:
        return "the operator Equal needs a value; Exists tolerates every value"
    if operator == "Exists" and value is not None:
        return "the operator Exists takes no value; Equal compares it"
    return None


class Toleration(Frozen):
    """A node taint that the pool's pods tolerate."""

    key: str
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str | None = Field(None, description="only with the operator Equal")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(None, description="null for any")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if reason := contradiction(self.operator, self.value):
            raise ValueError(reason)
        return self


class Pool(Frozen):
    """Nodes of one hardware type, and the resources of one pod."""

    name: PoolName
    architecture: Architecture
    node_selector: dict[str, str] = Field(min_length=1, description="labels of the pool's nodes")
    tolerations: tuple[Toleration, ...] = ()
    cpus: int = Field(ge=1, le=1024, description="whole CPUs of a pod")
    memory: Memory = Field(description="of a pod, such as 1Gi")
    notes: str = ""
    avoided_nodes: tuple[str, ...] = Field((), description="set aside: no pod runs there")
