"""Why an upgrade changed the cost, or why two libraries differ: stored profiles, compared function by function."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from kexbench.analysis.stacks import merged_calls
from kexbench.analysis.why import explain, explain_libraries
from kexbench.answers.meaning import all_meant
from kexbench.answers.subjects import subject_version
from kexbench.domain.instruments import INSTRUMENTS, CountedSide, Instrument
from kexbench.domain.kits import Library
from kexbench.domain.libraries import not_explained
from kexbench.domain.profiles import CallNode, CaseExplanation, Culprit, Explanation, Profile
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES_OF
from kexbench.planning.spec import Catalogue
from kexbench.store.port import ProfileRow, ProfileStore, SampleStore, Selection, Store


def explained(
    store: ProfileStore, before: str, after: str, instrument: Instrument, case_id: str = "", run_id: str = ""
) -> tuple[CaseExplanation, ...]:
    """Each case with profiles of both subjects (Subject.name), the one with the largest change first. The newest
    profiles count; `run_id` limits them to one run."""
    by_case: dict[str, dict[tuple[str, str], ProfileRow]] = defaultdict(dict)
    for row in store.profiles((before, after), instrument, case_id, run_id):
        by_case[row.case.case_id][row.subject.name, row.profile.side] = row
    cases = [_case(rows, instrument, before, after) for rows in by_case.values()]
    return tuple(
        sorted(
            (case for case in cases if case),
            key=lambda case: max(abs(side.ratio - 1) for side in case.sides),
            reverse=True,
        )
    )


def _case(
    rows: dict[tuple[str, str], ProfileRow], instrument: Instrument, before: str, after: str
) -> CaseExplanation | None:
    """None if no side has profiles of both."""
    sides: list[Explanation] = []
    used: list[ProfileRow] = []
    for side in INSTRUMENTS[instrument].parts:
        pair = [rows[name, side] for name in (before, after) if (name, side) in rows]
        if len(pair) == 2:
            compare = explain_libraries if _are_two_libraries(pair) else explain
            sides.append(compare(pair[0].profile, pair[1].profile, max(row.spread for row in pair)))
            used += pair
    if not sides:
        return None
    return CaseExplanation(
        instrument=instrument,
        case_id=used[0].case.case_id,
        title=used[0].case.label,
        sides=tuple(sides),
        counted_at=max(row.measured_at for row in used),
        run_ids=tuple(dict.fromkeys(row.run_id for row in used)),
        other_code=any(row.profile.ran_other_code for row in used)
        or (_are_two_libraries(used) and any(row.profile.cpu_features is None for row in used)),
    )


def _are_two_libraries(rows: Sequence[ProfileRow]) -> bool:
    return len({row.subject.library for row in rows}) > 1


def calls_of_both(
    store: ProfileStore, before: str, after: str, case_id: str, side: CountedSide, instrument: Instrument
) -> CallNode | None:
    """The calls of one side of a case in both versions, as one tree. None if one of them has no profile of it."""
    first, second = (counted_profile(store, subject, case_id, side, instrument) for subject in (before, after))
    return merged_calls(first, second) if first and second else None


def counted_profile(
    store: ProfileStore, subject: str, case_id: str, side: CountedSide, instrument: Instrument, run_id: str = ""
) -> Profile | None:
    """The newest profile of a subject (Subject.name), or that of a run."""
    rows = store.profiles((subject,), instrument, case_id, run_id)
    return next((row.profile for row in rows if row.profile.side == side), None)


def culprits_of(cases: Iterable[CaseExplanation], parts: Collection[CountedSide], run_id: str) -> list[Culprit]:
    """The function that most of each case's largest increase is in, each once, the largest share first. Only these
    parts count."""
    culprits: dict[tuple[str, str], Culprit] = {}
    for case in cases:
        slower = [side for side in case.sides if side.side in parts and side.ratio > 1 and side.place]
        if slower:
            culprit = _culprit(case, max(slower, key=lambda side: side.after - side.before), run_id)
            known = culprits.setdefault((culprit.side, culprit.function), culprit)
            if known.share < culprit.share:
                culprits[culprit.side, culprit.function] = culprit
    return sorted(culprits.values(), key=lambda culprit: -culprit.share)


def _culprit(case: CaseExplanation, side: Explanation, run_id: str) -> Culprit:
    place = side.place
    assert place is not None
    function = next((each for each in side.functions if each.name == place.name), None)
    return Culprit(
        case_id=case.case_id,
        title=case.title,
        side=side.side,
        function=place.name,
        instrument=case.instrument,
        amounts=(place.before, place.after),
        calls=(function.calls_before, function.calls_after) if function else (0.0, 0.0),
        side_amounts=(side.before, side.after),
        run_id=run_id,
    )


def _counted_subjects(store: SampleStore, library: str, instrument: Instrument) -> list[Subject]:
    selection = Selection(SIDES_OF[instrument]["both"], libraries=(library,), asides=True)
    return [row.subject for row in store.measured_subjects(selection)]


def _uncounted(library: str, case_id: str, instrument: Instrument, *subjects: Subject) -> Refusal:
    versions = " and ".join(map(subject_version, subjects))
    return Refusal(
        RefusalReason.MISSING,
        f"no {instrument} of {library} {versions} were counted in the case {case_id}",
        f"count them with kexbench why{_option(instrument)}",
    )


def _option(instrument: Instrument) -> str:
    return "" if instrument is Instrument.INSTRUCTIONS else f" --instrument {instrument}"


def _largest(case: CaseExplanation, functions: int) -> CaseExplanation:
    sides = tuple(side.model_copy(update={"functions": side.functions[:functions]}) for side in case.sides)
    return case.model_copy(update={"sides": sides})


def why(
    store: Store,
    catalogue: Catalogue,
    library: Library,
    before: str,
    after: str,
    case_id: str = "",
    run_id: str = "",
    functions: int = 30,
    after_library: Library | None = None,
    instrument: Instrument = Instrument.INSTRUCTIONS,
) -> list[CaseExplanation]:
    """With at most so many functions of each side; empty where nothing was counted. `after_library`: of `after`, where
    it is another one. Raises Refusal."""
    later = after_library or library
    if later != library and (refused := not_explained(library, later)):
        raise Refusal(RefusalReason.UNUSABLE, refused, f"compare them: kexbench compare {library}@… {later}@…")
    counted = {name: _counted_subjects(store, name, instrument) for name in (library, later)}
    if not all(counted.values()):
        return []
    (first,) = all_meant(counted[library], catalogue, library, before)
    (second,) = all_meant(counted[later], catalogue, later, after)
    return [
        _largest(case, functions) for case in explained(store, first.name, second.name, instrument, case_id, run_id)
    ]


def why_stacks(
    store: Store,
    catalogue: Catalogue,
    library: Library,
    before: str,
    after: str,
    case_id: str,
    side: CountedSide,
    instrument: Instrument = Instrument.INSTRUCTIONS,
) -> CallNode:
    """The calls of both versions as one tree. Raises Refusal."""
    first, second = all_meant(_counted_subjects(store, library, instrument), catalogue, library, before, after)
    calls = calls_of_both(store, first.name, second.name, case_id, side, instrument)
    if calls is None:
        raise _uncounted(library, case_id, instrument, first, second)
    return calls


def why_profile(
    store: Store,
    catalogue: Catalogue,
    library: Library,
    subject: str,
    case_id: str,
    side: CountedSide,
    run_id: str,
    instrument: Instrument = Instrument.INSTRUCTIONS,
) -> tuple[str, Profile]:
    """The library with the version, and its profile. Raises Refusal."""
    (counted,) = all_meant(_counted_subjects(store, library, instrument), catalogue, library, subject)
    profile = counted_profile(store, counted.name, case_id, side, instrument, run_id)
    if profile is None:
        raise _uncounted(library, case_id, instrument, counted)
    return f"{library}-{subject_version(counted)}", profile


def why_commands(subjects: Iterable[Subject]) -> list[str]:
    """Those that explain the difference of each two libraries of common ancestry."""
    return [
        f"kexbench why {first.library}@{first.source} {second.library}@{second.source}"
        for first, second in combinations(subjects, 2)
        if first.library != second.library and not_explained(first.library, second.library) is None
    ]
