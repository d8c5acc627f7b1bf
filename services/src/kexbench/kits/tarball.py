"""Sources in an archive, in a file or at an address: `openssl@tarball:/src/openssl-3.5.5.tar.gz#sha256=…`.

The SHA-256 is part of the reference and is checked before unpacking, so that a reference always means the same
sources. A local file is read in place. A download is cached under its SHA-256.
"""

import hashlib
import re
from pathlib import Path, PurePosixPath

from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.libraries import VERSION_FILES
from kexbench.kits.download import download, wrong_hash
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import Origin, Sources
from kexbench.kits.unbuilt import unpack, version_in
from kexbench.locks import locked

_PREFIX = "tarball:"
_SOURCE = re.compile(r"tarball:(?P<place>[^#]+)#sha256=(?P<sha256>[0-9a-f]{64})")
_DOWNLOAD_MAX_BYTES = 512 << 20


class TarballOrigin(Origin):
    """Archives anywhere. `cache` keeps the downloads, each of at most `most_bytes`."""

    name = "tarball"

    def __init__(self, cache: Path, most_bytes: int = _DOWNLOAD_MAX_BYTES) -> None:
        self._cache = cache / "tarballs"
        self._most_bytes = most_bytes

    def describe(self) -> str:
        return "openssl@tarball:/FILE#sha256=…, openssl@tarball:https://…#sha256=…: sources in an archive, built here"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in VERSION_FILES and ref.origin.startswith(_PREFIX)

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        match = _SOURCE.fullmatch(ref.origin)
        if match is None:
            raise StepFailed(
                "resolve",
                f"{ref.origin} lacks the archive's SHA-256",
                "append #sha256= and the 64 digits that sha256sum FILE prints",
            )
        place, sha256 = match["place"], match["sha256"]
        version = version_in(ref.library, self._archive(place, sha256, attempt))
        return Sources(
            version=version,
            identity=sha256,
            packages=(Package(name="tarball", version=version, sha256=sha256),),
            unpack=lambda folder, within: unpack(self._archive(place, sha256, within), folder),
        )

    def _archive(self, place: str, sha256: str, attempt: Attempt) -> Path:
        """The verified file: the local one, or its download."""
        if PurePosixPath(place).is_absolute():
            if not Path(place).is_file():
                raise StepFailed("resolve", f"there is no file {place}", "name a source archive")
            if (actual := _sha256(Path(place))) != sha256:
                raise wrong_hash(place, actual, sha256)
            return Path(place)
        kept = self._cache / sha256
        with locked(self._cache / f".{sha256}.lock", attempt.note, attempt.go_on):
            if not (kept.is_file() and _sha256(kept) == sha256):
                download(place, sha256, kept, attempt, self._most_bytes)
        return kept


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
