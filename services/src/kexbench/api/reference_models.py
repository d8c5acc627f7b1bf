"""The shapes of published tables beside what was measured."""

from pydantic import Field

from kexbench.domain.frozen import Frozen


class ReferenceRowView(Frozen):
    """A case beside its published figure. Rates are handshakes per CPU-second, client and server together."""

    case_id: str
    published_rate: float
    published_ratio: float = Field(description="to the baseline's published rate")
    rate: float | None
    rate_low: float | None
    rate_high: float | None
    ratio: float | None = Field(description="to the baseline's measured rate; above 1 is faster")
    ratio_low: float | None
    ratio_high: float | None


class SideCosts(Frozen):
    """Where the CPU time of a handshake goes: medians over invocations, in nanoseconds."""

    client_cpu_ns: float
    server_cpu_ns: float


class SwapView(Frozen):
    """Two cases that stand the other way round than published, with what each costs on either side."""

    faster_here: str
    slower_here: str
    ratio: float = Field(description="of the rates")
    ratio_low: float | None
    ratio_high: float | None
    faster_costs: SideCosts | None = Field(description="null where no invocation tells the two sides apart")
    slower_costs: SideCosts | None


class ReferenceColumn(Frozen):
    subject: str
    rows: list[ReferenceRowView]
    swaps: list[SwapView]


class ReferenceTableView(Frozen):
    title: str
    baseline: str
    columns: list[ReferenceColumn] = Field(description="one for each subject")


class ReferenceView(Frozen):
    """Published tables and what was measured here."""

    title: str
    notes: str
    tables: list[ReferenceTableView]
