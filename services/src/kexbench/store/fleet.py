"""The machines: which nodes measured what lately, and which of them are set aside."""

import threading
from collections import defaultdict
from datetime import date, datetime, timedelta
from typing import Any

from kexbench.domain.fleet import SetAside
from kexbench.domain.hosts import HostFacts
from kexbench.domain.metrics import Metric
from kexbench.domain.moments import EARLIEST, LATEST
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import JobAttempt, RunReason
from kexbench.store import rows
from kexbench.store.connection import insert_token
from kexbench.store.evidence import RunCase
from kexbench.store.hosts import HOST_KIND, kind_parameters
from kexbench.store.measured import DECIDING, DESCRIBED, outcome_row, selected
from kexbench.store.port import FleetRows, NodeRow, OutcomeRow, Selection, SentinelRunRow
from kexbench.store.runs import RunTables
from kexbench.store.summaries import ASIDE, INVOCATION

KNOWN_DAYS = 90
"""A node without a job for so long before the newest result is no longer listed, unless it is set aside."""
SHOWN_DAYS = 14
SENTINEL_RUNS = 30
"""Of each node, the newest ones."""
_LONGEST_JOB = timedelta(days=2)
"""Jobs that began earlier have no invocation in the period."""
_CLOCKS_DIFFER = timedelta(hours=1)
"""At most so much between the times of an attempt and of its invocations."""
_TRY = "concat(run_id, '/', job_id, '/', toString(attempt))"
_OF_NODE = "SELECT run_id, job_id, attempt FROM attempts WHERE pool = {pool:String} AND node = {node:String}"
_OF_LOCAL = f"(SELECT run_id FROM summaries WHERE metric IN ({DECIDING}) AND pool = '{LOCAL}')"
_PLACES = (
    "SELECT run_id, job_id, attempt, toString(pool) AS pool, toString(node) AS node, host_id, started_at"
    " FROM attempts FINAL WHERE pool != ''"
    " AND (started_at >= {begin:DateTime64(3)} OR concat(pool, '/', node) IN {asides:Array(String)})"
    f" UNION ALL SELECT run_id, job_id, attempt, '{LOCAL}' AS pool, '{LOCAL}' AS node,"
    " argMax(host_id, measured_at) AS host_id, min(measured_at) AS started_at FROM invocations"
    f" WHERE run_id IN {_OF_LOCAL}"
    " AND run_id NOT IN (SELECT run_id FROM attempts) AND measured_at >= {begin:DateTime64(3)}"
    " GROUP BY run_id, job_id, attempt"
)
"""SQL: where each attempt at a job was measured. A machine by itself has no attempts, and its pool is its only node."""
_RECENT = "{recent:DateTime64(3)}"
_JOBS = (
    "SELECT pool, node, argMax(host_id, started_at) AS last_host, max(started_at) AS last_start,"
    f" argMax({_TRY}, started_at) AS last_try, argMax(run_id, started_at) AS last_run,"
    f" countIf(started_at >= {_RECENT}) AS jobs, countIf(started_at >= {_RECENT} AND attempt < last_attempt) AS lost,"
    f" countIf(started_at >= {_RECENT} AND attempt = last_attempt AND run_id IN failed_runs AND {_TRY} NOT IN"
    f" (SELECT {_TRY} FROM invocations WHERE run_id IN failed_runs)) AS failed FROM"
    f" (SELECT *, max(attempt) OVER (PARTITION BY run_id, job_id) AS last_attempt FROM ({_PLACES}))"
    " GROUP BY pool, node ORDER BY pool, node"
)
_FAILED_RUNS = f"SELECT run_id FROM run_events WHERE reason = '{RunReason.JOBS_FAILED}'"
_IS_RECENT = f"started_at >= {_RECENT} - INTERVAL {_LONGEST_JOB.days} DAY"
_OF_RECENT_JOBS = (
    f"INNER JOIN (SELECT * FROM ({_PLACES}) WHERE {_IS_RECENT}) AS places"
    f" USING (run_id, job_id, attempt) WHERE measured_at >= {_RECENT} AND (run_id IN {_OF_LOCAL}"
    f" OR run_id IN (SELECT run_id FROM attempts WHERE {_IS_RECENT}))"
)
"""SQL: the join implies the runs, but reading by them is cheaper."""
_SHARE = "avgOrNull(JSONExtract(host_load, '{0}', 'Nullable(Float64)')) AS {0}"
_CHOSEN = (
    "SELECT pool, node, run_id, groupArray((job_id, attempt)) AS tries, min(started_at) AS first_start"
    f" FROM ({_PLACES}) GROUP BY pool, node, run_id"
    f" ORDER BY max(started_at) DESC, run_id DESC LIMIT {SENTINEL_RUNS} BY pool, node"
)
"""SQL: the newest runs of each node."""
_SENTINELS = (
    "WITH tries AS (SELECT run_id, try.1 AS job_id, try.2 AS attempt, pool, node"
    f" FROM ({_CHOSEN}) ARRAY JOIN tries AS try),"
    f" frozen AS (SELECT {INVOCATION}, {HOST_KIND} AS host_kind, kit_id, measured_at, level FROM samples"
    f" WHERE metric = '{Metric.CPU_NS}' AND reference = 'sentinel' AND level > 0"
    f" AND measured_at >= {{chosen_from:DateTime64(3)}} LIMIT 1 BY {INVOCATION}),"
    " relative AS (SELECT pool, node, host_kind, kit_id, run_id, measured_at,"
    " log(level) - quantileExactInclusive(0.5)(log(level)) OVER alike AS log_ratio,"
    " min(node) OVER alike != max(node) OVER alike AS shared"
    " FROM frozen INNER JOIN tries USING (run_id, job_id, attempt)"
    " WINDOW alike AS (PARTITION BY pool, host_kind, kit_id, case_id))"
    " SELECT pool, node, host_kind, kit_id, run_id, max(measured_at) AS at, arraySort(groupArray(log_ratio)) AS logs,"
    " avgOrNullIf(log_ratio, shared) AS shared_log"
    " FROM relative GROUP BY pool, node, host_kind, kit_id, run_id ORDER BY pool, node, at, run_id"
    " SETTINGS max_threads = 1"  # several need a third more CPU time
)
"""SQL: the sentinel's costs of each run on a node, as log ratios to the median of all such runs on comparable nodes of
the pool with the same kit and case."""


class FleetTables(RunTables):
    """The part of the store's port for machines."""

    def __init__(self, dsn: str, database: str) -> None:
        super().__init__(dsn, database)
        self._setting_aside = threading.Lock()
        """An attempt that is announced meanwhile must not be missed."""

    def add_attempt(self, attempt: JobAttempt, pool: str) -> None:
        """The attempt of a node that is set aside is known as such before it has results."""
        with self._setting_aside:
            standing = {(aside.pool, aside.node): aside for aside in self.set_asides() if aside.since}
            super().add_attempt(attempt, pool)
            if aside := standing.get((pool, attempt.node)):
                self._apply(aside)

    def add_set_aside(self, change: SetAside) -> None:
        with self._setting_aside:
            self._insert("set_asides", [rows.whole(change, "pool", "node", "number")])
            self._apply(change)

    def had_job(self, pool: str, node: str) -> bool:
        return bool(list(self._query(f"{_OF_NODE} LIMIT 1", {"pool": pool, "node": node})))

    def set_asides(self) -> list[SetAside]:
        return self._read(
            SetAside,
            "SELECT content FROM set_asides FINAL ORDER BY pool, node, number DESC LIMIT 1 BY pool, node",
        )

    def _apply_set_asides(self) -> None:
        """After a kill, the next start completes a change. Call it before missing summaries are computed."""
        for change in self.set_asides():
            self._apply(change)

    def _apply(self, change: SetAside) -> None:
        """Note which attempts of a node are set aside since when, and compute the summaries of their runs anew. An
        attempt that stands again keeps its row, with a time that never comes."""
        node = {
            "pool": change.pool,
            "node": change.node,
            "since": change.since or LATEST,
            "reason": change.words if change.since else "",
        }
        is_noted = (
            "(run_id, job_id, attempt) IN (SELECT run_id, job_id, attempt FROM aside_attempts FINAL"
            " WHERE since != {since:DateTime64(3)} OR reason != {reason:String})"
        )
        is_new = (
            "(run_id, job_id, attempt) NOT IN (SELECT run_id, job_id, attempt FROM aside_attempts) AND"
            " (started_at >= {since:DateTime64(3)} OR"
            " run_id IN (SELECT run_id FROM invocations WHERE measured_at >= {since:DateTime64(3)}))"
        )
        changing = f"{_OF_NODE} AND ({is_noted} OR {is_new})"
        run_ids = sorted({row["run_id"] for row in self._query(changing, node)})
        if not run_ids:
            return
        self._command(
            "INSERT INTO aside_attempts (run_id, job_id, attempt, since, reason)"
            f" SETTINGS insert_deduplication_token = '{insert_token()}'"
            f" SELECT run_id, job_id, attempt, {{since:DateTime64(3)}}, {{reason:String}} FROM ({changing})",
            node,
        )
        cases = self._query(
            f"SELECT DISTINCT run_id, {rows.CASE_SQL} FROM summaries WHERE run_id IN {{run_ids:Array(String)}}",
            {"run_ids": run_ids},
        )
        affected = {(row["run_id"], rows.case_of(row)) for row in cases}
        self._unsummarised |= affected
        self._note_delivery({RunCase(run_id, case.case_id) for run_id, case in affected})

    def set_aside(self, selection: Selection) -> list[OutcomeRow]:
        standing = "SELECT 1 FROM aside_attempts FINAL WHERE since < {latest:DateTime64(3)} LIMIT 1"
        if not list(self._query(standing, {"latest": LATEST})):
            return []
        aside = (
            f"SELECT {DESCRIBED}, run_id, max(measured_at) AS newest, any(reason) AS why, count() AS times"
            " FROM samples FINAL INNER JOIN (SELECT run_id, job_id, attempt, reason FROM aside_attempts FINAL) AS aside"
            " USING (run_id, job_id, attempt)"
            " WHERE metric = {metric:String} AND run_id IN (SELECT run_id FROM aside_attempts)"
            f" AND ({INVOCATION}) IN ({ASIDE}) AND {selected(selection)} GROUP BY {DESCRIBED}, run_id"
        )
        newest = "" if selection.runs else " LIMIT 1 BY case_id, library, version_key, source, build_profile"
        selected_rows = self._query(
            f"SELECT * FROM ({aside}) ORDER BY library, version_key, case_id, newest DESC, run_id{newest}",
            self._parameters(selection),
        )
        return [outcome_row(row, "set aside", row["why"]) for row in selected_rows]

    def fleet(self) -> FleetRows:
        others = next(
            self._query(
                "SELECT (SELECT count() FROM attempts) AS attempts, (SELECT count() FROM set_asides) AS asides,"
                f" (SELECT count() FROM ({_FAILED_RUNS})) AS failed"
            )
        )
        return self.kept_value("fleet", lambda evidence: (evidence.of_all(), *others.values()), self._fleet)

    def _fleet(self) -> FleetRows:
        asides = self.set_asides()
        until = next(self._query("SELECT max(measured_at) AS newest FROM invocations"))["newest"]
        if until <= EARLIEST:
            return FleetRows(None, (), (), tuple(asides))
        given = {
            "begin": until - timedelta(days=KNOWN_DAYS),
            "recent": datetime.combine(until.date(), datetime.min.time(), until.tzinfo) - timedelta(SHOWN_DAYS - 1),
            "asides": [f"{aside.pool}/{aside.node}" for aside in asides if aside.since],
        }
        return FleetRows(until, tuple(self._nodes_of_fleet(given)), tuple(self._sentinels(given)), tuple(asides))

    def _nodes_of_fleet(self, given: dict[str, Any]) -> list[NodeRow]:
        jobs = list(self._query(f"WITH failed_runs AS ({_FAILED_RUNS}) {_JOBS}", given))
        hosts = {
            row["host_id"]: HostFacts.model_validate_json(row["facts"])
            for row in self._query(
                "SELECT host_id, facts FROM hosts FINAL WHERE host_id IN {host_ids:Array(String)}",
                {"host_ids": sorted({row["last_host"] for row in jobs})},
            )
        }
        last = {"run_ids": sorted({row["last_run"] for row in jobs}), "tries": [row["last_try"] for row in jobs]}
        of_last = f"WHERE run_id IN {{run_ids:Array(String)}} AND {_TRY} IN {{tries:Array(String)}}"
        shares = ", ".join(map(_SHARE.format, ("steal_share", "sibling_busy_share")))
        loads = self._query(
            f"SELECT {_TRY} AS try, max(measured_at) AS newest, {shares} FROM invocations FINAL {of_last} GROUP BY try",
            last,
        )
        isolations = self._query(
            f"SELECT {_TRY} AS try, JSONExtractString(content, 'isolation') AS isolation FROM attempts FINAL {of_last}",
            last,
        )
        load_of, isolation_of = {row["try"]: row for row in loads}, {row["try"]: row["isolation"] for row in isolations}
        days: dict[tuple[str, str], dict[date, int]] = defaultdict(dict)
        for row in self._query(
            "SELECT pool, node, toDate(measured_at, 'UTC') AS day, count() AS times FROM invocations"
            f" {_OF_RECENT_JOBS} GROUP BY pool, node, day",
            given,
        ):
            days[row["pool"], row["node"]][row["day"]] = int(row["times"])
        failures: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for row in self._query(
            "SELECT pool, node, kind, count() AS times FROM outcomes"
            f" {_OF_RECENT_JOBS} AND kind IN ('error', 'crashed', 'hung') GROUP BY pool, node, kind ORDER BY kind",
            given,
        ):
            failures[row["pool"], row["node"]][row["kind"]] = int(row["times"])
        nodes = []
        for row in jobs:
            if row["last_host"] in hosts:
                place, load = (row["pool"], row["node"]), load_of.get(row["last_try"])
                nodes.append(
                    NodeRow(
                        *place,
                        host=hosts[row["last_host"]],
                        isolation=isolation_of.get(row["last_try"]) or None,
                        last_seen=load["newest"] if load else row["last_start"],
                        steal_share=load["steal_share"] if load else None,
                        sibling_busy_share=load["sibling_busy_share"] if load else None,
                        jobs=int(row["jobs"]),
                        lost=int(row["lost"]),
                        failed=int(row["failed"]),
                        days=days.get(place, {}),
                        failures=failures.get(place, {}),
                    )
                )
        return nodes

    def _sentinels(self, given: dict[str, Any]) -> list[SentinelRunRow]:
        kinds = kind_parameters(self.evidence().kinds_of_hosts)  # thousands, which a client writes into the query
        first = next(self._query(f"SELECT min(first_start) AS first FROM ({_CHOSEN})", given))["first"]
        return [
            SentinelRunRow(
                row["pool"],
                row["node"],
                row["host_kind"],
                row["kit_id"],
                row["run_id"],
                row["at"],
                row["logs"],
                row["shared_log"],
            )
            for row in self._query(_SENTINELS, given | kinds | {"chosen_from": first - _CLOCKS_DIFFER})
        ]
