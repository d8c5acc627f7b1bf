"""Builds GnuTLS from source: a shared build, the same for every version from 3.7.1 on, with the same nettle.

Features that handshakes don't need are left out. libtasn1 and libunistring come from GnuTLS's sources, nettle is built
here too, and GMP is this machine's. No other library of this machine is used, even if it is installed. GnuTLS ignores
unknown options. That is fine for the usual ones, but the subject's flags must be known.
"""

import shutil
from pathlib import Path

from kexbench.domain.kits import Package
from kexbench.kits.autotools import Autotools, refuse_unknown
from kexbench.kits.build_nettle import NETTLE, NETTLE_SUITE, NettleBuild, gmp_package, nettle_name
from kexbench.kits.builds import BuildCache
from kexbench.kits.errors import StepFailed
from kexbench.kits.mirrors import host_mirror
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, Recipe, refuse_foreign
from kexbench.kits.source_packages import SourceArchive
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

_USUAL = (
    "--disable-doc",
    "--disable-tests",
    "--disable-full-test-suite",
    "--disable-tools",
    "--disable-cxx",
    "--disable-guile",
    "--disable-libdane",
    "--disable-nls",
    "--disable-gcc-warnings",
    "--with-included-libtasn1",
    "--with-included-unistring",
    "--without-p11-kit",
    "--without-idn",
    "--without-zlib",
    "--without-brotli",
    "--without-zstd",
    "--without-tpm",
    "--without-tpm2",
    "CFLAGS=-O2",
)
_FLAGS = ("enable-", "disable-", "with-", "without-")


class GnutlsRecipe(Recipe):
    """`cache` keeps nettle's sources and build. `jobs` is the number of parallel compilers."""

    linkage: Linkage = "shared"
    revision = 1

    def __init__(self, cache: Path, jobs: int) -> None:
        self._cache = cache
        self._jobs = jobs

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        refuse_foreign("GnuTLS", target, "choose a suite, such as gnutls@debian/trixie")
        wrong = [flag for flag in flags if not flag.startswith(_FLAGS)]
        if wrong:
            raise StepFailed(
                "resolve", f"GnuTLS's flags start with one of {', '.join(_FLAGS)}, unlike {', '.join(wrong)}"
            )
        return (*_USUAL, *(f"--{flag}" for flag in flags))

    def ingredients(self, attempt: Attempt) -> tuple[Package, ...]:
        return gmp_package(attempt), NETTLE

    def decisive(self, attempt: Attempt) -> tuple[str, ...]:
        return (nettle_name(gmp_package(attempt), attempt),)

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        configure = source / "configure"
        if not configure.is_file():
            raise StepFailed(
                "compile",
                "the sources of GnuTLS have no configure script",
                "use the archive of a release, which has one; kexbench doesn't run the ./bootstrap of a checkout",
            )
        own = tuple(word for word in words if word not in _USUAL)
        refuse_unknown(own, configure.read_text(encoding="utf-8", errors="replace"))
        nettle = attempt.scratch / "nettle"  # a link, so that the cache's path leaves no trace
        nettle.symlink_to(self._nettle().folder(gmp_package(attempt), attempt))
        libraries = nettle / INSTALLED / "lib"
        environment = {
            "PKG_CONFIG_LIBDIR": str(libraries / "pkgconfig"),  # only nettle's
            "PKG_CONFIG_SYSROOT_DIR": str(nettle),
            "LD_LIBRARY_PATH": str(libraries),  # for the test programs of configure
        }
        attempt.note("building GnuTLS itself")
        Autotools(attempt.target.compiler, self._jobs, ("pkg-config",), environment).install(
            source, words, installed, attempt
        )
        for path in libraries.glob("lib*"):
            shutil.copy2(path, installed / INSTALLED / "lib" / path.name, follow_symlinks=False)

    def _nettle(self) -> NettleBuild:
        archive = SourceArchive(NETTLE_SUITE, host_mirror(), self._cache)
        return NettleBuild(archive, BuildCache(self._cache / "builds"), self._jobs)


def recipe(cache: Path, jobs: int) -> GnutlsRecipe:
    return GnutlsRecipe(cache, jobs)
