"""The folder of a run: what it holds is on the disk."""

import sys
from pathlib import Path

from tests.tracing import synced_before_each_line


def test_each_file_of_a_run_is_on_the_disk_with_its_name_before_anything_is_told_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    printed, synced = synced_before_each_line([sys.executable, "-m", "tests.execution.keeper", folder], tmp_path)
    assert printed == ["run.json", "events.ndjson", "results", "results", "delivered"]
    made, event, first_result, second_result, delivered = synced
    assert {tmp_path, folder.parent, folder} <= made, "the folders whose entries are new"
    assert any(path.name.startswith(".run.json.") for path in made), "it has its name only once it is whole"
    assert {folder / "events.ndjson", folder} <= event
    (results,) = second_result
    assert results.parent == folder / "results"
    assert {results, results.parent, folder} <= first_result
    assert folder in delivered
