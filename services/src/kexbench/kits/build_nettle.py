"""Nettle, the cryptography library of GnuTLS: one version for every GnuTLS that is built here.

So a change between two versions of GnuTLS is GnuTLS's own. 3.10.1 compiles with all from 3.7.1 to 3.8.13. It is built
once, with code for every processor of the architecture ("fat"), as distributions build it.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Package
from kexbench.kits.autotools import Autotools
from kexbench.kits.builds import BuildCache
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import compiler_name
from kexbench.kits.source_packages import SourceArchive

NETTLE = Package(
    name="nettle", version="3.10.1", sha256="b0fcdd7fc0cdea6e80dcf1dd85ba794af0d5b4a57e26397eee3bc193272d9132"
)
NETTLE_SUITE = "trixie"
"""The suite of its sources. The hash is that of the upstream archive, so any other source would do."""
_WORDS = ("--disable-documentation", "--disable-openssl", "--enable-fat", "CFLAGS=-O2")
_VERSION_MACRO = re.compile(r"^#define __GNU_MP_VERSION(_MINOR|_PATCHLEVEL|) (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class NettleBuild:
    """The build of nettle. `gmp` is the GMP that it is linked to."""

    archive: SourceArchive
    cache: BuildCache
    jobs: int

    def folder(self, gmp: Package, attempt: Attempt) -> Path:
        """The folder of the build, from the cache or built now. Raises StepFailed."""
        name = nettle_name(gmp, attempt)
        return self.cache.built(name, lambda installed: self._build(installed, attempt), attempt)

    def _build(self, installed: Path, attempt: Attempt) -> None:
        unpacked = attempt.scratch / "nettle-source"
        unpacked.mkdir()
        source = self.archive.unpack(NETTLE, unpacked, attempt)
        attempt.note(f"building nettle {NETTLE.version}, once for every GnuTLS")
        Autotools(attempt.target.compiler, self.jobs, ("m4",)).install(source, _WORDS, installed, attempt)
        shutil.rmtree(unpacked)


def nettle_name(gmp: Package, attempt: Attempt) -> str:
    """The name of its build, with the hash of everything that determines it, so that it is in GnuTLS's too."""
    compiler = compiler_name(attempt.target.compiler, attempt)
    decisive = [NETTLE.sha256, _WORDS, attempt.target.machine, gmp.version, compiler]
    return f"nettle-{NETTLE.version}-{content_hash(decisive, length=16)}"


def gmp_package(attempt: Attempt) -> Package:
    """This machine's GMP, which nettle and GnuTLS are linked to. Raises StepFailed."""
    query = [attempt.target.compiler, "-E", "-dM", "-include", "gmp.h", "-x", "c", "/dev/null"]
    try:
        macros = dict(_VERSION_MACRO.findall(attempt.run(query, stage="resolve", timeout_s=30)))
        numbers = [macros[name] for name in ("", "_MINOR", "_PATCHLEVEL")]
    except (StepFailed, KeyError) as error:
        raise StepFailed(
            "resolve",
            "no development files of GMP on this machine",
            "apt-get install libgmp-dev (elsewhere: gmp-devel)",
        ) from error
    return Package(name="gmp", version=".".join(numbers), sha256=None)
