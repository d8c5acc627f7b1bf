"""Bloom filter encryption, whose sources are in this repository: `bfe@bundled`.

It stands on blst, which is fetched as a crate whose version and hash are pinned in `workers/bfe/blst.sh`, and on this
machine's libcrypto for everything else.
"""

import os
import re
import shutil
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import BuildProfile, Package, SubjectRef
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials, Provider, Resolution, file_hashes, native_only, no_flags
from kexbench.kits.source import compiler_name
from kexbench.kits.system import SystemProvider

_VERSION = re.compile(r'BFE_VERSION\s+"(\S+)"')
_PINNED = re.compile(r"^VERSION=(\S+)\nSHA256=([0-9a-f]{64})$", re.MULTILINE)
_BUILT_FROM = ("*.c", "*.h", "*.sh", "Makefile")
_LIBCRYPTO = SubjectRef(library="openssl", source="system")


class BundledProvider(Provider):
    """`sources` is the folder workers/bfe. `cache` keeps blst."""

    def __init__(self, sources: Path, cache: Path) -> None:
        self._sources = sources
        self._cache = cache
        self._system = SystemProvider()

    def describe(self) -> str:
        return "bfe@bundled: Bloom filter encryption for forward-secure 0-RTT, built here"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library == "bfe" and ref.origin == "bundled"

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        native_only(ref, attempt)
        no_flags(ref, "leave them out")
        if ref.variant.relink is not None:
            raise StepFailed("resolve", f"{ref.origin} can't be relinked", "leave +relink out")
        version = self._match(_VERSION, "bfe.h")[1]
        files = [path for pattern in _BUILT_FROM for path in self._sources.glob(pattern)]
        libcrypto = self._system.resolve(_LIBCRYPTO, attempt, refresh=refresh)
        profile = BuildProfile(
            provider="bundled",
            linkage="static",
            compiler=compiler_name(attempt.target.compiler, attempt),
            flags="none",
            libc="glibc",
            architecture=attempt.target.machine,
        )
        decisive = [version, file_hashes(files), libcrypto.fingerprint, profile.id]
        packages = (self._blst(), *libcrypto.packages)
        return Resolution(
            ref=ref,
            version=version,
            profile=profile,
            fingerprint=content_hash(decisive, length=64),
            packages=packages,
        )

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        kept = {name: os.environ[name] for name in ("CARGO_HOME", "RUSTUP_HOME") if name in os.environ}
        environment = {**kept, "KEXBENCH_CACHE": str(self._cache.absolute())}
        sources, build, include = self._sources.resolve(), attempt.scratch / "bfe", attempt.scratch / "include"
        blst = attempt.run(
            ["sh", str(sources / "blst.sh")], stage="fetch", timeout_s=300, environment=environment
        ).strip()
        attempt.note("building Bloom filter encryption")
        mapped = f"-ffile-prefix-map={sources}=bfe -ffile-prefix-map={blst}=blst"
        library = build / "libbfe.a"
        attempt.run(
            [
                *("make", "-s", "-C", str(sources), f"BUILD={build}", f"CC={attempt.target.compiler}"),
                *(f"CFLAGS={mapped}", str(library)),
            ],
            stage="compile",
            timeout_s=600,
            environment=environment,
        )
        include.mkdir()
        for header in (sources / "bfe.h", sources / "file.h", *Path(blst, "bindings").glob("blst*.h")):
            shutil.copyfile(header, include / header.name)
        return Materials(
            compile_flags=(f"-I{include}",),
            library_words=(str(library), "-lcrypto", "-lm"),
            development=(self._blst(),),
        )

    def _blst(self) -> Package:
        pinned = self._match(_PINNED, "blst.sh")
        return Package(name="crate blst", version=pinned[1], sha256=pinned[2])

    def _match(self, pattern: re.Pattern[str], name: str) -> re.Match[str]:
        try:
            text = (self._sources / name).read_text(encoding="utf-8")
        except OSError:
            raise StepFailed(
                "resolve", f"no sources of Bloom filter encryption in {self._sources}", "use a checkout of kexbench"
            ) from None
        if match := pattern.search(text):
            return match
        raise StepFailed("resolve", f"{self._sources / name} has no version", "this is a bug, please report it")
