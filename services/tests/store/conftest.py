"""The stores that the contract is checked on: embedded chDB, and a server over HTTP."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from secrets import token_hex

import pytest

from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.rights import grants
from tests.stores import CLICKHOUSE, emptied, made

SERVICES = Path(__file__).parents[2]
_SESSION, _DATABASES = token_hex(4), count()
_OF_TESTS = ("contract_", "emptied_", "restored_")
"""How the names of tests' databases begin. On the small server a user has the rights in each of them, and no others."""


@pytest.fixture(scope="session")
def server_dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real ClickHouse server if one is named, else a small one of the tests."""
    if CLICKHOUSE:
        yield CLICKHOUSE
        return
    rights = dict.fromkeys(grant for begin in _OF_TESTS for grant in grants(f"{begin}*"))
    with small_server(tmp_path_factory.mktemp("server"), *rights) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def small_server(*arguments: object, before: Sequence[str] = ()) -> Iterator[int]:
    """The port of a small server, which is started by the command `before` its own."""
    command = [*before, sys.executable, "-m", "tests.store.clickhouse_double", *map(str, arguments)]
    with subprocess.Popen(command, cwd=SERVICES, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.terminate()


def dsn_of(request: pytest.FixtureRequest) -> str:
    dsn: str = request.getfixturevalue("warm_chdb" if request.param == "embedded" else "server_dsn")
    return dsn


@pytest.fixture(params=["embedded", pytest.param("server", marks=pytest.mark.thorough)])
def dsn(request: pytest.FixtureRequest) -> str:
    """The contract overrides this: it is checked on the server in every test run."""
    return dsn_of(request)


@pytest.fixture
def database(dsn: str) -> str:
    """One that no other test uses, nor an earlier one on a server that lasts."""
    return made(dsn, f"contract_{_SESSION}_{next(_DATABASES)}")


@pytest.fixture
def store(dsn: str) -> Iterator[ClickHouseStore]:
    yield from emptied(dsn)
