"""The table of screenings, and the runs and specs that need screening or watching."""

from collections.abc import Collection
from datetime import datetime

from kexbench.domain.runs import Run, RunState, Trigger
from kexbench.domain.screenings import Screening
from kexbench.store import rows
from kexbench.store.connection import Connection, page_parameters
from kexbench.store.port import EndedRunRow, WatchedSpecRow
from kexbench.store.rows import EVENT_ORDER

_NEWEST = "SELECT content, at, upgrades, confirmations FROM screenings FINAL ORDER BY at DESC LIMIT 1 BY run_id"
"""The newest screening of each run; no reader needs an older one."""


class ScreeningTables(Connection):
    """The part of the store's port for screenings, and for the runs to screen."""

    def add_screening(self, screening: Screening) -> None:
        query_columns = {
            "upgrades": [upgrade.key for upgrade in screening.upgrades],
            "confirmations": list(screening.confirmation_runs),
        }
        self._insert("screenings", [rows.whole(screening, "run_id", "at", "ended_at", **query_columns)])

    def screening(self, run_id: str) -> Screening | None:
        newest = self._read(
            Screening,
            "SELECT content FROM screenings FINAL WHERE run_id = {run_id:String} ORDER BY at DESC LIMIT 1",
            {"run_id": run_id},
        )
        return next(iter(newest), None)

    def screenings(self, limit: int, before: datetime | None = None) -> list[Screening]:
        return self._page(Screening, f"({_NEWEST})", ("at", "run_id"), limit, before)

    def screenings_of(self, upgrade_keys: Collection[str]) -> list[Screening]:
        return self._read(
            Screening,
            f"SELECT content FROM ({_NEWEST}) WHERE hasAny(upgrades, {{keys:Array(String)}}) ORDER BY at",
            {"keys": list(upgrade_keys)},
        )

    def waiting_screenings(self) -> list[Screening]:
        return self._read(Screening, f"SELECT content FROM ({_NEWEST}) WHERE notEmpty(confirmations) ORDER BY at")

    def unjudged_runs(self) -> list[EndedRunRow]:
        selected = self._query(
            "SELECT run_id, spec_name, ended_at FROM"
            " (SELECT run_id, spec_name FROM runs FINAL WHERE watched) AS facts INNER JOIN"
            f" (SELECT run_id, argMax(at, {EVENT_ORDER}) AS ended_at, argMax(state, {EVENT_ORDER}) AS last_state"
            " FROM run_events GROUP BY run_id) AS events USING run_id"
            " WHERE last_state IN {judged:Array(String)}"
            " AND (run_id, ended_at) NOT IN (SELECT run_id, ended_at FROM screenings)"
            " ORDER BY ended_at, run_id",
            {"judged": [str(state) for state in RunState if state.has_results or state is RunState.FAILED]},
        )
        return [EndedRunRow(**row) for row in selected]

    def watched_specs(self) -> list[WatchedSpecRow]:
        selected = self._query(
            "SELECT spec_name, argMax(run_id, created_at) AS newest_run, min(created_at) AS since,"
            " max(finished) AS finished_at FROM"
            " (SELECT run_id, spec_name, created_at, watched FROM runs FINAL"
            " WHERE trigger NOT IN {others:Array(String)}) AS facts LEFT JOIN"
            " (SELECT run_id, maxOrNullIf(at, state IN ('finished', 'incomplete')) AS finished"
            " FROM run_events GROUP BY run_id) AS events"
            " USING run_id GROUP BY spec_name HAVING argMax(watched, created_at) ORDER BY spec_name",
            {"others": [str(trigger) for trigger in Trigger if not trigger.is_watched]},
        )
        return [WatchedSpecRow(**row) for row in selected]

    def runs_of_spec(self, spec_name: str, limit: int, before: datetime | None = None) -> list[Run]:
        selected = self._query(
            "SELECT run_id, run FROM runs FINAL WHERE spec_name = {spec_name:String}"
            " AND created_at < {before:DateTime64(3, 'UTC')}"
            " ORDER BY created_at DESC, run_id DESC LIMIT {limit:UInt32}",
            {"spec_name": spec_name} | page_parameters(limit, before),
        )
        return rows.runs_of(selected)
