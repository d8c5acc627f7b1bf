"""Builds BoringSSL from the crate boring-sys: a static release build, as the Rust programs that use it get it.

It follows the crate's build script, build/main.rs:

- The patch for post-quantum groups is applied (`apply_patch(config, "boring-pq.patch")`), unless the crate has it as
  its feature pq-experimental, as until version 4, which is off by default. The other patches are features too.
- `cfg.build_target("ssl").build()`, then `"crypto"`. With Cargo's release profile the crate cmake passes
  -DCMAKE_BUILD_TYPE=Release, and -ffunction-sections -fdata-sections -fPIC as C and C++ flags. Neither Go nor Perl is
  needed, since the sources have the generated files.
- `install_artifacts` takes the two libraries and the headers. BoringSSL's own installation would need its tool too.

BoringSSL has no versions. The crate's version stands for it, and is written into the header openssl/boring_sys.h.
"""

import shutil
import tomllib
from pathlib import Path
from typing import Any

from kexbench.kits import cmake
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, Recipe, need_tools, refuse_foreign, refuse_other_flags
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

_TITLE = "BoringSSL"
# BoringSSL asks for -ggdb, which changes no code. CMake's own flags of the build type come after it.
_USUAL = (*cmake.USUAL, *(f"-DCMAKE_{language}_FLAGS_RELEASE=-O3 -DNDEBUG -g0" for language in ("C", "CXX")))
_CODE = "-ffunction-sections -fdata-sections -fPIC"
_FLAGS = {"no-asm": "-DOPENSSL_NO_ASM=1"}
_PATCH, _PATCH_FEATURE = "boring-pq.patch", "pq-experimental"


class BoringsslRecipe(Recipe):
    """`jobs` is the number of parallel compilers, over all builds."""

    linkage: Linkage = "static"
    revision = 1

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        refuse_foreign(_TITLE, target)
        refuse_other_flags(_TITLE, flags, _FLAGS)
        return (*_USUAL, *(_FLAGS[flag] for flag in flags))

    def decisive(self, attempt: Attempt) -> tuple[str, ...]:
        return cmake.decisive(attempt)

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        crate = _crate(source)
        if _PATCH_FEATURE not in crate.get("features", {}):
            _apply(source.parents[1] / "patches" / _PATCH, source, attempt)
        build = cmake.build_with_cmake(_TITLE, source, words, attempt, jobs=self._jobs, code=_CODE)
        _install(source, build, crate["package"]["version"], installed / INSTALLED)


def _crate(source: Path) -> dict[str, Any]:
    """The description of the crate around the sources."""
    manifest = source.parents[1] / "Cargo.toml"
    if not manifest.is_file():
        raise StepFailed("compile", "the sources of BoringSSL have no Cargo.toml around them")
    return tomllib.loads(manifest.read_text(encoding="utf-8"))


def _apply(patch: Path, source: Path, attempt: Attempt) -> None:
    """As the crate does, but without making a repository. Git must not find one around the folder, since it would
    apply nothing then, without an error."""
    need_tools({"git": "git"})
    alone = {"GIT_CEILING_DIRECTORIES": str(source.parent)}
    command = ["git", "apply", "-v", "--whitespace=fix", str(patch)]
    attempt.run(command, stage="compile", timeout_s=60, folder=source, environment=alone)


def _install(source: Path, build: Path, version: str, prefix: Path) -> None:
    """Until version 4 the sources are in a folder below their build description."""
    include = next(path for path in (source / "include", source / "src" / "include") if path.is_dir())
    shutil.copytree(include, prefix / "include")
    header = prefix / "include" / "openssl" / "boring_sys.h"
    header.write_text(f'/* Written by kexbench. */\n#define BORING_SYS_VERSION "{version}"\n', encoding="utf-8")
    described = prefix / "lib" / "pkgconfig"
    described.mkdir(parents=True)
    for name in ("libssl.a", "libcrypto.a"):
        shutil.copyfile(next(build.rglob(name)), prefix / "lib" / name)
    # `get_cpp_runtime_lib` of the build script.
    (described / "libcrypto.pc").write_text("Libs.private: -lstdc++ -pthread\n", encoding="utf-8")


def recipe(_cache: Path, jobs: int) -> BoringsslRecipe:
    return BoringsslRecipe(jobs)
