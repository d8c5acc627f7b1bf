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

from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, Recipe
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

_USUAL = ("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF")
_CODE = "-ffunction-sections -fdata-sections -fPIC"
# BoringSSL asks for -ggdb, which changes no code. CMake's own flags of the build type come after it.
_RELEASE = "-O3 -DNDEBUG -g0"
_FLAGS = {"no-asm": "-DOPENSSL_NO_ASM=1"}
_TOOLS = (("cmake", "cmake"), ("c++", "g++"), ("git", "git"))
_PATCH, _PATCH_FEATURE = "boring-pq.patch", "pq-experimental"


class BoringsslRecipe(Recipe):
    """`jobs` is the number of parallel compilers, over all builds."""

    linkage: Linkage = "static"
    revision = 1

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        if target.is_foreign:
            raise StepFailed(
                "resolve", f"BoringSSL can only be built for this machine, not for {target.machine}", "build it there"
            )
        wrong = [flag for flag in flags if flag not in _FLAGS]
        if wrong:
            raise StepFailed("resolve", f"BoringSSL's only flag is {', '.join(_FLAGS)}, unlike {', '.join(wrong)}")
        return (*_USUAL, *(_FLAGS[flag] for flag in flags))

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        crate = _crate(source)
        for tool, package in _TOOLS:
            if shutil.which(tool) is None:
                raise StepFailed("compile", f"{tool} is not installed", f"apt-get install {package}")
        if _PATCH_FEATURE not in crate.get("features", {}):
            _apply(source.parents[1] / "patches" / _PATCH, source, attempt)
        # Errors name the files of the sources, so that their folder would be in the library.
        mapped = f"-ffile-prefix-map={attempt.scratch}=."
        languages = [f"-DCMAKE_{language}_FLAGS={_CODE} {mapped}" for language in ("C", "CXX")]
        languages += [f"-DCMAKE_ASM_FLAGS={mapped}"]
        languages += [f"-DCMAKE_{language}_FLAGS_RELEASE={_RELEASE}" for language in ("C", "CXX")]
        compiler = f"-DCMAKE_C_COMPILER={attempt.target.compiler}"
        build = attempt.scratch / "boringssl"
        configure = ["cmake", "-G", "Unix Makefiles", "-S", str(source), "-B", str(build)]
        attempt.run([*configure, compiler, *languages, *words], stage="compile", timeout_s=300)
        make = ["make", f"-j{attempt.share_of(self._jobs)}", "--silent"]
        attempt.run([*make, "ssl", "crypto"], stage="compile", timeout_s=3600, folder=build)
        _install(source, build, crate["package"]["version"], installed / INSTALLED)


def _crate(source: Path) -> dict[str, Any]:
    """The description of the crate around the sources."""
    manifest = source.parents[1] / "Cargo.toml"
    if not (source / "CMakeLists.txt").is_file() or not manifest.is_file():
        raise StepFailed("compile", "the sources of BoringSSL have no CMakeLists.txt, or no Cargo.toml around them")
    return tomllib.loads(manifest.read_text(encoding="utf-8"))


def _apply(patch: Path, source: Path, attempt: Attempt) -> None:
    """As the crate does, but without making a repository. Git must not find one around the folder, since it would
    apply nothing then, without an error."""
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
