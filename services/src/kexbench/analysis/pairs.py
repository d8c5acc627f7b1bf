"""Two subjects of one run, compared over the invocations that hold both."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from kexbench.analysis.detectable import pair_sd_of, smallest_detectable_change
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS, RatioEstimate, compare
from kexbench.analysis.rounds import Batches, all_positive, log_ratios
from kexbench.domain.samples import Invocation, Metric


@dataclass(frozen=True)
class PairVerdict:
    """How a subject compares with another in one case and metric."""

    case_id: str
    metric: Metric
    subject_ns: float
    against_ns: float
    ratio: RatioEstimate | None
    """None with fewer than three common invocations."""
    resolves: float | None
    """The smallest change that as many invocations as these detect, as a share (analysis/detectable.py)."""
    invocations: int


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


def pair_verdict(
    invocations: list[Invocation], case_id: str, subject: str, against: str, metric: Metric
) -> PairVerdict | None:
    """None where either has no number in the case."""
    first = batches_of(invocations, case_id, subject, metric)
    second = batches_of(invocations, case_id, against, metric)
    if not first or not second:
        return None
    shared = len(first.keys() & second.keys())
    enough = shared >= MIN_COMPARED_INVOCATIONS and all_positive(first, second)
    return PairVerdict(
        case_id=case_id,
        metric=metric,
        subject_ns=median(costs_of(invocations, case_id, subject, metric)),
        against_ns=median(costs_of(invocations, case_id, against, metric)),
        ratio=compare(first, second),
        resolves=smallest_detectable_change(pair_sd_of(log_ratios(first, second)), shared) if enough else None,
        invocations=shared,
    )
