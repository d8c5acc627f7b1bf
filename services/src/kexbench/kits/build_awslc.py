"""Builds AWS-LC from source: a static release build, the same for every version.

It is static, since that is how the Rust programs that use it get it (the crate's builder defaults to static, and only
AWS_LC_SYS_STATIC=0 makes it shared), and so that its libraries never stand in for OpenSSL's, whose names they have.

The options are those of the crate's builder (`prepare_cmake_build` in builder/cmake_builder.rs): no tests, no tool, and
neither Go nor Perl, since the sources have the generated assembly. CMake's build type Release gives -O3 -DNDEBUG, as
Cargo's release profile does. Unlike the crate's default, libssl is built too, as with its feature `ssl`.
"""

from pathlib import Path

from kexbench.kits import cmake
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, Recipe, refuse_foreign, refuse_other_flags
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

_TITLE = "AWS-LC"
_USUAL = (
    *cmake.USUAL,
    "-DBUILD_LIBSSL=ON",
    "-DBUILD_TOOL=OFF",
    "-DDISABLE_GO=ON",
    "-DDISABLE_PERL=ON",
    "-DENABLE_SOURCE_MODIFICATION=OFF",
    f"-DCMAKE_INSTALL_PREFIX=/{INSTALLED}",
    "-DCMAKE_INSTALL_LIBDIR=lib",
)
_FLAGS = {"no-asm": "-DOPENSSL_NO_ASM=1", "enable-small": "-DOPENSSL_SMALL=1"}


class AwslcRecipe(Recipe):
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
        build = cmake.build_with_cmake(_TITLE, source, words, attempt, jobs=self._jobs)
        attempt.run(
            ["make", "--silent", "install"],
            stage="compile",
            timeout_s=300,
            folder=build,
            environment={"DESTDIR": str(installed)},
        )


def recipe(_cache: Path, jobs: int) -> AwslcRecipe:
    return AwslcRecipe(jobs)
