"""Builds s2n-tls from its crate: a static release build, the same for every version, with the same AWS-LC below it.

It is built as the crate's build.rs does it (`build_vendored` and `builder`): every C file of the crate, one compiler
flag for each feature that the compiler and libcrypto have, and the flags that the crate `cc` adds in Cargo's release
profile. Link-time optimisation is left out. build.rs asks for it, but since Rust 1.90 the linker ignores what GCC
prepares for it, as build.rs itself warns.

libcrypto is AWS-LC, as in the crate. It is one version for every s2n-tls, so that a change between two versions of
s2n-tls is its own. Its build is the one of `awslc@crate/…`.
"""

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

from kexbench.domain.kits import Package, SubjectRef
from kexbench.kits.build_awslc import AwslcRecipe
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.errors import ProgramFailed, StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, Recipe, SourceProvider, refuse_foreign, refuse_other_flags
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

_TITLE = "s2n-tls"
AWSLC = SubjectRef.parse("awslc@crate/0.47.0")
"""If you change this, the ids of all kits of s2n-tls change."""
_USUAL = ("-O3", "-ffunction-sections", "-fdata-sections", "-fPIC", "-std=c11", "-fgnu89-inline")
_WARNINGS = ("-Wall", "-Wextra", "-Wno-deprecated-declarations")
"""The features' test programs are compiled with these, as the crate `cc` does it, and the library without."""
_PRELUDE = "lib/utils/s2n_prelude.h"
_RELEASE = ("-include", _PRELUDE, "-DS2N_BUILD_RELEASE=1", "-DNDEBUG=1")
_RELEASE_WITHOUT_PRELUDE = ("-D_POSIX_C_SOURCE=200112L", "-D_FORTIFY_SOURCE=2", "-DNDEBUG=1")
"""Of versions before the prelude."""
_BRANCHES = "-Wa,-mbranches-within-32B-boundaries"
_BRANCHES_FEATURE = "S2N_COMPILER_SUPPORTS_BRANCH_ALIGN"


class S2nRecipe(Recipe):
    """`jobs` is the number of parallel compilers, over all builds. `awslc` provides AWS-LC."""

    linkage: Linkage = "static"
    revision = 1

    def __init__(self, jobs: int, awslc: SourceProvider) -> None:
        self._jobs = jobs
        self._awslc = awslc

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        refuse_foreign(_TITLE, target)
        refuse_other_flags(_TITLE, flags, ())
        return _USUAL

    def ingredients(self, attempt: Attempt) -> tuple[Package, ...]:
        (crate,) = self._awslc.resolve(AWSLC, attempt, refresh=False).packages
        return (crate.model_copy(update={"name": crate.name.removeprefix("crate ")}),)

    def decisive(self, attempt: Attempt) -> tuple[str, ...]:
        return (f"awslc: {self._awslc.resolve(AWSLC, attempt, refresh=False).fingerprint}",)

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        files = sorted(str(path.relative_to(source)) for path in source.glob("lib/**/*.c") if _is_compiled(path))
        if not files:
            raise StepFailed("compile", "the sources of s2n-tls have no C files", "")
        awslc = attempt.scratch / "awslc"  # a link, so that the cache's path leaves no trace
        awslc.symlink_to(self._built_awslc(attempt))
        attempt.note("building s2n-tls itself")
        cryptography = awslc / INSTALLED
        mapped = f"-ffile-prefix-map={attempt.scratch}=."
        flags = [*words, mapped, *(f"-I{folder}" for folder in (cryptography / "include", "lib", "lib/api"))]
        features = _features(source, flags, attempt)
        flags += ["-w", *_release_words(source, features), *(f"-D{name}=1" for name in features)]
        objects = [f"{name.removesuffix('.c')}.o" for name in files]
        make = ["make", "-f", "/dev/null", f"-j{attempt.share_of(self._jobs)}", "--silent"]
        attempt.run(
            [*make, f"CC={attempt.target.compiler}", f"CFLAGS={' '.join(flags)}", *objects],
            stage="compile",
            timeout_s=3600,
            folder=source,
        )
        attempt.run(["ar", "crsD", "libs2n.a", *objects], stage="compile", timeout_s=300, folder=source)
        _install(source, cryptography, installed / INSTALLED, features)

    def _built_awslc(self, attempt: Attempt) -> Path:
        below = replace(attempt, scratch=attempt.scratch / "below")
        below.scratch.mkdir()
        return self._awslc.built(self._awslc.resolve(AWSLC, below, refresh=False), below)


def _is_compiled(path: Path) -> bool:
    return "tests" not in path.parts


def _features(source: Path, flags: list[str], attempt: Attempt) -> tuple[str, ...]:
    """The features whose test programs compile, as `FeatureDetector` in build.rs finds them."""
    folder = source / "lib/tests/features"
    everywhere = (folder / "GLOBAL.flags").read_text().split()
    return tuple(
        program.stem
        for program in sorted(folder.glob("*.c"))
        if _compiles(program, [*flags, *everywhere, *program.with_suffix(".flags").read_text().split()], attempt)
    )


def _compiles(program: Path, flags: list[str], attempt: Attempt) -> bool:
    prelude = ["-include", _PRELUDE] if (program.parents[3] / _PRELUDE).is_file() else []
    command = [attempt.target.compiler, *_WARNINGS, *flags, *prelude, "-c", "-o", "/dev/null", str(program)]
    try:
        attempt.run(command, stage="compile", timeout_s=30, folder=program.parents[3])
    except ProgramFailed:
        return False
    return True


def _release_words(source: Path, features: tuple[str, ...]) -> tuple[str, ...]:
    usual = _RELEASE if (source / _PRELUDE).is_file() else _RELEASE_WITHOUT_PRELUDE
    aligned = _BRANCHES_FEATURE in features and _BRANCHES in (source / "build.rs").read_text()
    return (*usual, _BRANCHES) if aligned else usual


def _install(source: Path, cryptography: Path, folder: Path, features: tuple[str, ...]) -> None:
    """The worker needs internal headers too, as the library was compiled with them; what it was compiled with is in
    `built.h`. s2n-tls tells its version nowhere but in the crate's description."""
    headers, libraries = folder / "include/s2n", folder / "lib"
    for path in (source / "lib").rglob("*.h"):
        place = headers / path.relative_to(source / "lib")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    shutil.copytree(cryptography / "include/openssl", headers / "openssl")
    libraries.mkdir(parents=True)
    shutil.copyfile(source / "libs2n.a", libraries / "libs2n.a")
    shutil.copyfile(cryptography / "lib/libcrypto.a", libraries / "libcrypto.a")
    prelude = '#include "utils/s2n_prelude.h"\n' if (source / _PRELUDE).is_file() else ""
    defined = "".join(f"#define {name} 1\n" for name in features)
    crate = tomllib.loads((source / "Cargo.toml").read_text(encoding="utf-8"))
    version = f'#define S2N_CRATE_VERSION "{crate["package"]["version"]}"\n'
    (headers / "built.h").write_text(version + prelude + defined)


def recipe(cache: Path, jobs: int) -> S2nRecipe:
    return S2nRecipe(jobs, SourceProvider(CrateOrigin(), {"awslc": AwslcRecipe(jobs)}, cache))
