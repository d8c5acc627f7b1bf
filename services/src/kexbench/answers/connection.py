"""What a run's connections cost, part by part."""

from collections import defaultdict
from collections.abc import Sequence

from pydantic import Field

from kexbench.analysis.connection import Part, PartKind, base_of, connection_parts
from kexbench.analysis.estimates import difference_of_means, estimate_median
from kexbench.domain.cases import Case, varied
from kexbench.domain.dimensions import ContextUse, written
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.store.port import SampleStore, Selection


class PartCost(Frozen):
    """CPU time of a part of a connection; null if it was not measured."""

    subject: str
    client: Estimate | None
    server: Estimate | None
    wall: Estimate | None = Field(
        None, description="wall time per handshake, all threads together; of handshakes and threads"
    )


class PartView(Frozen):
    """A part of a connection's cost."""

    kind: PartKind
    label: str = Field(examples=["verification, 2 + 1 certificates", "transfer of 16 KiB, AES-128-GCM"])
    case_id: str
    without: str | None = Field(description="the case whose cost is subtracted; it lacks only this part")
    transfer_bytes: int
    costs: list[PartCost] = Field(description="one for each subject")


class ConnectionCosts(Frozen):
    title: str = Field(description="the case without anything beyond the handshake")
    parts: list[PartView]


_Levels = dict[tuple[Metric, str, str], list[float]]
"""What each invocation cost, by metric, subject and case id."""


def connection_costs(store: SampleStore, run: Run, kind: HostKind | None) -> list[ConnectionCosts]:
    """What connections cost beyond their handshakes, on a host kind; empty if no case of the run goes beyond it."""
    groups = connection_parts(run.plan.cases)
    if kind is None:
        return []
    all_parts = [part for parts in groups.values() for part in parts]
    metrics = {metric for part in all_parts for metric in (*part.metrics, part.wall) if metric}
    levels: _Levels = defaultdict(list)
    for metric in sorted(metrics):
        for row in store.samples(Selection(metric, kind.pool, kind.cpu_model, run_id=run.run_id)):
            levels[metric, row.subject.name, row.case.case_id].append(row.level)
    subjects = list(dict.fromkeys(subject for _, subject, _ in levels))
    return [
        ConnectionCosts(
            title=base.label,
            parts=[_part(part, label, subjects, levels) for part, label in zip(parts, part_labels(parts), strict=True)],
        )
        for base, parts in groups.items()
    ]


def _part(part: Part, label: str, subjects: list[str], levels: _Levels) -> PartView:
    return PartView(
        kind=part.kind,
        label=label,
        case_id=part.case.case_id,
        without=part.without.case_id if part.without else None,
        transfer_bytes=part.case.transfer_bytes,
        costs=[
            PartCost(
                subject=subject,
                client=_estimate(part, part.metrics[0], subject, levels),
                server=_estimate(part, part.metrics[1], subject, levels),
                wall=_estimate(part, part.wall, subject, levels) if part.wall else None,
            )
            for subject in subjects
        ],
    )


def part_labels(parts: Sequence[Part]) -> list[str]:
    """The rows' titles, each once: parts with the same name also have what their cases differ in."""
    names = [_label(part) for part in parts]
    settings = [[*(written(row.label, value) for row, value in varied(part.case)), part.case.cipher] for part in parts]
    labels = []
    for name, own in zip(names, settings, strict=True):
        namesakes = [others for other, others in zip(names, settings, strict=True) if other == name]
        further = [setting for setting in own if not all(setting in others for others in namesakes)]
        labels.append(", ".join([name, *further]))
    return labels


def _label(part: Part) -> str:
    case, size = part.case, size_text(part.case.transfer_bytes)
    contexts = {ContextUse.SHARED: "one context", ContextUse.POOL: "a pool of contexts"}
    words: dict[PartKind, str] = {
        "verification": f"verification, {case.chain_length} + 1 certificates",
        "context": "context for each connection" + (", verified" if case.verification else ""),
        "trust anchors": f"{case.trust_anchors} trust anchors instead of 1, "
        + ("loaded for each connection" if case.context is ContextUse.CONNECTION else "loaded once"),
        "transfer": f"transfer of {size}, {case.cipher}",
        "threads": f"{case.threads} threads, {contexts.get(case.context, 'a context each')}",
    }
    if part.kind == "whole connection" and case.transfer_bytes:
        further = [written(row.label, value) for row, value in varied(case) if row.name != "transfer"]
        further += [] if case.cipher is base_of(case).cipher else [case.cipher]
        return ", ".join([f"whole connection with {size}", *further])
    return words.get(part.kind, part.kind)


def size_text(size_bytes: int) -> str:
    """`16 KiB`, `1,000 bytes`."""
    if size_bytes % 2**20 == 0:
        return f"{size_bytes // 2**20} MiB"
    return f"{size_bytes // 2**10} KiB" if size_bytes % 2**10 == 0 else f"{size_bytes:,} bytes"


def _estimate(part: Part, metric: Metric, subject: str, levels: _Levels) -> Estimate | None:
    def of(case: Case) -> list[float]:
        return levels.get((metric, subject, case.case_id), [])

    if not of(part.case) or (part.without and not of(part.without)):
        return None
    return difference_of_means(of(part.case), of(part.without)) if part.without else estimate_median(of(part.case))
