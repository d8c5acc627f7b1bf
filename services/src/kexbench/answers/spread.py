"""How the jobs of a run are spread over the nodes of its pools."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.runs import JobAttempt, Run


class NodeShare(Frozen):
    """What one node does of a run, or did."""

    pool: str
    node: str
    jobs: int = Field(description="whose newest attempt is its own")
    invocations_stored: int = Field(description="of these jobs; earlier attempts on other nodes may have stored some")
    invocations: int = Field(description="planned in these jobs")
    lost_attempts: int = Field(description="its attempts at jobs that a later attempt took over, here or elsewhere")


def spread(run: Run, attempts: Iterable[JobAttempt], stored_by_job: Mapping[str, int]) -> list[NodeShare]:
    """The shares of the nodes that any attempt was on, by pool and node. Empty for a run of a machine by itself."""
    jobs_by_id = {job.job_id: job for job in run.plan.jobs}
    newest: dict[str, JobAttempt] = {}
    of_node: dict[tuple[str, str], list[JobAttempt]] = defaultdict(list)
    for attempt in sorted(attempts, key=lambda attempt: attempt.attempt):
        if job := jobs_by_id.get(attempt.job_id):
            newest[attempt.job_id] = attempt
            of_node[job.pool, attempt.node].append(attempt)
    shares = []
    for (pool, node), own in sorted(of_node.items()):
        jobs = [jobs_by_id[attempt.job_id] for attempt in own if newest[attempt.job_id] is attempt]
        shares.append(
            NodeShare(
                pool=pool,
                node=node,
                jobs=len(jobs),
                invocations_stored=sum(stored_by_job.get(job.job_id, 0) for job in jobs),
                invocations=sum(job.count for job in jobs),
                lost_attempts=len(own) - len(jobs),
            )
        )
    return shares
