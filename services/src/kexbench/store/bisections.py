"""The tables of bisections."""

from datetime import datetime

from kexbench.domain.bisections import Bisection, BisectionEvent, BisectionEventKind, Line
from kexbench.store import rows
from kexbench.store.connection import Connection


class BisectionTables(Connection):
    """The part of the store's port for bisections."""

    def add_bisection(self, bisection: Bisection) -> None:
        self._insert("bisections", [rows.whole(bisection, "bisection_id", "asked_at")])

    def bisection(self, bisection_id: str) -> Bisection | None:
        stored = self._read(
            Bisection,
            "SELECT content FROM bisections FINAL WHERE bisection_id = {bisection_id:String} ORDER BY asked_at LIMIT 1",
            {"bisection_id": bisection_id},
        )
        return next(iter(stored), None)

    def bisections(self, limit: int, before: datetime | None = None) -> list[Bisection]:
        return self._page(Bisection, "bisections FINAL", ("asked_at", "bisection_id"), limit, before)

    def open_bisections(self) -> list[str]:
        closed = [str(kind) for kind in (BisectionEventKind.CANCELLED, BisectionEventKind.ENDED)]
        selected = self._query(
            "SELECT bisection_id FROM bisection_events GROUP BY bisection_id"
            " HAVING argMax(kind, (number, at)) NOT IN {closed:Array(String)} ORDER BY min(at), bisection_id",
            {"closed": closed},
        )
        return [row["bisection_id"] for row in selected]

    def add_bisection_event(self, event: BisectionEvent) -> None:
        row = rows.whole(event, "bisection_id", "at", "kind")
        self._insert_events("bisection_events", "bisection_id", "kind", [row])

    def bisection_events(self, bisection_id: str) -> list[BisectionEvent]:
        return self._read(
            BisectionEvent,
            "SELECT content FROM bisection_events FINAL WHERE bisection_id = {bisection_id:String} ORDER BY number, at",
            {"bisection_id": bisection_id},
        )

    def add_line(self, line: Line) -> None:
        self._insert("bisection_lines", [rows.whole(line, "bisection_id")])

    def line(self, bisection_id: str) -> Line | None:
        stored = self._read(
            Line,
            "SELECT content FROM bisection_lines FINAL WHERE bisection_id = {bisection_id:String}",
            {"bisection_id": bisection_id},
        )
        return next(iter(stored), None)
