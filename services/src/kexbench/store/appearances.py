"""Which runs have numbers for what, without the numbers. Readers use it to choose what to read."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from operator import itemgetter

from kexbench.domain.cases import Case
from kexbench.domain.components import components_of
from kexbench.domain.hosts import HostKind
from kexbench.store import rows
from kexbench.store.evidence import Evidence
from kexbench.store.hosts import HOST_KIND
from kexbench.store.kept import KeptTables
from kexbench.store.measured import BEFORE, newest, summarised
from kexbench.store.port import AppearanceRow, MeasuredCaseRow, MeasuredSubjectRow, Selection
from kexbench.store.summaries import SUBJECT

_UNITS = f"arrayMap(each -> each.1, arrayFilter(each -> each.2 < {BEFORE}, counted))"
_IDENTITY = "library, version, version_key, source, build_profile"
_KITS = (
    "Map(String, Tuple(kit_id String, packages Array(Tuple(name String, version String)),"
    " build_profile Tuple(compiler String)))"
)


def _here(selection: Selection) -> str:
    return f"metric = {{metric:String}} AND {summarised(selection)}"


class AppearanceTables(KeptTables):
    """The part of the store's port for the existence of numbers."""

    def measured_subjects(self, selection: Selection) -> list[MeasuredSubjectRow]:
        key = ("measured subjects", selection)
        return list(self.kept_value(key, Evidence.of_all, lambda: self._measured_subjects(selection)))

    def _measured_subjects(self, selection: Selection) -> list[MeasuredSubjectRow]:
        selected = self._query_summaries(
            f"SELECT {_IDENTITY}, any(build_profile_label) AS label, any(`commit`) AS any_commit,"
            f" argMax(kit_id, {newest(selection)}) AS newest_kit, pool, {HOST_KIND} AS host_kind,"
            f" groupUniqArray(case_id) AS cases, max({newest(selection)}) AS newest"
            f" FROM summaries FINAL WHERE {_here(selection)} GROUP BY {_IDENTITY}, pool, host_kind"
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
        key = ("measured cases", selection)
        return list(self.kept_value(key, Evidence.of_all, lambda: self._measured_cases(selection)))

    def _measured_cases(self, selection: Selection) -> list[MeasuredCaseRow]:
        selected = self._query_summaries(
            f"SELECT {rows.CASE_SQL}, pool, {HOST_KIND} AS host_kind, max({newest(selection)}) AS newest"
            f" FROM summaries FINAL WHERE {_here(selection)} GROUP BY {rows.CASE_SQL}, pool, host_kind"
            " ORDER BY newest DESC, pool, host_kind",
            self._parameters(selection),
        )
        kinds: dict[Case, list[HostKind]] = defaultdict(list)
        for row in selected:
            kinds[rows.case_of(row)].append(HostKind(row["pool"], row["host_kind"]))
        return [MeasuredCaseRow(case, tuple(its_kinds)) for case, its_kinds in kinds.items()]

    def appearances(self, selection: Selection) -> list[AppearanceRow]:
        selected = self._query_summaries(
            f"SELECT {rows.CASE_SQL}, {SUBJECT} AS subject, pool, {HOST_KIND} AS host_kind, run_id,"
            f" max({newest(selection)}) AS newest, groupUniqArrayArray({_UNITS}) AS units"
            f" FROM summaries FINAL WHERE {_here(selection)}"
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
        selection = replace(selection, variants=True, asides=True)
        selected = self._query_summaries(
            f"SELECT DISTINCT run_id FROM (SELECT library, case_id, run_id, max({newest(selection)}) AS newest"
            f" FROM summaries FINAL WHERE {_here(selection)} AND match(source, '[+]copy=')"
            " GROUP BY library, case_id, run_id"
            " ORDER BY newest DESC, run_id DESC LIMIT 3 BY library, case_id)",
            self._parameters(selection),
        )
        return {row["run_id"] for row in selected}

    def components(self, run_ids: Collection[str]) -> dict[str, dict[str, str]]:
        selected = self._query(
            "SELECT kit.1 AS kit_id, any(kit.2) AS packages, any(kit.3.1) AS compiler FROM"
            f" (SELECT arrayJoin(mapValues(JSONExtract(run, 'kits', '{_KITS}'))) AS kit FROM runs"
            " WHERE run_id IN {run_ids:Array(String)}) GROUP BY kit_id",
            {"run_ids": list(run_ids)},
        )
        return {
            row["kit_id"]: components_of(map(itemgetter("name", "version"), row["packages"]), row["compiler"])
            for row in selected
        }
