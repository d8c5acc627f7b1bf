"""Packs a plan's cells into jobs and blocks."""

import math
from collections.abc import Mapping

from kexbench.domain.canonical import content_hash
from kexbench.domain.plans import BLOCK_SUBJECTS, JOBS_PER_CELL, SENTINEL, Job

LONGEST_JOB_S = 20 * 60
"""Approximate length of a job of a long plan. A pod's overhead of up to a minute is then less than a twentieth, the
nodes of a pool share the plan, and a lost node loses little."""


def blocks(references: tuple[str, ...], *, sentinel: bool, most: int) -> tuple[tuple[str, ...], ...]:
    """Subjects in blocks of at most `most`. The sentinel is in every block. Where there are several blocks, so is the
    first subject, the baseline. These two join the blocks."""
    frozen = (SENTINEL,) if sentinel else ()
    if len(frozen) + len(references) <= most:
        return ((*frozen, *references),)
    baseline, *others = references
    shared = (*frozen, baseline)
    step = most - len(shared)
    return tuple((*shared, *others[start : start + step]) for start in range(0, len(others), step))


def jobs(
    spec_name: str,
    pools: tuple[str, ...],
    seconds: Mapping[str, float],
    references: tuple[str, ...],
    invocations: int,
    *,
    sentinel: bool,
    block_subjects: int = BLOCK_SUBJECTS,
    least: int = JOBS_PER_CELL,
) -> tuple[Job, ...]:
    """The jobs of every pool. `seconds`: the estimated time of each case on one node, by its id. Each cell is spread
    over `least` jobs or more, as far as it has invocations. They are dealt evenly, and the first jobs take the
    remainder. The first jobs of all cases come before the second jobs of any."""
    least = min(least, invocations)
    packed = []
    counts = {case_ids: _job_count(seconds, case_ids, invocations, least) for case_ids in _groups(seconds, least)}
    dealt = [(index, case_ids) for case_ids, count in counts.items() for index in range(count)]
    for pool in pools:
        for index, case_ids in sorted(dealt, key=lambda part: part[0]):
            share, remainder = divmod(invocations, counts[case_ids])
            packed.append(
                Job(
                    job_id=content_hash([spec_name, pool, index, case_ids, references, invocations, sentinel]),
                    pool=pool,
                    case_ids=case_ids,
                    blocks=blocks(references, sentinel=sentinel, most=block_subjects),
                    first_invocation=index * share + min(index, remainder),
                    invocations=share + (1 if index < remainder else 0),
                )
            )
    return tuple(packed)


def _job_count(seconds: Mapping[str, float], case_ids: tuple[str, ...], invocations: int, least: int) -> int:
    """The number of jobs that share the invocations of these cases."""
    total_s = sum(seconds[case_id] for case_id in case_ids)
    return min(max(least, math.ceil(total_s / LONGEST_JOB_S)), invocations)


def _groups(seconds: Mapping[str, float], least: int) -> tuple[tuple[str, ...], ...]:
    """Groups of cases that the same jobs measure, in their order. As few groups of about equal length as keep every job
    below LONGEST_JOB_S, unless a single case takes longer."""
    count = math.ceil(sum(seconds.values()) / (least * LONGEST_JOB_S))
    group_s = sum(seconds.values()) / max(1, count)
    groups: list[list[str]] = [[]]
    filled_s = 0.0
    for case_id, case_s in seconds.items():
        if groups[-1] and filled_s + case_s / 2 > group_s * len(groups):
            groups.append([])
        groups[-1].append(case_id)
        filled_s += case_s
    return tuple(tuple(group) for group in groups)
