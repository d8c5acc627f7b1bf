"""Kits of this machine's own libraries with the real worker, as a person would make them first."""

import json
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kexbench.domain.kits import Launch, SubjectRef
from kexbench.domain.versions import version_key
from kexbench.kits import KitError, KitStore, WorkerSource, Workshop
from kexbench.kits.fake import FakeProvider
from kexbench.kits.prefix import PrefixProvider
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


def real_kitchen(folder: Path) -> Kitchen:
    workshop = Workshop(WorkerSource(WORKER), (SystemProvider(), PrefixProvider(), FakeProvider()))
    return Kitchen(KitStore(folder / "kits", workshop), WORKER, folder / "cache")


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Kitchen:
    return real_kitchen(tmp_path_factory.mktemp("real"))


def file_of_the_compiler(name: str) -> Path:
    command = ["cc", f"-print-file-name={name}"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


@pytest.mark.parametrize("library", ["openssl", "gnutls"])
def test_this_machines_library_becomes_a_kit_that_maps_no_file_from_outside(
    kitchen: Kitchen, library: str, tmp_path: Path
) -> None:
    if not headers(library):
        pytest.skip(f"no development files of {library}")
    kit = kitchen.add(f"{library}@system")
    assert kit.version_key == version_key(kit.version)
    assert kit.build_profile.architecture == platform.machine()
    folder = kitchen.kit_store.folder(kit.kit_id)
    hello, mapped = hello_and_mapped_files(kit.launch(folder, tmp_path))
    assert (hello["type"], hello["library"], hello["version"]) == ("hello", library, kit.version)
    assert mapped
    assert not [path for path in mapped if not path.startswith(str(folder))]


def test_counting_the_heap_loads_the_counter_which_is_not_there_otherwise(kitchen: Kitchen, tmp_path: Path) -> None:
    kit = kitchen.add("fake@1.0")
    folder = kitchen.kit_store.folder(kit.kit_id)
    _, plain = hello_and_mapped_files(kit.launch(folder, tmp_path))
    _, counting = hello_and_mapped_files(kit.launch(folder, tmp_path, count_heap=True))
    assert counting - plain == {str(folder / "lib/heap.so")}


def hello_and_mapped_files(launch: Launch) -> tuple[dict[str, Any], set[str]]:
    """What a worker says first, and the files that it has mapped by then."""
    worker = subprocess.Popen(
        launch.arguments, env=launch.environment, cwd=launch.folder, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert worker.stdin is not None
    assert worker.stdout is not None
    hello = json.loads(worker.stdout.readline())
    maps = Path(f"/proc/{worker.pid}/maps").read_text().splitlines()
    worker.communicate("stop\n", timeout=10)
    assert worker.returncode == 0
    return hello, {columns[5] for line in maps if len(columns := line.split(maxsplit=5)) == 6 and columns[5][0] == "/"}


@pytest.mark.thorough
@pytest.mark.parametrize("library", ["openssl", "gnutls"])
def test_a_relink_is_the_same_bytes_wherever_it_is_made_and_others_with_another_seed(
    kitchen: Kitchen, library: str, tmp_path: Path
) -> None:
    archive = {"openssl": "libcrypto.a", "gnutls": "libgnutls.a"}[library]
    if not (headers(library) and file_of_the_compiler(archive).is_file()):
        pytest.skip(f"no static library of {library}")
    one = kitchen.add(f"{library}@system+relink=1")
    assert real_kitchen(tmp_path).add(f"{library}@system+relink=1") == one
    two = kitchen.add(f"{library}@system+relink=2")
    assert (one.version, one.build_profile) == (two.version, two.build_profile)
    assert one.files["bin/worker"] != two.files["bin/worker"]


@pytest.mark.long
def test_an_installation_of_ones_own_becomes_the_kit_of_its_libraries(kitchen: Kitchen, tmp_path: Path) -> None:
    if not headers("openssl"):
        pytest.skip("no development files of openssl")
    found = subprocess.run(
        ["cc", "-E", "-include", "openssl/ssl.h", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True
    ).stdout
    (tmp_path / "include/openssl").mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    for folder in set(re.findall(r'^# \d+ "(/\S+/openssl)/\w+\.h"', found, re.MULTILINE)):
        for header in Path(folder).glob("*.h"):
            (tmp_path / "include/openssl" / header.name).symlink_to(header)
    for name in ("libssl.so", "libcrypto.so"):
        shutil.copy(file_of_the_compiler(name), tmp_path / "lib" / name)
    own, system = kitchen.add(f"openssl@prefix:{tmp_path}"), kitchen.add("openssl@system")
    assert own.version == system.version
    assert own.build_profile.flags != "unknown"
    assert {name: digest for name, digest in own.files.items() if "ssl" in name} == {
        name: digest for name, digest in system.files.items() if "ssl" in name
    }


def test_the_fake_backend_reports_the_version_of_its_reference(kitchen: Kitchen) -> None:
    kit = kitchen.add("fake@1.0+step=1.02")
    assert kit.version == "1.0"
    assert kitchen.kit_store.verify(kit.kit_id) == ()


def test_missing_headers_name_the_package_to_install(tmp_path: Path) -> None:
    compiler = tmp_path / "bare-cc"
    compiler.write_text('#!/bin/sh\nexec cc -nostdinc "$@"\n')
    compiler.chmod(0o755)
    kitchen = kitchen_in(tmp_path, (SystemProvider(str(compiler)),))
    with pytest.raises(KitError, match="no development files of openssl") as caught:
        kitchen.kit_store.add(SubjectRef.parse("openssl@system"))
    assert "libssl-dev" in caught.value.remedy
    assert caught.value.stage == "resolve"
