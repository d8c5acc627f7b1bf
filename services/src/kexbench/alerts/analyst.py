"""The analyst: turns ended runs into suspicions and confirmation runs into alerts, and reports what is fixed or stale.

Each step reads the store, decides, then writes. It can be repeated after a kill at any line with the same result:
confirmation runs and events of alerts are written first, and their ids prevent duplicates. The screening is written
last.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from threading import Lock

from kexbench import traces
from kexbench.alerts.confirming import Look, Watched, has_come_on, report, screened_upgrade, settled
from kexbench.alerts.events import add_event, add_finding, alerts_of, next_event
from kexbench.alerts.explaining import advance_explanation, unexplained
from kexbench.alerts.fixing import Moves, fixed_in
from kexbench.alerts.histories import steps_in_histories
from kexbench.alerts.screening import Upgrade, cells_between, upgrades_of_run
from kexbench.alerts.staleness import StaleSpec, findings, over, stale_spec, unreported
from kexbench.alerts.suspicions import HostCase, host_case
from kexbench.answers.host_moves import moved_since
from kexbench.domain.alerts import (
    ANALYST,
    UNSETTLED,
    Alert,
    AlertAction,
    AlertKind,
    AlertRule,
    Finding,
    alert_of,
    status_of,
)
from kexbench.domain.intervals import Ratio
from kexbench.domain.metrics import Metric
from kexbench.domain.runs import Run
from kexbench.domain.screenings import HostMoved, ScreenedUpgrade, Screening, UpgradeOutcome
from kexbench.planning.explanation import explaining_instrument
from kexbench.planning.rules import rule_of
from kexbench.queue.runs import one_at_a_time
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import EndedRunRow, RunProgress, Store, StoreError

RECENT_SCREENINGS = 500
"""The screenings that are searched for recoveries."""
LOOKS_AT_CLOCK = timedelta(minutes=1)
"""The interval between checks for stale specs."""
_TICK = timedelta(milliseconds=1)
_log = logging.getLogger(__name__)
_advancing = Lock()
"""One analyst works at a time, so that no other one changes what it has read. Runs can be queued and alerts handled
meanwhile: `one_at_a_time` is held only for each write."""


class Analyst:
    """The analyst of one process. Apart from the time of its last stale check and cached rules, its state is stored."""

    def __init__(
        self,
        store: Store,
        supplies: Supplies | LocalSupplies,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        say: Callable[[str], None] = _log.info,
    ) -> None:
        self._store = store
        self._say = say
        self._supplies = supplies
        self._clock = clock
        self._checked_at: datetime | None = None
        self._broken: set[str] = set()
        self._explained: set[tuple[str, int]] = set()
        """Findings, by alert and number, whose explanation has ended, with or without a result."""
        self._rules: dict[str, AlertRule | None] = {}
        """The rule of the newest run of each spec, by run id."""

    def advance(self) -> None:
        """Process everything that is due. Does nothing while another analyst is at work."""
        if not _advancing.acquire(blocking=False):
            return
        try:
            for ended in self._store.unjudged_runs():
                self._attempt(ended.run_id, partial(self._screen, ended), "screen run")
            waiting = self._store.waiting_screenings()
            run_ids = [run_id for screening in waiting for run_id in screening.confirmation_runs]
            progress = self._store.progress(run_ids) if run_ids else {}
            for screening in waiting:
                if any(has_come_on(upgrade, progress) for upgrade in screening.upgrades):
                    self._attempt(screening.run_id, partial(self._settle, screening, progress), "confirm suspicions")
            self._explain_alerts()
            self._check_stale_specs()
        finally:
            _advancing.release()

    def _attempt(self, run_id: str, step: Callable[[], None], name: str | None = None) -> None:
        """A bug that one run triggers blocks neither other runs nor the queue. It is logged once; the next process
        tries again. `name` is that of the run's span, if it has one."""
        if run_id in self._broken:
            return
        try:
            with traces.span(name, run_id) if name else nullcontext():
                step()
        except StoreError:
            raise
        except Exception:
            self._broken.add(run_id)
            _log.exception("run %s cannot be screened", run_id)

    def _screen(self, ended: EndedRunRow) -> None:
        run = self._store.run(ended.run_id)
        if run is None:
            return
        rule, earlier = rule_of(run.spec_text), self._store.screening(run.run_id)
        upgrades: tuple[ScreenedUpgrade, ...] = ()
        if rule is not None:
            # A resumed run may still wait for a confirmation run.
            open_upgrades = [each for each in earlier.upgrades if each.outcome == "confirming"] if earlier else []
            upgrades = (*open_upgrades, *self._screened(Watched(run, rule, ended)))
            self._mark_recovered(upgrades, rule)
        self._note(
            Screening(
                run_id=run.run_id,
                spec_name=run.plan.spec_name,
                at=self._after(earlier),
                ended_at=ended.ended_at,
                upgrades=upgrades,
                host_moves=tuple(self._host_moves(run)) if rule else (),
            )
        )

    def _screened(self, watched: Watched) -> Iterable[ScreenedUpgrade]:
        """The upgrades that the run measured, and upgrades of earlier runs that stand out now."""
        looks: dict[Upgrade, list[Look]] = defaultdict(list)
        for metric in watched.rule.metrics:
            for upgrade, look in self._looks(watched, metric):
                looks[upgrade].append(look)
        for upgrade, of_upgrade in looks.items():
            yield from screened_upgrade(self._store, self._supplies, watched, upgrade, of_upgrade)

    def _looks(self, watched: Watched, metric: Metric) -> Iterable[tuple[Upgrade, Look]]:
        run, relevant = watched.run, watched.rule.relevant
        measured = upgrades_of_run(self._store, run.run_id, metric)
        suspected: dict[Upgrade, dict[HostCase, None]] = {upgrade: {} for upgrade in measured}
        for upgrade, cell in steps_in_histories(self._store, run, metric, relevant):
            suspected.setdefault(upgrade, {})[cell] = None
        for upgrade, stepped in suspected.items():
            before, after = upgrade.before.subject, upgrade.after.subject
            cells = cells_between(self._store, before, after, metric, relevant, run.run_id)
            yield upgrade, Look(metric, cells, list(dict.fromkeys(map(host_case, cells.more())) | stepped))

    def _settle(self, screening: Screening, progress: Mapping[str, RunProgress]) -> None:
        run = self._store.run(screening.run_id)
        rule = rule_of(run.spec_text) if run else None
        if rule is None:
            return
        decided = [
            settled(self._store, screening, upgrade, rule, progress)
            if has_come_on(upgrade, progress)
            else (upgrade, [])
            for upgrade in screening.upgrades
        ]
        report(self._store, [each for _, findings in decided for each in findings])
        upgrades = tuple(upgrade for upgrade, _ in decided)
        self._mark_recovered(upgrades, rule)
        update = {"upgrades": upgrades, "at": self._after(screening)}
        self._note(screening.model_copy(update=update))

    def _note(self, screening: Screening) -> None:
        self._store.add_screening(screening)
        results = [
            f"{each.before.label} → {each.after.version} {text}" for each in screening.upgrades if (text := _text(each))
        ]
        self._say(f"run {screening.run_id} is screened: {'; '.join(results) or 'no suspicions'}")

    def _mark_recovered(self, screened: Collection[ScreenedUpgrade], rule: AlertRule) -> None:
        """Mark the alerts that a screened version has fixed."""
        libraries = {upgrade.library for upgrade in screened}
        alerts = [alert for alert in self._open_alerts(AlertKind.UPGRADE) if alert.cause.library in libraries]
        if not alerts:
            return
        moves = Moves(self._store)
        stored = self._store.screenings(RECENT_SCREENINGS)
        upgrades = [*screened, *(upgrade for screening in stored for upgrade in screening.upgrades)]
        for alert in alerts:
            if version := fixed_in(moves, alert, upgrades, rule.relevant):
                self._mark_fixed(alert.alert_id, version)

    def _mark_fixed(self, alert_id: str, version: str = "") -> None:
        with one_at_a_time:
            events = self._store.alert_events(alert_id)
            if alert_of(events, self._clock()).status == "fixed":
                return
            add_event(self._store, next_event(events, AlertAction.FIXED, ANALYST, fixed_in=version))
        self._say(f"alert {alert_id} is fixed{' in ' if version else ''}{version}")

    def _explain_alerts(self) -> None:
        """Count for new findings, and add what the counts show to their alerts."""
        now = self._clock()
        rows = self._store.alert_rows()
        metrics = {
            row.alert_id: row.metric
            for row in rows
            if row.metric and explaining_instrument(row.metric) and status_of(row.steps, now) in UNSETTLED
        }
        events = self._store.events_of_alerts(list(metrics)) if metrics else []
        for alert_id, of_alert in groupby(events, key=lambda event: event.alert_id):
            waiting = unexplained(list(of_alert), now)
            if waiting and (alert_id, waiting[0]) not in self._explained:
                self._attempt(alert_id, partial(self._explain, alert_id, metrics[alert_id], *waiting))

    def _explain(self, alert_id: str, metric: Metric, number: int, finding: Finding) -> None:
        state = advance_explanation(self._store, self._supplies, alert_id, metric, finding)
        if state is None or state.has_results:
            self._explained.add((alert_id, number))

    def _open_alerts(self, kind: AlertKind) -> list[Alert]:
        """The unsettled alerts of a kind. Settled ones of stale specs count as well, since they may become fixed."""
        now = self._clock()
        statuses = (*UNSETTLED, *(("ignored", "wrong") if kind is AlertKind.STALE else ()))
        rows = [row for row in self._store.alert_rows() if row.kind is kind and status_of(row.steps, now) in statuses]
        return alerts_of(self._store, [row.alert_id for row in rows], now) if rows else []

    def _host_moves(self, run: Run) -> Iterable[HostMoved]:
        for kind in self._store.host_kinds(run.run_id):
            change = moved_since(self._store, run, kind.pool, kind.cpu_model)
            if change and change.moved:
                yield HostMoved(
                    pool=kind.pool,
                    cpu_model=kind.cpu_model,
                    move=Ratio(ratio=change.ratio, low=change.low, high=change.high),
                    cases=change.cases,
                    since_run=change.since_run,
                    since=change.since,
                )

    def _check_stale_specs(self) -> None:
        """Raise alerts for stale specs, and mark those fixed that are no longer stale."""
        now = self._clock()
        if self._checked_at and self._checked_at <= now < self._checked_at + LOOKS_AT_CLOCK:
            return
        self._checked_at = now
        stale = self._stale(now)
        reported = {alert.alert_id: alert.spec_names for alert in self._open_alerts(AlertKind.STALE)}
        for cause, finding in findings(unreported(stale, reported)):
            with one_at_a_time:
                add_finding(self._store, cause, finding)
            self._say(f"alert {cause.alert_id}: {finding.sentence}")
        for alert_id in over(stale, reported):
            self._mark_fixed(alert_id)

    def _stale(self, now: datetime) -> list[StaleSpec]:
        rows = self._store.watched_specs()
        self._rules = {row.newest_run: self._rule(row.newest_run) for row in rows}
        progress = self._store.progress([row.newest_run for row in rows]) if rows else {}
        specs = []
        for row in rows:
            rule, newest = self._rules[row.newest_run], progress.get(row.newest_run)
            if rule and (spec := stale_spec(row, rule, newest.event if newest else None, now)):
                specs.append(spec)
        return specs

    def _rule(self, run_id: str) -> AlertRule | None:
        if run_id in self._rules:
            return self._rules[run_id]
        run = self._store.run(run_id)
        return rule_of(run.spec_text) if run else None

    def _after(self, earlier: Screening | None) -> datetime:
        """Now, or just after the earlier screening if the clock was set back: the newest screening counts."""
        now = self._clock()
        return max(now, earlier.at + _TICK) if earlier else now


def _text(upgrade: ScreenedUpgrade) -> str:
    """The outcome for the log; empty if there is nothing to report."""
    is_time = upgrade.metric is Metric.CPU_NS
    of_metric = "" if is_time else f" of more {upgrade.metric.words}"
    texts: dict[UpgradeOutcome, str] = {
        "quiet": "",
        "confirming": f"is suspected{of_metric}, confirmation run {upgrade.confirmation_run}",
        "confirmed": f"{'is slower' if is_time else f'has more {upgrade.metric.words}'}: alert {upgrade.alert_id}",
        "not confirmed": f"was suspected{of_metric}, but not confirmed",
        "cannot confirm": f"is suspected{of_metric}, but cannot be confirmed: {upgrade.detail}",
    }
    return texts[upgrade.outcome]
