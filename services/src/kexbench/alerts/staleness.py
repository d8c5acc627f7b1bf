"""Stale specs: no run finished for longer than their alert rule allows."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kexbench.domain.alerts import AlertKind, AlertRule, Breakage, Cause, Finding
from kexbench.domain.numbers import listed
from kexbench.domain.runs import RunEvent, RunReason, RunState
from kexbench.store.port import WatchedSpecRow

_WORDS = {
    RunReason.SOURCES_UNAVAILABLE: "the sources of a kit are unavailable",
    RunReason.DISK_FULL: "the disk is full",
    RunReason.TOO_LITTLE_MEMORY: "the machine has too little memory for a kit",
    RunReason.KITS_FAILED: "a kit cannot be built",
    RunReason.GIVEN_UP: "its pods could not start",
    RunReason.NO_POOL: "its pool no longer exists",
    RunReason.JOBS_FAILED: "its jobs failed",
    RunReason.RUNNER_FAILED: "the runner failed",
    RunReason.PROCESS_ENDED: "its measuring process ended",
}
"""Why a run failed."""


@dataclass(frozen=True)
class StaleSpec:
    name: str
    since: datetime
    breakage: Breakage
    run_id: str
    """The newest run."""
    notify: tuple[str, ...]


def stale_spec(row: WatchedSpecRow, rule: AlertRule, newest: RunEvent | None, now: datetime) -> StaleSpec | None:
    """None if the spec is not stale. If no run ever finished, the time counts from the first run."""
    since = row.finished_at or row.since
    if rule.stale_after_s is None or now - since <= timedelta(seconds=rule.stale_after_s):
        return None
    return StaleSpec(row.spec_name, since, broken_by(newest), row.newest_run, rule.notify)


def broken_by(newest: RunEvent | None) -> Breakage:
    """Why no newer run finished. Specs with the same breakage share an alert."""
    if newest is None or newest.state.has_results:
        return Breakage(state=None)
    if newest.state is not RunState.FAILED:
        return Breakage(state=newest.state)
    return Breakage(state=newest.state, reason=newest.reason, unbuilt=tuple(sorted(newest.unbuilt)))


def breakage_words(breakage: Breakage) -> str:
    """The breakage as a text."""
    if breakage.state is None:
        return "no run has started since"
    if breakage.state.is_open:
        return f"its newest run is still {breakage.state}"
    if breakage.state is RunState.CANCELLED:
        return "its newest run was cancelled"
    if breakage.unbuilt:
        return f"{', '.join(breakage.unbuilt)} does not build"
    words = _WORDS.get(breakage.reason) if breakage.reason else None
    return f"its newest run failed: {words}" if words else "its newest run failed"


def findings(stale: Collection[StaleSpec]) -> list[tuple[Cause, Finding]]:
    """One finding for each breakage."""
    by_breakage: dict[Breakage, list[StaleSpec]] = defaultdict(list)
    for spec in sorted(stale, key=lambda spec: spec.name):
        by_breakage[spec.breakage].append(spec)
    return [(cause_of_stale(breakage), _finding(breakage, specs)) for breakage, specs in by_breakage.items()]


def cause_of_stale(breakage: Breakage) -> Cause:
    return Cause(kind=AlertKind.STALE, library=None, before="", after=breakage_words(breakage), breakage=breakage)


def _finding(breakage: Breakage, specs: Sequence[StaleSpec]) -> Finding:
    names = [spec.name for spec in specs]
    since = min(spec.since for spec in specs)
    return Finding(
        spec_names=tuple(names),
        sentence=f"{listed(names)}: no run has finished since {since:%Y-%m-%d %H:%M} UTC; {breakage_words(breakage)}.",
        cells=(),
        run_ids=tuple(spec.run_id for spec in specs),
        notify=tuple(dict.fromkeys(channel for spec in specs for channel in spec.notify)),
    )


def unreported(stale: Collection[StaleSpec], reported: Mapping[str, Collection[str]]) -> list[StaleSpec]:
    """The stale specs that are in no alert yet. `reported`: the specs of each alert that is not fixed."""
    names = {name for specs in reported.values() for name in specs}
    return [spec for spec in stale if spec.name not in names]


def over(stale: Collection[StaleSpec], reported: Mapping[str, Collection[str]]) -> list[str]:
    """The alerts without a spec that is still stale."""
    names = {spec.name for spec in stale}
    return [alert_id for alert_id, specs in reported.items() if names.isdisjoint(specs)]
