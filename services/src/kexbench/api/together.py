"""Neighbours whose newest numbers are of different runs, compared by the newest run that has both: of a followed branch
each commit is measured beside the one before it, and again beside the one after it. Where no run has both, by what both
of their runs have."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from kexbench.api.comparing import Beside, Numbers, Others, Sentinels, best_runs
from kexbench.domain.library_commits import version_text
from kexbench.store.port import AppearanceRow, Selection, Store

Pair = tuple[str, str, str]
"""A case's id, a subject and the one that it is compared with."""
Apart = tuple[str, str, str]
"""A case's id and two runs."""
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


def unbridged(places: Iterable[Apart], frozen: Sentinels) -> list[Apart]:
    """Those whose runs do not share a sentinel."""
    kits = {place: sentinel.kit_id for place, sentinel in frozen.items()}
    return [
        (case_id, first, second)
        for case_id, first, second in places
        if (first, case_id) not in kits or kits[first, case_id] != kits.get((second, case_id))
    ]


def measured_in_both(store: Store, selection: Selection, places: Collection[Apart]) -> Others:
    """What two runs both measured in a case; what is selected is of one host kind."""
    if not places:
        return {}
    runs = {run_id for _, *both in places for run_id in both}
    here = replace(selection, libraries=(), subjects=(), run_id=None, runs=tuple(runs), asides=True, variants=False)
    subjects: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in store.appearances(here):
        subjects[row.case.case_id, row.run_id].add(row.subject)
    shared = {name for case_id, one, other in places for name in subjects[case_id, one] & subjects[case_id, other]}
    if not shared:
        return {}
    batches: dict[tuple[str, str], dict[str, dict[str, Sequence[float]]]] = defaultdict(lambda: defaultdict(dict))
    names: dict[str, str] = {}
    for sample in store.samples(replace(here, subjects=tuple(shared))):
        subject = sample.subject
        names[subject.kit_id] = f"{subject.library} {version_text(subject.version, subject.commit)}"
        batches[sample.run_id, sample.case.case_id][subject.kit_id][sample.unit] = sample.values
    return {
        place: {kit_id: Beside(names[kit_id], kit_id, found) for kit_id, found in kits.items()}
        for place, kits in batches.items()
    }
