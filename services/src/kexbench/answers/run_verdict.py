"""The verdicts of runs on the versions that they measured: the compared cells of each, and what has no result."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kexbench.answers.cells import judged_in_run
from kexbench.answers.exact import exact_changes
from kexbench.answers.numbers import Step
from kexbench.answers.runs import known_run
from kexbench.answers.why import culprits_of, explained
from kexbench.domain.plans import left_out_by_job
from kexbench.domain.profiles import Culprit
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import Run, RunState
from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES_OF, UpgradeCell
from kexbench.domain.verdicts import ExactChange, MissingReason, RunVerdict, run_verdict
from kexbench.planning.explanation import explaining_parts
from kexbench.planning.rules import relevant_of
from kexbench.store.port import RunProgress, Selection, Store

_FAILED: Mapping[OutcomeKind | str, MissingReason] = {
    OutcomeKind.UNSUPPORTED: "unsupported",
    OutcomeKind.MISMATCH: "mismatch",
    OutcomeKind.ERROR: "error",
    OutcomeKind.CRASHED: "crashed",
    OutcomeKind.HUNG: "hung",
}


@dataclass(frozen=True)
class _Compared:
    """What a run compared, without its state."""

    cells: tuple[tuple[tuple[str, str], UpgradeCell], ...]
    missing: Counter[MissingReason]
    lost: int
    culprits: tuple[Culprit, ...]
    exact: tuple[ExactChange, ...]
    left_out: int
    """Invocations that nobody measures, since all their subjects are hopeless. What they lack is among `missing`."""

    def __len__(self) -> int:
        return len(self.cells)


class CasePlace(NamedTuple):
    case_id: str
    pool: str
    subject: str


def verdicts_of(store: Store, runs: Collection[Run], progress: Mapping[str, RunProgress]) -> dict[str, RunVerdict]:
    """The verdict of each run, by its id. They change with the runs' results, and with A/A runs."""
    by_id = {run.run_id: run for run in runs}
    compared = store.kept(
        [("verdict of a run", run_id) for run_id in by_id],
        lambda evidence, key: (evidence.of_run(key[1]), evidence.of_copies()),
        lambda keys: {key: _compared(store, by_id[key[1]]) for key in keys},
    )
    return {
        run_id: run_verdict(
            each.cells,
            trouble_of(by_id[run_id], progress[run_id], each.left_out),
            each.missing,
            each.lost,
            each.culprits,
            each.exact,
        )
        for (_, run_id), each in compared.items()
    }


def trouble_of(run: Run, progress: RunProgress, left_out: int) -> str:
    """Why results of a run are missing; empty if it has all of them."""
    state, detail = progress.event.state, progress.event.detail
    if state is RunState.FINISHED:
        stored, planned = progress.invocations_stored, run.plan.invocations
        return "" if stored + left_out >= planned else detail or f"{stored:,} of {planned:,} invocations are stored"
    return f"{state}: {detail}" if detail else str(state)


def _compared(store: Store, run: Run) -> _Compared:
    metrics = SIDES_OF[run.plan.measure.instrument]
    judged = judged_in_run(store, run.run_id, relevant_of(run.spec_text), metrics)
    subjects = {reference: subject_row(run, reference) for reference in run.kits}
    names = {row.name: f"{row.library} {row.version} ({row.source})" for row in subjects.values()}
    missing = dict(missing_in(store, run, _planned(run, subjects), judged, metrics["both"]))
    return _Compared(
        cells=tuple(((names[before], names[after]), cell) for (before, after), cell in judged),
        missing=Counter(reason for reason, _ in missing.values()),
        lost=sum(is_lost for _, is_lost in missing.values()),
        culprits=tuple(culprits_in(store, run, judged)),
        exact=exact_changes(store, run.run_id, {step: (names[step[0]], names[step[1]]) for step, _ in judged}),
        left_out=left_out_of(store, run),
    )


def culprits_in(store: Store, run: Run, judged: Iterable[tuple[Step, UpgradeCell]]) -> list[Culprit]:
    """The functions that increases are in; only a run that counts knows them."""
    instrument = run.plan.measure.instrument
    if not instrument.counts:
        return []
    slower = [(step, cell.case_id) for step, cell in judged if cell.verdict == "more"]
    cases = [case for step, case_id in slower for case in explained(store, *step, instrument, case_id, run.run_id)]
    return culprits_of(cases, explaining_parts(SIDES_OF[instrument]["both"], instrument), run.run_id)


def left_out_of(store: Store, run: Run) -> int:
    hopeless = store.hopeless(run.run_id)
    if not hopeless:
        return 0
    stored = [(key.job_id, key.case_id, key.invocation) for key in store.invocations(run.run_id)]
    subjects = [(key.job_id, key.case_id, subject) for key, named in hopeless.items() for subject in named]
    return sum(left_out_by_job(run.plan.jobs, stored, subjects).values())


def subject_row(run: Run, reference: str) -> Subject:
    kit = run.kits[reference]
    profile = kit.build_profile
    return Subject(
        kit.library, kit.version, kit.version_key, kit.source, profile.id, profile.label, kit.kit_id, kit.commit
    )


def missing_in(
    store: Store,
    run: Run,
    planned: Iterable[tuple[CasePlace, tuple[str, ...]]],
    judged: Iterable[tuple[Step, UpgradeCell]],
    metric: Metric,
) -> Iterator[tuple[CasePlace, tuple[MissingReason, bool]]]:
    """The planned comparisons without a result, each with the reason and whether only the newer version has none."""
    cells: dict[CasePlace, list[UpgradeCell]] = defaultdict(list)
    for (_, after), cell in judged:
        cells[CasePlace(cell.case_id, cell.host_kind.pool, after)].append(cell)
    open_places = sorted(
        (place, earlier) for place, earlier in set(planned) if not any(cell.move for cell in cells.get(place, ()))
    )
    if not open_places:
        return
    measured, failures = _measured(store, run, metric)
    for place, earlier in open_places:
        before = [CasePlace(place.case_id, place.pool, name) for name in earlier]
        if of_place := cells.get(place):
            yield place, ("different work" if of_place[0].verdict == "unlike" else "too few invocations", False)
        elif place not in measured:
            reason = failures.get(place, "not measured")
            has_failed = reason not in ("not measured", "set aside")
            yield place, (reason, has_failed and not measured.isdisjoint(before))
        else:
            yield place, (next((failures[each] for each in before if each in failures), "not measured"), False)


def _planned(run: Run, subjects: Mapping[str, Subject]) -> Iterator[tuple[CasePlace, tuple[str, ...]]]:
    """Where a version is measured that has earlier ones, with the names of those, the newest first."""
    together = {
        (case_id, job.pool): {reference for block in job.blocks for reference in block if reference in subjects}
        for job in run.plan.jobs
        for case_id in job.case_ids
    }
    own = {subject.reference for subject in run.plan.subjects}
    for (case_id, pool), references in together.items():
        rows = [subjects[reference] for reference in references & own]
        for row in rows:
            earlier = [one for one in rows if one.library == row.library and one.version_key < row.version_key]
            if earlier:
                newest_first = sorted(earlier, key=lambda one: (one.version_key, one.name), reverse=True)
                yield CasePlace(case_id, pool, row.name), tuple(one.name for one in newest_first)


def _measured(store: Store, run: Run, metric: Metric) -> tuple[set[CasePlace], dict[CasePlace, MissingReason]]:
    """Where a run has numbers, and the most frequent failure of each other place."""
    measured: set[CasePlace] = set()
    failures: dict[CasePlace, MissingReason] = {}
    for row in store.appearances(Selection(metric, run_id=run.run_id)):
        measured.add(CasePlace(row.case.case_id, row.host_kind.pool, row.subject))
    for kind in store.host_kinds(run.run_id):
        for outcome in store.outcomes(Selection(metric, kind.pool, kind.cpu_model, run_id=run.run_id)):
            place = CasePlace(outcome.case.case_id, kind.pool, outcome.subject.name)
            failures.setdefault(place, _FAILED[outcome.kind])
    for pool in run.plan.pools:
        for aside in store.set_aside(Selection(metric, pool, run_id=run.run_id)):
            failures.setdefault(CasePlace(aside.case.case_id, pool, aside.subject.name), "set aside")
    return measured, failures


def verdict_of_run(store: Store, run_id: str) -> RunVerdict:
    """Raises Refusal for a run that is unknown or has not ended."""
    run, progress = known_run(store, run_id), store.progress([run_id])
    if run_id not in progress or progress[run_id].event.state.is_open:
        raise Refusal(RefusalReason.CONFLICT, f"run {run_id} has not ended", "try again when it has ended")
    return verdicts_of(store, [run], progress)[run_id]


def verdicts_of_ended(store: Store, run_ids: list[str]) -> dict[str, RunVerdict]:
    """By run. Runs that have not ended are left out."""
    progress = store.progress(run_ids)
    ended = [run_id for run_id, of_run in progress.items() if not of_run.event.state.is_open]
    return verdicts_of(store, store.runs_named(ended), progress)
