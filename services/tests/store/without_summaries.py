"""The queries from before summaries: every question is answered from the samples of all counted invocations."""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import replace
from typing import Any

from kexbench.answers.numbers import host_kinds
from kexbench.domain.hosts import HostKind
from kexbench.domain.metrics import SPOILT_BY_PREEMPTION, Metric
from kexbench.domain.samples import OutcomeKind, disturbed_reason
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES_OF
from kexbench.store import rows
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.evidence import Digest, Evidence, OnKind, RunCase, Token
from kexbench.store.kept import parameters
from kexbench.store.levels import COMPARABLE, RATIO, _to_sentinel
from kexbench.store.measured import BATCHES, _sample, has_metric, outcome_row
from kexbench.store.port import (
    AppearanceRow,
    Key,
    LevelRow,
    MeasuredCaseRow,
    MeasuredSubjectRow,
    OutcomeRow,
    SampleRow,
    Selection,
    Value,
)

HOST_KIND = (
    "transform(host_id,"
    " (SELECT groupArray(host_id) FROM (SELECT host_id FROM hosts FINAL ORDER BY host_id)),"
    " (SELECT groupArray(kind) FROM (SELECT kind FROM hosts FINAL ORDER BY host_id)), toString(cpu_model))"
)
DECIDING = f"({', '.join(repr(str(sides['both'])) for sides in SIDES_OF.values())})"
"""SQL: the metrics of which every counted invocation with numbers has one."""
_INVOCATION = "run_id, job_id, case_id, invocation, attempt"
COUNTED = f"({_INVOCATION}) IN (SELECT * FROM counted_invocations)"
UNIT = "concat(job_id, '/', toString(invocation))"
SUBJECT = "concat(library, '@', version, '~', source, '~', build_profile)"
"""SQL for Subject.name."""
_SHOWN_RUN = "run_id NOT IN (SELECT run_id FROM runs WHERE aside AND NOT (first_look AND {first_looks:Bool}))"
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
    AND (empty({case_ids:Array(String)}) OR case_id IN {case_ids:Array(String)})
    AND ({run_id:String} = '' OR run_id = {run_id:String})
    AND (empty({runs:Array(String)}) OR run_id IN {runs:Array(String)})
    AND (reference = 'sentinel') = {sentinel:Bool}
    AND ({variants:Bool} OR {run_id:String} != '' OR notEmpty({runs:Array(String)})
         OR NOT match(source, '[+](relink|burn|copy)='))
    AND ({asides:Bool} OR {run_id:String} != '' OR notEmpty({runs:Array(String)})
         OR """
    + _SHOWN_RUN
    + """)
    AND measured_at < {before:DateTime64(3)}
"""
)
_SHOWN = f"reference != 'sentinel' AND NOT match(source, '[+](relink|burn|copy)=') AND {_SHOWN_RUN}"
CELL = "case_id, library, version_key, source, build_profile"
_DESCRIBED = f"{rows.CASE_SQL}, {rows.SUBJECT_SQL}, case_id"
_SAMPLE = (
    f"{_DESCRIBED}, run_id, pool, {HOST_KIND} AS host_kind, host_id, measured_at, {UNIT} AS unit, level, {BATCHES}"
)
_HERE = f"metric = {{metric:String}} AND {SELECTED} AND {COUNTED}"
_IDENTITY = "library, version, version_key, source, build_profile"


class StoreWithoutSummaries(ClickHouseStore):
    """Reads as before summaries, and keeps nothing. Sentinels, as now, are those of counted invocations on the host
    kind."""

    def evidence(self) -> Evidence:
        asides, first_looks = (
            frozenset(row["run_id"] for row in self._query(f"SELECT run_id FROM runs WHERE {which}"))
            for which in ("aside", "first_look")
        )
        shown = "reference != 'sentinel' AND NOT match(source, '[+](relink|burn|copy)=')"
        measured = " UNION ALL ".join(
            f"SELECT run_id, case_id, pool, cpu_model, host_id, measured_at, {metric} AS of_metric, {library} AS shown"
            f" FROM {table} WHERE {COUNTED}"
            for table, metric, library in (
                ("samples", "metric", f"if({shown}, toString(library), '')"),
                ("outcomes", "''", "''"),
            )
        )
        kinds: dict[RunCase, list[OnKind]] = defaultdict(list)
        for row in self._query(
            f"SELECT run_id, case_id, pool, {HOST_KIND} AS host_kind, min(measured_at) AS oldest,"
            " max(measured_at) AS newest, groupUniqArray(of_metric) AS metrics, groupUniqArray(shown) AS libraries"
            f" FROM ({measured}) GROUP BY run_id, case_id, pool, host_kind"
        ):
            kinds[RunCase(row["run_id"], row["case_id"])].append(
                OnKind(
                    kind=(row["pool"], row["host_kind"]),
                    oldest=row["oldest"],
                    newest=row["newest"],
                    subjects=(),
                    with_sentinel=False,
                    metrics=tuple(filter(None, row["metrics"])),
                    libraries=tuple(filter(None, row["libraries"])),
                )
            )
        digests = {place: Digest(0, tuple(each)) for place, each in kinds.items()}
        return Evidence(asides=asides, first_looks=first_looks, digests=digests)

    def _shows_first_looks(self) -> bool:
        measured = self._query(
            f"SELECT 1 FROM samples WHERE metric = 'cpu_ns' AND reference != 'sentinel' AND {COUNTED}"
            " AND NOT match(source, '[+](relink|burn|copy)=') AND run_id NOT IN (SELECT run_id FROM runs WHERE aside)"
            " LIMIT 1"
        )
        return not list(measured)

    def _parameters(self, selection: Selection) -> dict[str, Any]:
        kinds = {row["host_id"]: row["kind"] for row in self._query("SELECT host_id, kind FROM hosts FINAL")}
        of_all = {"variants": selection.variants, "asides": selection.asides}
        return parameters(selection, self._shows_first_looks(), kinds) | of_all

    def kept(
        self,
        keys: Collection[Key],
        token_of: Callable[[Evidence, Key], Token],
        compute: Callable[[list[Key]], Mapping[Key, Value]],
    ) -> dict[Key, Value]:
        return dict(compute(list(keys))) if keys else {}

    def kept_until_stored(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        return compute()

    def libraries(self) -> set[str]:
        return {subject.library for subject in self.subjects()}

    def host_kinds(self, run_id: str | None = None) -> list[HostKind]:
        """The host kinds with samples or outcomes, most recently measured first. Host kinds with only runs aside, which
        no overview shows, come last."""
        ours = f"({{run_id:String}} = '' OR run_id = {{run_id:String}}) AND {COUNTED}"
        selected = self._query(
            f"SELECT pool, {HOST_KIND} AS host_kind FROM ("
            f"SELECT pool, cpu_model, host_id, run_id, measured_at FROM samples WHERE metric IN {DECIDING} AND {ours}"
            f" UNION ALL SELECT pool, cpu_model, host_id, run_id, measured_at FROM outcomes WHERE {ours}"
            ") GROUP BY pool, host_kind"
            f" ORDER BY maxIf(measured_at, {_SHOWN_RUN}) DESC,"
            " max(measured_at) DESC, pool, host_kind",
            {"run_id": run_id or "", "first_looks": self._shows_first_looks()},
        )
        return [HostKind(row["pool"], row["host_kind"]) for row in selected]

    def subjects(self) -> list[Subject]:
        selected = self._query(
            f"SELECT {rows.SUBJECT_SQL} FROM samples WHERE metric IN {DECIDING} AND {_SHOWN} AND {COUNTED}"
            f" GROUP BY {rows.SUBJECT_SQL}"
            " ORDER BY library, version_key, build_profile, max(measured_at)",
            {"first_looks": self._shows_first_looks()},
        )
        return [rows.subject_of(row) for row in selected]

    def samples(self, selection: Selection) -> list[SampleRow]:
        """The newest run's samples for each cell. With runs named, all samples of these runs."""
        here = f"metric = {{metric:String}} AND {SELECTED} AND {COUNTED}"
        selected = self._query(
            f"SELECT {_SAMPLE} FROM samples FINAL WHERE {here}"
            f" AND (notEmpty({{runs:Array(String)}}) OR {_of_newest_run('samples', here)})"
            " ORDER BY library, version_key, source, build_profile, case_id, unit",
            self._parameters(selection),
        )
        return [_sample(row, {row["host_id"]: row["host_kind"]}) for row in selected]

    def samples_by_metric(self, selection: Selection, metrics: Collection[Metric]) -> dict[Metric, list[SampleRow]]:
        return {metric: self.samples(replace(selection, metric=metric)) for metric in metrics}

    def metrics(self) -> set[str]:
        return {row["metric"] for row in self._query(f"SELECT DISTINCT metric FROM samples WHERE {COUNTED}")}

    def sentinels(self, selection: Selection) -> list[SampleRow]:
        selected = self._query(
            f"SELECT {_SAMPLE} FROM samples FINAL WHERE metric = {{metric:String}} AND reference = 'sentinel'"
            f" AND {ON_HOST_KIND} AND run_id IN {{runs:Array(String)}} AND {COUNTED}"
            " AND (empty({case_ids:Array(String)}) OR case_id IN {case_ids:Array(String)})"
            " ORDER BY run_id, case_id, unit",
            self._parameters(selection),
        )
        return [_sample(row, {row["host_id"]: row["host_kind"]}) for row in selected]

    def outcomes(self, selection: Selection) -> list[OutcomeRow]:
        """The newest run's outcomes for each cell, most frequent first; with a run named, that run's."""
        selected = self._query(
            f"SELECT {_DESCRIBED}, run_id, max(measured_at) AS newest, kind, any(reason) AS why,"
            " any(detail) AS text, count() AS times"
            f" FROM outcomes FINAL WHERE {SELECTED} AND {COUNTED}"
            f" AND {_of_newest_run('outcomes', f'{SELECTED} AND {COUNTED}')}"
            f" GROUP BY {_DESCRIBED}, run_id, kind ORDER BY library, version_key, case_id, times DESC, kind",
            self._parameters(selection),
        )
        return [outcome_row(row, OutcomeKind(row["kind"]), row["why"], row["text"] or None) for row in selected]

    def disturbed(self, selection: Selection) -> list[OutcomeRow]:
        if selection.metric not in SPOILT_BY_PREEMPTION:
            return []
        of_cpu_time = f"metric = 'cpu_ns' AND {SELECTED} AND {COUNTED}"
        selected = self._query(
            f"SELECT {_DESCRIBED}, run_id, max(measured_at) AS newest, count() AS times FROM samples FINAL"
            f" WHERE {of_cpu_time}"
            f" AND ({_INVOCATION}) IN (SELECT {_INVOCATION} FROM invocations WHERE preempted_batches > 0)"
            f" AND ({_INVOCATION}, reference) NOT IN (SELECT {_INVOCATION}, reference FROM samples"
            f" WHERE metric = {{metric:String}} AND {SELECTED})"
            f" AND (notEmpty({{runs:Array(String)}})"
            f" OR {_of_newest_run('samples', of_cpu_time)})"
            f" GROUP BY {_DESCRIBED}, run_id ORDER BY library, version_key, case_id, run_id",
            self._parameters(selection),
        )
        disturbed = [row for row in selected if has_metric(rows.case_of(row), selection.metric)]
        harness = self.harness_versions({row["run_id"] for row in disturbed})
        return [outcome_row(row, "disturbed", disturbed_reason(harness[row["run_id"]])) for row in disturbed]

    def measured_subjects(self, selection: Selection) -> list[MeasuredSubjectRow]:
        selected = self._query(
            f"SELECT {_IDENTITY}, any(build_profile_label) AS label, any(`commit`) AS any_commit,"
            f" argMax(kit_id, measured_at) AS newest_kit, pool, {HOST_KIND} AS host_kind,"
            " groupUniqArray(case_id) AS cases, max(measured_at) AS newest"
            f" FROM samples WHERE {_HERE} GROUP BY {_IDENTITY}, pool, host_kind"
            f" ORDER BY {_IDENTITY}, newest DESC, pool, host_kind",
            self._parameters(selection),
        )
        return [
            MeasuredSubjectRow(
                subject=rows.subject_of(
                    row
                    | {
                        "build_profile_label": row["label"],
                        "kit_id": row["newest_kit"],
                        "commit": row["any_commit"],
                    }
                ),
                host_kind=HostKind(row["pool"], row["host_kind"]),
                case_ids=frozenset(row["cases"]),
                measured_at=row["newest"],
            )
            for row in selected
        ]

    def measured_cases(self, selection: Selection) -> list[MeasuredCaseRow]:
        appearances = self.appearances(selection)
        return [
            MeasuredCaseRow(case, tuple(host_kinds([row for row in appearances if row.case == case])))
            for case in dict.fromkeys(row.case for row in appearances)
        ]

    def appearances(self, selection: Selection) -> list[AppearanceRow]:
        selected = self._query(
            f"SELECT {rows.CASE_SQL}, {SUBJECT} AS subject, pool, {HOST_KIND} AS host_kind, run_id,"
            f" max(measured_at) AS newest, groupUniqArray({UNIT}) AS units FROM samples WHERE {_HERE}"
            f" GROUP BY {rows.CASE_SQL}, subject, pool, host_kind, run_id ORDER BY newest, run_id, subject",
            self._parameters(selection),
        )
        return [
            AppearanceRow(
                case=rows.case_of(row),
                subject=row["subject"],
                host_kind=HostKind(row["pool"], row["host_kind"]),
                run_id=row["run_id"],
                measured_at=row["newest"],
                units=frozenset(row["units"]),
            )
            for row in selected
        ]

    def qualifying_runs(self, selection: Selection) -> set[str]:
        selected = self._query(
            "SELECT DISTINCT run_id FROM (SELECT library, case_id, run_id, max(measured_at) AS newest"
            f" FROM samples WHERE {_HERE} AND match(source, '[+]copy=') GROUP BY library, case_id, run_id"
            " ORDER BY newest DESC, run_id DESC LIMIT 3 BY library, case_id)",
            self._parameters(replace(selection, variants=True, asides=True)),
        )
        return {row["run_id"] for row in selected}

    def levels(self, selection: Selection, case_ids: Collection[str]) -> list[LevelRow]:
        here = f"metric = {{metric:String}} AND {SELECTED} AND {COUNTED} AND case_id IN {{case_ids:Array(String)}}"
        sentinels = (
            "metric = {metric:String} AND reference = 'sentinel' AND case_id IN {case_ids:Array(String)}"
            f" AND {ON_HOST_KIND} AND {COUNTED}"
        )
        age = f"(run_id, case_id) IN (SELECT run_id, case_id FROM samples WHERE {sentinels}), measured_at, run_id"
        newest = f"SELECT {CELL}, argMax(run_id, ({age})) FROM samples WHERE {here} GROUP BY {CELL}"
        own = (
            f"SELECT {rows.SUBJECT_SQL}, {_INVOCATION}, `median`, level AS cost, values, kept FROM samples FINAL"
            f" WHERE {here} AND ({CELL}, run_id) IN ({newest})"
        )
        frozen = (
            f"SELECT {_INVOCATION}, kit_id AS frozen_kit, `median` AS frozen_median, values AS frozen_values"
            f" FROM samples FINAL WHERE {sentinels}"
        )
        compared = (
            f"SELECT {rows.SUBJECT_SQL}, case_id, run_id, cost, frozen_kit, {COMPARABLE} AS comparable,"
            f" if(comparable, {RATIO}, 0) AS ratio FROM own LEFT JOIN frozen USING ({_INVOCATION})"
        )
        selected = self._query(
            f"WITH own AS ({own}), frozen AS ({frozen}), compared AS ({compared})"
            f" SELECT {rows.SUBJECT_SQL}, case_id, run_id, count() AS invocations,"
            " quantileExactInclusive(0.5)(cost) AS level, stddevSamp(cost) AS spread,"
            " countIf(comparable) AS with_sentinel, anyIf(frozen_kit, comparable) AS sentinel,"
            " quantileExactInclusiveIf(0.5)(ratio, comparable) AS relative_level,"
            " stddevSampIf(ratio, comparable) AS relative_spread"
            f" FROM compared GROUP BY {rows.SUBJECT_SQL}, case_id, run_id"
            " ORDER BY case_id, library, version_key, source, build_profile",
            self._parameters(selection) | {"case_ids": list(case_ids)},
        )
        return [
            LevelRow(
                case_id=row["case_id"],
                subject=rows.subject_of(row),
                run_id=row["run_id"],
                invocations=row["invocations"],
                level=row["level"],
                spread=row["spread"],
                to_sentinel=_to_sentinel(row),
            )
            for row in selected
        ]


def _of_newest_run(table: str, where: str) -> str:
    """SQL: whether a row belongs to the newest run with its cell."""
    newest = f"SELECT {CELL}, argMax(run_id, (measured_at, run_id)) FROM {table} WHERE {where} GROUP BY {CELL}"
    return f"({CELL}, run_id) IN ({newest})"
