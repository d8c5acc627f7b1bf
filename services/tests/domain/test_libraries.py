"""The table of libraries and what is found by a library's name agree."""

from itertools import permutations
from pathlib import Path
from typing import get_args

from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import LIBRARIES, VERSION_FILES, Library, not_explained
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


def test_the_libraries_of_openssls_ancestry_explain_each_other_and_no_others() -> None:
    explained = {pair for pair in permutations(LIBRARIES, 2) if not_explained(*pair) is None}
    assert explained == set(permutations(("openssl", "awslc", "boringssl", "s2n"), 2))
    assert not_explained("wolfssl", "wolfssl") is None
    assert not_explained("openssl", "rustls") == (
        "OpenSSL and rustls have no common ancestry, so functions of one name are not the same code"
    )
    cannot = "Go crypto/tls does not run in valgrind, so its instructions cannot be counted"
    assert {not_explained(*pair) for pair in (("go", "openssl"), ("openssl", "go"), ("go", "go"))} == {cannot}
