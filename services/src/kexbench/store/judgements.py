"""The table of judgements, and what is still to be judged or watched over."""

from collections.abc import Collection
from datetime import datetime

from kexbench.domain.judgements import Judgement
from kexbench.domain.runs import Run, RunState, Trigger
from kexbench.store import rows
from kexbench.store.connection import Connection
from kexbench.store.port import EndedRunRow, WatchedSpecRow
from kexbench.store.rows import EVENT_ORDER

_NEWEST = "SELECT content, at, upgrades, confirmations FROM judgements FINAL ORDER BY at DESC LIMIT 1 BY run_id"
"""Of each run; no page and no question knows an older one."""


class JudgementTables(Connection):
    """The part of the store's port that tells of judgements, and of runs for those who judge."""

    def add_judgement(self, judgement: Judgement) -> None:
        asked_by = {
            "upgrades": [upgrade.key for upgrade in judgement.upgrades],
            "confirmations": list(judgement.confirmation_runs),
        }
        self._insert("judgements", [rows.whole(judgement, "run_id", "at", "ended_at", **asked_by)])

    def judgement(self, run_id: str) -> Judgement | None:
        found = self._read(
            Judgement,
            "SELECT content FROM judgements FINAL WHERE run_id = {run_id:String} ORDER BY at DESC LIMIT 1",
            {"run_id": run_id},
        )
        return next(iter(found), None)

    def judgements(self, limit: int, before: datetime | None = None) -> list[Judgement]:
        return self._page(Judgement, f"({_NEWEST})", ("at", "run_id"), limit, before)

    def judgements_of(self, upgrade_keys: Collection[str]) -> list[Judgement]:
        return self._read(
            Judgement,
            f"SELECT content FROM ({_NEWEST}) WHERE hasAny(upgrades, {{keys:Array(String)}}) ORDER BY at",
            {"keys": list(upgrade_keys)},
        )

    def waiting_judgements(self) -> list[Judgement]:
        return self._read(Judgement, f"SELECT content FROM ({_NEWEST}) WHERE notEmpty(confirmations) ORDER BY at")

    def unjudged_runs(self) -> list[EndedRunRow]:
        found = self._query(
            "SELECT run_id, spec_name, ended_at FROM"
            " (SELECT run_id, spec_name FROM runs FINAL WHERE watched) AS facts INNER JOIN"
            f" (SELECT run_id, argMax(at, {EVENT_ORDER}) AS ended_at, argMax(state, {EVENT_ORDER}) AS last_state"
            " FROM run_events GROUP BY run_id) AS events USING run_id"
            " WHERE last_state IN {judged:Array(String)}"
            " AND (run_id, ended_at) NOT IN (SELECT run_id, ended_at FROM judgements)"
            " ORDER BY ended_at, run_id",
            {"judged": [str(RunState.FINISHED), str(RunState.FAILED)]},
        )
        return [EndedRunRow(**row) for row in found]

    def watched_specs(self) -> list[WatchedSpecRow]:
        found = self._query(
            "SELECT spec_name, argMax(run_id, created_at) AS newest_run, min(created_at) AS since,"
            " max(finished) AS finished_at FROM"
            " (SELECT run_id, spec_name, created_at, watched FROM runs FINAL"
            " WHERE trigger NOT IN {others:Array(String)}) AS facts LEFT JOIN"
            " (SELECT run_id, maxOrNullIf(at, state = 'finished') AS finished"
            " FROM run_events GROUP BY run_id) AS events"
            " USING run_id GROUP BY spec_name HAVING argMax(watched, created_at) ORDER BY spec_name",
            {"others": [str(trigger) for trigger in Trigger if not trigger.is_watched]},
        )
        return [WatchedSpecRow(**row) for row in found]

    def runs_of_spec(self, spec_name: str, limit: int) -> list[Run]:
        found = self._query(
            "SELECT run_id, run FROM runs FINAL WHERE spec_name = {spec_name:String}"
            " ORDER BY created_at DESC, run_id DESC LIMIT {limit:UInt32}",
            {"spec_name": spec_name, "limit": limit},
        )
        return rows.runs_of(found)
