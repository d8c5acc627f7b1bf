"""The tables of bisections."""

from datetime import datetime

from kexbench.domain.bisections import Bisection, BisectionEvent, BisectionEventKind, Line
from kexbench.domain.moments import EARLIEST, LATEST
from kexbench.store.connection import Connection


class BisectionTables(Connection):
    """The part of the store's port that tells of bisections."""

    def add_bisection(self, bisection: Bisection) -> None:
        self._insert(
            "bisections",
            [
                {
                    "bisection_id": bisection.bisection_id,
                    "asked_at": bisection.asked_at,
                    "content": bisection.model_dump_json(),
                }
            ],
        )

    def bisection(self, bisection_id: str) -> Bisection | None:
        found = self._query(
            "SELECT content FROM bisections FINAL WHERE bisection_id = {bisection_id:String} ORDER BY asked_at LIMIT 1",
            {"bisection_id": bisection_id},
        )
        return next((Bisection.model_validate_json(row["content"]) for row in found), None)

    def bisections(self, limit: int, before: datetime | None = None) -> list[Bisection]:
        found = self._query(
            "SELECT content FROM bisections FINAL WHERE asked_at < {before:DateTime64(3, 'UTC')}"
            " ORDER BY asked_at DESC LIMIT {limit:UInt32} WITH TIES",
            {"before": min(max(before or LATEST, EARLIEST), LATEST), "limit": limit},
        )
        bisections = [Bisection.model_validate_json(row["content"]) for row in found]
        return sorted(bisections, key=lambda one: (one.asked_at, one.bisection_id), reverse=True)

    def open_bisections(self) -> list[str]:
        closed = [str(kind) for kind in (BisectionEventKind.CANCELLED, BisectionEventKind.ENDED)]
        found = self._query(
            "SELECT bisection_id FROM bisection_events GROUP BY bisection_id"
            " HAVING argMax(kind, (number, at)) NOT IN {closed:Array(String)} ORDER BY min(at), bisection_id",
            {"closed": closed},
        )
        return [row["bisection_id"] for row in found]

    def add_bisection_event(self, event: BisectionEvent) -> None:
        key = {"bisection_id": event.bisection_id}
        with self._numbering:
            number = self._next_number("bisection_events", key, event.at, {"kind": str(event.kind)})
            row = {"at": event.at, "kind": str(event.kind), "content": event.model_dump_json(), "number": number}
            self._insert("bisection_events", [key | row])

    def bisection_events(self, bisection_id: str) -> list[BisectionEvent]:
        found = self._query(
            "SELECT content FROM bisection_events FINAL WHERE bisection_id = {bisection_id:String} ORDER BY number, at",
            {"bisection_id": bisection_id},
        )
        return [BisectionEvent.model_validate_json(row["content"]) for row in found]

    def add_line(self, line: Line) -> None:
        self._insert("bisection_lines", [{"bisection_id": line.bisection_id, "content": line.model_dump_json()}])

    def line(self, bisection_id: str) -> Line | None:
        found = self._query(
            "SELECT content FROM bisection_lines FINAL WHERE bisection_id = {bisection_id:String}",
            {"bisection_id": bisection_id},
        )
        return next((Line.model_validate_json(row["content"]) for row in found), None)
