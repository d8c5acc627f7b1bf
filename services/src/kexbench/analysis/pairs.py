"""The numbers of a subject from the invocations of one run."""

from collections.abc import Iterable

from kexbench.analysis.rounds import Batches
from kexbench.domain.samples import Invocation, Metric


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
