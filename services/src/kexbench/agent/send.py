"""Sends the kit that another container of the pod built. This container has the token and runs nothing of the build."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from kexbench.agent.build import ARCHIVE, NOTE, Built
from kexbench.agent.environment import BuilderPod
from kexbench.client import ApiClient
from kexbench.kits.transport import KIT_MAX_BYTES, DamagedKit

_NOTE_MAX_BYTES = 4096


def send(pod: BuilderPod, api: ApiClient, say: Callable[[str], None]) -> None:
    """Raises DamagedKit for files that no build of ours leaves, Refused and Unreachable."""
    with _plain_file(pod.built / NOTE, _NOTE_MAX_BYTES) as file:
        try:
            built = Built.model_validate_json(file.read(_NOTE_MAX_BYTES))
        except ValidationError as error:
            raise DamagedKit(f"{NOTE} of the build is invalid: {error.errors(include_url=False)[0]['msg']}") from None
    with _plain_file(pod.built / ARCHIVE, KIT_MAX_BYTES) as archive:
        say(f"sending kit {built.kit_id}, {os.fstat(archive.fileno()).st_size >> 20} MiB")
        api.send_file(f"/kits/{built.kit_id}?ingredients={built.ingredients}", archive)


def _plain_file(path: Path, largest: int) -> BinaryIO:
    """Opens a file of the build. Links are refused, since they could point to the token. Raises DamagedKit."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise DamagedKit(f"the build left no regular file {path.name}: {error.strerror}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
        os.close(descriptor)
        raise DamagedKit(f"the build left no regular file {path.name} of at most {largest} bytes")
    return os.fdopen(descriptor, "rb")
