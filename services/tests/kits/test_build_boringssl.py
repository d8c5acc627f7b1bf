"""BoringSSL from a made-up crate: its version, its patch, and what is installed, without compiling it."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits.build_boringssl import BoringsslRecipe
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.errors import StepFailed
from kexbench.kits.git import GitOrigin
from kexbench.kits.process import Attempt
from kexbench.kits.source import SourceProvider
from kexbench.kits.tarball import TarballOrigin
from kexbench.kits.target import target_for
from kexbench.kits.tree import find_tree

from .sources import write_archive

HERE = target_for()
RECIPE = BoringsslRecipe(1)
REF = SubjectRef.parse("boringssl@crate/5.4.0")
MANIFEST = '[package]\nname = "boring-sys"\nversion = "5.4.0"\n[features]\nrpk = []\n'
PATCH = """\
diff --git a/include/openssl/ssl.h b/include/openssl/ssl.h
--- a/include/openssl/ssl.h
+++ b/include/openssl/ssl.h
@@ -1 +1 @@
-/* unpatched */
+/* patched */
"""
# Stands for cmake and make: leaves libraries where the real ones do, and its arguments.
TOOL = """\
#!/bin/sh
echo "$(basename "$0") $*" >>"{log}"
for word in "$@"; do
    [ "$previous" = -B ] && mkdir -p "$word" && touch "$word/libssl.a" "$word/libcrypto.a"
    previous=$word
done
exit 0
"""


@pytest.fixture
def cargo_home(tmp_path: Path) -> Path:
    """What cargo keeps of a registry with two versions of the crate and one that was taken back."""
    home = tmp_path / "cargo"
    index = home / "registry/index/registry/.cache/bo/ri/boring-sys"
    cached = home / "registry/cache/registry"
    index.parent.mkdir(parents=True)
    cached.mkdir(parents=True)
    packed = cached / "boring-sys-5.4.0.crate.gz"
    members = {
        "Cargo.toml": MANIFEST,
        "patches/boring-pq.patch": PATCH,
        "deps/boringssl/CMakeLists.txt": "project(BoringSSL)\n",
        "deps/boringssl/include/openssl/ssl.h": "/* unpatched */\n",
    }
    sha256 = write_archive(packed, {f"boring-sys-5.4.0/{name}": text for name, text in members.items()})
    packed.rename(packed.with_suffix(""))
    records: list[dict[str, object]] = [
        {"vers": "5.0.0-alpha.1", "cksum": "b" * 64, "yanked": True},
        {"vers": "5.3.0", "cksum": "a" * 64},
        {"vers": "5.4.0", "cksum": sha256},
    ]
    index.write_text("header\0" + "".join(f"{record['vers']}\0{json.dumps(record)}\0" for record in records))
    return home


def an_attempt(folder: Path) -> Attempt:
    return Attempt(folder, folder / "log", print)


@pytest.fixture
def sources(cargo_home: Path, tmp_path: Path) -> Path:
    """The unpacked sources of the library, in their crate, inside a repository, where git could apply nothing without
    an error."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "unpacked").mkdir()
    located = CrateOrigin(cargo_home).locate(REF, an_attempt(tmp_path), refresh=False)
    return located.unpack(tmp_path / "unpacked", an_attempt(tmp_path))


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts tools that compile nothing in place of the real ones. Returns their log."""
    folder, log = tmp_path / "tools", tmp_path / "tools.log"
    folder.mkdir()
    for name in ("cmake", "make", "c++"):
        (folder / name).write_text(TOOL.format(log=log))
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return log


def test_the_crates_version_is_the_librarys(cargo_home: Path, tmp_path: Path) -> None:
    origin = CrateOrigin(cargo_home)
    located = origin.locate(REF, an_attempt(tmp_path), refresh=False)
    (package,) = located.packages
    assert (located.version, located.identity) == ("5.4.0", package.sha256)
    assert (package.name, package.version) == ("crate boring-sys", "5.4.0")
    assert REF.told_version == "5.4.0"
    assert origin.versions(REF, an_attempt(tmp_path), refresh=False) == ("5.3.0", "5.4.0")


def test_what_is_installed_has_the_patch_and_says_the_version(sources: Path, tools: Path, tmp_path: Path) -> None:
    RECIPE.build(sources, RECIPE.words("5.4.0", (), HERE), tmp_path / "installed", an_attempt(tmp_path))
    tree = find_tree("boringssl", tmp_path / "installed" / "kexbench")
    assert (tree.version, tree.linkage) == ("5.4.0", "static")
    assert tree.headers["openssl/ssl.h"].read_text() == "/* patched */\n"
    assert tree.private_libraries() == ("-lstdc++", "-pthread")
    configured, compiled = tools.read_text().splitlines()
    assert "-DCMAKE_BUILD_TYPE=Release" in configured
    assert "-DCMAKE_CXX_FLAGS=-ffunction-sections -fdata-sections -fPIC " in configured
    assert f"-ffile-prefix-map={tmp_path}=." in configured
    assert compiled == "make -j1 --silent ssl crypto"


def test_until_version_4_the_patch_is_a_feature_that_is_off(sources: Path, tools: Path, tmp_path: Path) -> None:
    manifest = sources.parents[1] / "Cargo.toml"
    manifest.write_text(MANIFEST.replace("rpk", "pq-experimental").replace("5.4.0", "4.22.0"))
    sources.joinpath("include").rename(tmp_path / "include")
    (sources / "src").mkdir()
    (tmp_path / "include").rename(sources / "src" / "include")
    RECIPE.build(sources, (), tmp_path / "installed", an_attempt(tmp_path))
    tree = find_tree("boringssl", tmp_path / "installed" / "kexbench")
    assert tree.version == "4.22.0"
    assert tree.headers["openssl/ssl.h"].read_text() == "/* unpatched */\n"
    assert tools.read_text().startswith("cmake -G")


def test_a_patch_that_does_not_fit_is_not_passed_over(sources: Path, tools: Path, tmp_path: Path) -> None:
    header = sources / "include" / "openssl" / "ssl.h"
    header.write_text("/* another */\n")
    with pytest.raises(StepFailed, match="git"):
        RECIPE.build(sources, (), tmp_path / "installed", an_attempt(tmp_path))
    assert not tools.exists()


def test_the_build_profile_says_that_it_is_static_and_with_which_flags(cargo_home: Path, tmp_path: Path) -> None:
    provider = SourceProvider(CrateOrigin(cargo_home), {"boringssl": RECIPE}, tmp_path / "cache")
    ref = SubjectRef.parse("boringssl@crate/5.4.0+no-asm")
    assert provider.provides(ref)
    resolution = provider.resolve(ref, an_attempt(tmp_path), refresh=False)
    assert (resolution.profile.provider, resolution.profile.linkage) == ("crate", "static")
    assert resolution.profile.flags == "no-asm"
    assert resolution.configure[-1] == "-DOPENSSL_NO_ASM=1"


def test_another_compiler_of_cpp_is_another_build(
    cargo_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = SourceProvider(CrateOrigin(cargo_home), {"boringssl": RECIPE}, tmp_path / "cache")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    fingerprints = set()
    for version in ("12.2.0", "13.1.0"):
        (tmp_path / "c++").write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / "c++").chmod(0o755)
        resolution = provider.resolve(REF, an_attempt(tmp_path), refresh=False)
        fingerprints.add(resolution.fingerprint)
    assert len(fingerprints) == 2


def test_sources_that_tell_no_version_are_not_offered(tmp_path: Path) -> None:
    assert not GitOrigin(tmp_path).provides(SubjectRef.parse("boringssl@git:/src/boringssl#main"))
    assert not TarballOrigin(tmp_path).provides(SubjectRef.parse(f"boringssl@tarball:/a.tar.gz#sha256={'a' * 64}"))


def test_flags_of_other_libraries_are_refused() -> None:
    with pytest.raises(StepFailed, match="BoringSSL's flags are no-asm, unlike no-ssl3"):
        RECIPE.words("5.4.0", ("no-asm", "no-ssl3"), HERE)


def test_another_architecture_is_refused() -> None:
    with pytest.raises(StepFailed, match="BoringSSL can only be built for this machine, not for s390x"):
        RECIPE.words("5.4.0", (), replace(HERE, machine="s390x", libraries=Path("/usr/s390x-linux-gnu")))


def test_sources_without_their_crate_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "deps" / "boringssl"
    source.mkdir(parents=True)
    with pytest.raises(StepFailed, match=r"the sources of BoringSSL have no Cargo\.toml around them"):
        RECIPE.build(source, (), tmp_path / "installed", an_attempt(tmp_path))
