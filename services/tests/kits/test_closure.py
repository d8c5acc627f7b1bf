"""What the loader would load is what is copied, and nothing of this machine slips in unnoticed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kexbench.kits.closure import collect, is_libc, needed
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import THIS_MACHINE, Materials
from kexbench.kits.target import this_architecture


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Attempt(scratch, scratch / "log", lambda _: None)


def compiled(folder: Path, name: str, source: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["cc", "-o", str(folder / name), str(folder / f"{name}.c"), *flags], check=True)
    return folder / name


def test_a_real_binary_becomes_self_contained_and_runs(tmp_path: Path, attempt: Attempt) -> None:
    shell = Path("/bin/sh").resolve()
    kit = tmp_path / "kit"
    kit.mkdir()
    worker, libraries = collect(shell, attempt, THIS_MACHINE, kit)
    loader = this_architecture().loader.name
    assert {"libc.so.6", loader} <= set(libraries)
    assert {path.name for path in (kit / "lib").iterdir()} == set(libraries)
    ran = subprocess.run(
        [kit / worker[0], *worker[1:], "-c", "echo alive"], cwd=kit, env={}, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "alive\n"


def test_libraries_of_libraries_are_found_in_the_subjects_folder(tmp_path: Path, attempt: Attempt) -> None:
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    inner = compiled(tmp_path, "libinner.so.1", "int inner(void) { return 4; }", "-shared", "-Wl,-soname,libinner.so.1")
    outer = compiled(
        tmp_path, "libouter.so.1", "int inner(void); int outer(void) { return inner(); }", "-shared", "-fPIC",
        "-Wl,-soname,libouter.so.1", str(inner),
    )  # fmt: skip
    program = compiled(
        tmp_path, "program", "int outer(void); int main(void) { return outer(); }", str(outer),
        "-Wl,--allow-shlib-undefined", f"-Wl,-rpath-link,{tmp_path}",
    )  # fmt: skip
    for path in (inner, outer, *needed(program_without_libraries(tmp_path), attempt).values()):
        shutil.copy(path, libraries / path.name)
    found = needed(program, attempt, Materials(libraries=libraries))
    assert found["libinner.so.1"] == libraries / "libinner.so.1"
    assert found["libc.so.6"] == libraries / "libc.so.6"

    (libraries / "libinner.so.1").unlink()
    with pytest.raises(StepFailed, match=r"libinner\.so\.1"):
        needed(program, attempt, Materials(libraries=libraries))


def test_a_library_of_this_machine_is_refused_where_the_subjects_own_is_meant(tmp_path: Path, attempt: Attempt) -> None:
    program = program_without_libraries(tmp_path)
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    loader = this_architecture().loader
    shutil.copy(loader, libraries / loader.name)
    with pytest.raises(StepFailed, match=r"libc\.so\.6 would come from this machine"):
        needed(program, attempt, Materials(libraries=libraries))
    with_our_libc = needed(program, attempt, Materials(libraries=libraries, host_libc=True))
    assert not with_our_libc["libc.so.6"].is_relative_to(libraries)


def program_without_libraries(folder: Path) -> Path:
    return compiled(folder, "plain", "int main(void) { return 0; }")


@pytest.mark.parametrize("soname", ["libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld64.so.1"])
def test_parts_of_the_c_library_are_known(soname: str) -> None:
    assert is_libc(soname)


@pytest.mark.parametrize("soname", ["libcrypto.so.3", "libmpfr.so.6", "libcap.so.2", "libresolver.so.1", "libc.so"])
def test_other_libraries_are_no_part_of_the_c_library(soname: str) -> None:
    assert not is_libc(soname)
