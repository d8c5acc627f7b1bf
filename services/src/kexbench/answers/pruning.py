"""Removes old batches, some at a time: whoever asks can report progress, and end in between."""

import time
from dataclasses import dataclass
from datetime import datetime

from kexbench.analysis.removal import kept_of
from kexbench.domain.runs import RunState
from kexbench.store.port import Store, Upkeep

STEP_S = 5.0
"""How long a step removes batches. The last runs and partitions of a step can exceed it."""


@dataclass(frozen=True)
class PruneStep:
    removed_values: int
    left_values: int
    left_partitions: int
    """With space to free."""

    @property
    def is_last(self) -> bool:
        return self.left_values == 0 and self.left_partitions == 0


def is_measuring(store: Store) -> bool:
    """Removing takes CPU time, so a machine that measures waits with it."""
    return any(row.state is RunState.RUNNING for row in store.run_states())


def prune_step(store: Upkeep, before: datetime, at: datetime, duration_s: float = STEP_S) -> PruneStep:
    """Remove batches of invocations before a time; when none are left, free the space of a partition. `at`: now."""
    end_s = time.monotonic() + duration_s
    prunable = store.prunable(before)
    removed = 0
    while prunable and time.monotonic() < end_s:
        removed += store.prune(prunable.pop(0), before, at, kept_of)
    partitions = store.pruned_partitions(before)
    if not prunable and partitions:
        store.reclaim(partitions.pop(0))
    return PruneStep(removed, sum(each.values for each in prunable), len(partitions))
