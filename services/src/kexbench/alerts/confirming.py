"""From a suspicion to an alert: queues the confirmation run and evaluates its result."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kexbench.alerts.events import add_finding
from kexbench.alerts.screening import Upgrade, cells_between
from kexbench.alerts.suspicions import HostCase, alert_cells, answered, cause_of, host_case, in_pool
from kexbench.analysis.attribution import attribute
from kexbench.analysis.sentences import metric_sentence, sentence, upgrade_title
from kexbench.answers.judging import JudgedCells
from kexbench.answers.waits import waits_of_steps
from kexbench.answers.waits_words import raised_waits
from kexbench.domain.alerts import AlertRule, Cause, Finding
from kexbench.domain.kits import SubjectRef
from kexbench.domain.metrics import Metric
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


@dataclass(frozen=True)
class Look:
    """What a run shows of an upgrade in one metric."""

    metric: Metric
    cells: JudgedCells
    more: Collection[HostCase]
    """The cells in which the metric looks higher."""


def screened_upgrade(
    store: Store,
    supplies: Supplies | LocalSupplies,
    watched: Watched,
    upgrade: Upgrade,
    looks: Sequence[Look],
) -> list[ScreenedUpgrade]:
    """Screen an upgrade in several metrics. Exact ones raise alerts at once. Suspicions that are in no alert, and that
    no other run answers, get one confirmation run for all metrics, which is queued."""
    screened: list[ScreenedUpgrade] = []
    findings: list[tuple[Cause, Finding]] = []
    unanswered: dict[Metric, tuple[str, ...]] = {}
    for look in looks:
        each = _counted(upgrade, look)
        cause = cause_of(upgrade.library, look.metric, upgrade.before, upgrade.after)
        unreported = _unreported(store, cause.alert_id, look.more)
        state: dict[str, Any] = {}
        if look.more and not unreported:
            state = {"outcome": "confirmed", "alert_id": cause.alert_id, "detail": "already reported"}
        elif look.more and look.metric.row.exact:
            findings.append((cause, _exact_finding(store, watched, upgrade, look, unreported)))
            state = {"outcome": "confirmed", "alert_id": cause.alert_id}
        elif look.more:
            suspected = tuple(dict.fromkeys(in_pool(kind.pool, case_id) for case_id, kind in unreported))
            answers = answered(each.key, watched.run.plan.spec_name, store.screenings_of([each.key]))
            if open_names := tuple(name for name in suspected if name not in answers):
                unanswered[look.metric] = open_names
                state = {"suspected": open_names}
            else:
                state = _as_answered(suspected, answers)
        screened.append(each.model_copy(update=state))
    report(store, findings)
    if not unanswered:
        return screened
    names = tuple(dict.fromkeys(name for each in unanswered.values() for name in each))
    confirmation = _confirmation(store, supplies, watched, upgrade, names)
    return [each.model_copy(update=confirmation if each.metric in unanswered else {}) for each in screened]


def _counted(upgrade: Upgrade, look: Look) -> ScreenedUpgrade:
    verdicts = Counter(cell.verdict for cell in look.cells.judged)
    return ScreenedUpgrade(
        library=upgrade.library,
        metric=look.metric,
        before=upgrade.before,
        after=upgrade.after,
        compared=sum(cell.is_compared for cell in look.cells.judged),
        more=verdicts["more"],
        less=verdicts["less"],
        unresolved=verdicts["unresolved"],
        suspected=(),
        confirmation_run=None,
        outcome="quiet",
    )


def _unreported(store: Store, alert_id: str, cells: Collection[HostCase]) -> tuple[HostCase, ...]:
    events = store.alert_events(alert_id) if cells else []
    reported = {host_case(cell) for event in events if event.finding for cell in event.finding.cells}
    return tuple(cell for cell in cells if cell not in reported)


def _as_answered(suspected: Sequence[str], answers: Mapping[str, ScreenedUpgrade]) -> dict[str, Any]:
    """The state of a suspicion that an earlier run has answered, or is confirming."""
    waited_for = next((answers[name] for name in suspected if answers[name].outcome == "confirming"), None)
    if waited_for is None:
        return {"suspected": suspected, "outcome": "not confirmed", "detail": "an earlier run did not confirm it"}
    change = {"confirmation_run": waited_for.confirmation_run, "suspected": waited_for.suspected}
    return {**change, "outcome": "confirming"}


def _exact_finding(
    store: Store, watched: Watched, upgrade: Upgrade, look: Look, cells: Collection[HostCase]
) -> Finding:
    """What all invocations of a run show needs no other run."""
    spec_name, run_id = watched.run.plan.spec_name, watched.run.run_id
    return Finding(
        spec_names=(spec_name,),
        sentence=sentence_of(store, upgrade, look.metric, look.cells, watched.rule.relevant, run_id),
        cells=alert_cells(spec_name, (cell for cell in look.cells.more() if host_case(cell) in cells)),
        run_ids=(run_id,),
        notify=watched.rule.notify,
        subjects=(upgrade.before.subject, upgrade.after.subject),
    )


def report(store: Store, findings: Iterable[tuple[Cause, Finding]]) -> None:
    """Raise the alerts of findings, or add to them. Nobody sees a part of them, so that one message has all. Repeated
    calls report each only once."""
    with one_at_a_time:
        for cause, finding in findings:
            if not any(_is_same(event.finding, finding) for event in store.alert_events(cause.alert_id)):
                add_finding(store, cause, finding)


def _is_same(reported: Finding | None, finding: Finding) -> bool:
    """Whether one run decided the same cells."""
    if reported is None or reported.run_ids[0] != finding.run_ids[0]:
        return False
    return set(map(host_case, reported.cells)) == set(map(host_case, finding.cells))


def _confirmation(
    store: RunStore,
    supplies: Supplies | LocalSupplies,
    watched: Watched,
    upgrade: Upgrade,
    suspected: Sequence[str],
) -> dict[str, Any]:
    """The state of an upgrade with its confirmation run. Repeated calls queue the run only once."""
    run, before, after = watched.run, upgrade.before, upgrade.after
    since = watched.ended.ended_at.isoformat()
    run_id = confirming_run_id(run.run_id, since, upgrade.library, before.subject, after.subject)
    if before.source == after.source:
        detail = f"{before.label} is no longer available: {upgrade.library}@{after.source} is now {after.version}"
        return {"outcome": "cannot confirm", "detail": detail}
    confirming_run = _confirming_run(watched, upgrade, suspected)
    text = spec_text(confirming_run.wish)
    try:
        plan = planned_wish(supplies, confirming_run.wish, confirming_run.catalogue_text)
    except Refusal as error:
        return {"outcome": "cannot confirm", "detail": error.detail}
    with one_at_a_time:
        if store.run(run_id) is None:
            detail = f"checks the suspicions of run {run.run_id}"
            queue_run(store, run_id, Trigger.CONFIRMATION, text, plan, detail)
    return {"outcome": "confirming", "confirmation_run": run_id}


def _confirming_run(watched: Watched, upgrade: Upgrade, suspected: Iterable[str]) -> ConfirmingRun:
    plan = watched.run.plan
    cells = [tuple(name.split("/", 1)) for name in suspected]
    pools, case_ids = {pool for pool, _ in cells}, {case_id for _, case_id in cells}
    return ConfirmingRun(
        spec_name=plan.spec_name,
        ends=(_reference(upgrade, upgrade.before), _reference(upgrade, upgrade.after)),
        cases=tuple(case for case in plan.cases if case.case_id in case_ids),
        pools=tuple(pool for pool in plan.pools if pool in pools),
        invocations=watched.rule.confirm_invocations,
        measure=plan.measure,
    )


def _reference(upgrade: Upgrade, end: UpgradeEnd) -> SubjectRef:
    return SubjectRef(library=upgrade.library, source=end.source)


def has_come_on(upgrade: ScreenedUpgrade, progress: Mapping[str, RunProgress]) -> bool:
    """Whether the state of an upgrade's confirmation run differs from the stored outcome."""
    run_id = upgrade.confirmation_run
    if not upgrade.waits or run_id is None or run_id not in progress:
        return False
    state = progress[run_id].event.state
    is_stored = state.is_open if upgrade.outcome == "confirming" else state in (RunState.FAILED, RunState.CANCELLED)
    return not is_stored


Decided = tuple[ScreenedUpgrade, list[tuple[Cause, Finding]]]
"""An upgrade with the result of its confirmation run, and what is to be reported."""


def settled(
    store: Store, screening: Screening, upgrade: ScreenedUpgrade, rule: AlertRule, progress: Mapping[str, RunProgress]
) -> Decided:
    """The upgrade with the current result of its confirmation run. Confirmed cells are to raise an alert."""
    run_id = upgrade.confirmation_run
    assert run_id is not None
    event = progress[run_id].event
    if event.state.is_open:
        return upgrade.model_copy(update={"outcome": "confirming", "detail": ""}), []
    if not event.state.has_results:
        detail = f"run {run_id} is {event.state}" + (f": {event.detail}" if event.detail else "")
        return upgrade.model_copy(update={"outcome": "cannot confirm", "detail": detail}), []
    return _decided(store, screening, upgrade, rule, run_id)


def _decided(store: Store, screening: Screening, upgrade: ScreenedUpgrade, rule: AlertRule, run_id: str) -> Decided:
    """Only the numbers of the confirmation run decide."""
    ends = upgrade.before.subject, upgrade.after.subject
    cells = cells_between(store, *ends, upgrade.metric, rule.relevant, run_id=run_id)
    if not any(cell.move for cell in cells.judged):
        detail = f"run {run_id} has no results for these versions: see its page"
        update = {"outcome": "cannot confirm", "confirmation_run": None, "detail": detail}
        return upgrade.model_copy(update=update), []
    cells = cells.where(lambda cell: in_pool(cell.host_kind.pool, cell.case_id) in upgrade.suspected)
    if not (confirmed := cells.more()):
        return upgrade.model_copy(update={"outcome": "not confirmed", "detail": ""}), []
    screened = cells_between(store, *ends, upgrade.metric, rule.relevant, run_id=screening.run_id)
    repeated = {host_case(cell) for cell in cells.judged}
    all_cells = cells + screened.where(lambda cell: host_case(cell) not in repeated)
    finding = Finding(
        spec_names=(screening.spec_name,),
        sentence=sentence_of(store, upgrade, upgrade.metric, all_cells, rule.relevant, run_id),
        cells=alert_cells(screening.spec_name, confirmed),
        run_ids=(run_id, screening.run_id),
        notify=rule.notify,
        subjects=ends,
    )
    cause = cause_of(upgrade.library, upgrade.metric, upgrade.before, upgrade.after)
    decided = upgrade.model_copy(update={"outcome": "confirmed", "alert_id": cause.alert_id, "detail": ""})
    return decided, [(cause, finding)]


def sentence_of(
    store: Store,
    upgrade: Upgrade | ScreenedUpgrade,
    metric: Metric,
    cells: JudgedCells,
    relevant: float,
    run_id: str,
) -> str:
    """What changed between two versions, as the run shows it. Only the times of both sides together show what cells
    have in common, and only round trips over a path follow from sizes."""
    before, after = upgrade.before, upgrade.after
    if metric is Metric.CPU_NS:
        return sentence(before, after, cells.judged, attribute(cells.data, cells.judged, relevant))
    if metric is Metric.PATH_ROUND_TRIPS:
        step = (before.subject, after.subject)
        if text := raised_waits(waits_of_steps(store, [step], (run_id, run_id))[step].cases):
            return f"{upgrade_title(before, after)}: {text}."
    return metric_sentence(before, after, metric, cells.judged)
