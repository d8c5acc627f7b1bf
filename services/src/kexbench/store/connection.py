"""The one place that knows the database client. chDB allows one process a directory and one client a thread, and a
fork after opening hangs: start no child by fork from a process that has a store."""

import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import clickhouse_connect
from clickhouse_connect.datatypes.base import ClickHouseType
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from kexbench.store import rows
from kexbench.store.port import StoreError


class Connection:
    """Statements with bound parameters, from any thread; failures are StoreError."""

    def __init__(self, dsn: str, database: str) -> None:
        if not database.isidentifier():
            raise StoreError(f"not a database name: {database!r}")
        self._dsn = dsn
        self._database = database
        self._local = threading.local()
        self._clients: weakref.WeakSet[Client] = weakref.WeakSet()
        """Of all threads; one whose thread has ended closes itself."""
        self._column_types: dict[tuple[str, ...], Sequence[ClickHouseType]] = {}
        """Of each table and the columns that are written to it: asked for once, not at every insert."""

    def close(self) -> None:
        """Of all threads; a thread that goes on gets a client anew."""
        self._local = threading.local()
        for client in list(self._clients):
            client.close()

    @property
    def _embedded(self) -> bool:
        return self._dsn.startswith("chdb:")

    @property
    def _client(self) -> Client:
        client: Client | None = getattr(self._local, "client", None)
        if client is None:
            client = self._local.client = self._open(self._database)
            self._clients.add(client)
        return client

    def _open(self, database: str) -> Client:
        try:
            if self._embedded:
                folder = Path(self._dsn.removeprefix("chdb://"))
                folder.mkdir(parents=True, exist_ok=True)
                return clickhouse_connect.get_client(
                    interface="chdb", path=str(folder), database=database, tz_mode="aware"
                )
            return clickhouse_connect.get_client(
                dsn=self._dsn, database=database, autogenerate_session_id=False, tz_mode="aware"
            )
        except ClickHouseError as error:
            raise StoreError(f"the store at {self._dsn} does not open: {error}") from error
        except ImportError as error:
            raise StoreError("the embedded store needs chDB: install kexbench[local]") from error

    def _command(self, sql: str, client: Client | None = None) -> None:
        try:
            (client or self._client).command(sql)
        except ClickHouseError as error:
            raise StoreError(f"the store refused a statement: {error}") from error

    def _query(self, sql: str, parameters: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        try:
            found: Iterator[dict[str, Any]] = self._client.query(sql, parameters=parameters).named_results()
        except ClickHouseError as error:
            raise StoreError(f"the store refused a query: {error}") from error
        return found

    def _insert(self, table: str, content: list[rows.Row]) -> None:
        if not content:
            return
        columns = list(content[0])
        try:
            context = self._client.create_insert_context(
                table,
                columns,
                column_types=self._column_types.get((table, *columns)),
                data=[list(row.values()) for row in content],
                settings={"insert_deduplication_token": rows.deduplication_token(table, content), "async_insert": 0},
            )
            self._column_types[table, *columns] = context.column_types
            self._client.data_insert(context)
        except ClickHouseError as error:
            raise StoreError(f"the store refused rows for {table}: {error}") from error
