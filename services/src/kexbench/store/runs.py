"""The tables of runs: facts, events, and attempts at jobs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from kexbench.domain.runs import JobAttempt, Run, RunEvent, RunState, Trigger
from kexbench.store import rows
from kexbench.store.connection import page_of, page_parameters
from kexbench.store.kept import KeptTables
from kexbench.store.port import OpenRunRow, RunDurationRow, RunKey, RunNameRow, RunProgress, RunStateRow
from kexbench.store.rows import EVENT_ORDER
from kexbench.store.summaries import delivered_in

_FACTS = """
    spec_name, JSONExtractString(run, 'trigger') AS trigger,
    JSONExtract(run, 'plan', 'pools', 'Array(String)') AS pools,
    JSONExtractFloat(run, 'plan', 'estimated_s') AS estimated_s,
    JSONType(run, 'host') = 'Object' AS has_host,
    arraySum(job -> JSONExtractInt(job, 'invocations') * JSONLength(job, 'blocks') * JSONLength(job, 'case_ids'),
             JSONExtractArrayRaw(run, 'plan', 'jobs')) AS invocations,
    if(JSONExtractString(run, 'spec_path') = '', '', concat(JSONExtractString(run, 'commit', 'repository'), ' ',
       JSONExtractString(run, 'commit', 'branch'), ' ', JSONExtractString(run, 'spec_path'))) AS line
"""
_EVENT_COLUMNS = ("at", "state", "detail", "reason", "about")
_LAST = ", ".join(f"last_{column}" for column in _EVENT_COLUMNS)
_NEWEST = ", ".join(f"argMax({column}, {EVENT_ORDER}) AS last_{column}" for column in _EVENT_COLUMNS)
_QUEUED_AT = (
    "if(countIf(state = 'queued') > 0, argMaxIf(at, (number, at), state = 'queued'), argMin(at, (number, at)))"
    " AS queued_at"
)
_WHOLE = [str(state) for state in (RunState.QUEUED, RunState.BUILDING, RunState.RUNNING, RunState.FINISHED)]
"""The states of a run that nothing interrupted. An interrupted one was queued again."""
MANY_RUNS = 10
"""The invocations of fewer runs are counted faster than it is known whether they are the same."""
RUNS_KEPT = 4
"""The number of cached runs. A started run never changes, every arriving invocation is checked against it, and a large
plan takes a second to parse."""


class RunTables(KeptTables):
    """The part of the store's port for runs."""

    def __init__(self, dsn: str, database: str) -> None:
        super().__init__(dsn, database)
        self._started_run = lru_cache(maxsize=RUNS_KEPT)(self._read_started_run)

    def add_run(self, run: Run) -> None:
        self._insert("runs", [rows.run_row(run)])

    def add_event(self, event: RunEvent) -> None:
        self.add_events([event])

    def add_events(self, events: Sequence[RunEvent]) -> None:
        self._insert_events("run_events", "run_id", "state", [rows.event_row(event) for event in events])

    def add_attempt(self, attempt: JobAttempt, pool: str) -> None:
        columns = ("run_id", "job_id", "attempt", "started_at")
        row = rows.whole(attempt, *columns, "node", host_id=attempt.host.host_id, pool=pool)
        self._insert("attempts", [row])

    def attempts(self, run_id: str, job_id: str = "") -> list[JobAttempt]:
        return self._read(
            JobAttempt,
            "SELECT content FROM attempts FINAL WHERE run_id = {run_id:String}"
            " AND ({job_id:String} = '' OR job_id = {job_id:String}) ORDER BY job_id, attempt",
            {"run_id": run_id, "job_id": job_id},
        )

    def run(self, run_id: str) -> Run | None:
        try:
            return self._started_run(run_id)
        except _NotStartedError as error:
            return error.run

    def run_ids(self) -> set[str]:
        return {row["run_id"] for row in self._query("SELECT run_id FROM runs")}

    def _read_started_run(self, run_id: str) -> Run:
        """Raises _NotStartedError, which is not cached."""
        selected = self._query(
            "SELECT run_id, run FROM runs FINAL WHERE run_id = {run_id:String} ORDER BY created_at LIMIT 1",
            {"run_id": run_id},
        )
        run = next((rows.run_of(row) for row in selected), None)
        if run is None or not run.is_started:
            raise _NotStartedError(run)
        return run

    def run_keys(self, limit: int, before: datetime | None = None) -> list[RunKey]:
        selected = self._query(
            f"SELECT run_id, created_at, cityHash64(run) AS content FROM runs FINAL {page_of('created_at')}",
            page_parameters(limit, before),
        )
        return sorted((RunKey(**row) for row in selected), key=lambda key: (key.created_at, key.run_id), reverse=True)

    def runs_named(self, run_ids: Sequence[str]) -> list[Run]:
        selected = self._query(
            "SELECT run_id, run FROM runs FINAL WHERE run_id IN {run_ids:Array(String)}"
            " ORDER BY indexOf({run_ids:Array(String)}, run_id)",
            {"run_ids": list(run_ids)},
        )
        return rows.runs_of(selected)

    def events(self, run_id: str) -> list[RunEvent]:
        return self.events_by_run([run_id]).get(run_id, [])

    def events_by_run(self, run_ids: Sequence[str]) -> dict[str, list[RunEvent]]:
        selected = self._query(
            "SELECT run_id, at, state, detail, reason, about FROM run_events FINAL"
            " WHERE run_id IN {run_ids:Array(String)} ORDER BY run_id, number, at, state",
            {"run_ids": list(run_ids)},
        )
        return {run_id: list(map(_event, rows)) for run_id, rows in groupby(selected, itemgetter("run_id"))}

    def open_runs(self) -> list[str]:
        selected = self._query(
            "SELECT run_id FROM run_events GROUP BY run_id"
            f" HAVING argMax(state, {EVENT_ORDER}) IN {{open:Array(String)}}"
            " ORDER BY min(at), run_id",
            _open(),
        )
        return [row["run_id"] for row in selected]

    def open_run_rows(self) -> list[OpenRunRow]:
        selected = self._query(
            f"SELECT run_id, {_FACTS}, queued_at, {_LAST} FROM"
            " (SELECT run_id, spec_name, run FROM runs FINAL) AS facts INNER JOIN"
            f" (SELECT run_id, {_NEWEST}, {_QUEUED_AT}"
            " FROM run_events GROUP BY run_id) AS events USING run_id"
            " WHERE last_state IN {open:Array(String)} ORDER BY queued_at, run_id",
            _open(),
        )
        return [_open_run(row) for row in selected]

    def run_durations(self, limit: int) -> list[RunDurationRow]:
        selected = self._query(
            "WITH events AS (SELECT run_id, max(at) AS ended, minIf(at, state = 'running') AS begun FROM run_events"
            " GROUP BY run_id HAVING countIf(state = 'finished') > 0 AND countIf(state = 'running') > 0"
            " AND countIf(state NOT IN {whole:Array(String)}) = 0 AND countIf(state = 'queued') <= 1"
            " ORDER BY ended DESC, run_id LIMIT {limit:UInt32})"
            " SELECT spec_name, JSONExtractFloat(run, 'plan', 'estimated_s') AS estimated_s,"
            " dateDiff('millisecond', begun, ended) / 1000 AS took_s"
            " FROM (SELECT run_id, spec_name, run FROM runs FINAL WHERE run_id IN (SELECT run_id FROM events)) AS facts"
            " INNER JOIN events USING run_id ORDER BY ended DESC, run_id",
            {"limit": limit, "whole": _WHOLE},
        )
        return [RunDurationRow(**row) for row in selected]

    def last_begun(self) -> dict[str, datetime]:
        selected = self._query(
            "SELECT spec_name, max(begun) AS last FROM runs INNER JOIN"
            " (SELECT run_id, min(at) AS begun FROM run_events WHERE state = 'running' GROUP BY run_id) AS events"
            " USING run_id GROUP BY spec_name"
        )
        return {row["spec_name"]: row["last"] for row in selected}

    def schedules_open_until(self) -> dict[str, datetime]:
        selected = self._query(
            "SELECT spec_name, argMax(newest, created_at) AS last FROM runs INNER JOIN"
            f" (SELECT run_id, argMax(at, {EVENT_ORDER}) AS newest FROM run_events GROUP BY run_id) AS events"
            " USING run_id"
            " WHERE JSONExtractString(run, 'trigger') = {trigger:String} GROUP BY spec_name",
            {"trigger": str(Trigger.SCHEDULE)},
        )
        return {row["spec_name"]: row["last"] for row in selected}

    def find_runs(self, words: Sequence[str], limit: int) -> list[RunNameRow]:
        selected = self._query(
            "SELECT run_id, spec_name, created_at FROM runs FINAL"
            " WHERE arrayAll(word -> positionCaseInsensitiveUTF8(concat(spec_name, ' ', run_id), word) > 0,"
            " {words:Array(String)}) ORDER BY created_at DESC, run_id DESC LIMIT {limit:UInt32}",
            {"words": list(words), "limit": limit},
        )
        return [RunNameRow(**row) for row in selected]

    def run_states(self) -> list[RunStateRow]:
        selected = self._query(
            "SELECT last_state AS state, count() AS runs, min(last_at) AS since, min(queued_at) AS queued FROM"
            f" (SELECT run_id, {_NEWEST}, {_QUEUED_AT}"
            " FROM run_events WHERE run_id IN (SELECT run_id FROM runs) GROUP BY run_id)"
            " GROUP BY last_state ORDER BY last_state"
        )
        return [RunStateRow(RunState(row["state"]), row["runs"], row["since"], row["queued"]) for row in selected]

    def progress(self, run_ids: list[str]) -> dict[str, RunProgress]:
        selected = self._query(
            f"SELECT run_id, {_NEWEST} FROM run_events WHERE run_id IN {{run_ids:Array(String)}} GROUP BY run_id",
            {"run_ids": run_ids},
        )
        events = {row["run_id"]: _last_event(row) for row in selected}
        ended = [run_id for run_id, event in events.items() if not event.state.is_open]
        kept = self._kept_stored(ended) if len(ended) >= MANY_RUNS else {}
        stored = kept | self._stored([run_id for run_id in events if run_id not in kept])
        return {run_id: RunProgress(event, *stored[run_id]) for run_id, event in events.items()}

    def _kept_stored(self, run_ids: Sequence[str]) -> dict[str, tuple[int, int, int]]:
        """As `_stored`, without counting again what has not changed."""
        kept = self.kept(
            [("stored", run_id) for run_id in run_ids],
            lambda evidence, key: evidence.of_run(key[1]),
            lambda keys: {("stored", run_id): each for run_id, each in self._stored([key[1] for key in keys]).items()},
        )
        return {run_id: each for (_, run_id), each in kept.items()}

    def _stored(self, run_ids: Sequence[str]) -> dict[str, tuple[int, int, int]]:
        """The number of stored invocations, and of their discarded and preempted batches."""
        if not run_ids:
            return {}
        selected = self._query(
            "SELECT run_id, count() AS stored, sum(discarded_batches) AS discarded,"
            " sum(preempted_batches) AS preempted FROM invocations FINAL"
            " WHERE run_id IN {run_ids:Array(String)}"
            f" AND {delivered_in('{run_ids:Array(String)}')} GROUP BY run_id",
            {"run_ids": run_ids},
        )
        nothing = dict.fromkeys(run_ids, (0, 0, 0))
        return nothing | {row["run_id"]: (row["stored"], row["discarded"], row["preempted"]) for row in selected}


def _event(row: Mapping[str, Any]) -> RunEvent:
    return RunEvent.model_validate({**row, "reason": row["reason"] or None})


def _last_event(row: Mapping[str, Any]) -> RunEvent:
    return _event({"run_id": row["run_id"], **{column: row[f"last_{column}"] for column in _EVENT_COLUMNS}})


class _NotStartedError(Exception):
    def __init__(self, run: Run | None) -> None:
        self.run = run


def _open() -> dict[str, list[str]]:
    """The states of a run that has not ended."""
    return {"open": [str(state) for state in RunState if state.is_open]}


def _open_run(row: dict[str, Any]) -> OpenRunRow:
    return OpenRunRow(
        **{field: row[field] for field in ("run_id", "spec_name", "estimated_s", "invocations", "line", "queued_at")},
        trigger=Trigger(row["trigger"]),
        pools=tuple(row["pools"]),
        has_host=bool(row["has_host"]),
        event=_last_event(row),
    )
