"""The machines side by side: what each node did lately, how fast and how noisy it is, and which one is off."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from math import isnan
from typing import Literal

import numpy as np
from pydantic import Field

from kexbench.analysis.detectable import pair_sds_of, smallest_detectable_change
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS, median_of_sorted
from kexbench.analysis.peers import Disagreement, disagreements
from kexbench.answers.mixed_pools import MixedPool, mixed_pool
from kexbench.answers.qualifications import GROUP
from kexbench.domain.fleet import SetAside
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import IDLE_SIBLING, LITTLE_STEAL, HostFacts, kind_of
from kexbench.domain.plans import Isolation
from kexbench.runner.doctor import processor
from kexbench.runner.doctor.check import Check
from kexbench.runner.doctor.machine import Machine
from kexbench.store.port import FleetStore, NodeRow, SentinelRunRow

SHOWN_DAYS = 14
_DIGITS = 5
"""Enough for a chart. A thousand nodes have 90,000 such numbers."""
NOT_STORED = (
    *("isolation by the kernel", "CPU frequency", "other programs at rest", "interruptions", "clock source"),
    *("CPU clock", "instruction counters", "random addresses", "huge pages"),
)
"""What `kexbench doctor` checks and no job records."""


SILENT_DAYS = 7
"""A node without a result for longer is silent. Weekly schedules reach every node in time."""


class NodeState(StrEnum):
    """What needs attention most at a node, in the order of urgency."""

    DIFFERS = "differs"
    SILENT = "silent"
    JOBS = "jobs lost or failed"
    WARNING = "warning"
    SET_ASIDE = "set aside"
    """Somebody attended to it."""
    FINE = "fine"


class FleetFinding(Frozen):
    """Something about a node that may affect its numbers."""

    name: str = Field(description="as `kexbench doctor` calls it")
    verdict: Literal["warning", "unknown"]
    found: str


class SentinelPoint(Frozen):
    """The sentinel's cost in one run, relative to the median of comparable nodes of the pool: the median over
    invocations, with its 95% confidence interval."""

    run_id: str
    at: datetime
    ratio: float
    low: float | None = Field(description="null with too few invocations")
    high: float | None


class FleetNode(Frozen):
    """A node of a pool. A machine by itself is the node `local`."""

    node: str
    state: NodeState = Field(description="what needs attention most, unless it is set aside")
    silent_days: int | None = Field(
        description=f"from its last result to the fleet's newest, if more than {SILENT_DAYS}; null if set aside"
    )
    host: HostFacts = Field(description="as its last job recorded it")
    host_kind: str = Field(description="equal for nodes of the pool whose numbers may be compared")
    last_seen: datetime
    days: list[int] = Field(description="its invocations on each of the fleet's days")
    jobs: int = Field(description="attempts at jobs that began in these days")
    lost_jobs: int = Field(
        description="those of them that another attempt followed, since the pod was evicted or its node went away"
    )
    failed_jobs: int = Field(description="those of them without a result, of runs that ended since jobs failed")
    failures: dict[str, int] = Field(description="failed subjects in invocations of these days, by kind of outcome")
    findings: list[FleetFinding] = Field(description="of its last job")
    sentinel: list[SentinelPoint] = Field(
        description="the newest 30 runs of 90 days with the newest sentinel on its present host kind, oldest first"
    )
    smallest_detectable_change: float | None = Field(
        description="of the sentinel with ten invocations, unpaired, by its noise within these runs; null if unknown"
    )
    differs: Disagreement | None = Field(description="from its peers; null if it does not, or too little is known")
    set_aside: SetAside | None = Field(description="null if its results count")


class FleetPool(Frozen):
    """A pool and its nodes, in the order of their states."""

    pool: str
    mixed_pool: MixedPool | None = Field(description="set if its nodes are not comparable")
    nodes: list[FleetNode]


class Fleet(Frozen):
    """All nodes with a job in the 90 days before the newest result, and those set aside."""

    until: datetime | None = Field(description="the time of the newest invocation; null if there is none")
    days: list[date] = Field(description="the 14 days up to then, in UTC, oldest first")
    pools: list[FleetPool]
    not_stored: list[str] = Field(description="what `kexbench doctor` checks on a machine and no job records")


def fleet(store: FleetStore) -> Fleet:
    rows = store.fleet()
    days = _days(rows.until)
    standing = {(each.pool, each.node): each for each in rows.set_asides if each.since}
    sentinels = _newest_series(rows.sentinels)
    differing, noises = _differing(sentinels), _noises(sentinels)
    pools: dict[str, list[FleetNode]] = defaultdict(list)
    hosts: dict[str, dict[str, HostFacts]] = defaultdict(dict)
    for row in rows.nodes:
        place = (row.pool, row.node)
        series = sentinels.get(place, ())
        aside, differs, findings = standing.get(place), differing.get(place), _findings(row)
        silent_days = None if aside else _silent_days(row, rows.until)
        hosts[row.pool][row.node] = row.host
        pools[row.pool].append(
            FleetNode(
                node=row.node,
                state=_state(row, findings, silent_days, differs=bool(differs), is_aside=bool(aside)),
                silent_days=silent_days,
                host=row.host,
                host_kind=kind_of(row.host),
                last_seen=row.last_seen,
                days=[row.days.get(day, 0) for day in days],
                jobs=row.jobs,
                lost_jobs=row.lost,
                failed_jobs=row.failed,
                failures=dict(row.failures),
                findings=findings,
                sentinel=_points(series),
                smallest_detectable_change=noises.get(place),
                differs=differs,
                set_aside=aside,
            )
        )
    return Fleet(
        until=rows.until,
        days=days,
        pools=[
            FleetPool(
                pool=pool,
                mixed_pool=mixed_pool(pool, hosts[pool].items()),
                nodes=sorted(nodes, key=_most_urgent_first),
            )
            for pool, nodes in sorted(pools.items())
        ],
        not_stored=list(NOT_STORED),
    )


def _days(until: datetime | None) -> list[date]:
    if until is None:
        return []
    return [until.date() - timedelta(days=back) for back in reversed(range(SHOWN_DAYS))]


def _silent_days(row: NodeRow, until: datetime | None) -> int | None:
    days = (until.date() - row.last_seen.date()).days if until else 0
    return days if days > SILENT_DAYS else None


def _state(
    row: NodeRow, findings: Iterable[FleetFinding], silent_days: int | None, *, differs: bool, is_aside: bool
) -> NodeState:
    if is_aside:
        return NodeState.SET_ASIDE
    holding = {
        NodeState.DIFFERS: differs,
        NodeState.SILENT: silent_days is not None,
        NodeState.JOBS: bool(row.lost or row.failed or row.failures),
        NodeState.WARNING: any(finding.verdict == "warning" for finding in findings),
    }
    return next((state for state, holds in holding.items() if holds), NodeState.FINE)


def _most_urgent_first(node: FleetNode) -> tuple[int, int, str]:
    warnings = sum(finding.verdict == "warning" for finding in node.findings)
    return list(NodeState).index(node.state), -warnings, node.node


def _newest_series(runs: Iterable[SentinelRunRow]) -> dict[tuple[str, str], list[SentinelRunRow]]:
    """Of each node, the runs on its newest host kind with its newest sentinel."""
    by_node: dict[tuple[str, str], list[SentinelRunRow]] = defaultdict(list)
    for run in runs:
        by_node[run.pool, run.node].append(run)
    return {
        place: [run for run in own if (run.host_kind, run.kit_id) == (own[-1].host_kind, own[-1].kit_id)]
        for place, own in by_node.items()
    }


def _differing(sentinels: dict[tuple[str, str], list[SentinelRunRow]]) -> dict[tuple[str, str], Disagreement]:
    alike: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(dict)
    for (pool, node), runs in sentinels.items():
        shared = [run.shared_log for run in runs if run.shared_log is not None]
        alike[pool, runs[-1].host_kind, runs[-1].kit_id][node] = shared
    return {
        (pool, node): differs for (pool, _, _), nodes in alike.items() for node, differs in disagreements(nodes).items()
    }


def _points(runs: Sequence[SentinelRunRow]) -> list[SentinelPoint]:
    if not runs:
        return []
    medians = np.array([median_of_sorted(run.logs) for run in runs], dtype=float)  # with NaN for None
    return [
        SentinelPoint(
            run_id=run.run_id,
            at=run.at,
            ratio=ratio,
            low=None if isnan(low) else low,
            high=None if isnan(high) else high,
        )
        for run, (ratio, low, high) in zip(runs, np.round(np.exp(medians), _DIGITS).tolist(), strict=True)
    ]


def _noises(sentinels: Mapping[tuple[str, str], Sequence[SentinelRunRow]]) -> dict[tuple[str, str], float]:
    """The smallest detectable change at each node. Nodes with equally many invocations are computed together."""
    alike: dict[int, dict[tuple[str, str], list[float]]] = defaultdict(dict)
    for place, runs in sentinels.items():
        logs: list[float] = []
        for run in runs:
            if len(run.logs) >= MIN_COMPARED_INVOCATIONS:
                mean = sum(run.logs) / len(run.logs)
                logs += [log - mean for log in run.logs]  # NumPy takes ten times as long for a few values
        if logs:
            alike[len(logs)][place] = logs
    return {
        place: smallest_detectable_change(float(sd), GROUP)
        for pools in alike.values()
        for place, sd in zip(pools, pair_sds_of(np.array(list(pools.values()))), strict=True)
    }


def _findings(row: NodeRow) -> list[FleetFinding]:
    """By the doctor's rules, as far as a job records what they need."""
    machine = Machine(
        measuring_cpu=None,
        allowed=frozenset({0}),
        governor=row.host.governor,
        turbo=row.host.turbo,
        hypervisor=row.host.virtualisation,
    )
    checks: list[Check] = [processor.governor(machine), processor.turbo(machine), processor.virtual_machine(machine)]
    findings = [
        FleetFinding(name=check.name, verdict=check.verdict, found=check.found)
        for check in checks
        if check.verdict != "good"
    ]
    shares = (
        ("stolen time", row.steal_share, LITTLE_STEAL, "by the hypervisor"),
        ("SMT", row.sibling_busy_share, IDLE_SIBLING, "of the core's other thread was busy"),
    )
    findings += [
        FleetFinding(name=name, verdict="warning", found=f"{share:.1%} {what}")
        for name, share, limit, what in shares
        if share is not None and share > limit
    ]
    if row.isolation == Isolation.BEST_EFFORT:
        findings.append(FleetFinding(name="isolation", verdict="warning", found="its pod had no CPUs of its own"))
    if row.host.cpus < processor.NEEDED_CPUS:
        findings.append(FleetFinding(name="CPUs", verdict="warning", found="only 1"))
    return sorted(findings, key=lambda finding: finding.verdict != "warning")
