"""Writes a docker-archive: images that a container runtime imports from a stream, without a registry."""

import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from devcluster.layers import Layer

_EPOCH = "1970-01-01T00:00:00Z"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Image:
    """A name such as local.test/kexbench/runner:dev, layers from the lowest up, and how it starts."""

    name: str
    layers: tuple[Layer, ...]
    command: tuple[str, ...]
    user: int
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "/"

    def config(self, machine: str) -> bytes:
        """The image's own document; its SHA-256 is the image's id."""
        document: dict[str, Any] = {
            "architecture": _ARCHITECTURES[machine],
            "os": "linux",
            "created": _EPOCH,
            "config": {
                "Cmd": list(self.command),
                "Env": [f"{name}={value}" for name, value in sorted(self.environment.items())],
                "User": f"{self.user}:{self.user}",
                "WorkingDir": self.folder,
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer.digest}" for layer in self.layers]},
            "history": [{"created": _EPOCH} for _ in self.layers],
        }
        return json.dumps(document, sort_keys=True).encode()


def write_archive(stream: IO[bytes], images: Sequence[Image], machine: str) -> None:
    """All images in one archive; a layer that several share is in it once."""
    manifest = []
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for layer in {layer.digest: layer for image in images for layer in image.layers}.values():
            info = tarfile.TarInfo(f"{layer.digest}.tar")
            info.size = layer.path.stat().st_size
            with layer.path.open("rb") as file:
                tar.addfile(info, file)
        for image in images:
            config = image.config(machine)
            name = f"{hashlib.sha256(config).hexdigest()}.json"
            _add_bytes(tar, name, config)
            layers = [f"{layer.digest}.tar" for layer in image.layers]
            manifest.append({"Config": name, "RepoTags": [image.name], "Layers": layers})
        _add_bytes(tar, "manifest.json", json.dumps(manifest).encode())


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))
