"""A closed store has let go of its folder, which another process may open then."""

import threading
from pathlib import Path

import pytest
from chdb.state.sqlitelike import Connection as EngineConnection

from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses


def test_closing_waits_for_the_client_of_a_thread_that_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ClickHouseStore(f"chdb://{tmp_path / 'store'}", "default", EngineClauses())
    reader = threading.Thread(target=store.engine)
    reader_closes, store_is_closed = threading.Event(), threading.Event()
    ended: list[str] = []
    close = EngineConnection.close

    def slow_close(connection: EngineConnection) -> None:
        if reader_closes.is_set() or threading.get_ident() != reader.ident:
            close(connection)
            return
        reader_closes.set()
        store_is_closed.wait(timeout=1)  # in vain, if closing the store waits for this
        close(connection)
        ended.append("client")

    monkeypatch.setattr(EngineConnection, "close", slow_close)
    reader.start()
    assert reader_closes.wait(timeout=60), "a service has threads that come and go"
    store.close()
    ended.append("store")
    store_is_closed.set()
    reader.join()
    assert ended == ["client", "store"]
