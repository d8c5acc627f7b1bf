"""Writes images as one OCI layout in a tar stream, which a container runtime imports without a registry."""

import hashlib
import io
import json
import tarfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from devcluster.layers import Layer

_EPOCH = "1970-01-01T00:00:00Z"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_TYPE = "application/vnd.oci.image"
_NAME = "io.containerd.image.name"


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
        return _json(
            {
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
        )


def write_archive(stream: IO[bytes], images: Sequence[Image], machine: str, left_out: Collection[Layer] = ()) -> None:
    """All images in one archive; a layer that several share is in it once, and one that is left out not at all."""
    index = []
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        for layer in {layer.digest: layer for image in images for layer in image.layers}.values():
            if layer not in left_out:
                info = tarfile.TarInfo(f"blobs/sha256/{layer.digest}")
                info.size = layer.path.stat().st_size
                with layer.path.open("rb") as file:
                    tar.addfile(info, file)
        for image in images:
            config = _add_blob(tar, image.config(machine), f"{_TYPE}.config.v1+json")
            layers = [
                _described(f"{_TYPE}.layer.v1.tar", each.digest, each.path.stat().st_size) for each in image.layers
            ]
            manifest = {
                "schemaVersion": 2,
                "mediaType": f"{_TYPE}.manifest.v1+json",
                "config": config,
                "layers": layers,
            }
            index.append({**_add_blob(tar, _json(manifest), manifest["mediaType"]), "annotations": {_NAME: image.name}})
        _add(tar, "index.json", _json({"schemaVersion": 2, "manifests": index}))


def _add_blob(tar: tarfile.TarFile, content: bytes, kind: Any) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    _add(tar, f"blobs/sha256/{digest}", content)
    return _described(kind, digest, len(content))


def _described(kind: str, digest: str, size: int) -> dict[str, Any]:
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": size}


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def _json(document: object) -> bytes:
    return json.dumps(document, sort_keys=True).encode()
