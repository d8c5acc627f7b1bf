"""The sentinel: a kit that is frozen and measured beside all others, so that what moves it is not the library."""

from pathlib import Path

from pydantic import ValidationError

from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.moments import Moment


class Sentinel(Frozen):
    """Which kit was frozen, of which reference, and when."""

    reference: str
    kit_id: str
    frozen_at: Moment


def read_sentinel(path: Path) -> Sentinel | None:
    """None when none was frozen yet, or when the file can't be read: either way one is to be frozen."""
    try:
        return Sentinel.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def why_freeze(ref: SubjectRef, frozen: Sentinel | None, kit: KitManifest | None, worker_sha256: str) -> str | None:
    """Why the sentinel can't stay what it is, in words; None when it can. `kit` is its kit, if that is sound."""
    if frozen is None:
        return "there is none yet"
    if frozen.reference != str(ref):
        return f"it was {frozen.reference}, and {ref} is named now"
    if kit is None:
        return f"its kit {frozen.kit_id} is missing or damaged"
    if kit.worker_source_sha256 != worker_sha256:
        return "the worker's sources have changed"
    return None
