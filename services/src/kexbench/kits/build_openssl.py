"""OpenSSL from its sources: one static build, alike for every version from 1.1.1 on.

Static, since the sources in crates are trimmed and lack what newer versions make shared libraries with. What a
version has no word for is left out: older ones have no modules, and build no manual pages unless asked to.
"""

import re
from pathlib import Path

from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, Recipe
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

PREFIX = f"/{INSTALLED}"
_USUAL = ("no-shared", "no-module", "no-tests", "no-docs", "no-apps", "no-makedepend", "enable-tls-deprecated-ec")
"""The last gives 4.0 the curves back that older versions have by default."""
_FAST_CURVES = "enable-ec_nistp_64_gcc_128"
"""Faster P-224, P-256, P-384 and P-521. OpenSSL leaves it out by default; distributions put it in on these machines:
64-bit, little-endian, with a compiler that has integers of 128 bits."""
_WITH_FAST_CURVES = frozenset({"x86_64", "aarch64", "riscv64", "ppc64le"})
_TARGETS = {
    "x86_64": "linux-x86_64",
    "aarch64": "linux-aarch64",
    "riscv64": "linux64-riscv64",
    "ppc64le": "linux-ppc64le",
    "s390x": "linux64-s390x",
}
_NO_DATE = {"SOURCE_DATE_EPOCH": "1"}
"""The library keeps the time when it was built, unless told one: the same sources shall give the same bytes. Not 0,
which Configure's Perl takes for none."""
_USUAL_OPTION = {word: word.partition("-")[2] for word in _USUAL}
_DISABLABLES = re.compile(r"my @disablables = \((.*?)\n\s*\);", re.DOTALL)
_QUOTED = re.compile(r'"([^"\n]+)"')


class OpensslRecipe(Recipe):
    """`jobs`: how many compilers run at once, all builds together."""

    linkage: Linkage = "static"
    revision = 3

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        wrong = [flag for flag in flags if not flag.startswith(("no-", "enable-"))]
        if wrong:
            raise StepFailed("resolve", f"OpenSSL's flags begin with no- or enable-, not {', '.join(wrong)}")
        cross = (f"--cross-compile-prefix={target.cross_prefix}",) if target.is_foreign else ()
        return (_TARGETS[target.machine], *cross, *_USUAL, *self.distinctions(target), *flags)

    def distinctions(self, target: Target) -> tuple[str, ...]:
        return (_FAST_CURVES,) if target.machine in _WITH_FAST_CURVES else ()

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        configure = source / "Configure"
        if not configure.is_file():
            raise StepFailed("compile", "these are no sources of OpenSSL: there is no Configure", "")
        options = _options(configure.read_text(encoding="utf-8", errors="replace"))
        kept = [word for word in words if (usual := _USUAL_OPTION.get(word)) is None or usual in options]
        places = [f"--prefix={PREFIX}", f"--openssldir={PREFIX}/ssl", "--libdir=lib"]
        attempt.run(["perl", "Configure", *kept, *places], stage="compile", timeout_s=300, folder=source)
        make = ["make", f"-j{attempt.share_of(self._jobs)}", "--silent"]
        attempt.run([*make, "build_libs"], stage="compile", timeout_s=3600, folder=source, environment=_NO_DATE)
        attempt.run(
            ["make", "--silent", f"DESTDIR={installed}", "install_dev"], stage="compile", timeout_s=300, folder=source
        )


def recipe(_cache: Path, jobs: int) -> OpensslRecipe:
    return OpensslRecipe(jobs)


def _options(configure: str) -> set[str]:
    """What this version's Configure can leave out or put in: the names in its list of them."""
    listed = _DISABLABLES.search(configure)
    return set(_QUOTED.findall(listed[1])) if listed else set()
