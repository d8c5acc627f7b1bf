"""Kits of somebody's own build tree or installation, here of a tiny library that is made in a moment."""

import shutil
from pathlib import Path

import pytest

from kexbench.kits import KitError
from kexbench.kits.target import this_architecture
from kexbench.kits.tree import find_tree

from .conftest import Kitchen
from .prefix_tree import write_tree


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "own")


def test_an_installation_becomes_a_kit_with_copies_of_its_libraries(kitchen: Kitchen, tree: Path) -> None:
    kit = kitchen.add(f"openssl@prefix:{tree}")
    assert kit.version == "9.8.7"
    assert kit.source == f"prefix:{tree}"
    assert (kit.build_profile.provider, kit.build_profile.linkage) == ("prefix", "shared")
    assert {"lib/libssl.so.9", "lib/libcrypto.so.9", "lib/libc.so.6"} <= set(kit.files)
    shutil.rmtree(tree)
    assert kitchen.kit_store.verify(kit.kit_id) == ()


@pytest.mark.parametrize("libraries", [".", "lib64", "lib/{triplet}"])
def test_libraries_are_found_where_trees_and_installations_keep_them(libraries: str, tmp_path: Path) -> None:
    place = libraries.format(triplet=this_architecture().triplet)
    found = find_tree("openssl", write_tree(tmp_path / "own", libraries=place))
    assert [path.name for path in found.files] == ["libssl.so", "libcrypto.so"]
    assert found.library_folder == tmp_path / "own" / place


def test_a_static_library_alone_is_linked_into_the_worker(kitchen: Kitchen, tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "own", static=True)
    kit = kitchen.add(f"openssl@prefix:{tree}")
    assert kit.version == "9.8.7"
    assert kit.build_profile.linkage == "static"
    assert not any("ssl" in name for name in kit.files)


def test_beside_a_shared_library_the_static_one_is_left_alone(tmp_path: Path) -> None:
    tree = write_tree(write_tree(tmp_path / "own"), static=True)
    assert find_tree("openssl", tree).linkage == "shared"


def test_headers_of_a_tree_built_outside_its_sources_are_found_in_both(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "build", libraries=".")
    write_tree(tmp_path / "sources", version="0.0.0", libraries="")
    (tmp_path / "sources/include/openssl/bio.h").touch()
    (tree / "Makefile").write_text("SRCDIR=../sources\n")
    found = find_tree("openssl", tree)
    assert found.version == "9.8.7"
    assert {"openssl/bio.h", "openssl/opensslv.h"} == set(found.headers)


def test_what_a_static_library_needs_besides_is_what_its_package_says(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "own", static=True)
    assert find_tree("openssl", tree).private_libraries() == ("-ldl", "-pthread")
    (tree / "lib/pkgconfig").mkdir()
    (tree / "lib/pkgconfig/libcrypto.pc").write_text("Libs.private: -lz -ldl $(touch /tmp/x) -Wl,-rpath,/x\n")
    assert find_tree("openssl", tree).private_libraries() == ("-lz", "-ldl")


def test_the_profile_names_compiler_and_the_flags_that_change_code(kitchen: Kitchen, tree: Path) -> None:
    profile = kitchen.add(f"openssl@prefix:{tree}").build_profile
    assert profile.compiler.split()[0] in ("gcc", "clang")
    assert profile.flags == "-fPIC -m64 -O3"


def test_adding_again_compiles_nothing_until_the_tree_is_built_again(kitchen: Kitchen, tree: Path) -> None:
    first = kitchen.add(f"openssl@prefix:{tree}")
    assert kitchen.add(f"openssl@prefix:{tree}") == first
    assert not any("compiling" in line for line in kitchen.said)
    write_tree(tree, version="9.8.8-dev")
    second = kitchen.add(f"openssl@prefix:{tree}")
    assert second.version == "9.8.8-dev"
    assert kitchen.kit_store.verify(first.kit_id) == ()


def test_a_changed_header_makes_a_new_attempt(kitchen: Kitchen, tree: Path) -> None:
    kitchen.add(f"openssl@prefix:{tree}")
    (tree / "include/openssl/ssl.h").touch()
    kitchen.add(f"openssl@prefix:{tree}")
    assert any("compiling" in line for line in kitchen.said)


def test_headers_of_another_version_than_the_library_are_refused(kitchen: Kitchen, tree: Path) -> None:
    write_tree(tree, version="9.9.0", libraries="")
    with pytest.raises(KitError, match=r"'9\.8\.7', expected '9\.9\.0'"):
        kitchen.add(f"openssl@prefix:{tree}")


def test_a_folder_that_is_not_there_is_named(kitchen: Kitchen, tmp_path: Path) -> None:
    with pytest.raises(KitError, match=f"there is no folder {tmp_path}/absent"):
        kitchen.add(f"openssl@prefix:{tmp_path}/absent")


@pytest.mark.parametrize("headers", ["include", ""])
def test_sources_that_were_not_built_are_to_be_built_first(headers: str, kitchen: Kitchen, tmp_path: Path) -> None:
    sources = write_tree(tmp_path / "sources", headers=headers, libraries="")
    sources.mkdir(exist_ok=True)
    (sources / "Configure").touch()
    with pytest.raises(KitError, match="openssl is not built yet") as caught:
        kitchen.add(f"openssl@prefix:{sources}")
    assert "run make first" in caught.value.remedy


@pytest.mark.parametrize(
    ("library", "parts", "says"),
    [
        ("openssl", {"libraries": ""}, "has headers of openssl, but no library"),
        ("openssl", {"headers": ""}, "has openssl, but no headers"),
        ("gnutls", {}, "neither a build tree nor an installation of gnutls"),
    ],
)
def test_what_is_missing_in_an_installation_is_named(
    library: str, parts: dict[str, str], says: str, kitchen: Kitchen, tmp_path: Path
) -> None:
    tree = write_tree(tmp_path / "own", **parts)  # type: ignore[arg-type]  # mypy takes the values for any argument's
    with pytest.raises(KitError, match=says) as caught:
        kitchen.add(f"{library}@prefix:{tree}")
    assert "it must contain" in caught.value.remedy


def test_a_relative_of_openssl_is_refused(kitchen: Kitchen, tree: Path) -> None:
    (tree / "include/openssl/opensslv.h").write_text('#define LIBRESSL_VERSION_TEXT "LibreSSL 4.1.0"\n')
    with pytest.raises(KitError, match="contains no version of openssl"):
        kitchen.add(f"openssl@prefix:{tree}")


def test_a_long_path_is_no_obstacle_to_the_files_named_after_it(kitchen: Kitchen, tmp_path: Path) -> None:
    room = 190 - len(f"prefix:{tmp_path}/")
    tree = write_tree(tmp_path / "/".join("d" * (room // 2)))
    kit = kitchen.add(f"openssl@prefix:{tree}")
    assert kitchen.kit_store.find(kit.ref) == kit
