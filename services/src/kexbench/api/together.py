"""Neighbours whose newest numbers are of different runs, compared by the newest run that has both: of a followed branch
each commit is measured beside the one before it, and again beside the one after it."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from kexbench.api.comparing import Numbers, best_runs
from kexbench.store.port import AppearanceRow, Selection, Store

Pair = tuple[str, str, str]
"""A case's id, a subject and the one that it is compared with."""
Together = Mapping[Pair, tuple[Numbers, Numbers]]


def measured_together(store: Store, selection: Selection, pairs: Collection[Pair]) -> Together:
    """The numbers of those that one run has both of; what is selected is of one host kind."""
    if not pairs:
        return {}
    named = replace(selection, asides=True, subjects=tuple({name for _, *names in pairs for name in names}))
    by_case: dict[str, list[AppearanceRow]] = defaultdict(list)
    for row in store.appearances(named):
        by_case[row.case.case_id].append(row)
    runs = {}
    for case_id, *names in pairs:
        found = best_runs([row for row in by_case[case_id] if row.subject in names], names[0], names[1])
        if found and found[0] == found[1]:
            runs[case_id, names[0], names[1]] = found[0]
    if not runs:
        return {}
    numbers: dict[tuple[str, str, str], Numbers] = {}
    for sample in store.samples(replace(named, runs=tuple(set(runs.values())))):
        key = (sample.case.case_id, sample.subject.name, sample.run_id)
        numbers.setdefault(key, Numbers(sample.subject, sample.run_id)).batches[sample.unit] = sample.values
    return {
        (case_id, subject, against): (numbers[case_id, subject, run_id], numbers[case_id, against, run_id])
        for (case_id, subject, against), run_id in runs.items()
    }
