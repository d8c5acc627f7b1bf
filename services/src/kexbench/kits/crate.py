"""Libraries' sources from Rust's registry: `openssl@crate/3.5.5` in the crate openssl-src, `awslc@crate/0.47.0` in
aws-lc-sys, `boringssl@crate/5.4.0` in boring-sys.

Cargo fetches them with its configured mirrors, proxies and credentials. Cargo's copy of the registry's index lists
the crate's versions and holds the SHA-256 of each. Some crates' versions have the library's behind a plus.
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
from kexbench.domain.libraries import CRATES, LIBRARIES, Crate, VersionOfCrate
from kexbench.domain.versions import version_key
from kexbench.kits.cargo import users_cargo_home
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import Sources
from kexbench.kits.unbuilt import unpack, version_in

_SOURCE = re.compile(r"crate/(?P<version>[0-9][0-9A-Za-z.-]*)")
_WITH_VERSION, _ALONE = re.compile(r"[0-9.]+\+[0-9][0-9a-z.-]*"), re.compile(r"[0-9.]+")
NEAREST = 3
"""Versions that are listed on either side of one that does not exist."""
_INDEX_MAX_AGE_S = 12 * 3600


@dataclass(frozen=True)
class _Release:
    """One version of a crate, such as 300.5.5+3.5.5 or 0.47.0."""

    crate_version: str
    sha256: str

    @property
    def semantic(self) -> str:
        """The version that cargo compares: the part before the plus."""
        return self.crate_version.partition("+")[0]

    @property
    def referred(self) -> str:
        """The version that references name: the library's where the crate tells it."""
        return self.crate_version.partition("+")[2] or self.crate_version


class CrateOrigin:
    """The registry that cargo uses. `cargo_home` is the folder of cargo's copies; default: cargo's own."""

    name = "crate"

    def __init__(self, cargo_home: Path | None = None) -> None:
        self._home = cargo_home or users_cargo_home()

    def describe(self) -> str:
        crates = " or ".join(f"{LIBRARIES[library].title}'s in {crate.name}" for library, crate in CRATES.items())
        return f"openssl@crate/3.5.5, awslc@crate/0.47.0: the sources in a Rust crate, {crates}, built here"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in CRATES and _SOURCE.fullmatch(ref.origin) is not None

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        match = _SOURCE.fullmatch(ref.origin)
        assert match, "the caller checks `provides` first"
        crate, version = CRATES[ref.library], match["version"]
        releases = self._releases(crate, attempt, refresh=refresh)
        release = next((candidate for candidate in releases if candidate.referred == version), None)
        if release is None:
            available = ", ".join(_nearest(version, {candidate.referred for candidate in releases}))
            what = LIBRARIES[ref.library].title if crate.tells_version else crate.name
            raise StepFailed("resolve", f"no crate has {what} {version}", f"the nearest versions are {available}")
        package = Package(name=f"crate {crate.name}", version=release.crate_version, sha256=release.sha256)
        return Sources(
            version=release.referred if crate.tells_version else self._told_version(ref, crate, release, attempt),
            identity=release.sha256,
            packages=(package,),
            unpack=lambda folder, within: unpack(self._archive(crate, release, within), folder) / crate.folder,
        )

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        """Every version of the library in the registry, oldest first. Empty if the registry does not tell it."""
        crate = CRATES[ref.library]
        if not crate.tells_version:
            return ()
        releases = self._releases(crate, attempt, refresh=refresh)
        return tuple(sorted({release.referred for release in releases}, key=version_key))

    def _releases(self, crate: Crate, attempt: Attempt, *, refresh: bool) -> list[_Release]:
        """The releases that were not yanked, the newest crate first."""
        if refresh or not _is_young(self._index(crate)):
            with attempt.or_older("an older list of crates", serves=not refresh and self._index(crate) is not None):
                self._cargo(crate, attempt, "generate-lockfile", requirement="*")
        index = self._index(crate)
        if index is None:
            raise StepFailed(
                "resolve", f"cargo has no list of {crate.name} in {self._home}", "install cargo 1.68 or newer"
            )
        return _parse_index(
            index.read_bytes(), _WITH_VERSION if crate.version is VersionOfCrate.BEHIND_PLUS else _ALONE
        )

    def _index(self, crate: Crate) -> Path | None:
        """Cargo's copy of the crate's index file. With several registries, the most recent one."""
        copies = self._home.glob(f"registry/index/*/.cache/{crate.name[:2]}/{crate.name[2:4]}/{crate.name}")
        return max(copies, key=lambda path: path.stat().st_mtime, default=None)

    def _told_version(self, ref: SubjectRef, crate: Crate, release: _Release, attempt: Attempt) -> str:
        return version_in(ref.library, self._archive(crate, release, attempt), crate.folder)

    def _archive(self, crate: Crate, release: _Release, attempt: Attempt) -> Path:
        """The verified file, fetched if cargo does not have it."""
        name = f"{crate.name}-{release.crate_version}"
        archive = self._fetched(name)
        if archive is None:
            attempt.note(f"fetching the crate {crate.name} {release.crate_version}")
            self._cargo(crate, attempt, "fetch", requirement=f"={release.semantic}")
            archive = self._fetched(name)
        if archive is None:
            raise StepFailed("fetch", f"cargo fetched {name}, but it is not in {self._home}")
        if hashlib.sha256(archive.read_bytes()).hexdigest() != release.sha256:
            raise StepFailed("fetch", f"{archive} does not match the SHA-256 in the registry's index", "delete it")
        return archive

    def _fetched(self, name: str) -> Path | None:
        return next(iter(self._home.glob(f"registry/cache/*/{name}.crate")), None)

    def _cargo(self, crate: Crate, attempt: Attempt, verb: str, *, requirement: str) -> None:
        """Run cargo in a project whose only dependency is the crate."""
        project = attempt.scratch / f"cargo-{verb}"
        (project / "src").mkdir(parents=True, exist_ok=True)
        (project / "src" / "lib.rs").touch()
        (project / "Cargo.toml").write_text(
            f'[package]\nname = "sources"\nversion = "0.0.0"\n[dependencies]\n{crate.name} = "{requirement}"\n'
        )
        environment = {name: os.environ[name] for name in ("RUSTUP_HOME",) if name in os.environ}
        attempt.run(
            ["cargo", verb],
            stage="fetch",
            timeout_s=300,
            folder=project,
            environment={**environment, "CARGO_HOME": str(self._home)},
        )


def _parse_index(content: bytes, usual: re.Pattern[str]) -> list[_Release]:
    """Parses cargo's cache of a sparse index: a header, then alternating versions and JSON records, each ended by a
    zero byte. Releases with other versions than the `usual` ones are left out."""
    records = []
    for text in content.split(b"\0"):
        if text.startswith(b"{"):
            try:
                records.append(json.loads(text))
            except ValueError:
                continue
    releases = [_Release(record["vers"], record["cksum"]) for record in records if not record.get("yanked")]
    kept = [release for release in releases if usual.fullmatch(release.crate_version)]
    return sorted(kept, key=lambda release: version_key(release.semantic), reverse=True)


def _nearest(version: str, available: Iterable[str]) -> list[str]:
    """The versions of the same series, or the neighbours of this one. Oldest first."""
    versions = sorted(available, key=version_key)
    series = ".".join([*version.split(".")[:2], ""])
    same = [candidate for candidate in versions if candidate.startswith(series)]
    place = bisect_left(versions, version_key(version), key=version_key)
    return same or versions[max(0, place - NEAREST) : place + NEAREST]


def _is_young(path: Path | None) -> bool:
    return path is not None and time.time() - path.stat().st_mtime < _INDEX_MAX_AGE_S
