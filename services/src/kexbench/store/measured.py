"""The tables of results: invocations, their samples and their outcomes."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple, cast

from pydantic import TypeAdapter

from kexbench.domain.batches import LOG_STEPS, RemovedBatches, RoundRatio, Values
from kexbench.domain.cases import FIRST_FIELDS, Case
from kexbench.domain.hosts import HostFacts, HostKind
from kexbench.domain.metrics import HELD_METRICS, SPOILT_BY_PREEMPTION, Metric
from kexbench.domain.moments import LATEST
from kexbench.domain.runs import Run
from kexbench.domain.samples import (
    HOPELESS,
    WITHDRAWN_REASON,
    Absence,
    Invocation,
    Negotiated,
    OutcomeKind,
    Timer,
    disturbed_reason,
)
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES_OF
from kexbench.store import rows
from kexbench.store.columns import sample_columns
from kexbench.store.evidence import Evidence, RunCase
from kexbench.store.hosts import HOST_KIND, HostTables
from kexbench.store.kept import KeptTables
from kexbench.store.port import InvocationKey, MeanLoad, NegotiatedRow, OutcomeRow, SampleRow, Selection
from kexbench.store.summaries import COUNTS, INVOCATION, IS_SHOWN, KEYS_FIRST, SHOWN_RUN, SUBJECT, UNIT, counted_in

DECIDING = ", ".join(repr(str(sides["both"])) for sides in SIDES_OF.values())
"""SQL: the metrics of which every counted invocation with numbers has one."""
COUNTED = f"({INVOCATION}) IN (SELECT * FROM counted_invocations)"
BEFORE = "{before:DateTime64(3)}"


def selected(selection: Selection) -> str:
    """SQL: whether a sample or an outcome is selected. It has only what filters, since the engine takes longer to
    analyse conditions than to read a few rows."""
    return _selected(selection, f"measured_at < {BEFORE}")


def summarised(selection: Selection) -> str:
    """SQL: whether a cell's summary is selected."""
    return _selected(selection, f"arrayExists(each -> each.2 < {BEFORE}, counted)" if selection.before else COUNTS)


def newest(selection: Selection) -> str:
    """SQL: the time of the newest selected invocation of a cell's summary."""
    if selection.before is None:
        return "measured_at"
    return f"arrayMax(each -> if(each.2 < {BEFORE}, each.2, toDateTime64(0, 3, 'UTC')), counted)"


def _selected(selection: Selection, in_time: str) -> str:
    is_named = bool(selection.run_id or selection.runs)
    conditions = {
        in_time: True,
        on_host_kind(selection): True,
        "library IN {libraries:Array(String)}": bool(selection.libraries),
        f"{SUBJECT} IN {{subjects:Array(String)}}": bool(selection.subjects),
        "case_id IN {case_ids:Array(String)}": bool(selection.case_ids),
        "run_id = {run_id:String}": bool(selection.run_id),
        "run_id IN {runs:Array(String)}": bool(selection.runs),
        "(reference = 'sentinel') = {sentinel:Bool}": True,
        "NOT match(source, '[+](relink|burn|copy)=')": not (selection.variants or is_named),
        SHOWN_RUN: not (selection.asides or is_named),
    }
    return " AND ".join(condition for condition, applies in conditions.items() if applies)


def on_host_kind(selection: Selection) -> str:
    conditions = {"pool = {pool:String}": selection.pool, f"{HOST_KIND} = {{cpu_model:String}}": selection.cpu_model}
    return " AND ".join(condition for condition, value in conditions.items() if value) or "true"


_SHOWN = f"{IS_SHOWN} AND {SHOWN_RUN}"
CELL = "case_id, library, version_key, source, build_profile"
_PLACE = f"cityHash64({CELL}, run_id)"
_INDEXED = ("library", "cpu_model", "pool", *FIRST_FIELDS, "version_key")
"""The order of samples begins with these, so naming their values leaves few samples to read."""
KEYS_OF_CHOSEN = (
    "run_id IN {run_ids:Array(String)} AND host_id IN {host_ids:Array(String)}"
    f" AND (reference = 'sentinel') = {{sentinel:Bool}} AND measured_at < {BEFORE} AND "
    + " AND ".join(
        f"`{column}` IN {{of_{column}:Array({'UInt16' if column == 'rsa_bits' else 'String'})}}" for column in _INDEXED
    )
)
"""SQL: implied by `COUNTED_OF_CHOSEN`, and cheaper."""
COUNTED_OF_CHOSEN = f"{_PLACE} IN {{places:Array(UInt64)}} AND {counted_in('{run_ids:Array(String)}')}"
OF_CHOSEN = f"{KEYS_OF_CHOSEN} AND {COUNTED_OF_CHOSEN}"
"""SQL: whether a sample or an outcome counts and belongs to the chosen runs (`MeasuredTables._chosen`)."""


DESCRIBED = f"{rows.CASE_SQL}, {rows.SUBJECT_SQL}, case_id"
BATCHES = "`values`, reference, `median`, kept"
"""SQL: what `batches_in` needs."""
_SAMPLE = f"metric, {DESCRIBED}, run_id, pool, host_id, measured_at, {UNIT} AS unit, level, {BATCHES}"
_TIMERS = TypeAdapter(dict[str, Timer])


def samples_once(columns: str, keys: str, counted: str) -> str:
    """SQL: some samples of `metrics`, without the copies that repeated deliveries leave: the last one counts, as with
    FINAL. That would compare all rows of the granules before any condition on other columns than those of the order,
    which takes two to five times as long."""
    return (
        f"SELECT {columns} FROM samples PREWHERE metric IN {{metrics:Array(String)}} AND {keys} WHERE {counted}"
        f" ORDER BY toUInt64(splitByChar('_', _part)[3]) DESC LIMIT 1 BY metric, {INVOCATION}, reference"
    )


def _key_of(invocation: Invocation) -> InvocationKey:
    return InvocationKey(invocation.job_id, invocation.attempt, invocation.case_id, invocation.invocation)


class _Chosen(NamedTuple):
    parameters: dict[str, Any]
    """For OF_CHOSEN."""
    kinds: dict[str, str]
    """The host kind of each host."""


class MeasuredTables(HostTables, KeptTables):
    """The part of the store's port for invocations."""

    def add_invocation(self, run: Run, invocation: Invocation, host: HostFacts | None = None) -> None:
        self.add_invocations(run, [invocation], host)

    def add_invocations(self, run: Run, invocations: Sequence[Invocation], host: HostFacts | None = None) -> None:
        """The rows in `invocations` are written after all others of the invocations: without them, none counts. Of an
        invocation that is given twice, the last one counts."""
        invocations = list({_key_of(each): each for each in invocations}.values())
        try:
            self._add_invocations(run, invocations, host or run.host)
        finally:
            self._note_delivery({RunCase(run.run_id, each.case_id) for each in invocations})

    def _add_invocations(self, run: Run, invocations: Sequence[Invocation], measured_on: HostFacts | None) -> None:
        assert measured_on is not None, "a run without a host has attempts with one"
        self._note_host(measured_on)
        with self._replacing:
            self._insert("samples", sample_columns(run, invocations, measured_on))
        for table, rows_of in (("outcomes", rows.outcome_rows), ("profiles", rows.profile_rows)):
            self._insert(table, [row for each in invocations for row in rows_of(run, each, measured_on)])
        self._insert("withdrawn", [row for each in invocations for row in rows.withdrawn_rows(each)])
        try:
            self._insert("invocations", [rows.invocation_row(each, measured_on) for each in invocations])
        finally:  # an insert that fails may still have arrived
            measured = {each.case_id for each in invocations}
            self._unsummarised |= {(run.run_id, run.plan.case(case_id)) for case_id in measured}

    def invocations(self, run_id: str, job_id: str = "") -> set[InvocationKey]:
        selected = self._query(
            "SELECT DISTINCT job_id, attempt, case_id, invocation FROM invocations WHERE run_id = {run_id:String}"
            " AND ({job_id:String} = '' OR job_id = {job_id:String})",
            {"run_id": run_id, "job_id": job_id},
        )
        return {InvocationKey(**row) for row in selected}

    def hopeless(self, run_id: str, job_id: str = "") -> dict[InvocationKey, list[str]]:
        of_run = "run_id = {run_id:String} AND ({job_id:String} = '' OR job_id = {job_id:String})"
        asked: dict[str, Any] = {"run_id": run_id, "job_id": job_id, "kinds": sorted(HOPELESS)}
        place = "job_id, attempt, case_id, invocation, reference"
        selected = self._query(
            f"SELECT DISTINCT {place} FROM outcomes FINAL WHERE {of_run} AND kind IN {{kinds:Array(String)}}", asked
        )
        failed = set(map(_place, selected))
        if not failed:
            return {}
        asked["cases"] = sorted({key.case_id for key, _ in failed})
        measured = self._query(
            f"SELECT DISTINCT {place} FROM samples WHERE {of_run} AND case_id IN {{cases:Array(String)}}", asked
        )
        hopeless: dict[InvocationKey, list[str]] = defaultdict(list)
        for key, subject in sorted(failed - set(map(_place, measured)), key=itemgetter(1)):
            hopeless[key].append(subject)
        return dict(hopeless)

    def stored_by_job(self, run_id: str, before: datetime | None = None) -> dict[str, int]:
        selected = self._query(
            "SELECT job_id, uniqExact(case_id, invocation) AS stored FROM invocations WHERE run_id = {run_id:String}"
            " AND measured_at < {before:DateTime64(3, 'UTC')} GROUP BY job_id",
            {"run_id": run_id, "before": before or LATEST},
        )
        return {row["job_id"]: int(row["stored"]) for row in selected}

    def subjects(self) -> list[Subject]:
        return list(self.kept_value("subjects", Evidence.of_all, self._subjects))

    def _subjects(self) -> list[Subject]:
        selected = self._query_summaries(
            f"SELECT {rows.SUBJECT_SQL} FROM summaries FINAL"
            f" WHERE metric IN ({DECIDING}) AND {_SHOWN} AND {COUNTS}"
            f" GROUP BY {rows.SUBJECT_SQL}"
            " ORDER BY library, version_key, build_profile, max(measured_at)",
            {"first_looks": self.evidence().shows_first_looks},
        )
        return [rows.subject_of(row) for row in selected]

    def samples(self, selection: Selection) -> list[SampleRow]:
        """The newest run's samples for each cell. With runs named, all samples of these runs."""
        return self._samples(selection, [selection.metric])[selection.metric]

    def samples_by_metric(self, selection: Selection, metrics: Collection[Metric]) -> dict[Metric, list[SampleRow]]:
        assert selection.runs, "the newest run of a cell may be another one for each metric"
        return self._samples(selection, metrics)

    def _samples(self, selection: Selection, metrics: Collection[Metric]) -> dict[Metric, list[SampleRow]]:
        samples: dict[Metric, list[SampleRow]] = {metric: [] for metric in metrics}
        chosen = self._chosen(selection, list(map(str, metrics)), all_named=True)
        if chosen is None:
            return samples
        selected = self._query(
            f"SELECT * FROM ({samples_once(_SAMPLE, KEYS_OF_CHOSEN, COUNTED_OF_CHOSEN)})"
            " ORDER BY library, version_key, source, build_profile, case_id, unit",
            chosen.parameters,
        )
        for row in selected:
            samples[Metric(row["metric"])].append(_sample(row, chosen.kinds))
        return samples

    def _chosen(
        self,
        selection: Selection,
        metrics: Sequence[str],
        where: str = "true",
        age: str = "",
        *,
        all_named: bool = False,
        **bound: Any,
    ) -> "_Chosen | None":
        """The newest run of each cell, by `age` before its time, with `all_named` all runs that are named. None if
        there are no such runs. An empty metric stands for outcomes. Several metrics need named runs."""
        age = f"{age}{newest(selection)}"
        is_chosen = "is_newest OR notEmpty({runs:Array(String)})" if all_named else "is_newest"
        columns = ", ".join(("run_id", "host_id", *(f"`{column}`" for column in _INDEXED)))
        given = self._parameters(selection) | bound | {"metrics": list(metrics)}
        selected = list(
            self._query_summaries(
                f"SELECT DISTINCT place, host_kind, {columns} FROM"
                f" (SELECT {_PLACE} AS place, {HOST_KIND} AS host_kind, {columns},"
                f" run_id = argMax(run_id, ({age}, run_id)) OVER (PARTITION BY {CELL}) AS is_newest"
                " FROM summaries FINAL WHERE metric IN {metrics:Array(String)}"
                f" AND {summarised(selection)} AND {where})"
                f" WHERE {is_chosen}",
                given,
            )
        )
        if not selected:
            return None
        names = {"place": "places", "run_id": "run_ids", "host_id": "host_ids"} | {
            name: f"of_{name}" for name in _INDEXED
        }
        return _Chosen(
            given | {name: sorted({row[column] for row in selected}) for column, name in names.items()},
            {row["host_id"]: row["host_kind"] for row in selected},
        )

    def sentinels(self, selection: Selection) -> list[SampleRow]:
        if not selection.runs:
            return []
        sentinels = self.samples(
            Selection(
                selection.metric,
                selection.pool,
                selection.cpu_model,
                case_ids=selection.case_ids,
                sentinel=True,
                runs=selection.runs,
            )
        )
        return sorted(sentinels, key=lambda row: (row.run_id, row.case.case_id, row.unit))

    def negotiated(self, run_ids: Collection[str]) -> list[NegotiatedRow]:
        selected = self._query(
            "SELECT run_id, case_id, reference, any(value) AS negotiated FROM"
            " (SELECT run_id, case_id, arrayJoin(JSONExtractKeysAndValuesRaw(negotiated)) AS pair,"
            " pair.1 AS reference, pair.2 AS value FROM invocations FINAL"
            f" WHERE run_id IN {{run_ids:Array(String)}} AND {counted_in('{run_ids:Array(String)}')})"
            " GROUP BY run_id, case_id, reference ORDER BY run_id, case_id, reference",
            {"run_ids": list(run_ids)},
        )
        return [
            NegotiatedRow(
                row["run_id"], row["case_id"], row["reference"], Negotiated.model_validate_json(row["negotiated"])
            )
            for row in selected
        ]

    def timers(self, run_id: str) -> dict[str, Timer]:
        selected = self._query(
            "SELECT argMax(timers, measured_at) AS newest FROM invocations FINAL"
            f" WHERE run_id = {{run_id:String}} AND {counted_in('({run_id:String})')} HAVING count() > 0",
            {"run_id": run_id},
        )
        return _TIMERS.validate_json(next((row["newest"] for row in selected), "{}"))

    def mean_load(self, run_id: str) -> MeanLoad:
        shares = [field.name for field in fields(MeanLoad)]
        means = ", ".join(
            f"avgOrNull(JSONExtract(host_load, '{share}', 'Nullable(Float64)')) AS {share}" for share in shares
        )
        selected = self._query(
            f"SELECT {means} FROM invocations FINAL"
            f" WHERE run_id = {{run_id:String}} AND {counted_in('({run_id:String})')}",
            {"run_id": run_id},
        )
        return MeanLoad(**next(iter(selected)))

    def outcomes(self, selection: Selection) -> list[OutcomeRow]:
        """The newest run's outcomes for each cell, most frequent first; with a run named, that run's."""
        chosen = self._chosen(selection, [""])
        if chosen is None:
            return []
        selected = self._query(
            f"SELECT {DESCRIBED}, run_id, max(measured_at) AS newest, kind, any(reason) AS why,"
            " any(detail) AS text, count() AS times"
            f" FROM outcomes FINAL WHERE {OF_CHOSEN}"
            f" GROUP BY {DESCRIBED}, run_id, kind ORDER BY library, version_key, case_id, times DESC, kind",
            chosen.parameters,
        )
        return [outcome_row(row, OutcomeKind(row["kind"]), row["why"], row["text"] or None) for row in selected]

    def disturbed(self, selection: Selection) -> list[OutcomeRow]:
        if selection.metric not in SPOILT_BY_PREEMPTION:
            return []
        if selection.runs and not self._preempted(selection.runs):
            return []
        chosen = self._chosen(selection, [str(Metric.CPU_NS)], all_named=True)
        if chosen is None or not self._preempted(chosen.parameters["run_ids"]):
            return []
        lacking = (
            f"({INVOCATION}) IN (SELECT {INVOCATION} FROM invocations"
            " WHERE run_id IN {run_ids:Array(String)} AND preempted_batches > 0)"
            f" AND ({INVOCATION}, reference) NOT IN"
            f" (SELECT {INVOCATION}, reference FROM samples WHERE metric = {{metric:String}} AND {OF_CHOSEN})"
        )
        cells = self._with_time(chosen, lacking)
        disturbed = [row for row in cells if has_metric(rows.case_of(row), selection.metric)]
        harness = self.harness_versions({row["run_id"] for row in disturbed})
        return [outcome_row(row, "disturbed", disturbed_reason(harness.get(row["run_id"], 0))) for row in disturbed]

    def withdrawn(self, selection: Selection) -> list[OutcomeRow]:
        if selection.metric not in HELD_METRICS:
            return []
        chosen = self._chosen(selection, [str(Metric.CPU_NS)], all_named=True)
        if chosen is None:
            return []
        withdrawn = (
            f"({INVOCATION}, reference) IN (SELECT {INVOCATION}, reference FROM withdrawn"
            " WHERE run_id IN {run_ids:Array(String)} AND metric = {metric:String})"
        )
        return [outcome_row(row, "withdrawn", WITHDRAWN_REASON) for row in self._with_time(chosen, withdrawn)]

    def withdrawn_metrics(self) -> set[str]:
        return {row["metric"] for row in self._query("SELECT DISTINCT metric FROM withdrawn")}

    def _with_time(self, chosen: "_Chosen", where: str) -> Iterator[dict[str, Any]]:
        """The cells with CPU time in some of the chosen invocations, and in how many."""
        return self._query(
            f"SELECT {DESCRIBED}, run_id, max(measured_at) AS newest, count() AS times FROM samples FINAL"
            f" WHERE metric = 'cpu_ns' AND {OF_CHOSEN} AND {where}"
            f" GROUP BY {DESCRIBED}, run_id ORDER BY library, version_key, case_id, run_id {KEYS_FIRST}",
            chosen.parameters,
        )

    def harness_versions(self, run_ids: Collection[str]) -> dict[str, int]:
        selected = self._query(
            "SELECT run_id, any(JSONExtractUInt(run, 'plan', 'harness_version')) AS version FROM runs"
            " WHERE run_id IN {run_ids:Array(String)} GROUP BY run_id",
            {"run_ids": list(run_ids)},
        )
        return {row["run_id"]: int(row["version"]) for row in selected}

    def _preempted(self, run_ids: Collection[str]) -> bool:
        preempted = (
            "SELECT 1 FROM invocations WHERE run_id IN {run_ids:Array(String)} AND preempted_batches > 0 LIMIT 1"
        )
        return bool(list(self._query(preempted, {"run_ids": list(run_ids)})))


def batches_in(row: Mapping[str, Any]) -> Values:
    if row["values"]:
        return cast(Sequence[float], row["values"])
    ratios = {each["subject"]: RoundRatio(each["mean"] / LOG_STEPS, each["median"] / LOG_STEPS) for each in row["kept"]}
    return RemovedBatches(row["reference"], row["median"], ratios)


def _place(row: dict[str, Any]) -> tuple[InvocationKey, str]:
    """An invocation, and a reference of a subject."""
    return InvocationKey(row["job_id"], row["attempt"], row["case_id"], row["invocation"]), row["reference"]


def _sample(row: dict[str, Any], kinds: Mapping[str, str]) -> SampleRow:
    return SampleRow(
        case=rows.case_of(row),
        subject=rows.subject_of(row),
        run_id=row["run_id"],
        measured_at=row["measured_at"],
        unit=row["unit"],
        level=row["level"],
        values=batches_in(row),
        host_id=row["host_id"],
        host_kind=HostKind(row["pool"], kinds[row["host_id"]]),
    )


def has_metric(case: Case, metric: Metric) -> bool:
    """Whether undisturbed batches of a case have the metric."""
    return case.transfer_bytes > 0 or not metric.row.of_transfer


def outcome_row(row: dict[str, Any], kind: OutcomeKind | Absence, reason: str, detail: str | None = None) -> OutcomeRow:
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
