"""Histories without their batches: the median cost of each cell, computed in the database."""

from collections.abc import Collection
from typing import Any

from kexbench.domain.batches import LOG_STEPS
from kexbench.domain.plans import SENTINEL
from kexbench.store import rows
from kexbench.store.measured import (
    COUNTED_OF_CHOSEN,
    KEYS_OF_CHOSEN,
    MeasuredTables,
    on_host_kind,
    samples_once,
)
from kexbench.store.port import LevelRow, Selection, SentinelLevel
from kexbench.store.summaries import INVOCATION

_IS_POSITIVE = "(empty({values}) OR arrayMin(arrayFilter(value -> NOT isNaN(value), {values})) > 0)"
"""SQL: also for removed batches."""
COMPARABLE = " AND ".join(
    ("notEmpty(frozen_kit)", *(_IS_POSITIVE.format(values=values) for values in ("values", "frozen_values")))
)
_ROUNDS = (
    "if(length(values) = length(frozen_values), arraySort(arrayFilter(ratio -> NOT isNaN(ratio),"
    " arrayMap((own, frozen) -> log(own / frozen), values, frozen_values))), [])"
)
_CUT = "greatest(intDiv(length(logs), 4), toUInt64(length(logs) > 2))"
_FROM_BATCHES = (
    f"round({LOG_STEPS} * if(notEmpty({_ROUNDS} AS logs),"
    f" arrayAvg(arraySlice(logs, 1 + {_CUT}, length(logs) - 2 * {_CUT})), log(`median` / frozen_median)))"
)
_KEPT = f"arrayFirst(ratio -> ratio.subject = '{SENTINEL}', kept)"
RATIO = (
    f"exp(if(empty(values) AND empty(frozen_values) AND {_KEPT}.subject != '',"
    f" {_KEPT}.mean, {_FROM_BATCHES}) / {LOG_STEPS})"
)
"""SQL: the ratio of one invocation to its sentinel, as in `analysis.rounds.log_ratio`."""


class LevelTables(MeasuredTables):
    """The part of the store's port for histories."""

    def levels(self, selection: Selection, case_ids: Collection[str]) -> list[LevelRow]:
        here = "case_id IN {case_ids:Array(String)}"
        sentinels = f"metric = {{metric:String}} AND reference = 'sentinel' AND {here} AND {on_host_kind(selection)}"
        with_sentinel = f"SELECT run_id, case_id FROM summaries FINAL WHERE {sentinels} AND notEmpty(counted)"
        age = f"(run_id, case_id) IN ({with_sentinel}), "
        chosen = self._chosen(selection, [str(selection.metric)], here, age, case_ids=list(case_ids))
        if chosen is None:
            return []
        own = samples_once(
            f"{rows.SUBJECT_SQL}, {INVOCATION}, `median`, level AS cost, `values`, kept",
            KEYS_OF_CHOSEN,
            COUNTED_OF_CHOSEN,
        )
        frozen = samples_once(
            f"{INVOCATION}, kit_id AS frozen_kit, `median` AS frozen_median, `values` AS frozen_values",
            "reference = 'sentinel' AND run_id IN {run_ids:Array(String)}",
            here,
        )
        compared = (
            f"SELECT {rows.SUBJECT_SQL}, case_id, run_id, cost, frozen_kit, {COMPARABLE} AS comparable,"
            f" if(comparable, {RATIO}, 0) AS ratio FROM own LEFT JOIN frozen USING ({INVOCATION})"
        )
        selected = self._query(
            f"WITH own AS ({own}), frozen AS ({frozen}), compared AS ({compared})"
            f" SELECT {rows.SUBJECT_SQL}, case_id, run_id, count() AS invocations,"
            " quantileExactInclusive(0.5)(cost) AS level, stddevSamp(cost) AS spread,"
            " countIf(comparable) AS with_sentinel, anyIf(frozen_kit, comparable) AS sentinel,"
            " quantileExactInclusiveIf(0.5)(ratio, comparable) AS relative_level,"
            " stddevSampIf(ratio, comparable) AS relative_spread"
            f" FROM compared GROUP BY {rows.SUBJECT_SQL}, case_id, run_id"
            f" ORDER BY case_id, library, version_key, source, build_profile",
            chosen.parameters,
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


def _to_sentinel(row: dict[str, Any]) -> SentinelLevel | None:
    if not row["with_sentinel"]:
        return None
    return SentinelLevel(row["sentinel"], row["with_sentinel"], row["relative_level"], row["relative_spread"])
