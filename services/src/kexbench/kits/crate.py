"""OpenSSL's sources from Rust's registry, in the crate openssl-src: `openssl@crate/3.5.5`.

Cargo fetches them with its configured mirrors, proxies and credentials. Cargo's copy of the registry's index maps
crate versions to OpenSSL versions and holds the SHA-256 of each crate.
"""

import hashlib
import json
import os
import re
import time
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.versions import version_key
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import Sources
from kexbench.kits.unbuilt import unpack

_CRATE = "openssl-src"
_SOURCE = re.compile(r"crate/(?P<version>[0-9][0-9A-Za-z.-]*)")
NEAREST = 3
"""Versions that are listed on either side of one that does not exist."""
_INDEX_MAX_AGE_S = 12 * 3600


@dataclass(frozen=True)
class _Release:
    """One version of the crate, such as 300.5.5+3.5.5."""

    crate_version: str
    sha256: str

    @property
    def semantic(self) -> str:
        """The version that cargo compares: the part before the plus."""
        return self.crate_version.partition("+")[0]

    @property
    def openssl(self) -> str:
        return self.crate_version.partition("+")[2]


class CrateOrigin:
    """The registry that cargo uses. `cargo_home` is the folder of cargo's copies; default: cargo's own."""

    name = "crate"

    def __init__(self, cargo_home: Path | None = None) -> None:
        self._home = cargo_home or Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")

    def describe(self) -> str:
        return "openssl@crate/3.5.5: OpenSSL's sources in the Rust crate openssl-src, built here"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library == "openssl" and _SOURCE.fullmatch(ref.origin) is not None

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        match = _SOURCE.fullmatch(ref.origin)
        assert match, "the caller checks `provides` first"
        version = match["version"]
        releases = self._releases(attempt, refresh=refresh)
        release = next((candidate for candidate in releases if candidate.openssl == version), None)
        if release is None:
            available = ", ".join(_nearest(version, {candidate.openssl for candidate in releases}))
            raise StepFailed("resolve", f"no crate has OpenSSL {version}", f"the nearest versions are {available}")
        package = Package(name=f"crate {_CRATE}", version=release.crate_version, sha256=release.sha256)
        return Sources(
            version=release.openssl,
            identity=release.sha256,
            packages=(package,),
            unpack=lambda folder, within: self._unpack(release, folder, within),
        )

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        """Every version of OpenSSL in the registry, oldest first."""
        return tuple(sorted({release.openssl for release in self._releases(attempt, refresh=refresh)}, key=version_key))

    def _releases(self, attempt: Attempt, *, refresh: bool) -> list[_Release]:
        """The releases that were not yanked, the newest crate first."""
        if refresh or not _is_young(self._index()):
            with attempt.or_older("an older list of crates", serves=not refresh and self._index() is not None):
                self._cargo(attempt, "generate-lockfile", requirement="*")
        index = self._index()
        if index is None:
            raise StepFailed("resolve", f"cargo has no list of {_CRATE} in {self._home}", "install cargo 1.68 or newer")
        return _parse_index(index.read_bytes())

    def _index(self) -> Path | None:
        """Cargo's copy of the crate's index file. With several registries, the most recent one."""
        copies = self._home.glob(f"registry/index/*/.cache/{_CRATE[:2]}/{_CRATE[2:4]}/{_CRATE}")
        return max(copies, key=lambda path: path.stat().st_mtime, default=None)

    def _unpack(self, release: _Release, folder: Path, attempt: Attempt) -> Path:
        attempt.note(f"fetching the crate {_CRATE} {release.crate_version}")
        self._cargo(attempt, "fetch", requirement=f"={release.semantic}")
        name = f"{_CRATE}-{release.crate_version}"
        archive = next(iter(self._home.glob(f"registry/cache/*/{name}.crate")), None)
        if archive is None:
            raise StepFailed("fetch", f"cargo fetched {name}, but it is not in {self._home}")
        if hashlib.sha256(archive.read_bytes()).hexdigest() != release.sha256:
            raise StepFailed("fetch", f"{archive} does not match the SHA-256 in the registry's index", "delete it")
        return unpack(archive, folder) / "openssl"

    def _cargo(self, attempt: Attempt, verb: str, *, requirement: str) -> None:
        """Run cargo in a project whose only dependency is the crate."""
        project = attempt.scratch / f"cargo-{verb}"
        (project / "src").mkdir(parents=True, exist_ok=True)
        (project / "src" / "lib.rs").touch()
        (project / "Cargo.toml").write_text(
            f'[package]\nname = "sources"\nversion = "0.0.0"\n[dependencies]\n{_CRATE} = "{requirement}"\n'
        )
        environment = {name: os.environ[name] for name in ("RUSTUP_HOME",) if name in os.environ}
        attempt.run(
            ["cargo", verb],
            stage="fetch",
            timeout_s=300,
            folder=project,
            environment={**environment, "CARGO_HOME": str(self._home)},
        )


def _parse_index(content: bytes) -> list[_Release]:
    """Parses cargo's cache of a sparse index: a header, then alternating versions and JSON records, each ended by a
    zero byte."""
    records = []
    for text in content.split(b"\0"):
        if text.startswith(b"{"):
            try:
                records.append(json.loads(text))
            except ValueError:
                continue
    releases = [_Release(record["vers"], record["cksum"]) for record in records if not record.get("yanked")]
    usual = [release for release in releases if re.fullmatch(r"[0-9.]+\+[0-9][0-9a-z.-]*", release.crate_version)]
    return sorted(usual, key=lambda release: version_key(release.semantic), reverse=True)


def _nearest(version: str, available: Iterable[str]) -> list[str]:
    """The versions of the same series, or the neighbours of this one. Oldest first."""
    versions = sorted(available, key=version_key)
    series = ".".join([*version.split(".")[:2], ""])
    same = [candidate for candidate in versions if candidate.startswith(series)]
    place = bisect_left(versions, version_key(version), key=version_key)
    return same or versions[max(0, place - NEAREST) : place + NEAREST]


def _is_young(path: Path | None) -> bool:
    return path is not None and time.time() - path.stat().st_mtime < _INDEX_MAX_AGE_S
