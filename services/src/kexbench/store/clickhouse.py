"""The store on ClickHouse, embedded (chDB) or a server by URL, through one client library.

All SQL is fixed text with bound parameters.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from kexbench.domain.commits import HandledCommit
from kexbench.domain.hosts import HostFacts
from kexbench.domain.moments import EARLIEST, LATEST
from kexbench.domain.runs import JobAttempt, Run, RunEvent, RunState, Trigger
from kexbench.domain.samples import Invocation, Metric, Negotiated, OutcomeKind, Timer
from kexbench.domain.schedules import Schedule
from kexbench.store import migrate, rows
from kexbench.store.bisection_rows import BisectionRows
from kexbench.store.port import (
    EXPORT_COLUMNS,
    HostKindRow,
    InvocationKey,
    NegotiatedRow,
    OpenRunRow,
    OutcomeRow,
    RunProgress,
    RunStateRow,
    SampleRow,
    Selection,
    SubjectRow,
)

_COUNTED = "(run_id, job_id, case_id, invocation, attempt) IN (SELECT * FROM counted_invocations)"
_SELECTED = """
    ({pool:String} = '' OR pool = {pool:String})
    AND ({cpu_model:String} = '' OR cpu_model = {cpu_model:String})
    AND (empty({libraries:Array(String)}) OR library IN {libraries:Array(String)})
    AND ({case_id:String} = '' OR case_id = {case_id:String})
    AND ({run_id:String} = '' OR run_id = {run_id:String})
    AND (reference = 'sentinel') = {sentinel:Bool}
    AND ({variants:Bool} OR {run_id:String} != '' OR NOT match(source, '[+](relink|burn|copy)='))
    AND measured_at < {before:DateTime64(3)}
"""
_SHOWN = "reference != 'sentinel' AND NOT match(source, '[+](relink|burn|copy)=')"
_FACTS = """
    spec_name, JSONExtractString(run, 'trigger') AS trigger,
    JSONExtract(run, 'plan', 'pools', 'Array(String)') AS pools,
    JSONExtractFloat(run, 'plan', 'estimated_s') AS estimated_s,
    arraySum(job -> JSONExtractInt(job, 'invocations') * JSONLength(job, 'blocks') * JSONLength(job, 'case_ids'),
             JSONExtractArrayRaw(run, 'plan', 'jobs')) AS invocations,
    if(JSONExtractString(run, 'spec_path') = '', '', concat(JSONExtractString(run, 'commit', 'repository'), ' ',
       JSONExtractString(run, 'commit', 'branch'), ' ', JSONExtractString(run, 'spec_path'))) AS line
"""
_CELL = "case_id, library, version_key, source, build_profile"
RUNS_KEPT = 4
"""A started run never changes, every invocation that arrives is checked against it, and a large plan takes a second to
parse."""


class ClickHouseStore(BisectionRows):
    """Implements the store's port. Safe for threads: each has a client of its own."""

    def __init__(self, dsn: str, database: str, clauses: migrate.EngineClauses) -> None:
        """`dsn` is `chdb:///absolute/folder` or the http(s) URL of a server."""
        super().__init__(dsn, database)
        self._clauses = clauses
        self._started_run = lru_cache(maxsize=RUNS_KEPT)(self._read_started_run)

    def migrate(self) -> None:
        """Bring the database to this release's schema. Raises StoreError."""
        client = self._open("default" if self._embedded else "")
        self._command(f"CREATE DATABASE IF NOT EXISTS {self._database}", client)
        client.close()
        self._command(self._clauses.fill(migrate.APPLIED_TABLE))
        applied = {
            row["version"]: row["sha256"]
            for row in self._query("SELECT version, sha256 FROM schema_migrations FINAL ORDER BY version")
        }
        migrate.apply(
            migrate.pending(migrate.load_migrations(), applied),
            self._clauses,
            self._command,
            lambda done: self._insert(
                "schema_migrations",
                [
                    {
                        "version": done.version,
                        "name": done.name,
                        "sha256": done.sha256,
                        "statements": len(done.statements),
                    }
                ],
            ),
        )

    def engine(self) -> str:
        version = next(self._query("SELECT version() AS version"))["version"]
        return f"{'chDB' if self._embedded else 'ClickHouse'} {version}"

    def add_run(self, run: Run) -> None:
        self._insert("runs", [rows.run_row(run)])

    def add_event(self, event: RunEvent) -> None:
        self._insert("run_events", [{**event.model_dump(), "state": str(event.state), "unbuilt": list(event.unbuilt)}])

    def add_invocation(self, run: Run, invocation: Invocation, host: HostFacts | None = None) -> None:
        """The row in `invocations` is written last: without it nothing of the rest counts."""
        measured_on = host or run.host
        assert measured_on is not None, "a run without a host of its own has attempts with one"
        self._insert("samples", rows.sample_rows(run, invocation, measured_on))
        self._insert("outcomes", rows.outcome_rows(run, invocation, measured_on))
        self._insert("invocations", [rows.invocation_row(invocation)])

    def add_attempt(self, attempt: JobAttempt) -> None:
        self._insert("attempts", [rows.attempt_row(attempt)])

    def attempts(self, run_id: str, job_id: str = "") -> list[JobAttempt]:
        found = self._query(
            "SELECT content FROM attempts FINAL WHERE run_id = {run_id:String}"
            " AND ({job_id:String} = '' OR job_id = {job_id:String}) ORDER BY job_id, attempt",
            {"run_id": run_id, "job_id": job_id},
        )
        return [JobAttempt.model_validate_json(row["content"]) for row in found]

    def add_schedule(self, schedule: Schedule) -> None:
        self._insert("schedules", [rows.schedule_row(schedule)])

    def schedules(self) -> list[Schedule]:
        found = self._query("SELECT content FROM schedules FINAL ORDER BY name, changed_at DESC LIMIT 1 BY name")
        return [Schedule.model_validate_json(row["content"]) for row in found]

    def add_commit(self, handled: HandledCommit) -> None:
        self._insert("commits", [rows.commit_row(handled)])

    def commits(self, repository: str, limit: int, before: datetime | None = None) -> list[HandledCommit]:
        # A commit is told with its newest row, and no page knows an older one of it.
        found = self._query(
            "SELECT content FROM (SELECT content, handled_at, commit FROM commits FINAL WHERE tells"
            " AND ({repository:String} = '' OR repository = {repository:String})"
            " ORDER BY handled_at DESC, branch LIMIT 1 BY repository, commit)"
            " WHERE handled_at < {before:DateTime64(3, 'UTC')}"
            " ORDER BY handled_at DESC LIMIT {limit:UInt32} WITH TIES",
            {"repository": repository, "before": min(max(before or LATEST, EARLIEST), LATEST), "limit": limit},
        )
        commits = [HandledCommit.model_validate_json(row["content"]) for row in found]
        return sorted(commits, key=lambda one: (one.handled_at, one.commit.repository, one.commit.commit), reverse=True)

    def repositories(self) -> list[str]:
        found = self._query("SELECT DISTINCT repository FROM commits WHERE tells ORDER BY repository")
        return [row["repository"] for row in found]

    def heads(self, repository: str) -> dict[str, str]:
        found = self._query(
            "SELECT branch, argMax(commit, handled_at) AS head FROM commits WHERE repository = {repository:String}"
            " GROUP BY branch",
            {"repository": repository},
        )
        return {row["branch"]: row["head"] for row in found}

    def run(self, run_id: str) -> Run | None:
        try:
            return self._started_run(run_id)
        except _NotStartedError as found:
            return found.run

    def _read_started_run(self, run_id: str) -> Run:
        """Raises _NotStartedError, which a cache doesn't keep."""
        found = self._query(
            "SELECT run FROM runs FINAL WHERE run_id = {run_id:String} ORDER BY created_at LIMIT 1", {"run_id": run_id}
        )
        run = next((Run.model_validate_json(row["run"]) for row in found), None)
        if run is None or not run.is_started:
            raise _NotStartedError(run)
        return run

    def runs(self, limit: int, before: datetime | None = None) -> list[Run]:
        """Newest first; more than `limit` where the last ones were made at the same moment."""
        found = self._query(
            "SELECT run FROM runs FINAL WHERE created_at < {before:DateTime64(3, 'UTC')}"
            " ORDER BY created_at DESC LIMIT {limit:UInt32} WITH TIES",
            {"before": min(max(before or LATEST, EARLIEST), LATEST), "limit": limit},
        )
        runs = [Run.model_validate_json(row["run"]) for row in found]
        return sorted(runs, key=lambda run: (run.created_at, run.run_id), reverse=True)

    def events(self, run_id: str) -> list[RunEvent]:
        found = self._query(
            "SELECT run_id, at, state, detail, unbuilt FROM run_events FINAL WHERE run_id = {run_id:String}"
            " ORDER BY at, state",
            {"run_id": run_id},
        )
        return [RunEvent(**row) for row in found]

    def open_runs(self) -> list[str]:
        found = self._query(
            "SELECT run_id FROM run_events GROUP BY run_id"
            " HAVING argMax(state, (at, indexOf({life:Array(String)}, state))) IN {open:Array(String)}"
            " ORDER BY min(at), run_id",
            _life(),
        )
        return [row["run_id"] for row in found]

    def open_run_rows(self) -> list[OpenRunRow]:
        found = self._query(
            f"SELECT run_id, {_FACTS}, queued_at, newest, last_state, last_detail FROM"
            " (SELECT run_id, spec_name, run FROM runs FINAL) AS facts INNER JOIN"
            " (SELECT run_id, max(at) AS newest,"
            " argMax(state, (at, indexOf({life:Array(String)}, state))) AS last_state,"
            " argMax(detail, (at, indexOf({life:Array(String)}, state))) AS last_detail,"
            " if(countIf(state = 'queued') > 0, maxIf(at, state = 'queued'), min(at)) AS queued_at"
            " FROM run_events GROUP BY run_id) AS events USING run_id"
            " WHERE last_state IN {open:Array(String)} ORDER BY queued_at, run_id",
            _life(),
        )
        return [_open_run(row) for row in found]

    def last_begun(self) -> dict[str, datetime]:
        found = self._query(
            "SELECT spec_name, max(begun) AS last FROM runs INNER JOIN"
            " (SELECT run_id, min(at) AS begun FROM run_events WHERE state = 'running' GROUP BY run_id) AS events"
            " USING run_id GROUP BY spec_name"
        )
        return {row["spec_name"]: row["last"] for row in found}

    def schedules_open_until(self) -> dict[str, datetime]:
        found = self._query(
            "SELECT spec_name, argMax(newest, created_at) AS last FROM runs INNER JOIN"
            " (SELECT run_id, max(at) AS newest FROM run_events GROUP BY run_id) AS events USING run_id"
            " WHERE JSONExtractString(run, 'trigger') = {trigger:String} GROUP BY spec_name",
            {"trigger": str(Trigger.SCHEDULE)},
        )
        return {row["spec_name"]: row["last"] for row in found}

    def run_states(self) -> list[RunStateRow]:
        found = self._query(
            "SELECT state, count() AS runs, min(newest) AS since FROM (SELECT run_id, max(at) AS newest,"
            " argMax(state, (at, indexOf({life:Array(String)}, state))) AS state FROM run_events"
            " WHERE run_id IN (SELECT run_id FROM runs) GROUP BY run_id)"
            " GROUP BY state ORDER BY state",
            {"life": [str(state) for state in RunState]},
        )
        return [RunStateRow(RunState(row["state"]), row["runs"], row["since"]) for row in found]

    def progress(self, run_ids: list[str]) -> dict[str, RunProgress]:
        parameters = {"run_ids": run_ids, "life": [str(state) for state in RunState]}
        events = self._query(
            "SELECT run_id, max(at) AS newest, argMax(state, (at, indexOf({life:Array(String)}, state))) AS last_state,"
            " argMax(detail, (at, indexOf({life:Array(String)}, state))) AS last_detail"
            " FROM run_events WHERE run_id IN {run_ids:Array(String)} GROUP BY run_id",
            parameters,
        )
        counts = {
            row["run_id"]: row
            for row in self._query(
                "SELECT run_id, count() AS stored, sum(discarded_batches) AS discarded,"
                " sum(preempted_batches) AS preempted FROM invocations FINAL"
                " WHERE run_id IN {run_ids:Array(String)}"
                f" AND {_COUNTED} GROUP BY run_id",
                parameters,
            )
        }
        return {
            row["run_id"]: RunProgress(
                event=RunEvent(
                    run_id=row["run_id"], at=row["newest"], state=RunState(row["last_state"]), detail=row["last_detail"]
                ),
                invocations_stored=counts.get(row["run_id"], {}).get("stored", 0),
                discarded_batches=counts.get(row["run_id"], {}).get("discarded", 0),
                preempted_batches=counts.get(row["run_id"], {}).get("preempted", 0),
            )
            for row in events
        }

    def invocations(self, run_id: str, job_id: str = "") -> set[InvocationKey]:
        found = self._query(
            "SELECT DISTINCT job_id, attempt, case_id, invocation FROM invocations WHERE run_id = {run_id:String}"
            " AND ({job_id:String} = '' OR job_id = {job_id:String})",
            {"run_id": run_id, "job_id": job_id},
        )
        return {InvocationKey(**row) for row in found}

    def stored_by_job(self, run_id: str) -> dict[str, int]:
        found = self._query(
            "SELECT job_id, uniqExact(case_id, invocation) AS stored FROM invocations WHERE run_id = {run_id:String}"
            " GROUP BY job_id",
            {"run_id": run_id},
        )
        return {row["job_id"]: int(row["stored"]) for row in found}

    def host_kinds(self, run_id: str | None = None) -> list[HostKindRow]:
        """The host kinds with samples or outcomes, the one measured last first."""
        ours = f"({{run_id:String}} = '' OR run_id = {{run_id:String}}) AND {_COUNTED}"
        found = self._query(
            "SELECT pool, cpu_model FROM ("
            f"SELECT pool, cpu_model, measured_at FROM samples WHERE metric = 'cpu_ns' AND {ours} UNION ALL "
            f"SELECT pool, cpu_model, measured_at FROM outcomes WHERE {ours}"
            ") GROUP BY pool, cpu_model ORDER BY max(measured_at) DESC, pool, cpu_model",
            {"run_id": run_id or ""},
        )
        return [HostKindRow(**row) for row in found]

    def subjects(self) -> list[SubjectRow]:
        columns = ", ".join(rows.SUBJECT_COLUMNS)
        found = self._query(
            f"SELECT {columns} FROM samples WHERE metric = 'cpu_ns' AND {_SHOWN} AND {_COUNTED} GROUP BY {columns}"
            " ORDER BY library, version_key, build_profile, max(measured_at)"
        )
        return [SubjectRow(**row) for row in found]

    def samples(self, selection: Selection) -> list[SampleRow]:
        """Of each cell the newest run's samples; with a run named, that run's."""
        found = self._query(
            f"SELECT {_sample_columns()}"
            f" FROM samples FINAL WHERE metric = {{metric:String}} AND {_SELECTED} AND {_COUNTED}"
            f" AND ({_CELL}, run_id) IN (SELECT {_CELL}, argMax(run_id, (measured_at, run_id)) FROM samples"
            f" WHERE metric = {{metric:String}} AND {_SELECTED} AND {_COUNTED} GROUP BY {_CELL})"
            " ORDER BY library, version_key, source, build_profile, case_id, unit",
            _parameters(selection),
        )
        return [_sample(row) for row in found]

    def metrics(self) -> set[str]:
        return {row["metric"] for row in self._query(f"SELECT DISTINCT metric FROM samples WHERE {_COUNTED}")}

    def sentinels(self, metric: Metric, run_ids: Collection[str]) -> list[SampleRow]:
        found = self._query(
            f"SELECT {_sample_columns()}"
            " FROM samples FINAL WHERE metric = {metric:String} AND reference = 'sentinel'"
            f" AND run_id IN {{run_ids:Array(String)}} AND {_COUNTED} ORDER BY run_id, case_id, unit",
            {"metric": str(metric), "run_ids": list(run_ids)},
        )
        return [_sample(row) for row in found]

    def negotiated(self, run_ids: Collection[str]) -> list[NegotiatedRow]:
        found = self._query(
            "SELECT run_id, case_id, reference, any(value) AS negotiated FROM"
            " (SELECT run_id, case_id, arrayJoin(JSONExtractKeysAndValuesRaw(negotiated)) AS pair,"
            " pair.1 AS reference, pair.2 AS value FROM invocations FINAL"
            f" WHERE run_id IN {{run_ids:Array(String)}} AND {_COUNTED})"
            " GROUP BY run_id, case_id, reference ORDER BY run_id, case_id, reference",
            {"run_ids": list(run_ids)},
        )
        return [
            NegotiatedRow(
                row["run_id"], row["case_id"], row["reference"], Negotiated.model_validate_json(row["negotiated"])
            )
            for row in found
        ]

    def timers(self, run_id: str) -> dict[str, Timer]:
        found = self._query(
            "SELECT argMax(timers, measured_at) AS newest FROM invocations FINAL"
            f" WHERE run_id = {{run_id:String}} AND {_COUNTED} HAVING count() > 0",
            {"run_id": run_id},
        )
        return _TIMERS.validate_json(next((row["newest"] for row in found), "{}"))

    def outcomes(self, selection: Selection) -> list[OutcomeRow]:
        """Of each cell the newest run's outcomes, the most frequent one; with a run named, that run's."""
        found = self._query(
            f"SELECT {_columns()}, run_id, max(measured_at) AS newest, kind, any(reason) AS why,"
            " any(detail) AS text, count() AS times"
            f" FROM outcomes FINAL WHERE {_SELECTED} AND {_COUNTED}"
            f" AND ({_CELL}, run_id) IN (SELECT {_CELL}, argMax(run_id, (measured_at, run_id)) FROM outcomes"
            f" WHERE {_SELECTED} AND {_COUNTED} GROUP BY {_CELL})"
            f" GROUP BY {_columns()}, run_id, kind ORDER BY library, version_key, case_id, times DESC, kind",
            _parameters(selection),
        )
        return [
            OutcomeRow(
                case=rows.case_of(row),
                subject=rows.subject_of(row),
                run_id=row["run_id"],
                measured_at=row["newest"],
                kind=OutcomeKind(row["kind"]),
                reason=row["why"],
                detail=row["text"] or None,
                invocations=row["times"],
            )
            for row in found
        ]

    def export(self, selection: Selection) -> Iterator[dict[str, Any]]:
        """Counted samples with their batch values, in the order of the table."""
        columns = ", ".join(f"`{column}`" for column in EXPORT_COLUMNS)
        query = (
            f"SELECT {columns.replace('`build_profile`', 'build_profile_label AS `build_profile`')}"
            f" FROM samples FINAL WHERE metric = {{metric:String}} AND {_SELECTED} AND {_COUNTED}"
            " ORDER BY library, version_key, case_id, run_id, job_id, invocation"
        )
        return self._query(query, _parameters(selection))


_TIMERS = TypeAdapter(dict[str, Timer])


class _NotStartedError(Exception):
    def __init__(self, run: Run | None) -> None:
        self.run = run


def _life() -> dict[str, list[str]]:
    """The states of a run's life, and those of them that are open."""
    return {
        "life": [str(state) for state in RunState],
        "open": [str(state) for state in RunState if state.is_open],
    }


def _open_run(row: dict[str, Any]) -> OpenRunRow:
    return OpenRunRow(
        run_id=row["run_id"],
        spec_name=row["spec_name"],
        trigger=Trigger(row["trigger"]),
        pools=tuple(row["pools"]),
        estimated_s=row["estimated_s"],
        invocations=row["invocations"],
        line=row["line"],
        queued_at=row["queued_at"],
        event=RunEvent(run_id=row["run_id"], at=row["newest"], state=row["last_state"], detail=row["last_detail"]),
    )


def _sample(row: dict[str, Any]) -> SampleRow:
    return SampleRow(
        case=rows.case_of(row),
        subject=rows.subject_of(row),
        run_id=row["run_id"],
        measured_at=row["measured_at"],
        unit=row["unit"],
        median=row["median"],
        values=row["values"],
    )


def _sample_columns() -> str:
    return f"{_columns()}, run_id, measured_at, concat(job_id, '/', toString(invocation)) AS unit, median, `values`"


def _columns() -> str:
    return ", ".join(f"`{column}`" for column in (*rows.CASE_COLUMNS, *rows.SUBJECT_COLUMNS, "case_id"))


def _parameters(selection: Selection) -> dict[str, Any]:
    return {
        "metric": str(selection.metric),
        "pool": selection.pool or "",
        "cpu_model": selection.cpu_model or "",
        "libraries": list(selection.libraries),
        "sentinel": selection.sentinel,
        "variants": selection.variants,
        "before": selection.before or LATEST,
        "case_id": selection.case_id or "",
        "run_id": selection.run_id or "",
    }
