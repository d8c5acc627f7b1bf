"""The fake backend's settings are known on both sides: what the worker takes can be written behind a reference."""

import re
from pathlib import Path

from kexbench.kits.fake import SETTINGS
from kexbench.runner.worker import Worker
from kexbench.settings import Settings
from tests.conftest import FakeKit

HELLOS = {"client_hello_bytes", "server_hello_bytes"}
"""A hello has some bytes at least."""
NEVER_WRITTEN = {"version", "architecture", "emulated", "lie", "lie_after"}
"""The version stands first in a source; what a kit runs on is no matter of its source; no kit is made to lie."""


def test_every_setting_of_the_backend_and_no_other_can_stand_behind_a_reference() -> None:
    protocol = (Settings().workers / "PROTOCOL.md").read_text()
    section = protocol.split("## The fake backend")[1]
    documented = {
        name for row in re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE) for name in row[1:-1].split("`, `")
    }
    assert documented - NEVER_WRITTEN == set(SETTINGS)


def test_the_worker_takes_all_of_them(fake_kit: FakeKit, tmp_path: Path) -> None:
    folder, kit = fake_kit("+".join(["fake@1.0", *(f"{name}={200 if name in HELLOS else 1}" for name in SETTINGS)]))
    with Worker(kit.launch(folder, tmp_path), tmp_path / "log") as worker:
        assert worker.hello.version == "1.0"
