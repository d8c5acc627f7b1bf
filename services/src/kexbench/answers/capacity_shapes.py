"""What a mix of connections needs, and how that changes, as pages and tables show it."""

from pydantic import Field

from kexbench.domain.dimensions import Server
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.mixes import CostOf
from kexbench.domain.upgrades import CellVerdict, MissingCell, UpgradeEnd
from kexbench.planning.mix import MIX_MAX_CHARACTERS


class MixNeed(Frozen):
    """What a server needs for the mix."""

    cpu_ns: Estimate = Field(description="CPU time of the server for a connection, averaged over the mix")
    cores: Estimate
    machines: Estimate | None = Field(
        description="whole machines, for the cores and both ends of their interval; null without coresPerMachine"
    )


class MixPartView(Frozen):
    """A part of the mix, with the cost of one version."""

    case_id: str
    title: str
    share: float = Field(description="of the connections")
    load_share: float = Field(description="of the CPU time")
    cpu_ns: Estimate = Field(description="CPU time of the server for a connection")
    invocations: int
    run_id: str


class MixChange(Frozen):
    """A cost relative to another."""

    verdict: CellVerdict = Field(description="by the rule of all verdicts")
    move: Ratio | None = Field(description="null where the two are not compared, or invocations are too few")
    resolves: float | None = Field(description="the smallest detectable change, as a share")


class PartChange(MixChange):
    """The change of a part with the upgrade, tested among all cells of the upgrade."""

    case_id: str
    title: str
    paired: bool
    run_ids: tuple[str, ...]
    warnings: tuple[str, ...] = Field(description="why the two are not fully comparable")


class VersionNeed(Frozen):
    """What the mix needs with one version of a library."""

    end: UpgradeEnd
    need: MixNeed
    parts: tuple[MixPartView, ...]
    against: MixNeed | None = Field(description="what serving the same connections by the other parts needs")
    against_parts: tuple[MixPartView, ...]
    instead: MixChange | None = Field(description="the mix relative to the other parts; null without them")
    sentence: str


class CpuNeed(Frozen):
    """The needs on one host kind."""

    host_kind: HostKind
    versions: tuple[VersionNeed, ...] = Field(description="one, or two where an upgrade is asked for")
    change: MixChange | None = Field(description="the mix after the upgrade relative to before")
    part_changes: tuple[PartChange, ...]
    sentence: str = Field(description="the result")
    warnings: tuple[str, ...]


class MixReport(Frozen):
    connections_per_s: float
    utilisation: float
    cores_per_machine: int | None
    cost: CostOf = Field(description="what the CPU times contain")
    server: Server = Field(description="the web server of all parts, whose sockets and kernel time count too; or -")
    cpus: tuple[CpuNeed, ...] = Field(description="host kinds with all parts, the one measured last first")
    missing: tuple[MissingCell, ...] = Field(description="parts without a number, on host kinds that lack some")
    spec_text: str | None = Field(description="a spec that measures missing parts; null where measuring cannot help")


class CapacityRequest(Frozen):
    """A mix of connections, and the versions to serve it with."""

    mix: str = Field(max_length=MIX_MAX_CHARACTERS, description="the text of a document of kind TrafficMix")
    mix_file: str = Field("mix.yaml", max_length=400, description="its name in faults")
    version: str = Field(
        max_length=500,
        description="a library with a version, the beginning of one, or a source; or the unique name of a subject",
        examples=["openssl@3.0", "openssl@debian/trixie"],
    )
    to: str | None = Field(None, max_length=500, description="the version after an upgrade")
    pool: str | None = Field(None, max_length=200, description="only this pool")
    cpu_model: str | None = Field(None, max_length=200, description="only this CPU model")
