"""The store on ClickHouse, embedded (chDB) or a server by URL, through one client library.

All SQL is fixed text with bound parameters.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kexbench.store import migrate, rows
from kexbench.store.alerts import AlertTables
from kexbench.store.appearances import AppearanceTables
from kexbench.store.backups import UNMARK, BackupTables, mark_of, mark_of_all_rows
from kexbench.store.bisections import BisectionTables
from kexbench.store.causes import DOES_NOT_OPEN
from kexbench.store.damage import DamageTables
from kexbench.store.definitions import Definitions
from kexbench.store.exports import ExportTables
from kexbench.store.fleet import FleetTables
from kexbench.store.levels import LevelTables
from kexbench.store.notifications import NotificationTables
from kexbench.store.people import PeopleTables
from kexbench.store.port import Schema, StoreAway, StoreError
from kexbench.store.profiles import ProfileTables
from kexbench.store.pruning import PruningTables
from kexbench.store.rights import SYSTEM_TABLES
from kexbench.store.screenings import ScreeningTables
from kexbench.store.triggers import TriggerTables

_ENGINE_OF = "SELECT engine FROM system.databases WHERE name = {database:String}"


class ClickHouseStore(
    FleetTables,
    TriggerTables,
    BisectionTables,
    AlertTables,
    ScreeningTables,
    NotificationTables,
    PeopleTables,
    LevelTables,
    AppearanceTables,
    ExportTables,
    ProfileTables,
    PruningTables,
    BackupTables,
    DamageTables,
):
    """Implements the store's port. Thread-safe: each thread has its own client."""

    def __init__(self, dsn: str, database: str, clauses: migrate.EngineClauses) -> None:
        """`dsn` is `chdb:///absolute/folder` or the http(s) URL of a server."""
        super().__init__(dsn, database)
        self._clauses = clauses

    def migrate(self) -> None:
        """Bring the database to this release's schema. Raises StoreError."""
        self._begin()
        if self._marked_restore() is not None:
            remedy = "repeat kexbench restore with the same backup, which completes it"
            raise StoreError("a restore into this store has not finished", remedy)
        self._migrate()

    def schema(self) -> Schema:
        try:
            applied = self.applied_migrations()
            marked = self._marked_restore()
        except StoreAway:
            raise
        except StoreError:  # there is no database or table of migrations
            return "older"
        known = {migration.version: migration.sha256 for migration in migrate.load_migrations()}
        if applied.items() <= known.items():
            return "same" if applied == known and marked is None else "older"
        return "newer"

    def begin_restore(self, backup: str, migrations: Mapping[int, str]) -> bool:
        """Prepare an empty store, or one that `backup` was being restored into, for the rows of a schema that has these
        `migrations`. `backup` is a SHA-256 that identifies it. Returns whether the rows must be put in: an interrupted
        restore may have done it and begun to change their schema. Raises StoreError if there is anything else,
        and for a schema that this release does not know."""
        known = migrate.load_migrations()
        migrate.pending(known, dict(migrations))
        self._begin()
        self._check_restorable(backup, migrations)
        self._define(self._clauses.fill(mark_of(backup)))
        if self._has_all_rows():
            return False
        self._migrate(up_to=max(migrations))
        return True

    def end_restore(self, backup: str) -> None:
        """All its rows are in: change them to this release's schema, and compute what it leaves out. The store opens
        then."""
        self._define(mark_of_all_rows(backup))
        self._migrate()
        self._define(UNMARK)
        self._copy_definitions()
        if self._definitions:
            self._definitions.forget_dropped()

    @property
    def _server_settings(self) -> dict[str, Any]:
        """Of replicas, most have to confirm an insert, so that the loss of one loses nothing."""
        return {"insert_quorum": "auto"} if self._clauses.is_replicated else {}

    @property
    def _definitions(self) -> Definitions | None:
        return Definitions(self._folder, self._database) if self._embedded else None

    def _define(self, sql: str) -> None:
        self._command(sql)
        if self._definitions:
            self._definitions.check()

    def _copy_definitions(self) -> None:
        if self._definitions:
            with self._faults("cannot be changed"):
                self._definitions.copy()

    def _begin(self) -> None:
        """Open the database, which is created if need be; a replicated one has its replicas' names from somebody."""
        if self._definitions:
            with self._faults(DOES_NOT_OPEN):
                self._definitions.restore()
        self._copy_definitions()
        client = self._open("default" if self._embedded else "")
        if self._clauses.is_replicated:
            self._check_replicated(self._query(_ENGINE_OF, {"database": self._database}, client))
        else:
            self._command(f"CREATE DATABASE IF NOT EXISTS {self._database}", client=client)
        client.close()

    def _check_replicated(self, engines: Iterable[rows.Row]) -> None:
        """Only in a replicated database do all servers get a table that one of them creates."""
        if [row["engine"] for row in engines] != ["Replicated"]:
            tables = self._clauses.replacing
            engine = f"Replicated('/clickhouse/databases/{self._database}', '{{shard}}', '{{replica}}')"
            raise StoreError(
                f"the database {self._database} is not replicated, and KEXBENCH_STORE_ENGINE is {tables}",
                f"create it on each server: CREATE DATABASE {self._database} ENGINE = {engine}",
            )

    def _migrate(self, up_to: int | None = None) -> None:
        """`up_to` a migration, or to this release's schema."""
        self._define(self._clauses.fill(migrate.APPLIED_TABLE))
        for migration in migrate.pending(migrate.load_migrations(), self.applied_migrations()):
            if up_to is not None and migration.version > up_to:
                break
            for statement in migration.statements:
                self._define(self._clauses.fill(statement))
            self._copy_definitions()
            row = rows.columns_of(migration, "version", "name", "sha256")
            self._insert("schema_migrations", [row | {"statements": len(migration.statements)}])
        self._copy_definitions()
        if up_to is not None:
            return
        if self._definitions:
            self._definitions.forget_dropped()
        self._recognise_hosts()
        self._apply_set_asides()
        self._summarise_missing()

    def engine(self) -> str:
        version = next(self._query("SELECT version() AS version"))["version"]
        return f"{'chDB' if self._embedded else 'ClickHouse'} {version}"

    def check_readable(self) -> None:
        for table in ("runs", "samples", *(f"system.{table}" for table in SYSTEM_TABLES)):
            self._query(f"SELECT 1 FROM {table} LIMIT 0")
