"""How two subjects are compared in a case: by which runs, directly or through a shared subject, and with which
warnings."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS, compare
from kexbench.analysis.rounds import Batches
from kexbench.analysis.sentinel import through_sentinel
from kexbench.domain.batches import Values
from kexbench.domain.components import changed_components
from kexbench.domain.differences import Difference
from kexbench.domain.intervals import Ratio
from kexbench.domain.library_commits import version_text
from kexbench.domain.samples import Negotiated
from kexbench.domain.subjects import Subject
from kexbench.store.port import AppearanceRow, NegotiatedRow, SampleRow, SampleStore, Selection

DIFFERENT_PROFILE = "different build profile"
DIFFERENT_POOL = "different pool"
DIFFERENT_CPU = "different CPU"
DIFFERENT_RUN = "measured in different runs that share no subject"
DIFFERENT_INVOCATIONS = "not interleaved"
DIFFERENT_HARNESS = "measured by different methods of different kexbench versions"
THROUGH = "measured in different runs, compared through {subject}"
"""Through the sentinel, or another subject that both runs measured."""
THE_SENTINEL = "the sentinel"
NEGOTIATED_FIELDS = {
    "protocol": "protocol",
    "cipher": "cipher",
    "group": "group",
    "signature": "signature",
    "key_shares": "client key shares",
    "tickets": "tickets",
}
"""The fields that can make the work unlike, with their names in texts."""
Sentinels = Mapping[tuple[str, str], "Beside"]
"""The sentinel by run and case."""
Others = Mapping[tuple[str, str], Mapping[str, "Beside"]]
"""The subjects that a run measured in a case, by run and case, then by kit id."""

Apart = tuple[str, str, str]
"""A case's id and two runs."""
Components = Mapping[str, Mapping[str, str]]
"""The versions of the components below each library, by kit id."""


@dataclass(frozen=True)
class Beside:
    """The costs of the sentinel or another subject in one run and case, by invocation."""

    name: str
    kit_id: str
    batches: Batches


@dataclass(frozen=True)
class Bridge:
    """A kit that two runs measured. Its costs contain what changed on the machine in between."""

    name: str
    first: Batches
    second: Batches


@dataclass
class Numbers:
    """The costs of a subject in a case in one run."""

    subject: Subject
    run_id: str = ""
    batches: dict[str, Values] = field(default_factory=dict)
    levels: list[float] = field(default_factory=list)
    """The cost of each invocation over all of its batches."""
    sentinel: Beside | None = None
    others: Mapping[str, Beside] = field(default_factory=dict)
    """Other subjects of its run in the case, by kit id; empty if not needed."""
    negotiated: Negotiated | None = None
    harness_version: int | None = None
    """The harness version of the run's plan; None if not needed."""


def sentinels(rows: Iterable[SampleRow]) -> dict[tuple[str, str], Beside]:
    by_case: dict[tuple[str, str], tuple[str, dict[str, Values]]] = {}
    for row in sorted(rows, key=lambda row: (row.run_id, row.case.case_id, row.unit)):
        by_case.setdefault((row.run_id, row.case.case_id), (row.subject.kit_id, {}))[1][row.unit] = row.values
    return {key: Beside(THE_SENTINEL, kit_id, batches) for key, (kit_id, batches) in by_case.items()}


def chosen(rows: Iterable[NegotiatedRow]) -> dict[tuple[str, str, str], Negotiated]:
    return {(row.run_id, row.case_id, row.reference): row.negotiated for row in rows}


def best_runs(rows: Iterable[AppearanceRow], against: Iterable[AppearanceRow]) -> tuple[str, str] | None:
    """The runs whose numbers compare two subjects, from the appearances of each in one case. The newest run that
    interleaved both comes first, then the newest run with both, then the newest run of each. Runs with too few
    invocations count only if there are no others. None if one subject has no numbers."""
    first, second = ({row.run_id: row for row in of_subject} for of_subject in (rows, against))
    pairs = [(row, second[run_id]) for run_id, row in first.items() if run_id in second]
    for is_enough in (_interleaved, _together):
        if enough := [pair for pair in pairs if is_enough(*pair)]:
            run_id = max(enough, key=lambda pair: max(map(_age, pair)))[0].run_id
            return run_id, run_id
    newest = _newest(list(first.values())), _newest(list(second.values()))
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
    """The subject through which two runs are compared: the shared sentinel, otherwise the kit with the most invocations
    in both, but neither of the two that are compared. None within one run, where pairs are better, and if the runs
    share no subject."""
    if first.run_id == second.run_id:
        return None
    if first.sentinel and second.sentinel and first.sentinel.kit_id == second.sentinel.kit_id:
        shared = [(first.sentinel, second.sentinel)]
    else:
        kit_ids = first.others.keys() & second.others.keys() - {first.subject.kit_id, second.subject.kit_id}
        shared = [(first.others[kit_id], second.others[kit_id]) for kit_id in kit_ids]
    usable = [pair for pair in shared if _least(*pair) >= MIN_COMPARED_INVOCATIONS]
    best = max(usable, key=lambda pair: (_least(*pair), pair[0].kit_id), default=None)
    return Bridge(best[0].name, best[0].batches, best[1].batches) if best else None


def _least(first: Beside, second: Beside) -> int:
    return min(len(first.batches), len(second.batches))


def are_apart(first: Numbers, second: Numbers, bridge: Bridge | None) -> bool:
    """Whether the runs share no subject, so that a change of the machine cannot be ruled out. Two levels are shown
    without a ratio."""
    return first.run_id != second.run_id and bridge is None


def components_between(before: Numbers, after: Numbers, components: Components) -> tuple[Difference, ...]:
    """The components that changed along with the library."""
    return changed_components(*(components.get(numbers.subject.kit_id, {}) for numbers in (before, after)))


def batches_of(numbers: Numbers, through: Batches | None) -> Batches:
    """The batches, relative to those of `through` if given. The keys contain the run, so that invocations of different
    runs never form pairs."""
    batches = numbers.batches if through is None else through_sentinel(numbers.batches, through)
    return {f"{numbers.run_id}/{unit}": values for unit, values in batches.items()}


def unjudged_ratio(numbers: Numbers, against: Numbers) -> Ratio | None:
    """The cost relative to another that is not alike, such as that of another machine: never judged, and paired only if
    both were measured in the same invocations. None with too few of them."""
    return compare(batches_of(numbers, None), batches_of(against, None))


def warnings_of(
    numbers: Numbers, against: Numbers, bridge: Bridge | None, *, paired: bool, is_one_case: bool = True
) -> list[str]:
    """The reasons why the comparison is weaker."""
    warnings = []
    if against.subject.build_profile != numbers.subject.build_profile:
        warnings.append(DIFFERENT_PROFILE)
    if against.run_id != numbers.run_id:
        warnings.append(THROUGH.format(subject=bridge.name) if bridge else DIFFERENT_RUN)
    elif not paired:
        warnings.append(DIFFERENT_INVOCATIONS)
    return warnings + unlike(numbers, against, is_one_case=is_one_case)


def unlike(numbers: Numbers, against: Numbers, *, is_one_case: bool = True) -> list[str]:
    """Why the two did different work: `negotiated differently: group X25519MLKEM768 instead of X25519`. Two cases are
    meant to negotiate differently."""
    reasons = []
    if numbers.harness_version != against.harness_version:
        reasons.append(DIFFERENT_HARNESS)
    if is_one_case and numbers.negotiated and against.negotiated:
        reasons += negotiated_differently(numbers.negotiated, against.negotiated)
    return reasons


def negotiated_differently(first: Negotiated, second: Negotiated) -> list[str]:
    """One reason why the two did different work, or none."""
    differ = [
        f"{word} {getattr(first, name)} instead of {getattr(second, name)}"
        for name, word in NEGOTIATED_FIELDS.items()
        if None not in (getattr(first, name), getattr(second, name)) and getattr(first, name) != getattr(second, name)
    ]
    return [f"negotiated differently: {', '.join(differ)}"] if differ else []


def unbridged(places: Iterable[Apart], frozen: Sentinels) -> list[Apart]:
    """The places whose two runs do not share a sentinel."""
    kits = {place: sentinel.kit_id for place, sentinel in frozen.items()}
    return [
        (case_id, first, second)
        for case_id, first, second in places
        if (first, case_id) not in kits or kits[first, case_id] != kits.get((second, case_id))
    ]


def measured_in_both(store: SampleStore, selection: Selection, places: Collection[Apart]) -> Others:
    """The subjects that both runs of a place measured in its case. The selection has one host kind."""
    if not places:
        return {}
    runs = {run_id for _, *both in places for run_id in both}
    here = replace(selection, libraries=(), subjects=(), run_id=None, runs=tuple(runs), asides=True, variants=False)
    subjects: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in store.appearances(here):
        subjects[row.case.case_id, row.run_id].add(row.subject)
    shared = {
        name for case_id, first, second in places for name in subjects[case_id, first] & subjects[case_id, second]
    }
    if not shared:
        return {}
    batches: dict[tuple[str, str], dict[str, dict[str, Values]]] = defaultdict(lambda: defaultdict(dict))
    names: dict[str, str] = {}
    for sample in store.samples(replace(here, subjects=tuple(shared))):
        subject = sample.subject
        names[subject.kit_id] = f"{subject.library} {version_text(subject.version, subject.commit)}"
        batches[sample.run_id, sample.case.case_id][subject.kit_id][sample.unit] = sample.values
    return {
        place: {kit_id: Beside(names[kit_id], kit_id, by_unit) for kit_id, by_unit in kits.items()}
        for place, kits in batches.items()
    }
