"""Histories without their batches: of each cell what it cost in the middle, worked out where the numbers are."""

from collections.abc import Collection
from typing import Any

from kexbench.store import rows
from kexbench.store.connection import Connection
from kexbench.store.measured import CELL, COUNTED, ON_HOST_KIND, SELECTED, parameters
from kexbench.store.port import LevelRow, Selection, SentinelLevel

_INVOCATION = "run_id, job_id, case_id, invocation, attempt"
_KNOWN = "arrayFilter(value -> NOT isNaN(value), {values})"
_COMPARABLE = " AND ".join(
    (
        "notEmpty(frozen_values)",
        *(f"arrayMin({_KNOWN.format(values=values)}) > 0" for values in ("values", "frozen_values")),
    )
)
_ROUNDS = (
    "if(length(values) = length(frozen_values), arraySort(arrayFilter(ratio -> NOT isNaN(ratio),"
    " arrayMap((own, frozen) -> log(own / frozen), values, frozen_values))), [])"
)
_CUT = "greatest(intDiv(length(logs), 4), toUInt64(length(logs) > 2))"
_RATIO = (
    f"exp(if(notEmpty({_ROUNDS} AS logs),"
    f" arrayAvg(arraySlice(logs, 1 + {_CUT}, length(logs) - 2 * {_CUT})), log(`median` / frozen_median)))"
)
"""Of one invocation to its sentinel, as `analysis.rounds.log_ratios` works it out."""


class LevelTables(Connection):
    """The part of the store's port that tells of histories."""

    def levels(self, selection: Selection, case_ids: Collection[str]) -> list[LevelRow]:
        here = f"metric = {{metric:String}} AND {SELECTED} AND {COUNTED} AND case_id IN {{case_ids:Array(String)}}"
        sentinels = (
            "metric = {metric:String} AND reference = 'sentinel' AND case_id IN {case_ids:Array(String)}"
            f" AND {ON_HOST_KIND}"
        )
        age = f"(run_id, case_id) IN (SELECT run_id, case_id FROM samples WHERE {sentinels}), measured_at, run_id"
        newest = f"SELECT {CELL}, argMax(run_id, ({age})) FROM samples WHERE {here} GROUP BY {CELL}"
        own = (
            f"SELECT {rows.SUBJECT_SQL}, {_INVOCATION}, `median`, level AS cost, values FROM samples FINAL"
            f" WHERE {here} AND ({CELL}, run_id) IN ({newest})"
        )
        frozen = (
            f"SELECT {_INVOCATION}, kit_id AS frozen_kit, `median` AS frozen_median, values AS frozen_values"
            f" FROM samples FINAL WHERE {sentinels}"
        )
        compared = (
            f"SELECT {rows.SUBJECT_SQL}, case_id, run_id, cost, frozen_kit, {_COMPARABLE} AS comparable,"
            f" if(comparable, {_RATIO}, 0) AS ratio FROM own LEFT JOIN frozen USING ({_INVOCATION})"
        )
        found = self._query(
            f"WITH own AS ({own}), frozen AS ({frozen}), compared AS ({compared})"
            f" SELECT {rows.SUBJECT_SQL}, case_id, run_id, count() AS invocations,"
            " quantileExactInclusive(0.5)(cost) AS level, stddevSamp(cost) AS spread,"
            " countIf(comparable) AS with_sentinel, anyIf(frozen_kit, comparable) AS sentinel,"
            " quantileExactInclusiveIf(0.5)(ratio, comparable) AS relative_level,"
            " stddevSampIf(ratio, comparable) AS relative_spread"
            f" FROM compared GROUP BY {rows.SUBJECT_SQL}, case_id, run_id"
            " ORDER BY case_id, library, version_key, source, build_profile",
            parameters(selection) | {"case_ids": list(case_ids)},
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
            for row in found
        ]


def _to_sentinel(row: dict[str, Any]) -> SentinelLevel | None:
    if not row["with_sentinel"]:
        return None
    return SentinelLevel(row["sentinel"], row["with_sentinel"], row["relative_level"], row["relative_spread"])
