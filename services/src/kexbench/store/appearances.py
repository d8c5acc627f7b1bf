"""Which runs have numbers of what, without the numbers: by it is chosen what is read."""

from collections.abc import Collection
from dataclasses import replace
from operator import itemgetter

from kexbench.domain.components import components_of
from kexbench.store import rows
from kexbench.store.connection import Connection
from kexbench.store.hosts import HOST_KIND
from kexbench.store.measured import COUNTED, SELECTED, SUBJECT, UNIT, parameters
from kexbench.store.port import AppearanceRow, MeasuredSubjectRow, Selection

_HERE = f"metric = {{metric:String}} AND {SELECTED} AND {COUNTED}"
_IDENTITY = "library, version, version_key, source, build_profile"
_KITS = (
    "Map(String, Tuple(kit_id String, packages Array(Tuple(name String, version String)),"
    " build_profile Tuple(compiler String)))"
)


class AppearanceTables(Connection):
    """The part of the store's port that tells what there are numbers of."""

    def measured_subjects(self, selection: Selection) -> list[MeasuredSubjectRow]:
        found = self._query(
            f"SELECT {_IDENTITY}, any(build_profile_label) AS label, any(`commit`) AS told_commit,"
            f" argMax(kit_id, measured_at) AS newest_kit, pool, {HOST_KIND} AS host_kind,"
            " groupUniqArray(case_id) AS cases, max(measured_at) AS newest"
            f" FROM samples WHERE {_HERE} GROUP BY {_IDENTITY}, pool, host_kind"
            f" ORDER BY {_IDENTITY}, newest DESC, pool, host_kind",
            parameters(selection),
        )
        return [
            MeasuredSubjectRow(
                subject=rows.subject_of(
                    row
                    | {
                        "build_profile_label": row["label"],
                        "kit_id": row["newest_kit"],
                        "commit": row["told_commit"],
                    }
                ),
                pool=row["pool"],
                cpu_model=row["host_kind"],
                case_ids=frozenset(row["cases"]),
                measured_at=row["newest"],
            )
            for row in found
        ]

    def appearances(self, selection: Selection) -> list[AppearanceRow]:
        found = self._query(
            f"SELECT {rows.CASE_SQL}, {SUBJECT} AS subject, pool, {HOST_KIND} AS host_kind, run_id,"
            f" max(measured_at) AS newest, groupUniqArray({UNIT}) AS units FROM samples WHERE {_HERE}"
            f" GROUP BY {rows.CASE_SQL}, subject, pool, host_kind, run_id ORDER BY newest, run_id, subject",
            parameters(selection),
        )
        return [
            AppearanceRow(
                case=rows.case_of(row),
                subject=row["subject"],
                pool=row["pool"],
                cpu_model=row["host_kind"],
                run_id=row["run_id"],
                measured_at=row["newest"],
                units=frozenset(row["units"]),
            )
            for row in found
        ]

    def qualifying_runs(self, selection: Selection) -> set[str]:
        found = self._query(
            "SELECT DISTINCT run_id FROM (SELECT library, case_id, run_id, max(measured_at) AS newest"
            f" FROM samples WHERE {_HERE} AND match(source, '[+]copy=') GROUP BY library, case_id, run_id"
            " ORDER BY newest DESC, run_id DESC LIMIT 3 BY library, case_id)",
            parameters(replace(selection, variants=True, asides=True)),
        )
        return {row["run_id"] for row in found}

    def harness_versions(self, run_ids: Collection[str]) -> dict[str, int]:
        found = self._query(
            "SELECT run_id, any(JSONExtractUInt(run, 'plan', 'harness_version')) AS version FROM runs"
            " WHERE run_id IN {run_ids:Array(String)} GROUP BY run_id",
            {"run_ids": list(run_ids)},
        )
        return {row["run_id"]: int(row["version"]) for row in found}

    def components(self, run_ids: Collection[str]) -> dict[str, dict[str, str]]:
        found = self._query(
            "SELECT kit.1 AS kit_id, any(kit.2) AS packages, any(kit.3.1) AS compiler FROM"
            f" (SELECT arrayJoin(mapValues(JSONExtract(run, 'kits', '{_KITS}'))) AS kit FROM runs"
            " WHERE run_id IN {run_ids:Array(String)}) GROUP BY kit_id",
            {"run_ids": list(run_ids)},
        )
        return {
            row["kit_id"]: components_of(map(itemgetter("name", "version"), row["packages"]), row["compiler"])
            for row in found
        }
