"""Every order in which things are measured: seeded, so that a run can be understood afterwards. Pure."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kexbench.domain.plans import Job


@dataclass(frozen=True)
class Turn:
    """One invocation of one case with one block of subjects."""

    case_id: str
    block: tuple[str, ...]
    invocation: int
    examines: bool = False
    """Whether the untimed pass is made too: with a case's first invocation in a job."""


def turns(job: Job, seed: str) -> Iterator[Turn]:
    """All invocations of a job: every pass takes each case once, in an order of its own, so that a
    slow phase of the machine falls on all cases alike. Blocks of one pass are numbered one after the other."""
    for index in range(job.first_invocation, job.first_invocation + job.invocations):
        order = list(job.case_ids)
        random.Random(f"{seed}/{index}").shuffle(order)
        for case_id in order:
            for position, block in enumerate(job.blocks):
                examines = index == job.first_invocation
                yield Turn(case_id, block, index * len(job.blocks) + position, examines)


def rounds(subjects: Sequence[str], count: int, seed: str) -> Iterator[list[str]]:
    """`count` rounds in which each subject has one batch, in a fresh random order each round."""
    generator = random.Random(seed)
    for _ in range(count):
        order = list(subjects)
        generator.shuffle(order)
        yield order
