"""Specs that should have been measured again: no run of theirs finished for longer than their rules allow."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kexbench.domain.alerts import AlertKind, AlertRule, Cause, Finding
from kexbench.domain.runs import RunEvent, RunReason, RunState
from kexbench.store.port import WatchedSpecRow

_WORDS = {
    RunReason.SOURCES_UNAVAILABLE: "the sources of a kit cannot be had",
    RunReason.DISK_FULL: "the disk is full",
    RunReason.TOO_LITTLE_MEMORY: "the machine has too little memory for a kit",
    RunReason.KITS_FAILED: "a kit cannot be made",
    RunReason.GIVEN_UP: "its pods could not start",
    RunReason.NO_POOL: "a pool that it names is gone",
    RunReason.JOBS_FAILED: "its jobs failed",
    RunReason.RUNNER_FAILED: "what measures failed",
    RunReason.PROCESS_ENDED: "the process that measured it ended",
}
"""Of runs that failed."""


@dataclass(frozen=True)
class StaleSpec:
    name: str
    since: datetime
    reason: str
    run_id: str
    """The newest."""
    notify: tuple[str, ...]


def stale_spec(row: WatchedSpecRow, rule: AlertRule, newest: RunEvent | None, now: datetime) -> StaleSpec | None:
    """None while it is as it should be. A spec of which no run ever finished counts from its first one."""
    since = row.finished_at or row.since
    if rule.stale_after_s is None or now - since <= timedelta(seconds=rule.stale_after_s):
        return None
    return StaleSpec(row.spec_name, since, broken_by(newest), row.newest_run, rule.notify)


def broken_by(newest: RunEvent | None) -> str:
    """Why there is nothing newer: the same for all specs that it is the same for."""
    if newest is None or newest.state is RunState.FINISHED:
        return "no run was begun since"
    if newest.state.is_open:
        return f"its newest run is {newest.state} and does not end"
    if newest.state is RunState.CANCELLED:
        return "its newest run was cancelled"
    if newest.unbuilt:
        return f"{', '.join(sorted(newest.unbuilt))} does not build"
    words = _WORDS.get(newest.reason) if newest.reason else None
    return f"its newest run failed: {words}" if words else "its newest run failed"


def findings(stale: Collection[StaleSpec]) -> list[tuple[Cause, Finding]]:
    """One for each reason."""
    by_reason: dict[str, list[StaleSpec]] = defaultdict(list)
    for one in sorted(stale, key=lambda one: one.name):
        by_reason[one.reason].append(one)
    return [(cause_of_stale(reason), _finding(reason, specs)) for reason, specs in by_reason.items()]


def cause_of_stale(reason: str) -> Cause:
    return Cause(kind=AlertKind.STALE, library=None, before="", after=reason)


def _finding(reason: str, specs: Sequence[StaleSpec]) -> Finding:
    names = [one.name for one in specs]
    since = min(one.since for one in specs)
    told = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return Finding(
        spec_names=tuple(names),
        sentence=f"{told}: no run has finished since {since:%Y-%m-%d %H:%M} UTC; {reason}.",
        cells=(),
        run_ids=tuple(one.run_id for one in specs),
        notify=tuple(dict.fromkeys(channel for one in specs for channel in one.notify)),
    )


def untold(stale: Collection[StaleSpec], told: Mapping[str, Collection[str]]) -> list[StaleSpec]:
    """Those that are in no alert yet. `told` are the specs of each alert that is not fixed."""
    known = {name for names in told.values() for name in names}
    return [one for one in stale if one.name not in known]


def over(stale: Collection[StaleSpec], told: Mapping[str, Collection[str]]) -> list[str]:
    """The alerts of which no spec is stale any more."""
    names = {one.name for one in stale}
    return [alert_id for alert_id, specs in told.items() if names.isdisjoint(specs)]
