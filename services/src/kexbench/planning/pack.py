"""A plan's cells packed into jobs and blocks."""

import math
from collections.abc import Mapping

from kexbench.domain.canonical import content_hash
from kexbench.domain.plans import SENTINEL, Job

BLOCK_SUBJECTS = 6
"""More live processes than this no longer share a core's caches fairly within one round."""
JOBS_PER_CELL = 2
"""Each cell is spread over at least this many jobs, so that the job can be a random effect."""
LONGEST_JOB_S = 20 * 60
"""About so long a job of a long plan measures: what a pod takes beside is less than a twentieth of it, as long as that
is less than a minute, the nodes of a pool share the plan, and one that is lost takes little with it."""


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
    seconds: Mapping[str, float],
    references: tuple[str, ...],
    invocations: int,
    *,
    sentinel: bool,
) -> tuple[Job, ...]:
    """The jobs of every pool. `seconds`: how long each case is thought to take on one node, by its id. Invocations are
    dealt evenly, the first jobs take the remainder. What cases take of their first invocations comes before anything of
    the rest."""
    packed = []
    counts = {case_ids: _job_count(seconds, case_ids, invocations) for case_ids in _groups(seconds)}
    dealt = [(index, case_ids) for case_ids, count in counts.items() for index in range(count)]
    for pool in pools:
        for index, case_ids in sorted(dealt, key=lambda one: one[0]):
            each, more = divmod(invocations, counts[case_ids])
            packed.append(
                Job(
                    job_id=content_hash([spec_name, pool, index, case_ids, references, invocations, sentinel]),
                    pool=pool,
                    case_ids=case_ids,
                    blocks=blocks(references, sentinel=sentinel),
                    first_invocation=index * each + min(index, more),
                    invocations=each + (1 if index < more else 0),
                )
            )
    return tuple(packed)


def _job_count(seconds: Mapping[str, float], case_ids: tuple[str, ...], invocations: int) -> int:
    """How many jobs share the invocations of these cases."""
    total_s = sum(seconds[case_id] for case_id in case_ids)
    return min(max(JOBS_PER_CELL, math.ceil(total_s / LONGEST_JOB_S)), invocations)


def _groups(seconds: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    """Cases that are measured by the same jobs, in their order: as few groups of about equal length as give no job
    more than its time, where a case alone doesn't take longer."""
    wanted = math.ceil(sum(seconds.values()) / (JOBS_PER_CELL * LONGEST_JOB_S))
    each_s = sum(seconds.values()) / max(1, wanted)
    groups: list[list[str]] = [[]]
    filled_s = 0.0
    for case_id, case_s in seconds.items():
        if groups[-1] and filled_s + case_s / 2 > each_s * len(groups):
            groups.append([])
        groups[-1].append(case_id)
        filled_s += case_s
    return tuple(tuple(group) for group in groups)
