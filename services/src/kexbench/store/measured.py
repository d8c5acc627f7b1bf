"""The tables of what was measured: invocations, their samples and their outcomes."""

from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter

from kexbench.domain.hosts import HostFacts
from kexbench.domain.moments import LATEST
from kexbench.domain.runs import Run
from kexbench.domain.samples import (
    DISTURBED_REASON,
    SPOILT_BY_PREEMPTION,
    Disturbed,
    Invocation,
    Metric,
    Negotiated,
    OutcomeKind,
    Timer,
)
from kexbench.store import rows
from kexbench.store.hosts import HOST_KIND, HostTables
from kexbench.store.port import (
    EXPORT_COLUMNS,
    HostKindRow,
    InvocationKey,
    MeanLoad,
    NegotiatedRow,
    OutcomeRow,
    SampleRow,
    Selection,
    SubjectRow,
)

_INVOCATION = "run_id, job_id, case_id, invocation, attempt"
COUNTED = f"({_INVOCATION}) IN (SELECT * FROM counted_invocations)"
UNIT = "concat(job_id, '/', toString(invocation))"
SUBJECT = "concat(library, '@', version, '~', source, '~', build_profile)"
"""What SubjectRow.name is."""
ON_HOST_KIND = (
    "({pool:String} = '' OR pool = {pool:String})"
    f" AND ({{cpu_model:String}} = '' OR {HOST_KIND} = {{cpu_model:String}})"
)
SELECTED = (
    ON_HOST_KIND
    + """
    AND (empty({libraries:Array(String)}) OR library IN {libraries:Array(String)})
    AND (empty({subjects:Array(String)}) OR """
    + SUBJECT
    + """ IN {subjects:Array(String)})
    AND ({case_id:String} = '' OR case_id = {case_id:String})
    AND ({run_id:String} = '' OR run_id = {run_id:String})
    AND (empty({runs:Array(String)}) OR run_id IN {runs:Array(String)})
    AND (reference = 'sentinel') = {sentinel:Bool}
    AND ({variants:Bool} OR {run_id:String} != '' OR notEmpty({runs:Array(String)})
         OR NOT match(source, '[+](relink|burn|copy)='))
    AND ({asides:Bool} OR {run_id:String} != '' OR notEmpty({runs:Array(String)})
         OR run_id NOT IN (SELECT run_id FROM runs WHERE aside))
    AND measured_at < {before:DateTime64(3)}
"""
)
_SHOWN = (
    "reference != 'sentinel' AND NOT match(source, '[+](relink|burn|copy)=')"
    " AND run_id NOT IN (SELECT run_id FROM runs WHERE aside)"
)
CELL = "case_id, library, version_key, source, build_profile"
_DESCRIBED = f"{rows.CASE_SQL}, {rows.SUBJECT_SQL}, case_id"
_SAMPLE = f"{_DESCRIBED}, run_id, host_id, measured_at, {UNIT} AS unit, level, `values`"
_TIMERS = TypeAdapter(dict[str, Timer])


class MeasuredTables(HostTables):
    """The part of the store's port that tells of invocations."""

    def add_invocation(self, run: Run, invocation: Invocation, host: HostFacts | None = None) -> None:
        """The row in `invocations` is written last: without it nothing of the rest counts."""
        measured_on = host or run.host
        assert measured_on is not None, "a run without a host of its own has attempts with one"
        self._note_host(measured_on)
        self._insert("samples", rows.sample_rows(run, invocation, measured_on))
        self._insert("outcomes", rows.outcome_rows(run, invocation, measured_on))
        self._insert("invocations", [rows.invocation_row(invocation, measured_on)])

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
        """The host kinds with samples or outcomes, the one measured last first; behind them those that only runs aside
        have, which no overview shows."""
        ours = f"({{run_id:String}} = '' OR run_id = {{run_id:String}}) AND {COUNTED}"
        found = self._query(
            f"SELECT pool, {HOST_KIND} AS host_kind FROM ("
            f"SELECT pool, cpu_model, host_id, run_id, measured_at FROM samples WHERE metric = 'cpu_ns' AND {ours}"
            f" UNION ALL SELECT pool, cpu_model, host_id, run_id, measured_at FROM outcomes WHERE {ours}"
            ") GROUP BY pool, host_kind"
            " ORDER BY maxIf(measured_at, run_id NOT IN (SELECT run_id FROM runs WHERE aside)) DESC,"
            " max(measured_at) DESC, pool, host_kind",
            {"run_id": run_id or ""},
        )
        return [HostKindRow(row["pool"], row["host_kind"]) for row in found]

    def subjects(self) -> list[SubjectRow]:
        found = self._query(
            f"SELECT {rows.SUBJECT_SQL} FROM samples WHERE metric = 'cpu_ns' AND {_SHOWN} AND {COUNTED}"
            f" GROUP BY {rows.SUBJECT_SQL}"
            " ORDER BY library, version_key, build_profile, max(measured_at)"
        )
        return [rows.subject_of(row) for row in found]

    def samples(self, selection: Selection) -> list[SampleRow]:
        """Of each cell the newest run's samples; with a run named, that run's, with several, all of them."""
        here = f"metric = {{metric:String}} AND {SELECTED} AND {COUNTED}"
        found = self._query(
            f"SELECT {_SAMPLE} FROM samples FINAL WHERE {here}"
            f" AND (notEmpty({{runs:Array(String)}}) OR {_of_newest_run('samples', here)})"
            " ORDER BY library, version_key, source, build_profile, case_id, unit",
            parameters(selection),
        )
        return [_sample(row) for row in found]

    def metrics(self) -> set[str]:
        return {row["metric"] for row in self._query(f"SELECT DISTINCT metric FROM samples WHERE {COUNTED}")}

    def sentinels(self, metric: Metric, run_ids: Collection[str]) -> list[SampleRow]:
        found = self._query(
            f"SELECT {_SAMPLE}"
            " FROM samples FINAL WHERE metric = {metric:String} AND reference = 'sentinel'"
            f" AND run_id IN {{run_ids:Array(String)}} AND {COUNTED} ORDER BY run_id, case_id, unit",
            {"metric": str(metric), "run_ids": list(run_ids)},
        )
        return [_sample(row) for row in found]

    def negotiated(self, run_ids: Collection[str]) -> list[NegotiatedRow]:
        found = self._query(
            "SELECT run_id, case_id, reference, any(value) AS negotiated FROM"
            " (SELECT run_id, case_id, arrayJoin(JSONExtractKeysAndValuesRaw(negotiated)) AS pair,"
            " pair.1 AS reference, pair.2 AS value FROM invocations FINAL"
            f" WHERE run_id IN {{run_ids:Array(String)}} AND {COUNTED})"
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
            f" WHERE run_id = {{run_id:String}} AND {COUNTED} HAVING count() > 0",
            {"run_id": run_id},
        )
        return _TIMERS.validate_json(next((row["newest"] for row in found), "{}"))

    def mean_load(self, run_id: str) -> MeanLoad:
        shares = [field.name for field in fields(MeanLoad)]
        means = ", ".join(
            f"avgOrNull(JSONExtract(host_load, '{share}', 'Nullable(Float64)')) AS {share}" for share in shares
        )
        found = self._query(
            f"SELECT {means} FROM invocations FINAL WHERE run_id = {{run_id:String}} AND {COUNTED}", {"run_id": run_id}
        )
        return MeanLoad(**next(iter(found)))

    def outcomes(self, selection: Selection) -> list[OutcomeRow]:
        """Of each cell the newest run's outcomes, the most frequent one; with a run named, that run's."""
        found = self._query(
            f"SELECT {_DESCRIBED}, run_id, max(measured_at) AS newest, kind, any(reason) AS why,"
            " any(detail) AS text, count() AS times"
            f" FROM outcomes FINAL WHERE {SELECTED} AND {COUNTED}"
            f" AND {_of_newest_run('outcomes', f'{SELECTED} AND {COUNTED}')}"
            f" GROUP BY {_DESCRIBED}, run_id, kind ORDER BY library, version_key, case_id, times DESC, kind",
            parameters(selection),
        )
        return [_outcome(row, OutcomeKind(row["kind"]), row["why"], row["text"] or None) for row in found]

    def disturbed(self, selection: Selection) -> list[OutcomeRow]:
        if selection.metric not in SPOILT_BY_PREEMPTION:
            return []
        of_cpu_time = f"metric = 'cpu_ns' AND {SELECTED} AND {COUNTED}"
        found = self._query(
            f"SELECT {_DESCRIBED}, run_id, max(measured_at) AS newest, count() AS times FROM samples FINAL"
            f" WHERE {of_cpu_time}"
            f" AND ({_INVOCATION}) IN (SELECT {_INVOCATION} FROM invocations WHERE preempted_batches > 0)"
            f" AND ({_INVOCATION}, reference) NOT IN (SELECT {_INVOCATION}, reference FROM samples"
            f" WHERE metric = {{metric:String}} AND {SELECTED})"
            f" AND (notEmpty({{runs:Array(String)}})"
            f" OR {_of_newest_run('samples', of_cpu_time)})"
            f" GROUP BY {_DESCRIBED}, run_id ORDER BY library, version_key, case_id, run_id",
            parameters(selection),
        )
        return [_outcome(row, "disturbed", DISTURBED_REASON) for row in found]

    def export(self, selection: Selection) -> Iterator[dict[str, Any]]:
        """Counted samples with their batch values, in the order of the table."""
        told = {"build_profile": "build_profile_label", "cpu_model": HOST_KIND}
        columns = ", ".join(f"{told.get(column, f'`{column}`')} AS `{column}`" for column in EXPORT_COLUMNS)
        query = (
            f"SELECT {columns}"
            f" FROM samples FINAL WHERE metric = {{metric:String}} AND {SELECTED} AND {COUNTED}"
            " ORDER BY library, version_key, case_id, run_id, job_id, invocation"
        )
        return self._query(query, parameters(selection))


def _sample(row: dict[str, Any]) -> SampleRow:
    return SampleRow(
        case=rows.case_of(row),
        subject=rows.subject_of(row),
        run_id=row["run_id"],
        measured_at=row["measured_at"],
        unit=row["unit"],
        level=row["level"],
        values=row["values"],
        host_id=row["host_id"],
    )


def _outcome(row: dict[str, Any], kind: OutcomeKind | Disturbed, reason: str, detail: str | None = None) -> OutcomeRow:
    return OutcomeRow(
        case=rows.case_of(row),
        subject=rows.subject_of(row),
        run_id=row["run_id"],
        measured_at=row["newest"],
        kind=kind,
        reason=reason,
        detail=detail,
        invocations=row["times"],
    )


def _of_newest_run(table: str, where: str) -> str:
    """SQL: whether a row is of the newest run that has its cell."""
    newest = f"SELECT {CELL}, argMax(run_id, (measured_at, run_id)) FROM {table} WHERE {where} GROUP BY {CELL}"
    return f"({CELL}, run_id) IN ({newest})"


def parameters(selection: Selection) -> dict[str, Any]:
    return {
        **rows.columns_of(selection, "metric", "libraries", "subjects", "runs", "sentinel", "variants", "asides"),
        **{field: getattr(selection, field) or "" for field in ("pool", "cpu_model", "case_id", "run_id")},
        "before": selection.before or LATEST,
    }
