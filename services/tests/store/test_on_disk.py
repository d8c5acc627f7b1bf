"""What the store has acknowledged is on the disk: the system was asked to write it there, and has said that it did."""

import sys
from pathlib import Path

from kexbench.store.clickhouse import ClickHouseStore
from tests.stores import raw
from tests.tracing import synced_before_each_line

_WAITS_FOR_DISK = (
    "fsync_after_insert = 1",
    "fsync_part_directory = 1",
    "min_rows_to_fsync_after_merge = 1",
    "min_compressed_bytes_to_fsync_after_merge = 1",
)


def test_every_table_waits_for_the_disk(store: ClickHouseStore) -> None:
    """Also one that a later migration makes."""
    tables = {
        row["name"]: row["engine_full"]
        for row in raw(store).query(
            "SELECT name, engine_full FROM system.tables"
            " WHERE database = {database:String} AND engine LIKE '%MergeTree'",
            {"database": raw(store).database},
        )
    }
    assert {"runs", "samples", "schema_migrations"} <= tables.keys()
    lacking = {name: [one for one in _WAITS_FOR_DISK if one not in full] for name, full in tables.items()}
    assert {name: settings for name, settings in lacking.items() if settings} == {}


def test_an_invocation_is_on_the_disk_before_it_is_acknowledged(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    printed, synced = synced_before_each_line(
        [sys.executable, "-m", "tests.store.writer", folder, "add", "5"], tmp_path
    )
    assert printed == ["0", "1", "2", "3", "4"]
    for paths in synced:
        columns = [path for path in paths if path.name == "data.bin"]
        assert len(columns) >= 2, "of samples and of the invocation; this run has no outcomes"
        tables = [path for path in paths if path.parent.parent == folder / "store"]
        assert len(tables) >= 2, "the folders that name the parts, too"
