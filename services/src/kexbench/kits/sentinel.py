"""The sentinel: a frozen kit that every run measures. If its cost changes, the machine has changed."""

from pathlib import Path

from pydantic import ValidationError

from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.moments import Moment


class Sentinel(Frozen):
    """The frozen kit, its reference, and when it was frozen."""

    reference: str
    kit_id: str
    frozen_at: Moment


def read_sentinel(path: Path) -> Sentinel | None:
    """The sentinel, or None if none is frozen or the file can't be read. In both cases, freeze a new one."""
    try:
        return Sentinel.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def why_freeze(ref: SubjectRef, frozen: Sentinel | None, kit: KitManifest | None, worker_sha256: str) -> str | None:
    """Why a new sentinel is needed, as text; None if the old one can be kept. `kit` is its kit, if that is sound."""
    if frozen is None:
        return "there is none yet"
    if frozen.reference != str(ref):
        return f"its reference changed from {frozen.reference} to {ref}"
    if kit is None:
        return f"its kit {frozen.kit_id} is missing or damaged"
    if kit.worker_source_sha256 != worker_sha256:
        return "the worker's sources have changed"
    return None
