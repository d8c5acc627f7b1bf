"""Builds AWS-LC from source: a static release build, the same for every version.

It is static, since that is how the Rust programs that use it get it (the crate's builder defaults to static, and only
AWS_LC_SYS_STATIC=0 makes it shared), and so that its libraries never stand in for OpenSSL's, whose names they have.

The options are those of the crate's builder (`prepare_cmake_build` in builder/cmake_builder.rs): no tests, no tool, and
neither Go nor Perl, since the sources have the generated assembly. CMake's build type Release gives -O3 -DNDEBUG, as
Cargo's release profile does. Unlike the crate's default, libssl is built too, as with its feature `ssl`.
"""

import shutil
from pathlib import Path

from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, Recipe
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

_USUAL = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DBUILD_LIBSSL=ON",
    "-DBUILD_TESTING=OFF",
    "-DBUILD_TOOL=OFF",
    "-DDISABLE_GO=ON",
    "-DDISABLE_PERL=ON",
    "-DENABLE_SOURCE_MODIFICATION=OFF",
)
_FLAGS = {"no-asm": "-DOPENSSL_NO_ASM=1", "enable-small": "-DOPENSSL_SMALL=1"}


class AwslcRecipe(Recipe):
    """`jobs` is the number of parallel compilers, over all builds."""

    linkage: Linkage = "static"
    revision = 1

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        if target.is_foreign:
            raise StepFailed(
                "resolve", f"AWS-LC can only be built for this machine, not for {target.machine}", "build it there"
            )
        wrong = [flag for flag in flags if flag not in _FLAGS]
        if wrong:
            raise StepFailed("resolve", f"AWS-LC's flags are {', '.join(_FLAGS)}, unlike {', '.join(wrong)}")
        return (*_USUAL, *(_FLAGS[flag] for flag in flags))

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        if not (source / "CMakeLists.txt").is_file():
            raise StepFailed("compile", "the sources of AWS-LC have no CMakeLists.txt", "")
        for tool, package in (("cmake", "cmake"), ("c++", "g++")):
            if shutil.which(tool) is None:
                raise StepFailed("compile", f"{tool} is not installed", f"apt-get install {package}")
        # Errors name the files of the sources, so that their folder would be in the library.
        mapped = f"-ffile-prefix-map={attempt.scratch}=."
        languages = [f"-DCMAKE_{language}_FLAGS={mapped}" for language in ("C", "CXX", "ASM")]
        compiler = f"-DCMAKE_C_COMPILER={attempt.target.compiler}"
        places = [f"-DCMAKE_INSTALL_PREFIX=/{INSTALLED}", "-DCMAKE_INSTALL_LIBDIR=lib"]
        build = attempt.scratch / "awslc"
        configure = ["cmake", "-G", "Unix Makefiles", "-S", str(source), "-B", str(build)]
        attempt.run([*configure, compiler, *languages, *places, *words], stage="compile", timeout_s=300)
        make = ["make", f"-j{attempt.share_of(self._jobs)}", "--silent"]
        attempt.run([*make, "ssl", "crypto"], stage="compile", timeout_s=3600, folder=build)
        attempt.run(
            ["make", "--silent", "install"],
            stage="compile",
            timeout_s=300,
            folder=build,
            environment={"DESTDIR": str(installed)},
        )


def recipe(_cache: Path, jobs: int) -> AwslcRecipe:
    return AwslcRecipe(jobs)
