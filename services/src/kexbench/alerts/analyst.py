"""The analyst: turns runs that ended into suspicions, confirming runs into alerts, and says when something is fixed or
stale.

Each step reads what is stored, decides, and writes in such an order that doing it again after a kill at any line ends
in the same: first the run that is asked for or the event of an alert, both once by their ids, and last of all the
judgement that says so.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Lock

from kexbench.alerts.confirming import Watched, has_come_on, judged_upgrade, settled
from kexbench.alerts.events import add_event, add_finding, alerts_of, next_event
from kexbench.alerts.fixing import Moves, fixed_in
from kexbench.alerts.histories import steps_in_histories
from kexbench.alerts.judging import HostCase, host_case
from kexbench.alerts.screening import Upgrade, cells_between, upgrades_of_run
from kexbench.alerts.staleness import StaleSpec, findings, over, stale_spec, untold
from kexbench.comparison.host_moves import moved_since
from kexbench.domain.alerts import ANALYST, UNSETTLED, Alert, AlertAction, AlertKind, AlertRule, alert_of, status_of
from kexbench.domain.judgements import HostMoved, JudgedUpgrade, Judgement, UpgradeOutcome
from kexbench.domain.runs import Run
from kexbench.domain.upgrades import Move
from kexbench.planning.rules import rule_of
from kexbench.queue.runs import one_at_a_time
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import EndedRunRow, RunProgress, Store, StoreError

RECENT_JUDGEMENTS = 500
"""What is fixed is looked for in so many."""
LOOKS_AT_CLOCK = timedelta(minutes=1)
"""Between two looks at what is stale."""
_TICK = timedelta(milliseconds=1)
_log = logging.getLogger(__name__)
_advancing = Lock()
"""What an analyst decides rests on what it has read, which another one must not change meanwhile. Runs are queued and
people handle alerts all the while: `one_at_a_time` is held for each write alone."""


class Analyst:
    """Of one process. It keeps nothing that is not stored, but for when it looked at the clock last, and rules."""

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
        self._looked_at: datetime | None = None
        self._broken: set[str] = set()
        self._rules: dict[str, AlertRule | None] = {}
        """Of the newest run of each spec, by its id."""

    def advance(self) -> None:
        """Do all that is to be done about alerts now. While another does it already, nothing."""
        if not _advancing.acquire(blocking=False):
            return
        try:
            for ended in self._store.unjudged_runs():
                self._see_to(ended.run_id, partial(self._judge, ended))
            waiting = self._store.waiting_judgements()
            asked = [run_id for judgement in waiting for run_id in judgement.confirmation_runs]
            progress = self._store.progress(asked) if asked else {}
            for judgement in waiting:
                if any(has_come_on(upgrade, progress) for upgrade in judgement.upgrades):
                    self._see_to(judgement.run_id, partial(self._settle, judgement, progress))
            self._watch()
        finally:
            _advancing.release()

    def _see_to(self, run_id: str, judge: Callable[[], None]) -> None:
        """A fault of ours that one run brings out holds up neither others nor the queue. It is told once, and tried
        again by the next process."""
        if run_id in self._broken:
            return
        try:
            judge()
        except StoreError:
            raise
        except Exception:
            self._broken.add(run_id)
            _log.exception("run %s cannot be judged", run_id)

    def _judge(self, ended: EndedRunRow) -> None:
        run = self._store.run(ended.run_id)
        if run is None:
            return
        rule, earlier = rule_of(run.spec_text), self._store.judgement(run.run_id)
        upgrades: tuple[JudgedUpgrade, ...] = ()
        if rule is not None:
            # Of a run that was resumed a question may be open still, beside what it suspects now.
            asked = [one for one in earlier.upgrades if one.outcome == "confirming"] if earlier else []
            upgrades = (*asked, *self._screened(Watched(run, rule, ended)))
            self._mend(upgrades, rule)
        self._note(
            Judgement(
                run_id=run.run_id,
                spec_name=run.plan.spec_name,
                at=self._now_behind(earlier),
                ended_at=ended.ended_at,
                upgrades=upgrades,
                host_moves=tuple(self._host_moves(run)) if rule else (),
            )
        )

    def _screened(self, watched: Watched) -> Iterable[JudgedUpgrade]:
        """The upgrades that the run measured, and those that it shows now though others measured them."""
        run, relevant = watched.run, watched.rule.relevant
        own = upgrades_of_run(self._store, run.run_id)
        suspected: dict[Upgrade, dict[HostCase, None]] = {upgrade: {} for upgrade in own}
        for upgrade, cell in steps_in_histories(self._store, run, relevant):
            suspected.setdefault(upgrade, {})[cell] = None
        for upgrade, cells in suspected.items():
            before, after = upgrade.before.subject, upgrade.after.subject
            found = cells_between(self._store, before, after, relevant, run.run_id)
            more = dict.fromkeys(map(host_case, found.more())) | cells
            yield judged_upgrade(self._store, self._supplies, watched, upgrade, found, list(more))

    def _settle(self, judgement: Judgement, progress: Mapping[str, RunProgress]) -> None:
        run = self._store.run(judgement.run_id)
        rule = rule_of(run.spec_text) if run else None
        if rule is None:
            return
        upgrades = tuple(
            settled(self._store, judgement, upgrade, rule, progress) if has_come_on(upgrade, progress) else upgrade
            for upgrade in judgement.upgrades
        )
        self._mend(upgrades, rule)
        later = {"upgrades": upgrades, "at": self._now_behind(judgement)}
        self._note(judgement.model_copy(update=later))

    def _note(self, judgement: Judgement) -> None:
        self._store.add_judgement(judgement)
        told = [f"{one.before.label} → {one.after.version} {_told(one)}" for one in judgement.upgrades if _told(one)]
        self._say(f"run {judgement.run_id} is judged: {'; '.join(told) or 'nothing is suspected'}")

    def _mend(self, judged: Collection[JudgedUpgrade], rule: AlertRule) -> None:
        """Mark what a version recovered from that was judged by now."""
        libraries = {upgrade.library for upgrade in judged}
        alerts = [alert for alert in self._open_alerts(AlertKind.UPGRADE) if alert.cause.library in libraries]
        if not alerts:
            return
        moves = Moves(self._store)
        stored = self._store.judgements(RECENT_JUDGEMENTS)
        known = [*judged, *(upgrade for judgement in stored for upgrade in judgement.upgrades)]
        for alert in alerts:
            if version := fixed_in(moves, alert, known, rule.relevant):
                self._mark_fixed(alert.alert_id, version)

    def _mark_fixed(self, alert_id: str, version: str = "") -> None:
        with one_at_a_time:
            events = self._store.alert_events(alert_id)
            if alert_of(events, self._clock()).status == "fixed":
                return
            add_event(self._store, next_event(events, AlertAction.FIXED, ANALYST, fixed_in=version))
        self._say(f"alert {alert_id} is fixed{' in ' if version else ''}{version}")

    def _open_alerts(self, kind: AlertKind) -> list[Alert]:
        """Upgrades' that people have to do with; of what is stale also what they settled, since it may end."""
        now = self._clock()
        wanted = (*UNSETTLED, *(("ignored", "wrong") if kind is AlertKind.STALE else ()))
        rows = [row for row in self._store.alert_rows() if row.kind is kind and status_of(row.steps, now) in wanted]
        return alerts_of(self._store, [row.alert_id for row in rows], now) if rows else []

    def _host_moves(self, run: Run) -> Iterable[HostMoved]:
        for kind in self._store.host_kinds(run.run_id):
            found = moved_since(self._store, run, kind.pool, kind.cpu_model)
            if found and found.move.moved:
                yield HostMoved(
                    pool=kind.pool,
                    cpu_model=kind.cpu_model,
                    move=Move(ratio=found.move.ratio, low=found.move.low, high=found.move.high),
                    cases=found.move.cases,
                    since_run=found.since_run,
                    since=found.since,
                )

    def _watch(self) -> None:
        """Tell of specs that are stale, and of those that are so no longer."""
        now = self._clock()
        if self._looked_at and self._looked_at <= now < self._looked_at + LOOKS_AT_CLOCK:
            return
        self._looked_at = now
        stale = self._stale(now)
        told = {alert.alert_id: alert.spec_names for alert in self._open_alerts(AlertKind.STALE)}
        for cause, finding in findings(untold(stale, told)):
            with one_at_a_time:
                add_finding(self._store, cause, finding)
            self._say(f"alert {cause.alert_id}: {finding.sentence}")
        for alert_id in over(stale, told):
            self._mark_fixed(alert_id)

    def _stale(self, now: datetime) -> list[StaleSpec]:
        rows = self._store.watched_specs()
        self._rules = {row.newest_run: self._rule(row.newest_run) for row in rows}
        progress = self._store.progress([row.newest_run for row in rows]) if rows else {}
        found = []
        for row in rows:
            rule, known = self._rules[row.newest_run], progress.get(row.newest_run)
            if rule and (one := stale_spec(row, rule, known.event if known else None, now)):
                found.append(one)
        return found

    def _rule(self, run_id: str) -> AlertRule | None:
        if run_id in self._rules:
            return self._rules[run_id]
        run = self._store.run(run_id)
        return rule_of(run.spec_text) if run else None

    def _now_behind(self, known: Judgement | None) -> datetime:
        """The newest judgement counts, even where the clock was set back."""
        now = self._clock()
        return max(now, known.at + _TICK) if known else now


def _told(upgrade: JudgedUpgrade) -> str:
    """What became of it; nothing where there is nothing to tell."""
    told: dict[UpgradeOutcome, str] = {
        "quiet": "",
        "confirming": f"is suspected, to be confirmed by run {upgrade.confirmation_run}",
        "confirmed": f"costs more: alert {upgrade.alert_id}",
        "not confirmed": "was suspected and not confirmed",
        "cannot confirm": f"is suspected and cannot be confirmed: {upgrade.detail}",
    }
    return told[upgrade.outcome]
