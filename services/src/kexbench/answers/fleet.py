"""The machines side by side: what each node did lately, how fast and how noisy it is, and which one is off."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from math import exp
from typing import Literal

import numpy as np
from pydantic import Field

from kexbench.analysis.detectable import pair_sd_of, smallest_detectable_change
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
    """A pool and its nodes, those with findings first."""

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
    differing = _differing(sentinels)
    pools: dict[str, list[FleetNode]] = defaultdict(list)
    hosts: dict[str, dict[str, HostFacts]] = defaultdict(dict)
    for row in rows.nodes:
        place = (row.pool, row.node)
        series = sentinels.get(place, ())
        hosts[row.pool][row.node] = row.host
        pools[row.pool].append(
            FleetNode(
                node=row.node,
                host=row.host,
                host_kind=kind_of(row.host),
                last_seen=row.last_seen,
                days=[row.days.get(day, 0) for day in days],
                jobs=row.jobs,
                lost_jobs=row.lost,
                failed_jobs=row.failed,
                failures=dict(row.failures),
                findings=_findings(row),
                sentinel=[_point(run) for run in series],
                smallest_detectable_change=_noise(series),
                differs=differing.get(place),
                set_aside=standing.get(place),
            )
        )
    return Fleet(
        until=rows.until,
        days=days,
        pools=[
            FleetPool(
                pool=pool,
                mixed_pool=mixed_pool(pool, hosts[pool].items()),
                nodes=sorted(nodes, key=_worst_first),
            )
            for pool, nodes in sorted(pools.items())
        ],
        not_stored=list(NOT_STORED),
    )


def _days(until: datetime | None) -> list[date]:
    if until is None:
        return []
    return [until.date() - timedelta(days=back) for back in reversed(range(SHOWN_DAYS))]


def _worst_first(node: FleetNode) -> tuple[bool, bool, int, bool, str]:
    warnings = sum(finding.verdict == "warning" for finding in node.findings)
    troubled = bool(node.lost_jobs or node.failed_jobs or node.failures)
    return node.differs is None, node.set_aside is None, -warnings, not troubled, node.node


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


def _point(run: SentinelRunRow) -> SentinelPoint:
    median, *bounds = median_of_sorted(run.logs)
    low, high = (None if log is None else round(exp(log), _DIGITS) for log in bounds)
    return SentinelPoint(run_id=run.run_id, at=run.at, ratio=round(exp(median), _DIGITS), low=low, high=high)


def _noise(runs: Sequence[SentinelRunRow]) -> float | None:
    logs: list[float] = []
    for run in runs:
        if len(run.logs) >= MIN_COMPARED_INVOCATIONS:
            mean = sum(run.logs) / len(run.logs)
            logs += [log - mean for log in run.logs]  # NumPy takes ten times as long for a few values
    return smallest_detectable_change(pair_sd_of(np.array(logs)), GROUP) if logs else None


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
