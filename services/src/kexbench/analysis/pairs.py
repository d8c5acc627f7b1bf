"""What the invocations of one run say of two of its subjects."""

from collections.abc import Iterable, Sequence

from kexbench.analysis.rounds import Batches
from kexbench.analysis.verdict import CellData
from kexbench.domain.cases import Case
from kexbench.domain.samples import Invocation, Metric
from kexbench.domain.upgrades import SIDES


def costs_of(invocations: Iterable[Invocation], case_id: str, subject: str, metric: Metric) -> list[float]:
    """What each invocation cost, over all of its batches."""
    return [
        sample.cost
        for found in invocations
        if found.case_id == case_id
        for sample in found.samples
        if (sample.subject, sample.metric) == (subject, metric)
    ]


def batches_of(invocations: Iterable[Invocation], case_id: str, subject: str, metric: Metric) -> Batches:
    return {
        f"{found.job_id}/{found.invocation}": sample.values
        for found in invocations
        if found.case_id == case_id
        for sample in found.samples
        if (sample.subject, sample.metric) == (subject, metric)
    }


def without_sides(invocations: Iterable[Invocation], case_id: str, subject: str) -> int:
    """How many invocations have a number of both sides together and, since other programs ran in between, none of the
    client and the server."""
    metrics = [
        {sample.metric for sample in found.samples if sample.subject == subject}
        for found in invocations
        if found.case_id == case_id and found.preempted_batches
    ]
    return sum(Metric.CPU_NS in known and Metric.CLIENT_CPU_NS not in known for known in metrics)


def cell_of(invocations: Sequence[Invocation], case: Case, before: str, after: str, floor: float = 0.0) -> CellData:
    """What a case's verdict rests on, of two subjects of one run on one machine."""
    return CellData(
        case=case,
        pool="",
        cpu_model="",
        before={side: batches_of(invocations, case.case_id, before, metric) for side, metric in SIDES.items()},
        after={side: batches_of(invocations, case.case_id, after, metric) for side, metric in SIDES.items()},
        run_ids=(),
        warnings=(),
        unlike=False,
        floor=floor,
    )
