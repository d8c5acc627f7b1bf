"""OpenSSL's sources as Rust's registry has them: `openssl@crate/3.5.5`, in the crate openssl-src.

Cargo fetches, so that mirrors, proxies and credentials are those that it is configured with. Its copy of the
registry's index tells which crate holds which version of OpenSSL, and the SHA-256 of each.
"""

import hashlib
import json
import os
import re
import time
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
_INDEX_MAX_AGE_S = 12 * 3600


@dataclass(frozen=True)
class _Release:
    """One version of the crate, such as 300.5.5+3.5.5."""

    crate_version: str
    sha256: str

    @property
    def semantic(self) -> str:
        """As cargo compares versions: without what stands behind the plus."""
        return self.crate_version.partition("+")[0]

    @property
    def openssl(self) -> str:
        return self.crate_version.partition("+")[2]


class CrateOrigin:
    """What cargo can reach. `cargo_home` is where cargo keeps its copies; default: as cargo itself decides."""

    name = "crate"

    def __init__(self, cargo_home: Path | None = None) -> None:
        self._home = cargo_home or Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")

    def describe(self) -> str:
        return "openssl@crate/3.5.5: OpenSSL's sources in the Rust crate openssl-src, built here"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library == "openssl" and _SOURCE.fullmatch(ref.origin) is not None

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        match = _SOURCE.fullmatch(ref.origin)
        assert match, "the provider asks `provides` first"
        wanted = match["version"]
        known = self._releases(attempt, refresh=refresh)
        release = next((found for found in known if found.openssl == wanted), None)
        if release is None:
            nearest = [found.openssl for found in known if found.openssl.startswith(wanted[:3])]
            having = ", ".join(dict.fromkeys(nearest)) or "none like it"
            raise StepFailed("resolve", f"no crate has OpenSSL {wanted}", f"there are {having}")
        package = Package(name=f"crate {_CRATE}", version=release.crate_version, sha256=release.sha256)
        return Sources(
            version=release.openssl,
            identity=release.sha256,
            packages=(package,),
            unpack=lambda folder, within: self._unpack(release, folder, within),
        )

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        """Every version of OpenSSL that there is."""
        return tuple(sorted({found.openssl for found in self._releases(attempt, refresh=refresh)}, key=version_key))

    def _releases(self, attempt: Attempt, *, refresh: bool) -> list[_Release]:
        """Those that were not withdrawn, the newest crate first."""
        if refresh or not _is_young(self._index()):
            try:
                self._cargo(attempt, "generate-lockfile", requirement="*")
            except StepFailed as error:
                if refresh or self._index() is None:
                    raise
                attempt.note(f"using an older list of crates: {error.reason}")
        index = self._index()
        if index is None:
            raise StepFailed("resolve", f"cargo keeps no list of {_CRATE} in {self._home}", "cargo 1.68 or newer does")
        return _parse_index(index.read_bytes())

    def _index(self) -> Path | None:
        """Cargo's copy of the registry's file on this crate; of several registries the one that was read last."""
        found = self._home.glob(f"registry/index/*/.cache/{_CRATE[:2]}/{_CRATE[2:4]}/{_CRATE}")
        return max(found, key=lambda path: path.stat().st_mtime, default=None)

    def _unpack(self, release: _Release, folder: Path, attempt: Attempt) -> Path:
        attempt.note(f"fetching the crate {_CRATE} {release.crate_version}")
        self._cargo(attempt, "fetch", requirement=f"={release.semantic}")
        name = f"{_CRATE}-{release.crate_version}"
        archive = next(iter(self._home.glob(f"registry/cache/*/{name}.crate")), None)
        if archive is None:
            raise StepFailed("fetch", f"cargo fetched {name}, but keeps it nowhere in {self._home}")
        if hashlib.sha256(archive.read_bytes()).hexdigest() != release.sha256:
            raise StepFailed("fetch", f"{archive} has other contents than the registry's index promises", "delete it")
        return unpack(archive, folder) / "openssl"

    def _cargo(self, attempt: Attempt, verb: str, *, requirement: str) -> None:
        """Run cargo in a project that needs nothing but the crate."""
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
    """Cargo's cache of a sparse index: a header, then version and JSON record in turn, each ended by a zero byte."""
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


def _is_young(path: Path | None) -> bool:
    return path is not None and time.time() - path.stat().st_mtime < _INDEX_MAX_AGE_S
