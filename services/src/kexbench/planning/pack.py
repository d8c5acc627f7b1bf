"""A plan's cells packed into jobs and blocks."""

from kexbench.domain.canonical import content_hash
from kexbench.domain.plans import SENTINEL, Job

BLOCK_SUBJECTS = 6
"""More live processes than this no longer share a core's caches fairly within one round."""
JOBS_PER_CELL = 2
"""Each cell is spread over at least this many jobs, so that the job can be a random effect."""
CASES_PER_JOB = 100
"""So a job takes minutes rather than days, a lost node costs no more, and a pool's other nodes have something to do."""


def blocks(references: tuple[str, ...], *, sentinel: bool) -> tuple[tuple[str, ...], ...]:
    """Subjects in blocks of at most six. The sentinel is in every block; where there are several, the first subject,
    the baseline, is too: through both the blocks are joined."""
    frozen = (SENTINEL,) if sentinel else ()
    if len(frozen) + len(references) <= BLOCK_SUBJECTS:
        return ((*frozen, *references),)
    baseline, *others = references
    shared = (*frozen, baseline)
    step = BLOCK_SUBJECTS - len(shared)
    return tuple((*shared, *others[start : start + step]) for start in range(0, len(others), step))


def jobs(
    spec_name: str,
    pools: tuple[str, ...],
    case_ids: tuple[str, ...],
    references: tuple[str, ...],
    invocations: int,
    *,
    sentinel: bool,
) -> tuple[Job, ...]:
    """The jobs of every pool; invocations are dealt evenly, the first jobs take the remainder. What many cases take of
    their first invocations comes before anything of the rest."""
    packed = []
    count = min(JOBS_PER_CELL, invocations)
    groups = [case_ids[start : start + CASES_PER_JOB] for start in range(0, len(case_ids), CASES_PER_JOB)]
    for pool in pools:
        first = 0
        for index in range(count):
            share = invocations // count + (1 if index < invocations % count else 0)
            for group in groups:
                identity = [spec_name, pool, index, group, references, invocations, sentinel]
                packed.append(
                    Job(
                        job_id=content_hash(identity),
                        pool=pool,
                        case_ids=group,
                        blocks=blocks(references, sentinel=sentinel),
                        first_invocation=first,
                        invocations=share,
                    )
                )
            first += share
    return tuple(packed)
