"""Two cases side by side: what a verdict on them needs."""

from kexbench.analysis.compared import CellData
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.answers.comparing import batches_of, warnings_of
from kexbench.answers.numbers import Sides
from kexbench.answers.qualifications import layout_floors
from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostKind
from kexbench.store.port import SampleStore

NOT_IN_TURNS = "the two cases were not measured in turns in one run"


def in_turns(
    store: SampleStore,
    kinds: tuple[HostKind, HostKind],
    cases: tuple[Case, Case],
    run_id: str,
    base: Sides,
    other: Sides,
) -> CellData | None:
    """The data of one subject in a case and of the same or another subject in another case. None if they were not
    measured in turns in one run."""
    if kinds[0] != kinds[1] or "both" not in base or "both" not in other:
        return None
    before = {side: batches_of(own, None) for side, own in base.items()}
    after = {side: batches_of(own, None) for side, own in other.items()}
    if len(before["both"].keys() & after["both"].keys()) < MIN_COMPARED_INVOCATIONS:
        return None
    subjects = [side["both"].subject for side in (base, other)]
    floors = layout_floors(store, kinds[0], {subject.library for subject in subjects})
    known = [floors.get((subject.library, case.case_id), 0.0) for subject, case in zip(subjects, cases, strict=True)]
    is_one_build = subjects[0].kit_id == subjects[1].kit_id
    return CellData(
        case=cases[1],
        host_kind=kinds[0],
        before=before,
        after=after,
        run_ids=(run_id,),
        warnings=tuple(warnings_of(other["both"], base["both"], None, paired=True, is_one_case=False)),
        unlike=False,
        levels={side: (own.levels, other[side].levels) for side, own in base.items() if side in other},
        floor=0.0 if is_one_build else max(known),  # one build has one layout
    )
