"""What was recorded of the machine a job ran on."""

from pydantic import BaseModel, ConfigDict, Field

from kexbench.domain.canonical import content_hash
from kexbench.domain.numbers import Count, Finite, Large


class HostFacts(BaseModel):
    """The facts that make two machines comparable. An unknown fact is None, never a guess."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cpu_model: str
    architecture: str
    cpu_family: str | None = None
    cpu_stepping: str | None = None
    microcode: str | None = None
    cpu_flags: tuple[str, ...] = ()
    cpus: Count
    governor: str | None = None
    turbo: bool | None = None
    smt: bool | None = None
    virtualisation: str | None = None
    kernel: str
    memory_bytes: Large

    @property
    def cpu(self) -> str:
        """What tells CPUs apart that must not be mixed: the model, and the microcode where it is known."""
        return f"{self.cpu_model}, microcode {self.microcode}" if self.microcode else self.cpu_model

    @property
    def host_id(self) -> str:
        """Equal for machines that are alike in every recorded fact."""
        return content_hash(self.model_dump(mode="json"))


class HostLoad(BaseModel):
    """How busy the machine was during an invocation; shares are of all CPU time in between."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    load_average_1m: Finite
    steal_share: Finite | None = Field(None, description="0 to 1; time the hypervisor gave to others")
    busy_share: Finite | None = Field(None, description="0 to 1")
