"""Data of two subjects from the invocations of one run."""

from collections.abc import Iterable, Mapping, Sequence

from kexbench.analysis.rounds import Batches
from kexbench.analysis.verdict import CellData
from kexbench.domain.cases import Case
from kexbench.domain.samples import Invocation, Metric
from kexbench.domain.upgrades import SIDES, Side


def costs_of(invocations: Iterable[Invocation], case_id: str, subject: str, metric: Metric) -> list[float]:
    """The cost of each invocation over all of its batches."""
    return [
        sample.cost
        for invocation in invocations
        if invocation.case_id == case_id
        for sample in invocation.samples
        if (sample.subject, sample.metric) == (subject, metric)
    ]


def batches_of(invocations: Iterable[Invocation], case_id: str, subject: str, metric: Metric) -> Batches:
    return {
        f"{invocation.job_id}/{invocation.invocation}": sample.values
        for invocation in invocations
        if invocation.case_id == case_id
        for sample in invocation.samples
        if (sample.subject, sample.metric) == (subject, metric)
    }


def without_sides(invocations: Iterable[Invocation], case_id: str, subject: str) -> int:
    """How many invocations have a number for both sides together, but none for client and server because other programs
    disturbed them."""
    metrics = [
        {sample.metric for sample in invocation.samples if sample.subject == subject}
        for invocation in invocations
        if invocation.case_id == case_id and invocation.preempted_batches
    ]
    return sum(Metric.CPU_NS in measured and Metric.CLIENT_CPU_NS not in measured for measured in metrics)


def cell_of(
    invocations: Sequence[Invocation],
    case: Case,
    before: str,
    after: str,
    floor: float = 0.0,
    sides: Mapping[Side, Metric] = SIDES,
    unlike: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> CellData:
    """The data behind a case's verdict, for two subjects of one run on one machine. `sides`: what decides. `unlike`:
    why the two did different work. `warnings`: why the comparison is weaker."""
    return CellData(
        case=case,
        pool="",
        cpu_model="",
        before={side: batches_of(invocations, case.case_id, before, metric) for side, metric in sides.items()},
        after={side: batches_of(invocations, case.case_id, after, metric) for side, metric in sides.items()},
        run_ids=(),
        warnings=(*warnings, *unlike),
        unlike=bool(unlike),
        floor=floor,
    )
