"""The table of libraries and what is found by a library's name agree."""

from pathlib import Path
from typing import get_args

from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import LIBRARIES, VERSION_FILES, Library
from kexbench.kits import default_providers
from tests.builders import BENCH_SPECS

WORKER = BENCH_SPECS.parent / "workers" / "handshake"


def test_the_type_names_every_row() -> None:
    assert get_args(Library) == tuple(LIBRARIES)


def test_every_library_has_a_backend_of_the_worker() -> None:
    assert {path.stem.removeprefix("backend_") for path in WORKER.glob("backend_*.mk")} == set(LIBRARIES)


def test_what_has_version_files_is_built_and_nothing_else(tmp_path: Path) -> None:
    providers = default_providers(tmp_path)
    built = {
        library
        for library in LIBRARIES
        if library != "fake"
        and any(provider.provides(SubjectRef.parse(f"{library}@git:/src#main")) for provider in providers)
    }
    assert built == set(VERSION_FILES)
