"""The libraries of one machine kind side by side, as pages and tables show them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from kexbench.answers.change import Change
from kexbench.answers.shapes import CaseView
from kexbench.answers.stacks_columns import WorkKind
from kexbench.domain.dimensions import Protocol
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.samples import Absence, OutcomeKind
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import UpgradeEnd

Standing = Literal["cheapest", "equal", "more", "other work", "not compared", "alone", "missing"]
"""By the verdict on the stack and the one with the lowest cost. `cheapest`: all others that are compared cost more.
`equal`: the lowest one, and those that are not told apart from it. `more`: it costs more. Not ranked are `other work`,
which negotiated something else; `not compared`, which the run of the others did not measure; and `alone`, which has
nothing to be compared with. `missing`: there is no number."""
RANKED: frozenset[Standing] = frozenset({"cheapest", "equal", "more"})


class Ranked(Frozen):
    """Where a cost stands among those of other stacks."""

    standing: Standing
    against: str | None = Field(
        None,
        description="unique name of the stack that `ratio` is relative to: the one with the lowest cost; for that one, "
        "the next",
    )
    ratio: Ratio | None = Field(
        None,
        description="server CPU time relative to that of `against`, in the same run",
    )
    caveats: tuple[str, ...] = Field(
        (), description="why `ratio` is weaker, such as other blocks of the run", examples=[["not interleaved"]]
    )
    reason: str | None = Field(None, description="why it is not ranked, or has no number")


class StackCell(Ranked):
    """What a connection of one kind costs one stack."""

    subject: str = Field(description="unique name")
    cpu_ns: Estimate | None = Field(description="CPU time of the server")
    background_cpu_ns: Estimate | None = Field(
        description="CPU time of the library's own threads, such as a garbage collector, for both sides of a "
        "connection; not part of `cpu_ns`; null: not measured"
    )
    has_own_threads: bool | None = Field(
        description="whether `background_cpu_ns` is 1% of `cpu_ns` or more: less is what every process does between "
        "batches; null: not measured"
    )
    held_bytes: Estimate | None = Field(description="heap that an open connection holds in the server")
    sent_bytes: Estimate | None = Field(description="bytes that the server sends in a handshake")
    change: Change | None = Field(description="of the CPU time, from the stack's previous version")
    scaling: Estimate | None = Field(
        None, description="rate of all threads relative to one thread alone, both sides; of cases with several threads"
    )
    outcome: OutcomeKind | Absence | None = Field(description="what kept it from having a number, or some of them")
    run_id: str | None = Field(description="that of the CPU time, or of the outcome")
    measured_at: datetime | None
    command: str | None = Field(
        description="measures this number again, in turns with `against` or another stack; null without a number",
        examples=["kexbench compare …"],
    )


class StackColumn(Frozen):
    """One kind of connection, by the case that stands for it."""

    kind: WorkKind
    heading: str = Field(description="of all columns of its kind", examples=["Full handshake"])
    title: str = Field(description="within its kind", examples=["ECDSA P-256", "16 KiB", "2 threads"])
    case: CaseView
    cells: list[StackCell] = Field(description="one for each stack, in their order")


class Stack(Frozen):
    """A library in the version that stands for it."""

    subject: Subject
    end: UpgradeEnd
    previous: UpgradeEnd | None = Field(description="the nearest lower version that shares a case with it there")
    measured_at: datetime


class WorkloadCost(Ranked):
    subject: str
    cpu_ns: Estimate | None = Field(description="CPU time of the server for a connection, averaged over the mix")


class Workload(Frozen):
    """A mix of full and resumed handshakes."""

    certificate: str = Field(examples=["ECDSA P-256"])
    resumed_percent: int
    full: CaseView
    resumed: CaseView | None = Field(description="null if nothing is resumed")
    costs: list[WorkloadCost] = Field(description="one for each stack, in their order")
    sentence: str


class Stacks(Frozen):
    """All libraries that were measured on one machine kind, side by side."""

    host_kind: HostKind | None = Field(description="null while nothing is stored")
    protocol: Protocol
    protocols: list[Protocol] = Field(description="those that were measured there")
    stacks: list[Stack]
    columns: list[StackColumn]
    workload: Workload | None = Field(description="null without a full handshake")
    sentence: str = Field(description="which stack is the cheapest in how many columns")
    newest: datetime | None = Field(description="when the newest of these numbers was measured")
    why: list[str] = Field(description="commands that explain why two stacks of common ancestry differ")
