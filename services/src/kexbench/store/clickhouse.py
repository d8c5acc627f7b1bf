"""The store on ClickHouse, embedded (chDB) or a server by URL, through one client library.

All SQL is fixed text with bound parameters.
"""

from kexbench.store import migrate, rows
from kexbench.store.alerts import AlertTables
from kexbench.store.appearances import AppearanceTables
from kexbench.store.bisections import BisectionTables
from kexbench.store.causes import DOES_NOT_OPEN
from kexbench.store.damage import DamageTables
from kexbench.store.definitions import Definitions
from kexbench.store.exports import ExportTables
from kexbench.store.fleet import FleetTables
from kexbench.store.levels import LevelTables
from kexbench.store.notifications import NotificationTables
from kexbench.store.profiles import ProfileTables
from kexbench.store.pruning import PruningTables
from kexbench.store.rights import SYSTEM_TABLES
from kexbench.store.screenings import ScreeningTables
from kexbench.store.triggers import TriggerTables


class ClickHouseStore(
    FleetTables,
    TriggerTables,
    BisectionTables,
    AlertTables,
    ScreeningTables,
    NotificationTables,
    LevelTables,
    AppearanceTables,
    ExportTables,
    ProfileTables,
    PruningTables,
    DamageTables,
):
    """Implements the store's port. Thread-safe: each thread has its own client."""

    def __init__(self, dsn: str, database: str, clauses: migrate.EngineClauses) -> None:
        """`dsn` is `chdb:///absolute/folder` or the http(s) URL of a server."""
        super().__init__(dsn, database)
        self._clauses = clauses

    def migrate(self) -> None:
        """Bring the database to this release's schema. Raises StoreError."""
        definitions = Definitions(self._folder, self._database) if self._embedded else None

        def define(sql: str) -> None:
            self._command(sql)
            if definitions:
                definitions.check()

        def copy_definitions() -> None:
            if definitions:
                with self._faults("cannot be changed"):
                    definitions.copy()

        if definitions:
            with self._faults(DOES_NOT_OPEN):
                definitions.restore()
        copy_definitions()
        client = self._open("default" if self._embedded else "")
        self._command(f"CREATE DATABASE IF NOT EXISTS {self._database}", client=client)
        client.close()
        define(self._clauses.fill(migrate.APPLIED_TABLE))
        applied = {
            row["version"]: row["sha256"]
            for row in self._query("SELECT version, sha256 FROM schema_migrations FINAL ORDER BY version")
        }
        for migration in migrate.pending(migrate.load_migrations(), applied):
            for statement in migration.statements:
                define(self._clauses.fill(statement))
            copy_definitions()
            row = rows.columns_of(migration, "version", "name", "sha256")
            self._insert("schema_migrations", [row | {"statements": len(migration.statements)}])
        copy_definitions()
        if definitions:
            definitions.forget_dropped()
        self._recognise_hosts()
        self._apply_set_asides()
        self._summarise_missing()

    def engine(self) -> str:
        version = next(self._query("SELECT version() AS version"))["version"]
        return f"{'chDB' if self._embedded else 'ClickHouse'} {version}"

    def check_readable(self) -> None:
        for table in ("runs", "samples", *(f"system.{table}" for table in SYSTEM_TABLES)):
            self._query(f"SELECT 1 FROM {table} LIMIT 0")
