"""The table of summaries: which runs have numbers or outcomes of a cell, from which invocations.

Summaries are computed from samples and outcomes, never added up, so that repeating it changes nothing.
"""

import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

from kexbench.domain.cases import FIRST_FIELDS, Case
from kexbench.store import rows
from kexbench.store.connection import Connection, insert_token
from kexbench.store.port import StoreError

INVOCATION = "run_id, job_id, case_id, invocation, attempt"
COUNTS = "measured_at > toDateTime64(0, 3, 'UTC')"
"""SQL: whether a summary has a counted invocation, without reading which."""
KEYS_FIRST = "SETTINGS optimize_move_to_prewhere_if_final = 1"
"""SQL: reads values only of rows whose keys are selected. FINAL is not affected: it compares rows with equal keys."""
SUBJECT = "concat(library, '@', version, '~', source, '~', build_profile)"
"""SQL for Subject.name."""
IS_SHOWN = "reference != 'sentinel' AND NOT match(source, '[+](relink|burn|copy)=')"
"""SQL: whether overviews show a subject, if they show its run."""
SHOWN_RUN = "run_id NOT IN (SELECT run_id FROM runs WHERE aside AND NOT (first_look AND {first_looks:Bool}))"
"""SQL: whether overviews show a run; the same as not in `Evidence.left_out`."""
UNIT = "concat(job_id, '/', toString(invocation))"
_KEY = f"pool, host_id, cpu_model, {rows.CASE_SQL}, case_id, {rows.SUBJECT_SQL}, reference, run_id"
ASIDE = (
    f"SELECT {INVOCATION} FROM invocations INNER JOIN"
    " (SELECT run_id, job_id, attempt, since FROM aside_attempts FINAL) AS aside USING (run_id, job_id, attempt)"
    " WHERE run_id IN (SELECT run_id FROM aside_attempts) AND measured_at >= since"
)
"""SQL: the invocations of nodes that are set aside, as in the view `counted_invocations`."""
_CHECKSUMS = (
    "SELECT run_id, case_id, groupBitXorIf(cityHash64(job_id, invocation, first), first > 0) AS checksum FROM"
    f" (SELECT run_id, case_id, job_id, invocation, minIf(attempt, ({INVOCATION}) NOT IN ({ASIDE})) AS first"
    " FROM invocations {where} GROUP BY run_id, case_id, job_id, invocation) GROUP BY run_id, case_id"
)
"""SQL: also of cases in which nothing counts, since something may have counted before."""
_BEHIND = (
    f"SELECT run_id, case_id, checksum FROM ({_CHECKSUMS.format(where='')})"
    " WHERE (run_id, case_id, checksum) NOT IN (SELECT run_id, case_id, checksum FROM summarised FINAL)"
)
_OF_CASES = "run_id = {run_id:String} AND case_id IN {case_ids:Array(String)}"
_IN_CASES = " AND ".join(
    f"`{field}` IN {{{field}:Array({'UInt16' if field == 'rsa_bits' else 'String'})}}" for field in FIRST_FIELDS
)
"""SQL: implied by _OF_CASES, but the order of samples has only these."""
_IN_TIME = " AND ".join(
    f"measured_at {sign} (SELECT {end}(measured_at) FROM invocations WHERE {_OF_CASES})"
    for sign, end in ((">=", "min"), ("<=", "max"))
)
"""SQL: implied too, and leaves only a few parts of the table to read."""


def counted_in(runs: str) -> str:
    """SQL: whether an invocation of some runs counts, which are an expression or a query for their ids."""
    return _first_of(f"run_id IN {runs} AND ({INVOCATION}) NOT IN ({ASIDE})")


def delivered_in(runs: str) -> str:
    """SQL: the same, whether or not its node is set aside."""
    return _first_of(f"run_id IN {runs}")


def _first_of(where: str) -> str:
    return (
        f"({INVOCATION}) IN (SELECT run_id, job_id, case_id, invocation, min(attempt) FROM invocations"
        f" WHERE {where} GROUP BY run_id, job_id, case_id, invocation)"
    )


class SummaryTables(Connection):
    """The part of the store's port for summaries."""

    def __init__(self, dsn: str, database: str) -> None:
        super().__init__(dsn, database)
        self._summarising = threading.Lock()
        """Reading samples and writing their summaries are two steps: a slower thread must not write the older ones."""
        self._unsummarised: set[tuple[str, Case]] = set()
        """Cases of runs in which invocations were stored since their summaries were computed."""

    def close(self) -> None:
        """Leaves all summaries behind: the next start would compute them with a statement for each metric."""
        with suppress(StoreError):
            self._summarise_stored()
        super().close()

    def content_version(self) -> str:
        """As the port says. Summaries are content too, so the version is that of a store with all of them."""
        self._summarise_stored()
        return self.newest_write()

    def summarise(self) -> int:
        """Compute all summaries anew. Returns their number. After a kill, the next start completes it."""
        for table in ("summarised", "summaries"):
            self._command(f"TRUNCATE TABLE {table}")
        self._summarise_missing()
        return int(next(self._query("SELECT count() AS total FROM summaries FINAL WHERE notEmpty(counted)"))["total"])

    def _query_summaries(self, sql: str, parameters: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """As `_query`, with the summaries of everything stored."""
        self._summarise_stored()
        return self._query(f"{sql} {KEYS_FIRST}, max_threads = 1", parameters)

    def _summarise_stored(self) -> None:
        """Compute the summaries of what was stored since the last time."""
        with self._summarising:
            if self._may_write is not None and not self._may_write():
                self._unsummarised.clear()  # left to the process that writes now: it computes what is missing
                return
            while stored := self._unsummarised.copy():
                run_id = next(iter(stored))[0]
                of_run = {each for each in stored if each[0] == run_id}
                self._unsummarised -= of_run  # before reading the samples, since more may be stored meanwhile
                try:
                    self._summarise_cases(run_id, [case for _, case in of_run])
                except BaseException:
                    self._unsummarised |= of_run
                    raise

    def _summarise_cases(self, run_id: str, cases: Collection[Case]) -> None:
        """Compute the summaries of some cases of a run."""
        parameters: dict[str, Any] = {"run_id": run_id, "case_ids": [case.case_id for case in cases]}
        for field in FIRST_FIELDS:
            parameters[field] = sorted({getattr(case, field) for case in cases})
        done = list(self._query(_CHECKSUMS.format(where=f"WHERE {_OF_CASES}"), parameters))
        counted = counted_in("({run_id:String})")
        samples = _summaries("samples", f"{_IN_TIME} AND {_IN_CASES} AND {_OF_CASES}", counted)
        self._insert_summaries(f"{samples} UNION ALL {_summaries('outcomes', _OF_CASES, counted)}", parameters)
        self._insert("summarised", done)

    def _summarise_missing(self) -> None:
        """Compute what an earlier release or a kill left out, one metric after the other to need less memory."""
        behind = list(self._query(_BEHIND))
        if not behind:
            return
        are_behind = f"(run_id, case_id) IN (SELECT run_id, case_id FROM ({_BEHIND}))"
        counted = f"({INVOCATION}) IN (SELECT * FROM counted_invocations)"
        for row in self._query("SELECT DISTINCT metric FROM samples"):
            where = f"metric = {{metric:String}} AND {are_behind}"
            self._insert_summaries(_summaries("samples", where, counted), {"metric": row["metric"]})
        self._insert_summaries(_summaries("outcomes", are_behind, counted))
        self._insert("summarised", behind)

    def _insert_summaries(self, selected: str, parameters: dict[str, Any] | None = None) -> None:
        inserting = f"INSERT INTO summaries (metric, {_KEY}, measured_at, counted)"
        self._command(f"{inserting} SETTINGS insert_deduplication_token = '{insert_token()}' {selected}", parameters)


def _summaries(table: str, where: str, counted: str) -> str:
    """SQL: the summaries of some rows."""
    metric = "metric" if table == "samples" else "'' AS metric"
    return (
        f"SELECT metric, {_KEY}, maxIf(at, counts), arraySort(groupUniqArrayIf((unit, at), counts)) FROM"
        f" (SELECT {metric}, {_KEY}, measured_at AS at, {UNIT} AS unit, {counted} AS counts FROM {table}"
        f" WHERE {where}) GROUP BY metric, {_KEY}"
    )
