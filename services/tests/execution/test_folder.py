"""The folder of a run: what it holds is on the disk."""

import sys
from pathlib import Path

from kexbench.execution.folder import RunFolder
from tests.tracing import synced_before_each_line


def test_each_file_of_a_run_is_on_the_disk_with_its_name_before_anything_is_said_of_it(tmp_path: Path) -> None:
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


def test_the_end_of_a_log_is_short_plain_and_has_no_secrets(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "one")
    assert folder.log_tail() == []
    folder.path.mkdir()
    lines = [
        *(f"measured {number} of 99 invocations" for number in range(99)),
        "\x1b[31mred\x1b[0m\x07 <b>text</b>",
        "cloning https://alice:hunter2@git.example.org/mirror",
        "Authorization: Bearer eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl",
        "KEXBENCH_STORE_PASSWORD=hunter2 api_key: hunter2",
        """{"password": "hunter2", 'token': 'hunter2'} password='hunter2' --token hunter2""",
        "Authorization: Basic hunter2 with ghp_hunter2",
        "x" * 400,
    ]
    folder.measuring_log.write_bytes("\n".join(lines).encode() + b"\n\xff\n")
    tail = folder.log_tail()
    assert len(tail) == 20
    assert "measured 98 of 99 invocations" in tail
    assert "red <b>text</b>" in tail
    assert "cloning https://…@git.example.org/mirror" in tail
    assert not [line for line in tail if "hunter2" in line or "eyJ" in line]
    assert max(map(len, tail)) == 301
    assert tail[-1] == "\ufffd"
