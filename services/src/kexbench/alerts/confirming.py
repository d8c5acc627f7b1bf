"""From a suspicion to an alert: the run that has to confirm it, and what that run came to."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kexbench.alerts.events import add_finding
from kexbench.alerts.judging import HostCase, alert_cells, answered, cause_of, host_case, in_pool
from kexbench.alerts.screening import Upgrade, cells_between
from kexbench.analysis.attribution import attribute
from kexbench.analysis.sentences import sentence
from kexbench.comparison.upgrade_data import JudgedCells
from kexbench.domain.alerts import AlertRule, Finding
from kexbench.domain.judgements import JudgedUpgrade, Judgement
from kexbench.domain.kits import SubjectRef
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import Run, RunState, Trigger
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.planning.compose import spec_text
from kexbench.planning.confirmation import ConfirmingRun, confirming_run_id
from kexbench.queue.runs import one_at_a_time, planned_wish, queue_run
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import EndedRunRow, RunProgress, RunStore, Store


@dataclass(frozen=True)
class Watched:
    """A run that ended, with the rule of its spec."""

    run: Run
    rule: AlertRule
    ended: EndedRunRow


def judged_upgrade(
    store: Store,
    supplies: Supplies | LocalSupplies,
    watched: Watched,
    upgrade: Upgrade,
    found: JudgedCells,
    more: Collection[HostCase],
) -> JudgedUpgrade:
    """What becomes of an upgrade whose cells `more` are suspected: those that nobody was told of and that no other run
    answers get a run that confirms them, which is queued."""
    judged = JudgedUpgrade(
        library=upgrade.library,
        before=upgrade.before,
        after=upgrade.after,
        compared=sum(cell.move is not None for cell in found.judged),
        more=sum(cell.verdict == "more" for cell in found.judged),
        less=sum(cell.verdict == "less" for cell in found.judged),
        unresolved=sum(cell.verdict == "unresolved" for cell in found.judged),
        suspected=(),
        confirmation_run=None,
        outcome="quiet",
    )
    if not more:
        return judged
    alert_id = cause_of(upgrade.library, upgrade.before, upgrade.after).alert_id
    events = store.alert_events(alert_id)
    told = {host_case(cell) for event in events if event.finding for cell in event.finding.cells}
    suspected = tuple(
        dict.fromkeys(in_pool(pool, case_id) for case_id, pool, cpu in more if (case_id, pool, cpu) not in told)
    )
    if not suspected:
        return judged.model_copy(update={"outcome": "confirmed", "alert_id": alert_id, "detail": "it was told before"})
    known = answered(judged.key, watched.run.plan.spec_name, store.judgements_of([judged.key]))
    asked = tuple(name for name in suspected if name not in known)
    if asked:
        return _asked(store, supplies, watched, judged, asked)
    waited_for = next((known[name] for name in suspected if known[name].outcome == "confirming"), None)
    if waited_for is None:
        return judged.model_copy(
            update={"suspected": suspected, "outcome": "not confirmed", "detail": "an earlier run did not confirm it"}
        )
    change = {"confirmation_run": waited_for.confirmation_run, "suspected": waited_for.suspected}
    return judged.model_copy(update={**change, "outcome": "confirming"})


def _asked(
    store: RunStore,
    supplies: Supplies | LocalSupplies,
    watched: Watched,
    judged: JudgedUpgrade,
    suspected: Sequence[str],
) -> JudgedUpgrade:
    """With the run that confirms it, queued once however often this is done."""
    run, before, after = watched.run, judged.before, judged.after
    since = watched.ended.ended_at.isoformat()
    run_id = confirming_run_id(run.run_id, since, judged.library, before.subject, after.subject)
    judged = judged.model_copy(update={"suspected": tuple(suspected)})
    if before.source == after.source:
        detail = f"{before.label} is no more to be had: {judged.library}@{after.source} is {after.version} now"
        return judged.model_copy(update={"outcome": "cannot confirm", "detail": detail})
    wanted = _confirming_run(watched, judged)
    text = spec_text(wanted.wish)
    try:
        plan = planned_wish(supplies, wanted.wish, wanted.catalogue_text)
    except Refusal as error:
        return judged.model_copy(update={"outcome": "cannot confirm", "detail": error.detail})
    with one_at_a_time:
        if store.run(run_id) is None:
            detail = f"confirms or refutes what run {run.run_id} suspects"
            queue_run(store, run_id, Trigger.CONFIRMATION, text, plan, detail)
    return judged.model_copy(update={"outcome": "confirming", "confirmation_run": run_id})


def _confirming_run(watched: Watched, judged: JudgedUpgrade) -> ConfirmingRun:
    plan = watched.run.plan
    cells = [tuple(name.split("/", 1)) for name in judged.suspected]
    pools, case_ids = {pool for pool, _ in cells}, {case_id for _, case_id in cells}
    return ConfirmingRun(
        spec_name=plan.spec_name,
        ends=(_reference(judged, judged.before), _reference(judged, judged.after)),
        cases=tuple(case for case in plan.cases if case.case_id in case_ids),
        pools=tuple(pool for pool in plan.pools if pool in pools),
        invocations=watched.rule.confirm_invocations,
        measure=plan.measure,
    )


def _reference(judged: JudgedUpgrade, end: UpgradeEnd) -> SubjectRef:
    return SubjectRef(library=judged.library, source=end.source)


def has_come_on(upgrade: JudgedUpgrade, progress: Mapping[str, RunProgress]) -> bool:
    """Whether the confirming run of an upgrade is in another state than is noted, so that there is something to do."""
    run_id = upgrade.confirmation_run
    if not upgrade.waits or run_id is None or run_id not in progress:
        return False
    state = progress[run_id].event.state
    noted = state.is_open if upgrade.outcome == "confirming" else state in (RunState.FAILED, RunState.CANCELLED)
    return not noted


def settled(
    store: Store, judgement: Judgement, upgrade: JudgedUpgrade, rule: AlertRule, progress: Mapping[str, RunProgress]
) -> JudgedUpgrade:
    """What the confirming run of an upgrade has come to so far. What it confirms is told; doing it again tells
    nothing twice."""
    run_id = upgrade.confirmation_run
    assert run_id is not None
    event = progress[run_id].event
    if event.state.is_open:
        return upgrade.model_copy(update={"outcome": "confirming", "detail": ""})
    if event.state is not RunState.FINISHED:
        detail = f"run {run_id} is {event.state}" + (f": {event.detail}" if event.detail else "")
        return upgrade.model_copy(update={"outcome": "cannot confirm", "detail": detail})
    return _decided(store, judgement, upgrade, rule, run_id)


def _decided(store: Store, judgement: Judgement, upgrade: JudgedUpgrade, rule: AlertRule, run_id: str) -> JudgedUpgrade:
    """By the numbers of the confirming run alone."""
    ends = upgrade.before.subject, upgrade.after.subject
    found = cells_between(store, *ends, rule.relevant, run_id=run_id)
    if not any(cell.move for cell in found.judged):
        detail = f"run {run_id} has no numbers of the two: see its page"
        return upgrade.model_copy(update={"outcome": "cannot confirm", "confirmation_run": None, "detail": detail})
    found = found.where(lambda cell: in_pool(cell.pool, cell.case_id) in upgrade.suspected)
    if not (confirmed := found.more()):
        return upgrade.model_copy(update={"outcome": "not confirmed", "detail": ""})
    screened = cells_between(store, *ends, rule.relevant, run_id=judgement.run_id)
    known = {host_case(cell) for cell in found.judged}
    whole = found + screened.where(lambda cell: host_case(cell) not in known)
    finding = Finding(
        spec_names=(judgement.spec_name,),
        sentence=sentence(
            upgrade.before, upgrade.after, whole.judged, attribute(whole.data, whole.judged, rule.relevant)
        ),
        cells=alert_cells(judgement.spec_name, confirmed),
        run_ids=(run_id, judgement.run_id),
        notify=rule.notify,
        subjects=(upgrade.before.subject, upgrade.after.subject),
    )
    cause = cause_of(upgrade.library, upgrade.before, upgrade.after)
    with one_at_a_time:
        events = store.alert_events(cause.alert_id)
        if not any(event.finding and event.finding.run_ids[0] == run_id for event in events):
            add_finding(store, cause, finding)
    return upgrade.model_copy(update={"outcome": "confirmed", "alert_id": cause.alert_id, "detail": ""})
