"""From a suspicion to an alert: queues the confirmation run and evaluates its result."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kexbench.alerts.events import add_finding
from kexbench.alerts.screening import Upgrade, cells_between
from kexbench.alerts.suspicions import HostCase, alert_cells, answered, cause_of, host_case, in_pool
from kexbench.analysis.attribution import attribute
from kexbench.analysis.sentences import sentence
from kexbench.answers.judging import JudgedCells
from kexbench.domain.alerts import AlertRule, Finding
from kexbench.domain.kits import SubjectRef
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import Run, RunState, Trigger
from kexbench.domain.screenings import ScreenedUpgrade, Screening
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.planning.compose import spec_text
from kexbench.planning.confirmation import ConfirmingRun, confirming_run_id
from kexbench.queue.runs import one_at_a_time, planned_wish, queue_run
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import EndedRunRow, RunProgress, RunStore, Store


@dataclass(frozen=True)
class Watched:
    """An ended run with the rule of its spec."""

    run: Run
    rule: AlertRule
    ended: EndedRunRow


def screened_upgrade(
    store: Store,
    supplies: Supplies | LocalSupplies,
    watched: Watched,
    upgrade: Upgrade,
    cells: JudgedCells,
    slower: Collection[HostCase],
) -> ScreenedUpgrade:
    """Screen an upgrade whose cells `slower` are suspected. Suspicions that are in no alert, and that no other run
    answers, get a confirmation run, which is queued."""
    screened = ScreenedUpgrade(
        library=upgrade.library,
        before=upgrade.before,
        after=upgrade.after,
        compared=sum(cell.move is not None for cell in cells.judged),
        more=sum(cell.verdict == "more" for cell in cells.judged),
        less=sum(cell.verdict == "less" for cell in cells.judged),
        unresolved=sum(cell.verdict == "unresolved" for cell in cells.judged),
        suspected=(),
        confirmation_run=None,
        outcome="quiet",
    )
    if not slower:
        return screened
    alert_id = cause_of(upgrade.library, upgrade.before, upgrade.after).alert_id
    events = store.alert_events(alert_id)
    reported = {host_case(cell) for event in events if event.finding for cell in event.finding.cells}
    suspected = tuple(
        dict.fromkeys(in_pool(kind.pool, case_id) for case_id, kind in slower if (case_id, kind) not in reported)
    )
    if not suspected:
        return screened.model_copy(update={"outcome": "confirmed", "alert_id": alert_id, "detail": "already reported"})
    answers = answered(screened.key, watched.run.plan.spec_name, store.screenings_of([screened.key]))
    unanswered = tuple(name for name in suspected if name not in answers)
    if unanswered:
        return _with_confirmation(store, supplies, watched, screened, unanswered)
    waited_for = next((answers[name] for name in suspected if answers[name].outcome == "confirming"), None)
    if waited_for is None:
        return screened.model_copy(
            update={"suspected": suspected, "outcome": "not confirmed", "detail": "an earlier run did not confirm it"}
        )
    change = {"confirmation_run": waited_for.confirmation_run, "suspected": waited_for.suspected}
    return screened.model_copy(update={**change, "outcome": "confirming"})


def _with_confirmation(
    store: RunStore,
    supplies: Supplies | LocalSupplies,
    watched: Watched,
    screened: ScreenedUpgrade,
    suspected: Sequence[str],
) -> ScreenedUpgrade:
    """The upgrade with its confirmation run. Repeated calls queue the run only once."""
    run, before, after = watched.run, screened.before, screened.after
    since = watched.ended.ended_at.isoformat()
    run_id = confirming_run_id(run.run_id, since, screened.library, before.subject, after.subject)
    screened = screened.model_copy(update={"suspected": tuple(suspected)})
    if before.source == after.source:
        detail = f"{before.label} is no longer available: {screened.library}@{after.source} is now {after.version}"
        return screened.model_copy(update={"outcome": "cannot confirm", "detail": detail})
    confirming_run = _confirming_run(watched, screened)
    text = spec_text(confirming_run.wish)
    try:
        plan = planned_wish(supplies, confirming_run.wish, confirming_run.catalogue_text)
    except Refusal as error:
        return screened.model_copy(update={"outcome": "cannot confirm", "detail": error.detail})
    with one_at_a_time:
        if store.run(run_id) is None:
            detail = f"checks the suspicions of run {run.run_id}"
            queue_run(store, run_id, Trigger.CONFIRMATION, text, plan, detail)
    return screened.model_copy(update={"outcome": "confirming", "confirmation_run": run_id})


def _confirming_run(watched: Watched, screened: ScreenedUpgrade) -> ConfirmingRun:
    plan = watched.run.plan
    cells = [tuple(name.split("/", 1)) for name in screened.suspected]
    pools, case_ids = {pool for pool, _ in cells}, {case_id for _, case_id in cells}
    return ConfirmingRun(
        spec_name=plan.spec_name,
        ends=(_reference(screened, screened.before), _reference(screened, screened.after)),
        cases=tuple(case for case in plan.cases if case.case_id in case_ids),
        pools=tuple(pool for pool in plan.pools if pool in pools),
        invocations=watched.rule.confirm_invocations,
        measure=plan.measure,
    )


def _reference(screened: ScreenedUpgrade, end: UpgradeEnd) -> SubjectRef:
    return SubjectRef(library=screened.library, source=end.source)


def has_come_on(upgrade: ScreenedUpgrade, progress: Mapping[str, RunProgress]) -> bool:
    """Whether the state of an upgrade's confirmation run differs from the stored outcome."""
    run_id = upgrade.confirmation_run
    if not upgrade.waits or run_id is None or run_id not in progress:
        return False
    state = progress[run_id].event.state
    is_stored = state.is_open if upgrade.outcome == "confirming" else state in (RunState.FAILED, RunState.CANCELLED)
    return not is_stored


def settled(
    store: Store, screening: Screening, upgrade: ScreenedUpgrade, rule: AlertRule, progress: Mapping[str, RunProgress]
) -> ScreenedUpgrade:
    """The upgrade with the current result of its confirmation run. Confirmed cells raise an alert; repeated calls
    raise it only once."""
    run_id = upgrade.confirmation_run
    assert run_id is not None
    event = progress[run_id].event
    if event.state.is_open:
        return upgrade.model_copy(update={"outcome": "confirming", "detail": ""})
    if not event.state.has_results:
        detail = f"run {run_id} is {event.state}" + (f": {event.detail}" if event.detail else "")
        return upgrade.model_copy(update={"outcome": "cannot confirm", "detail": detail})
    return _decided(store, screening, upgrade, rule, run_id)


def _decided(
    store: Store, screening: Screening, upgrade: ScreenedUpgrade, rule: AlertRule, run_id: str
) -> ScreenedUpgrade:
    """Only the numbers of the confirmation run decide."""
    ends = upgrade.before.subject, upgrade.after.subject
    cells = cells_between(store, *ends, rule.relevant, run_id=run_id)
    if not any(cell.move for cell in cells.judged):
        detail = f"run {run_id} has no results for these versions: see its page"
        return upgrade.model_copy(update={"outcome": "cannot confirm", "confirmation_run": None, "detail": detail})
    cells = cells.where(lambda cell: in_pool(cell.host_kind.pool, cell.case_id) in upgrade.suspected)
    if not (confirmed := cells.more()):
        return upgrade.model_copy(update={"outcome": "not confirmed", "detail": ""})
    screened = cells_between(store, *ends, rule.relevant, run_id=screening.run_id)
    repeated = {host_case(cell) for cell in cells.judged}
    all_cells = cells + screened.where(lambda cell: host_case(cell) not in repeated)
    finding = Finding(
        spec_names=(screening.spec_name,),
        sentence=sentence(
            upgrade.before, upgrade.after, all_cells.judged, attribute(all_cells.data, all_cells.judged, rule.relevant)
        ),
        cells=alert_cells(screening.spec_name, confirmed),
        run_ids=(run_id, screening.run_id),
        notify=rule.notify,
        subjects=(upgrade.before.subject, upgrade.after.subject),
    )
    cause = cause_of(upgrade.library, upgrade.before, upgrade.after)
    with one_at_a_time:
        events = store.alert_events(cause.alert_id)
        if not any(event.finding and event.finding.run_ids[0] == run_id for event in events):
            add_finding(store, cause, finding)
    return upgrade.model_copy(update={"outcome": "confirmed", "alert_id": cause.alert_id, "detail": ""})
