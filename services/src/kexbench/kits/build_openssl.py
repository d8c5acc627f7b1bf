"""Builds OpenSSL from source: a static build, the same for every version from 1.1.1 on.

It is static, since the trimmed sources in crates can't build shared libraries of newer versions. Options that a
version doesn't know are left out: older versions have no modules, and build manual pages only on request.
"""

import re
import shutil
from pathlib import Path

from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import FIPS_MODULE, INSTALLED, Recipe
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

PREFIX = f"/{INSTALLED}"
_USUAL = ("no-shared", "no-module", "no-tests", "no-docs", "no-apps", "no-makedepend", "enable-tls-deprecated-ec")
"""The last option enables curves in 4.0 that older versions have by default."""
_FAST_CURVES = "enable-ec_nistp_64_gcc_128"
"""Faster P-224, P-256, P-384 and P-521. OpenSSL disables it by default. Distributions enable it on these machines:
64-bit, little-endian, with a compiler that has 128-bit integers."""
_WITH_FAST_CURVES = frozenset({"x86_64", "aarch64", "riscv64", "ppc64le"})
_TARGETS = {
    "x86_64": "linux-x86_64",
    "aarch64": "linux-aarch64",
    "riscv64": "linux64-riscv64",
    "ppc64le": "linux-ppc64le",
    "s390x": "linux64-s390x",
}
_FIPS = "enable-fips"
"""Builds the FIPS module too, which sources since 3.0 have. It is loaded by itself, also into a static library."""
_LOADS_NOTHING = "no-module"
_NO_DATE = {"SOURCE_DATE_EPOCH": "1"}
"""The library contains its build time. A fixed time makes the same sources give the same bytes. It is not 0, which
Configure's Perl treats as unset."""
_USUAL_OPTION = {word: word.partition("-")[2] for word in _USUAL}
_DISABLABLES = re.compile(r"my @disablables = \((.*?)\n\s*\);", re.DOTALL)
_QUOTED = re.compile(r'"([^"\n]+)"')


class OpensslRecipe(Recipe):
    """`jobs` is the number of parallel compilers, over all builds."""

    linkage: Linkage = "static"
    revision = 3

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        wrong = [flag for flag in flags if not flag.startswith(("no-", "enable-"))]
        if wrong:
            raise StepFailed("resolve", f"OpenSSL's flags start with no- or enable-, unlike {', '.join(wrong)}")
        cross = (f"--cross-compile-prefix={target.cross_prefix}",) if target.is_foreign else ()
        usual = tuple(word for word in _USUAL if not (_FIPS in flags and word == _LOADS_NOTHING))
        return (_TARGETS[target.machine], *cross, *usual, *self.distinctions(target), *flags)

    def distinctions(self, target: Target) -> tuple[str, ...]:
        return (_FAST_CURVES,) if target.machine in _WITH_FAST_CURVES else ()

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        configure = source / "Configure"
        if not configure.is_file():
            raise StepFailed("compile", "the sources of OpenSSL have no Configure script", "")
        options = _options(configure.read_text(encoding="utf-8", errors="replace"))
        kept = [word for word in words if (usual := _USUAL_OPTION.get(word)) is None or usual in options]
        places = [f"--prefix={PREFIX}", f"--openssldir={PREFIX}/ssl", "--libdir=lib"]
        attempt.run(["perl", "Configure", *kept, *places], stage="compile", timeout_s=300, folder=source)
        make = ["make", f"-j{attempt.share_of(self._jobs)}", "--silent"]
        with_module = _FIPS in words
        built = ["build_libs", *(["providers/fips.so"] if with_module else [])]
        attempt.run([*make, *built], stage="compile", timeout_s=3600, folder=source, environment=_NO_DATE)
        attempt.run(
            ["make", "--silent", f"DESTDIR={installed}", "install_dev"], stage="compile", timeout_s=300, folder=source
        )
        if with_module:
            module = installed / INSTALLED / FIPS_MODULE
            module.parent.mkdir()
            shutil.copyfile(source / "providers" / "fips.so", module)


def recipe(_cache: Path, jobs: int) -> OpensslRecipe:
    return OpensslRecipe(jobs)


def _options(configure: str) -> set[str]:
    """The features that this version's Configure can disable or enable."""
    listed = _DISABLABLES.search(configure)
    return set(_QUOTED.findall(listed[1])) if listed else set()
