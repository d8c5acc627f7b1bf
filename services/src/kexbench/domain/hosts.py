"""The recorded facts of a machine, and what makes two machines comparable."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from kexbench.domain.canonical import content_hash
from kexbench.domain.frozen import Frozen
from kexbench.domain.numbers import Count, Finite, Large


class HostFacts(Frozen):
    """The recorded facts of a machine. An unknown fact is None, never a guess."""

    cpu_model: str = Field(description="its name; for an unknown Arm core, implementer and part")
    architecture: str
    cpu_family: str | None = Field(None, description="family/model; on Arm implementer/part, such as 0x41/0xd40")
    cpu_stepping: str | None = Field(None, description="on Arm variant and revision, such as r1p1")
    microcode: str | None = None
    cpu_flags: tuple[str, ...] = ()
    cpus: Count
    governor: str | None = None
    turbo: bool | None = None
    smt: bool | None = None
    virtualisation: str | None = Field(None, description="the hypervisor; `none` on bare metal")
    kernel: str
    memory_bytes: Large

    @property
    def cpu(self) -> str:
        """The model, and the microcode if known."""
        return f"{self.cpu_model}, microcode {self.microcode}" if self.microcode else self.cpu_model

    @property
    def host_id(self) -> str:
        """Equal for machines whose recorded facts are all equal."""
        return content_hash(self.model_dump(mode="json"))


@dataclass(frozen=True, order=True)
class HostKind:
    """Comparable machines: one CPU model and microcode in one pool."""

    pool: Annotated[str, Field(examples=["local"])]
    cpu_model: Annotated[str, Field(examples=["AMD EPYC 9R14, microcode 0xa101154"])]
    """The CPU model and its settings, as `kind_of` writes them."""


@dataclass(frozen=True)
class HostChoice:
    """Some host kinds: all, or those of a pool, of a CPU model, or of both."""

    pool: str | None = None
    cpu_model: str | None = None

    def holds(self, kind: HostKind) -> bool:
        return self.pool in (None, kind.pool) and self.cpu_model in (None, kind.cpu_model)


EVERYWHERE = HostChoice()


class HostTrait(StrEnum):
    """The traits that distinguish hosts, as shown to people. The order matters, since lists are narrow: machines of one
    model seldom differ in the last ones."""

    CPU = "CPU"
    MICROCODE = "microcode"
    GOVERNOR = "governor"
    TURBO = "turbo"
    SMT = "SMT"
    VIRTUALISATION = "virtualisation"
    FAMILY = "family"
    STEPPING = "stepping"


def comparable(host: HostFacts) -> dict[HostTrait, str]:
    """What two hosts must have in common for their numbers to be compared, as text; unknown traits are left out. The
    kernel's patch level, memory and node name do not count: a recycled node has the same host kind. Only this function
    decides that."""
    on_or_off = {True: "on", False: "off"}
    traits = {
        HostTrait.CPU: host.cpu_model,
        HostTrait.MICROCODE: host.microcode and f"microcode {host.microcode}",
        HostTrait.GOVERNOR: host.governor and f"governor {host.governor}",
        HostTrait.TURBO: host.turbo is not None and f"turbo {on_or_off[host.turbo]}",
        HostTrait.SMT: host.smt is not None and f"SMT {on_or_off[host.smt]}",
        HostTrait.VIRTUALISATION: _virtualisation(host),
        HostTrait.FAMILY: host.cpu_family and f"family {host.cpu_family}",
        HostTrait.STEPPING: host.cpu_stepping and f"stepping {host.cpu_stepping}",
    }
    return {trait: words for trait, words in traits.items() if words}


def kind_of(host: HostFacts) -> str:
    """The host kind as one text: equal for hosts of a pool whose numbers may be compared."""
    return ", ".join(comparable(host).values())


def meant_by(text: str, kinds: Collection[str]) -> tuple[str, ...]:
    """The host kinds that a text means: exactly that kind, or all that begin with its traits, since earlier releases
    and old links have fewer."""
    return (text,) if text in kinds else tuple(kind for kind in kinds if kind.startswith(f"{text}, "))


def differing(hosts: Iterable[HostFacts]) -> tuple[HostTrait, ...]:
    """The traits in which some hosts differ."""
    all_hosts = list(hosts)
    return tuple(trait for trait in HostTrait if len({trait_of(host, trait) for host in all_hosts}) > 1)


def trait_of(host: HostFacts, trait: HostTrait) -> str:
    return comparable(host).get(trait, f"{trait} not known")


def _virtualisation(host: HostFacts) -> str | None:
    if host.virtualisation == "none":
        # Before Arm's ID registers were read, every Arm machine was taken for bare metal.
        return "bare metal" if host.cpu_family or host.architecture != "aarch64" else None
    if host.virtualisation == "hypervisor":
        return "virtual machine"
    return host.virtualisation and f"on {host.virtualisation}"


LITTLE_STEAL = 0.01
"""Share of the time. A warning is due if the hypervisor gives more of it to others."""
IDLE_SIBLING = 0.05
"""Share of the time. The kernel's own work on an unused CPU stays far below."""


class HostLoad(Frozen):
    """The load of the machine during an invocation, as shares of all CPU time in that period."""

    load_average_1m: Finite
    steal_share: Finite | None = Field(
        None, description="0 to 1; time of the measuring CPU that the hypervisor gave to others"
    )
    busy_share: Finite | None = Field(None, description="0 to 1")
    sibling_busy_share: Finite | None = Field(
        None, description="0 to 1; of the measuring core's other threads alone, null where it has none"
    )
