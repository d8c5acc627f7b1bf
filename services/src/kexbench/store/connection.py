"""The only module that knows the database client. chDB allows one process for each directory and one client for each
thread. A fork after opening hangs: a process with a store must not start a child by fork."""

import logging
import secrets
import shutil
import ssl
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import clickhouse_connect
import pyarrow as pa
from clickhouse_connect.datatypes.base import ClickHouseType
from clickhouse_connect.driver import options
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, DatabaseError
from pydantic import BaseModel
from urllib3.exceptions import HTTPError  # raised by the client if an answer is cut off

from kexbench.domain.addresses import is_http_address, without_users
from kexbench.domain.moments import EARLIEST, LATEST
from kexbench.logs import silence_requests
from kexbench.store import rows
from kexbench.store.causes import DOES_NOT_OPEN, engines_words, is_full, needed_bytes, store_error
from kexbench.store.columns import as_arrow
from kexbench.store.port import DiskRoom, NotTheWriter, StoreAway, StoreError, StoreFull
from kexbench.store.rights import grants
from kexbench.store.turns import WriteTurns

# Otherwise the client imports pandas at the first insert, which takes a second and is not used.
options.pd = options.pd_time_test = None

Kept = TypeVar("Kept", bound=BaseModel)
_log = logging.getLogger(__name__)
# The client logs each error that it raises. What is raised is logged here.
logging.getLogger("clickhouse_connect").setLevel(logging.CRITICAL)
silence_requests()
_REFUSED_LOGINS = frozenset({192, 193, 194, 516})
"""ClickHouse's codes for an unknown user, a wrong or missing password, and a failed login."""
_NOT_GRANTED, _NO_SPACE = 497, 243
"""ClickHouse's codes for missing rights and for a full disk."""
_TOO_FEW_REPLICAS = frozenset({242, 285, 286, 319, 999})
"""ClickHouse's codes for a replica that may not write now, for fewer replicas than a quorum, for an earlier insert that
waits for its quorum, for one whose quorum did not answer in time, and for a Keeper that does not answer."""
_REFUSED_QUERY = "refused a query"

_INTERPRETED = dict.fromkeys(("compile_expressions", "compile_aggregate_expressions", "compile_sort_description"), 0)
"""Otherwise the engine compiles each expression when it is used for the third time. Answers read few rows, so
compiling takes several times as long as it ever saves."""

_writes: Counter[tuple[str, str]] = Counter()
"""By embedded store and database: how often this process wrote. No other process can write there."""
_counting_writes = threading.Lock()


def insert_token() -> str:
    """A new token for each insert, since the engine ignores an insert whose token or content it remembers. A table
    without replicas remembers an insert before it has the rows. If the process is killed in between, the rows would be
    lost when they are inserted again."""
    return secrets.token_hex(16)


def _inserting() -> dict[str, str | int]:
    return {"async_insert": 0, "insert_deduplication_token": insert_token()}


class _Opened:
    """A client, closed at the latest when this object is no longer used: a client of a thread when the thread ends."""

    def __init__(self, client: Client, clients: "_Clients") -> None:
        self.client = client
        self.close = weakref.finalize(self, clients.close, client)
        self.close.atexit = False  # a query of a daemon thread must not hold up the end of the process


class _Clients:
    """The open clients of all threads."""

    def __init__(self) -> None:
        self._open: set[Client] = set()
        self._closing = threading.RLock()
        """Held while a client closes, since a thread that has ended may still be closing its client: the engine is
        free for another process only when that is done."""

    def add(self, client: Client) -> _Opened:
        self._open.add(client)
        return _Opened(client, self)

    def is_first(self) -> bool:
        """Whether none is open, so that the next one starts an embedded engine."""
        return not self._open

    def close(self, client: Client) -> None:
        """Does nothing if it is closed already."""
        with self._closing:
            if client in self._open:
                self._open.discard(client)
                client.close()

    def close_all(self) -> None:
        with self._closing:
            for client in list(self._open):
                self.close(client)


class Connection:
    """Statements with bound parameters, from any thread. Failures are StoreError."""

    def __init__(self, dsn: str, database: str) -> None:
        if not database.isidentifier():
            raise StoreError(f"not a database name: {database!r}")
        if not dsn.startswith("chdb:") and not is_http_address(dsn):
            raise StoreError(
                "KEXBENCH_STORE_URL is not the address of a ClickHouse server: write https://user:password@host:8443, "
                "and in the password %40 for @, %2F for / and %23 for #"
            )
        self._dsn = dsn
        self._database = database
        self._local = threading.local()
        self._turns = WriteTurns()
        self._may_write: Callable[[], bool] | None = None
        """None if no other process uses the store."""
        self._numbering = threading.Lock()
        self._replacing = threading.Lock()
        """Held while samples are read to be replaced: a delivery in between would be replaced by earlier numbers."""
        self._clients = _Clients()
        self._is_away = False
        """Whether the server did not answer the last statement. While it is away, dozens of statements fail each
        second, and the log has the first."""
        self._noted_hosts: set[str] = set()
        """Ids of the hosts that this object has stored."""
        self._column_types: dict[tuple[str, ...], Sequence[ClickHouseType]] = {}
        """By table and its written columns, so that the types are requested only once."""

    def share(self, may_write: Callable[[], bool]) -> None:
        assert not self._embedded, "no other process can open an embedded store"
        self._may_write = may_write

    def _check_may_write(self) -> None:
        """Raises NotTheWriter."""
        if self._may_write is not None and not self._may_write():
            raise NotTheWriter

    def close(self) -> None:
        """Close the clients of all threads; a thread that continues gets a new one."""
        self._local = threading.local()
        self._clients.close_all()

    @property
    def _embedded(self) -> bool:
        return self._dsn.startswith("chdb:")

    @property
    def _folder(self) -> Path:
        """Of an embedded store."""
        return Path(self._dsn.removeprefix("chdb://"))

    @property
    def _server_settings(self) -> dict[str, Any]:
        """Of each statement to a server."""
        return {}

    @property
    def _client(self) -> Client:
        opened: _Opened | None = getattr(self._local, "opened", None)
        if opened is None:
            opened = self._local.opened = self._clients.add(self._open(self._database))
        return opened.client

    def _open(self, database: str) -> Client:
        with self._faults(DOES_NOT_OPEN):
            if self._embedded:
                return self._open_embedded(database)
            return clickhouse_connect.get_client(
                dsn=self._dsn,
                # The client decides by the port, not by the address: it would send the password without TLS.
                interface=urlsplit(self._dsn).scheme,
                database=database,
                autogenerate_session_id=False,
                tz_mode="aware",
                settings=self._server_settings,
            )

    def _open_embedded(self, database: str) -> Client:
        self._folder.mkdir(parents=True, exist_ok=True)
        with engines_words() if self._clients.is_first() else nullcontext(str) as words:
            try:
                return clickhouse_connect.get_client(
                    interface="chdb", path=str(self._folder), database=database, tz_mode="aware", settings=_INTERPRETED
                )
            except ModuleNotFoundError as error:
                raise StoreError("the embedded store needs chDB", "install kexbench[local]") from error
            except (ClickHouseError, OSError, ImportError) as error:
                origin = error.__cause__ or error.__context__ or ""  # the client hides why it cannot load the engine
                raise store_error(self._folder, DOES_NOT_OPEN, f"{error}\n{origin}\n{words()}") from error

    @contextmanager
    def _faults(self, what: str, writes_bytes: int | None = None) -> Iterator[None]:
        """Turns every error of the client into a StoreError with our own text. The client's text may contain the
        server's address and password, so it goes only to the log, with both removed. `writes_bytes` is the size of what
        is written, if anything is."""
        try:
            yield
        except (ClickHouseError, HTTPError, OSError) as error:
            if self._embedded:
                raise store_error(self._folder, what, str(error), writes_bytes) from error
            fault = _in_our_words(what, getattr(error, "code", None))
            is_new = not (isinstance(fault, StoreAway) and self._is_away)
            self._is_away = isinstance(fault, StoreAway)
            if is_new:
                _log.warning("ClickHouse %s: %s", what, self._without_secrets(str(error)))
            if is_full(str(error)) or getattr(error, "code", None) == _NO_SPACE:
                raise self._full(writes_bytes or 0) from None
            if _is_untrusted(error):
                raise StoreError(
                    "the certificate of the ClickHouse server is not trusted",
                    "name the file with its authority: KEXBENCH_STORE_CA_FILE",
                ) from None
            raise fault from None
        else:
            self._is_away = False

    def _full(self, writes_bytes: int) -> StoreFull:
        """Of a server; its disks can still be read."""
        disks: list[DiskRoom] = []
        with suppress(StoreError):
            disks = self.disks()
        remedy = "free space on the disk of the ClickHouse server, or enlarge it; nothing is lost meanwhile"
        return StoreFull(max((disk.free_bytes for disk in disks), default=None), needed_bytes(writes_bytes), remedy)

    def disks(self) -> list[DiskRoom]:
        if self._embedded:
            usage = shutil.disk_usage(self._folder)
            return [DiskRoom("default", usage.free, usage.total)]
        selected = self._query(
            "SELECT name, free_space, total_space FROM system.disks WHERE name IN (SELECT disk_name FROM system.parts"
            " WHERE database = {database:String} AND active) ORDER BY name",
            {"database": self._database},
        )
        return [DiskRoom(row["name"], int(row["free_space"]), int(row["total_space"])) for row in selected]

    def _without_secrets(self, text: str) -> str:
        url = urlsplit(self._dsn)
        for secret in {url.netloc.rpartition("@")[0], url.password or "", unquote(url.password or "")} - {""}:
            text = text.replace(secret, "…")
        return without_users(text)

    def newest_write(self) -> str:
        if self._embedded:
            return str(_writes[self._dsn, self._database])
        newest = (
            "SELECT `table`, partition_id, max(max_block_number) AS newest_block FROM system.parts"
            " WHERE database = {database:String} AND active GROUP BY `table`, partition_id"
        )
        selected = self._query(
            f"SELECT toString(groupBitXor(cityHash64(`table`, partition_id, newest_block))) AS version FROM ({newest})",
            {"database": self._database},
        )
        return str(next(selected)["version"])

    def _command(self, sql: str, parameters: dict[str, Any] | None = None, client: Client | None = None) -> None:
        with self._writing(), self._faults("refused a statement", 0):
            (client or self._client).command(sql, parameters=parameters)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Counts a write after it: whoever reads the number before has at most read too much."""
        with self._turns.writing():
            self._check_may_write()
            try:
                yield
            finally:
                with _counting_writes:
                    _writes[self._dsn, self._database] += 1

    def _query(
        self, sql: str, parameters: dict[str, Any] | None = None, client: Client | None = None
    ) -> Iterator[dict[str, Any]]:
        with self._faults(_REFUSED_QUERY):
            answer = (client or self._client).query(sql, parameters=parameters)
            _ = answer.result_rows  # reads the complete answer inside `_faults`; the client would read it later
            named_rows: Iterator[dict[str, Any]] = answer.named_results()
        return named_rows

    def _query_arrow(self, sql: str, parameters: dict[str, Any]) -> pa.Table:
        """The whole answer as columns."""
        with self._faults(_REFUSED_QUERY):
            return self._client.query_arrow(sql, parameters=parameters, use_strings=True)

    @contextmanager
    def _batches(self, sql: str, parameters: dict[str, Any], schema: pa.Schema) -> Iterator[Iterator[pa.RecordBatch]]:
        """The rows of a query as they arrive, in blocks of the engine. They have the types of `schema`, in its order.
        Leaving the context stops the query. It has a client of its own, since it occupies its client until its end, and
        any thread may read it."""
        opened = self._clients.add(self._open(self._database))
        client = opened.client
        with ExitStack() as stack:
            stack.callback(opened.close)
            with self._faults(_REFUSED_QUERY):
                # Of an embedded engine, the client would keep an answer in Arrow whole.
                start = client.query_column_block_stream if self._embedded else client.query_arrow_stream
                blocks = stack.enter_context(start(sql, parameters=parameters))
            yield self._converted(blocks, schema)

    def _converted(self, blocks: Iterator[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        while True:
            with self._faults(_REFUSED_QUERY):
                try:
                    block = next(blocks, None)
                except pa.ArrowInvalid as error:  # a server ends a failed answer with its text
                    raise DatabaseError(str(error)) from error
            if block is None:
                return
            columns = [
                column.cast(field.type) if isinstance(column, pa.Array) else _array_of(column, field.type)
                for column, field in zip(block, schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def _read(self, kind: type[Kept], sql: str, parameters: dict[str, Any] | None = None) -> list[Kept]:
        """The values in the column `content` of a query's rows."""
        return [kind.model_validate_json(row["content"]) for row in self._query(sql, parameters)]

    def _page(
        self,
        kind: type[Kept],
        source: str,
        order: tuple[str, ...],
        limit: int,
        before: datetime | None,
        parameters: dict[str, Any] | None = None,
    ) -> list[Kept]:
        """Newest first; more than `limit` if the last ones have the same time. `order` are fields of the values. The
        first is the time, which is also a column."""
        bound = page_parameters(limit, before) | (parameters or {})
        values = self._read(kind, f"SELECT content FROM {source} {page_of(order[0])}", bound)
        return sorted(values, key=attrgetter(*order), reverse=True)

    def _insert_events(self, table: str, key: str, state: str, events: Sequence[rows.Row]) -> None:
        """Insert an event each of some runs or bisections, with its number there. Only one process writes events."""
        if events:
            with self._numbering:
                numbers = self._next_numbers(table, key, state, events)
                self._insert(table, [event | {"number": numbers.get(event[key], 1)} for event in events])

    def _next_numbers(self, table: str, key: str, state: str, events: Sequence[rows.Row]) -> dict[str, int]:
        """The numbers by order of arrival; an event that is already stored keeps its number. `key` and `state` are the
        columns for the event's owner and for what happened. Owners without an event are missing."""
        times = [event["at"].astimezone(UTC) for event in events]
        of_owner = f"[indexOf({{keys:Array(String)}}, {key})]"
        is_stored = (
            f"{state} = {{states:Array(String)}}{of_owner}"
            f" AND at = toDateTime64({{times:Array(String)}}{of_owner}, 3, 'UTC')"
        )
        selected = self._query(
            f"SELECT {key} AS owner, max(number) AS last, maxIf(number, {is_stored}) AS before,"
            f" countIf({is_stored}) AS times FROM {table} WHERE {key} IN {{keys:Array(String)}} GROUP BY {key}",
            {
                "keys": [event[key] for event in events],
                "states": [event[state] for event in events],
                "times": [f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}" for at in times],
            },
        )
        return {row["owner"]: int(row["before"] if row["times"] else row["last"] + 1) for row in selected}

    def _insert(self, table: str, content: list[rows.Row] | pa.Table) -> None:
        """One insert, of rows or of columns. Of rows that are stored more than once, readers count one."""
        if not len(content):
            return
        if isinstance(content, pa.Table):
            self._insert_columns(table, content)
            return
        columns = list(content[0])
        with self._writing(), self._faults(f"refused rows for {table}", 0):
            context = self._client.create_insert_context(
                table,
                columns,
                column_types=self._column_types.get((table, *columns)),
                data=[list(row.values()) for row in content],
                settings=_inserting(),
            )
            self._column_types[table, *columns] = context.column_types
            self._client.data_insert(context)

    def _insert_columns(self, table: str, content: pa.Table) -> None:
        """Without a search for rows with equal keys, which takes a third of the time: the caller gives none."""
        if not len(content):
            return
        settings = _inserting() | {"optimize_on_insert": 0}
        with self._writing(), self._faults(f"refused rows for {table}", content.nbytes):
            self._client.raw_insert(
                table, content.column_names, as_arrow(content), settings=settings, fmt="ArrowStream"
            )


def _array_of(column: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Times are given as milliseconds since 1970."""
    return pa.array(column, pa.int64()).cast(kind) if pa.types.is_timestamp(kind) else pa.array(column, kind)


def page_of(moment: str) -> str:
    """SQL for the parameters of `page_parameters`; `moment` is the column that orders pages."""
    return f"WHERE {moment} < {{before:DateTime64(3, 'UTC')}} ORDER BY {moment} DESC LIMIT {{limit:UInt32}} WITH TIES"


def page_parameters(limit: int, before: datetime | None) -> dict[str, Any]:
    return {"before": min(max(before or LATEST, EARLIEST), LATEST), "limit": limit}


def _is_untrusted(error: BaseException) -> bool:
    """Whether it comes from a certificate that could not be verified. The client wraps the cause more than once."""
    causes: list[BaseException | None] = [error]
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        found = (cause.__cause__, cause.__context__, getattr(cause, "reason", None)) if cause else ()
        causes += [one for one in found if isinstance(one, BaseException) and one not in causes]
    return False


def _in_our_words(what: str, code: int | None) -> StoreError:
    """A text without secrets about a server's fault, from ClickHouse's error number."""
    if code is None:
        return StoreAway("the ClickHouse server does not answer")
    if code in _REFUSED_LOGINS:
        return StoreError("the ClickHouse server refuses the user name or the password of KEXBENCH_STORE_URL")
    if code == _NOT_GRANTED:
        remedy = f"as its administrator: {'; '.join(f'{grant} TO its user' for grant in grants('DATABASE'))}"
        return StoreError("the ClickHouse server does not let the user of KEXBENCH_STORE_URL do what is needed", remedy)
    if code in _TOO_FEW_REPLICAS:
        return StoreAway(f"too few replicas of the ClickHouse server answer (error {code}): a write waits for most")
    return StoreError(f"the ClickHouse server {what} (error {code}); its text is in the log")
