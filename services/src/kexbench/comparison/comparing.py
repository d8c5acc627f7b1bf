"""How two subjects are compared in a case: by the numbers of which runs, through the sentinel or not, and why they are
not quite alike."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.analysis.rounds import Batches
from kexbench.analysis.sentinel import through_sentinel
from kexbench.domain.components import ComponentChange, changed_components
from kexbench.domain.library_commits import version_text
from kexbench.domain.samples import Negotiated
from kexbench.store.port import AppearanceRow, NegotiatedRow, SampleRow, SampleStore, Selection, SubjectRow

DIFFERENT_PROFILE = "different build profile"
DIFFERENT_RUN = "measured in different runs that share no subject"
DIFFERENT_INVOCATIONS = "not interleaved"
DIFFERENT_HARNESS = "measured in different ways, by different versions of kexbench"
THROUGH = "measured in different runs, compared through {subject}"
"""What stands in between is the sentinel or another subject that both runs have."""
THE_SENTINEL = "the sentinel"
NEGOTIATED_FIELDS = {
    "protocol": "protocol",
    "cipher": "cipher",
    "group": "group",
    "signature": "signature",
    "key_shares": "client key shares",
    "tickets": "tickets",
}
"""What may make the work unlike, with the word for it."""
Sentinels = Mapping[tuple[str, str], "Beside"]
"""By run and case."""
Others = Mapping[tuple[str, str], Mapping[str, "Beside"]]
"""What a run measured in a case, by run and case, then by kit id."""
Chosen = Mapping[tuple[str, str, str], Negotiated]
"""What the library chose, by run, case and the subject's reference."""

Apart = tuple[str, str, str]
"""A case's id and two runs."""
Components = Mapping[str, Mapping[str, str]]
"""What libraries stand on: by kit id the versions by component."""


@dataclass(frozen=True)
class Beside:
    """What the sentinel or another subject cost in one run and case, by invocation."""

    name: str
    kit_id: str
    batches: Batches


@dataclass(frozen=True)
class Bridge:
    """A kit that two runs both measured: what the machine did in between is in both of its costs."""

    name: str
    first: Batches
    second: Batches


@dataclass
class Numbers:
    """What a subject cost in a case in one run."""

    subject: SubjectRow
    run_id: str = ""
    batches: dict[str, Sequence[float]] = field(default_factory=dict)
    levels: list[float] = field(default_factory=list)
    """What each invocation cost over all of its batches."""
    sentinel: Beside | None = None
    others: Mapping[str, Beside] = field(default_factory=dict)
    """What else its run measured in the case, by kit id; empty where nobody needs it."""
    negotiated: Negotiated | None = None
    harness_version: int | None = None
    """Of the run's plan; None where nobody asked."""


def sentinels(rows: Iterable[SampleRow]) -> dict[tuple[str, str], Beside]:
    found: dict[tuple[str, str], tuple[str, dict[str, Sequence[float]]]] = {}
    for row in rows:
        found.setdefault((row.run_id, row.case.case_id), (row.subject.kit_id, {}))[1][row.unit] = row.values
    return {key: Beside(THE_SENTINEL, kit_id, batches) for key, (kit_id, batches) in found.items()}


def chosen(rows: Iterable[NegotiatedRow]) -> dict[tuple[str, str, str], Negotiated]:
    return {(row.run_id, row.case_id, row.reference): row.negotiated for row in rows}


def best_runs(rows: Iterable[AppearanceRow], subject: str, against: str) -> tuple[str, str] | None:
    """Of the appearances of one case on one host kind the runs whose numbers stand for two subjects: the newest that
    interleaved both, however much was measured of one of them since; else the newest that has both; else the newest
    of each. Runs with fewer invocations than are compared count where there are no others. None where there is no
    number of one."""
    by_run: dict[str, dict[str, AppearanceRow]] = defaultdict(dict)
    for row in rows:
        by_run[row.run_id][row.subject] = row
    both = [(own[subject], own[against]) for own in by_run.values() if subject in own and against in own]
    for enough in (_interleaved, _together):
        if found := [pair for pair in both if enough(*pair)]:
            run_id = max(found, key=lambda pair: max(map(_age, pair)))[0].run_id
            return run_id, run_id
    newest = [_newest([own[name] for own in by_run.values() if name in own]) for name in (subject, against)]
    return (newest[0].run_id, newest[1].run_id) if newest[0] and newest[1] else None


def _interleaved(first: AppearanceRow, second: AppearanceRow) -> bool:
    return len(first.units & second.units) >= MIN_COMPARED_INVOCATIONS


def _together(first: AppearanceRow, second: AppearanceRow) -> bool:
    return min(len(first.units), len(second.units)) >= MIN_COMPARED_INVOCATIONS


def _newest(rows: Sequence[AppearanceRow]) -> AppearanceRow | None:
    enough = [row for row in rows if len(row.units) >= MIN_COMPARED_INVOCATIONS]
    return max(enough or rows, key=_age, default=None)


def _age(row: AppearanceRow) -> tuple[object, str]:
    return row.measured_at, row.run_id


def bridge_between(first: Numbers, second: Numbers) -> Bridge | None:
    """By what the numbers of two runs are compared: the same sentinel, else the kit that both measured most often.
    None within a run, where the pairs themselves are better, and where the runs share nothing."""
    if first.run_id == second.run_id:
        return None
    if first.sentinel and second.sentinel and first.sentinel.kit_id == second.sentinel.kit_id:
        shared = [(first.sentinel, second.sentinel)]
    else:
        shared = [(first.others[kit_id], second.others[kit_id]) for kit_id in first.others if kit_id in second.others]
    known = [(one, other) for one, other in shared if _least(one, other) >= MIN_COMPARED_INVOCATIONS]
    best = max(known, key=lambda pair: (_least(*pair), pair[0].kit_id), default=None)
    return Bridge(best[0].name, best[0].batches, best[1].batches) if best else None


def _least(first: Beside, second: Beside) -> int:
    return min(len(first.batches), len(second.batches))


def are_apart(first: Numbers, second: Numbers, bridge: Bridge | None) -> bool:
    """Whether the numbers are of different machines' hours and nothing tells how these differ: there are two levels,
    and nothing is said of their ratio."""
    return first.run_id != second.run_id and bridge is None


def components_between(before: Numbers, after: Numbers, components: Components) -> tuple[ComponentChange, ...]:
    """What changed along with the library."""
    return changed_components(*(components.get(one.subject.kit_id, {}) for one in (before, after)))


def batches_of(numbers: Numbers, through: Batches | None) -> Batches:
    """Relative to what stands in between, if anything does. Named so that invocations of different runs are never taken
    for pairs, whatever they are numbered."""
    batches = numbers.batches if through is None else through_sentinel(numbers.batches, through)
    return {f"{numbers.run_id}/{unit}": values for unit, values in batches.items()}


def warnings_of(numbers: Numbers, against: Numbers, bridge: Bridge | None, *, paired: bool) -> list[str]:
    """Why the two are not quite alike."""
    warnings = []
    if against.subject.build_profile != numbers.subject.build_profile:
        warnings.append(DIFFERENT_PROFILE)
    if against.run_id != numbers.run_id:
        warnings.append(THROUGH.format(subject=bridge.name) if bridge else DIFFERENT_RUN)
    elif not paired:
        warnings.append(DIFFERENT_INVOCATIONS)
    return warnings + unlike(numbers, against)


def unlike(numbers: Numbers, against: Numbers) -> list[str]:
    """Why the two did not do the same: `negotiated differently: group X25519MLKEM768 instead of X25519`."""
    words = []
    if numbers.harness_version != against.harness_version:
        words.append(DIFFERENT_HARNESS)
    if numbers.negotiated and against.negotiated:
        ours, theirs = numbers.negotiated, against.negotiated
        differ = [
            f"{word} {getattr(ours, name)} instead of {getattr(theirs, name)}"
            for name, word in NEGOTIATED_FIELDS.items()
            if None not in (getattr(ours, name), getattr(theirs, name)) and getattr(ours, name) != getattr(theirs, name)
        ]
        words += [f"negotiated differently: {', '.join(differ)}"] if differ else []
    return words


def unbridged(places: Iterable[Apart], frozen: Sentinels) -> list[Apart]:
    """Those whose runs do not share a sentinel."""
    kits = {place: sentinel.kit_id for place, sentinel in frozen.items()}
    return [
        (case_id, first, second)
        for case_id, first, second in places
        if (first, case_id) not in kits or kits[first, case_id] != kits.get((second, case_id))
    ]


def measured_in_both(store: SampleStore, selection: Selection, places: Collection[Apart]) -> Others:
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
