"""The orders of cases, blocks and batches. They are random but seeded, so a run can be reproduced. Pure."""

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
    """Whether this invocation includes the untimed pass, as the first one of each case in a job does."""

    def seed(self, of_job: str) -> str:
        """What fixes the random choices of this invocation."""
        return f"{of_job}/{self.case_id}/{self.invocation}"


def turns(job: Job, seed: str) -> Iterator[Turn]:
    """All invocations of a job. Each pass takes each case once, in a new random order, so a slow phase of the machine
    affects all cases equally. The blocks of a pass have consecutive numbers."""
    for index in range(job.first_invocation, job.first_invocation + job.invocations):
        order = list(job.case_ids)
        random.Random(f"{seed}/{index}").shuffle(order)
        for case_id in order:
            for position, block in enumerate(job.blocks):
                examines = index == job.first_invocation
                yield Turn(case_id, block, index * len(job.blocks) + position, examines)


def rounds(subjects: Sequence[str], count: int, seed: str) -> Iterator[list[str]]:
    """`count` rounds. In each, every subject has one batch, in a new random order."""
    generator = random.Random(seed)
    for _ in range(count):
        order = list(subjects)
        generator.shuffle(order)
        yield order
