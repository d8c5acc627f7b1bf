"""Histories without their batches: of each cell what it cost in the middle, worked out where the numbers are."""

from collections.abc import Collection

from kexbench.store import rows
from kexbench.store.connection import Connection
from kexbench.store.measured import CELL, COUNTED, SELECTED, parameters
from kexbench.store.port import LevelRow, Selection

_SUBJECT = ", ".join(f"`{column}`" for column in rows.SUBJECT_COLUMNS)


class LevelTables(Connection):
    """The part of the store's port that tells of histories."""

    def levels(self, selection: Selection, case_ids: Collection[str]) -> list[LevelRow]:
        here = f"metric = {{metric:String}} AND {SELECTED} AND {COUNTED} AND case_id IN {{case_ids:Array(String)}}"
        found = self._query(
            f"SELECT {_SUBJECT}, case_id, run_id, count() AS invocations,"
            " quantileExactInclusive(0.5)(`median`) AS level, stddevSamp(`median`) AS spread,"
            f" groupUniqArray(host_id) AS hosts FROM samples FINAL WHERE {here}"
            f" AND ({CELL}, run_id) IN (SELECT {CELL}, argMax(run_id, (measured_at, run_id)) FROM samples"
            f" WHERE {here} GROUP BY {CELL})"
            f" GROUP BY {_SUBJECT}, case_id, run_id"
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
                host_ids=frozenset(row["hosts"]),
            )
            for row in found
        ]
