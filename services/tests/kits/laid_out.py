"""Kits that nobody built: folders whose manifest is true of their files."""

import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path

from kexbench.domain.kits import KitManifest
from kexbench.kits.recipe import MANIFEST_NAME
from tests.builders import a_kit

WORKER = {"bin/worker": b"\x7fELF a worker"}


def lay_out(
    folder: Path,
    files: Mapping[str, bytes] = WORKER,
    *,
    reference: str = "fake@1.0",
    architecture: str = platform.machine(),
    worker_sha256: str = "2" * 64,
) -> KitManifest:
    """The manifest of a kit with these files in a new folder; those below `bin/` can be run."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    drawn = dict(a_kit(reference, version="1.0", architecture=architecture))
    manifest = KitManifest.sealed(**{**drawn, "files": hashes, "worker_source_sha256": worker_sha256})
    for name, content in {**files, MANIFEST_NAME: manifest.model_dump_json().encode()}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o555 if name.startswith("bin/") else 0o444)
    return manifest
