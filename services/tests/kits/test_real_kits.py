"""Kits of this machine's own libraries with the real worker, as a person would make them first."""

import json
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.domain.versions import version_key
from kexbench.kits import KitError, Shelf, WorkerSource, Workshop
from kexbench.kits.fake import FakeProvider
from kexbench.kits.system import SystemProvider

from .conftest import Kitchen, kitchen_in

WORKER = Path(__file__).parents[3] / "workers/handshake"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("cc") is None or shutil.which("make") is None, reason="no compiler, no make"),
]


def headers(library: str) -> bool:
    header = {"openssl": "openssl/ssl.h", "gnutls": "gnutls/gnutls.h"}[library]
    command = ["cc", "-E", "-include", header, "-x", "c", "/dev/null"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Kitchen:
    folder = tmp_path_factory.mktemp("real")
    workshop = Workshop(WorkerSource(WORKER), (SystemProvider(), FakeProvider()))
    return Kitchen(Shelf(folder / "kits", workshop), WORKER, folder / "cache")


@pytest.mark.parametrize("library", ["openssl", "gnutls"])
def test_this_machines_library_becomes_a_kit_that_maps_no_file_from_outside(
    kitchen: Kitchen, library: str, tmp_path: Path
) -> None:
    if not headers(library):
        pytest.skip(f"no development files of {library}")
    kit = kitchen.add(f"{library}@system")
    assert kit.version_key == version_key(kit.version)
    assert kit.build_profile.architecture == platform.machine()
    folder = kitchen.shelf.folder(kit.kit_id)
    launch = kit.launch(folder, tmp_path)
    worker = subprocess.Popen(
        launch.arguments, env=launch.environment, cwd=launch.folder, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert worker.stdin is not None
    assert worker.stdout is not None
    hello = json.loads(worker.stdout.readline())
    assert (hello["type"], hello["library"], hello["version"]) == ("hello", library, kit.version)
    maps = Path(f"/proc/{worker.pid}/maps").read_text().splitlines()
    mapped = {columns[5] for line in maps if len(columns := line.split(maxsplit=5)) == 6 and columns[5][0] == "/"}
    worker.communicate("stop\n", timeout=10)
    assert worker.returncode == 0
    assert mapped
    assert not [path for path in mapped if not path.startswith(str(folder))]


def test_the_fake_backend_reports_the_version_of_its_reference(kitchen: Kitchen) -> None:
    kit = kitchen.add("fake@1.0+step=1.02")
    assert kit.version == "1.0"
    assert kitchen.shelf.verify(kit.kit_id) == ()


def test_missing_headers_name_the_package_to_install(tmp_path: Path) -> None:
    compiler = tmp_path / "bare-cc"
    compiler.write_text('#!/bin/sh\nexec cc -nostdinc "$@"\n')
    compiler.chmod(0o755)
    kitchen = kitchen_in(tmp_path, (SystemProvider(str(compiler)),))
    with pytest.raises(KitError, match="no development files of openssl") as caught:
        kitchen.shelf.add(SubjectRef.parse("openssl@system"))
    assert "libssl-dev" in caught.value.remedy
    assert caught.value.stage == "resolve"
