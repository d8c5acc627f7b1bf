"""Why an alert's version costs more: a run counts both versions with the instrument that fits the metric, and the
functions that most of the change is in become an event of the alert."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from kexbench.alerts.events import add_event, next_event
from kexbench.answers.why import culprits_of, explained
from kexbench.domain.alerts import ANALYST, AlertAction, AlertEvent, Finding
from kexbench.domain.kits import SubjectRef
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import RunState, Trigger
from kexbench.domain.samples import Metric
from kexbench.planning.compose import spec_text
from kexbench.planning.explanation import (
    CASES_MAX,
    ExplainingRun,
    explaining_instrument,
    explaining_parts,
    explaining_run_id,
)
from kexbench.queue.runs import one_at_a_time, planned_wish, queue_run
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import Selection, Store

RECENT = timedelta(days=3)
"""Older findings are not explained: their versions may be gone."""
_NAME_MAX = 63


def unexplained(events: Sequence[AlertEvent], now: datetime) -> tuple[int, Finding] | None:
    """The number and the finding of the newest event with one, unless it is explained or old. None for other kinds of
    alerts."""
    newest = next((event for event in reversed(events) if event.finding), None)
    if newest is None or newest.finding is None or newest.finding.subjects is None or newest.at < now - RECENT:
        return None
    return None if _is_explained(events, newest.number) else (newest.number, newest.finding)


def _is_explained(events: Iterable[AlertEvent], number: int) -> bool:
    """Whether an explanation came after the event of this number."""
    return any(event.action is AlertAction.EXPLAINED and event.number > number for event in events)


def advance_explanation(
    store: Store, supplies: Supplies | LocalSupplies, alert_id: str, metric: Metric, finding: Finding
) -> RunState | None:
    """Queue the run that explains a finding, or add the event once that run has finished. Repeated calls do each only
    once. Returns the run's state; None if it cannot be planned."""
    run_id = explaining_run_id(alert_id, finding.run_ids[0])
    progress = store.progress([run_id]).get(run_id)
    if progress is None:
        return _queued(store, supplies, run_id, metric, finding)
    if progress.event.state.has_results:
        _add_explanation(store, alert_id, metric, finding, run_id)
    return progress.event.state


def _queued(
    store: Store, supplies: Supplies | LocalSupplies, run_id: str, metric: Metric, finding: Finding
) -> RunState | None:
    wanted = _explaining_run(store, metric, finding)
    if wanted is None:
        return None
    try:
        plan = planned_wish(supplies, wanted.wish, wanted.catalogue_text)
    except Refusal:
        return None
    with one_at_a_time:
        if store.run(run_id) is None:
            detail = f"explains what run {finding.run_ids[0]} confirmed"
            text, purpose = spec_text(wanted.wish), wanted.wish.purpose
            queue_run(store, run_id, Trigger.EXPLANATION, text, plan, detail, purpose=purpose)
    return RunState.QUEUED


def _explaining_run(store: Store, metric: Metric, finding: Finding) -> ExplainingRun | None:
    """None if nothing explains the metric, or a version can no longer be had, because its source has moved on."""
    instrument = explaining_instrument(metric)
    assert finding.subjects is not None
    selection = Selection(metric, subjects=finding.subjects, asides=True)
    sources = {
        row.subject.name: SubjectRef(library=row.subject.library, source=row.subject.source)
        for row in store.measured_subjects(selection)
    }
    ends = tuple(sources[name] for name in finding.subjects if name in sources)
    confirmed = store.run(finding.run_ids[0])
    if len(set(ends)) != len(finding.subjects) or confirmed is None or instrument is None:
        return None
    slowest = sorted(finding.cells, key=lambda cell: -cell.size)
    case_ids = list(dict.fromkeys(cell.case_id for cell in slowest))
    cases = [case for case in confirmed.plan.cases if case.case_id in case_ids and case.is_countable]
    cases.sort(key=lambda case: case_ids.index(case.case_id))
    if not cases:
        return None
    return ExplainingRun(
        name=f"why-{finding.spec_names[0]}"[:_NAME_MAX].rstrip("-"),
        ends=(ends[0], ends[1]),
        cases=tuple(cases[:CASES_MAX]),
        pool=slowest[0].pool,
        instrument=instrument,
    )


def _add_explanation(store: Store, alert_id: str, metric: Metric, finding: Finding, run_id: str) -> None:
    """Nothing where nothing could be counted."""
    instrument = explaining_instrument(metric)
    assert finding.subjects is not None
    assert instrument is not None
    cases = explained(store, *finding.subjects, instrument, run_id=run_id)
    if not cases:
        return
    with one_at_a_time:
        events = store.alert_events(alert_id)
        if _is_explained(events, max(event.number for event in events if event.finding == finding)):
            return
        culprits = tuple(culprits_of(cases, explaining_parts(metric, instrument), run_id))
        add_event(store, next_event(events, AlertAction.EXPLAINED, ANALYST, culprits=culprits))
