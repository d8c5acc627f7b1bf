"""A test double of a ClickHouse server: its HTTP interface over chDB, the same engine.

`python -m tests.store.clickhouse_double FOLDER GRANT…` listens on a loopback port and prints it. Queries come one at a
time over one chDB connection; settings of a request are set before and reset after it. The engine's own access control
gives its user the rights of the GRANTs, and refuses what they do not cover. It lets everybody read `system`, where a
server asks for a grant (`select_from_system_db_requires_grant`, which an embedded engine does not read): that is
checked here.
"""

import gzip
import re
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from xml.sax.saxutils import escape

import chdb
import lz4.frame

TRANSPORT = {"database", "query", "compress", "enable_http_compression", "client_protocol_version", "session_id"}
TRANSPORT |= {"send_progress_in_http_headers", "http_headers_progress_interval_ms", "wait_end_of_query", "query_id"}
DECODERS = {"": bytes, "gzip": gzip.decompress, "lz4": lz4.frame.decompress}
INSERT = re.compile(rb"(INSERT INTO [^\n]+?)\s+FORMAT (Native|ArrowStream)\s?")
FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*$")

READ_IN_SYSTEM = re.compile(r"\b(?:FROM|JOIN)\s+system\.(\w+)", re.IGNORECASE)
ALWAYS = {"one", "contributors", "licenses", "time_zones", "collations", "formats", "privileges", "data_type_families"}
ALWAYS |= {"database_engines", "table_engines", "table_functions", "aggregate_function_combinators", "functions"}
ALWAYS |= {"databases", "tables", "columns", "settings", "current_roles", "enabled_roles", "quota_usage"}
"""Tables of `system` that a server's implicit rights cover (ClickHouse, src/Access/ContextAccess.cpp)."""
OF_THE_DOUBLE = ("GRANT READ ON FILE", "GRANT SHOW DATABASES ON default.*")
"""It gives the engine the rows of an insert in a file, and leaves a database by going to another."""
USERS = """<clickhouse><users><default><password/><networks><ip>::/0</ip></networks><profile>default</profile>
<quota>default</quota><grants>{}</grants></default></users><profiles><default/></profiles><quotas><default/></quotas>
</clickhouse>"""
CONFIG = "<clickhouse><users_config>{}</users_config></clickhouse>"


class AccessDenied(Exception):
    pass


class Engine:
    """One statement at a time."""

    def __init__(self, folder: str, grants: list[str]) -> None:
        users, config = Path(f"{folder}.users.xml"), Path(f"{folder}.config.xml")
        users.write_text(
            USERS.format("".join(f"<query>{escape(grant)}</query>" for grant in [*grants, *OF_THE_DOUBLE]))
        )
        config.write_text(CONFIG.format(escape(str(users))))
        self._system = {table for grant in grants for table in re.findall(r"GRANT SELECT ON system\.(\w+)", grant)}
        self._connection = chdb.connect(f"{folder}?config-file={config}")
        self._lock = threading.Lock()

    def run(self, sql: bytes, arguments: dict[str, str]) -> tuple[bytes, str]:
        """The answer and its format, empty where a statement has no answer."""
        bound = {name[6:]: value for name, value in arguments.items() if name.startswith("param_")}
        settings = {
            name: value for name, value in arguments.items() if name not in TRANSPORT and not name.startswith("param_")
        }
        self._check(sql.decode(errors="replace"))
        with self._lock:
            self._connection.query(f"USE `{arguments.get('database') or 'default'}`")
            if settings:
                self._connection.query("SET " + ", ".join(f"{name} = '{value}'" for name, value in settings.items()))
            try:
                insert = INSERT.match(sql)
                if insert and insert.end() < len(sql):
                    return self._insert(insert[1].decode(), insert[2].decode(), sql[insert.end() :]), ""
                text = sql.decode().strip().rstrip(";")
                wanted = FORMAT.search(text)
                answer = self._connection.query(text, "TabSeparated", params=bound).bytes() or b""
                has_answer = wanted or text.upper().startswith(("SELECT", "SHOW", "DESCRIBE", "EXISTS"))
                return answer, (wanted[1] if wanted else "TabSeparated") if has_answer else ""
            finally:
                if settings:
                    self._connection.query("SET " + ", ".join(f"{name} = DEFAULT" for name in settings))

    def _check(self, sql: str) -> None:
        """The texts of parameters and rows come apart from the statement, so that names in it are names."""
        for table in set(READ_IN_SYSTEM.findall(sql)) - ALWAYS - self._system:
            text = (
                "Not enough privileges. To execute this query, it's necessary to have the grant SELECT for at least one"
            )
            text += f" column on system.{table}"
            raise AccessDenied(f"Code: 497. DB::Exception: kexbench: {text}. (ACCESS_DENIED)")

    def _insert(self, statement: str, block_format: str, block: bytes) -> bytes:
        with tempfile.NamedTemporaryFile(suffix=".block") as file:
            file.write(block)
            file.flush()
            return self._connection.query(f"{statement} FROM INFILE '{file.name}' FORMAT {block_format}").bytes() or b""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    engine: Engine
    given_up = threading.Semaphore(0)
    """One for each answer that a client did not read to its end."""

    def do_POST(self) -> None:
        body = DECODERS[self.headers.get("Content-Encoding", "")](self._body())
        arguments = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        query = arguments.get("query", "").encode()
        try:
            answer, answer_format = self.engine.run(query + b"\n" + body if query else body, arguments)
        except Exception as error:  # whatever the engine says is the answer
            text = str(error)
            code = re.search(r"Code: (\d+)", text)
            self._respond(500, text.encode(), {"X-ClickHouse-Exception-Code": code[1] if code else "1"})
        else:
            self._respond(200, answer, {"X-ClickHouse-Format": answer_format} if answer_format else {})

    def do_GET(self) -> None:
        """`/given-up` waits for a client to give up an answer."""
        if self.path != "/given-up":
            self.do_POST()
        elif self.given_up.acquire(timeout=60):
            self._respond(204, b"", {})
        else:
            self._respond(504, b"", {})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _respond(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "X-ClickHouse-Timezone": "UTC", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True
            self.given_up.release()

    def log_message(self, format: str, *args: Any) -> None:
        pass


if __name__ == "__main__":
    Handler.engine = Engine(sys.argv[1], sys.argv[2:])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()
