"""The errors that a command ends with in words, and the words."""

import httpx

from kexbench.client import ApiError
from kexbench.kits import KitError, KitErrors
from kexbench.pipeline import RunGone, VersionMismatch
from kexbench.planning.documents import DocumentError
from kexbench.runner.results import DamagedFile
from kexbench.service import ServiceUnavailable
from kexbench.store.port import StoreError
from kexbench.uplink import Refused, Unreachable
from kexbench.watch.source import SourceError

EXPECTED = (
    KitError,
    DamagedFile,
    RunGone,
    VersionMismatch,
    StoreError,
    ServiceUnavailable,
    ApiError,
    Refused,
    Unreachable,
    SourceError,
)
SHOWN_FAULTS = 15
"""So that the errors of any input fit one screen."""


def words_of(error: Exception) -> list[str] | None:
    """What a person is told of an error, None where it is none that is expected."""
    match error:
        case DocumentError():
            return _faults(error)
        case httpx.TransportError():
            return [f"the service does not answer: {error}"]
        case KitErrors():
            return [str(each) for each in error.errors]
    return [str(error)] if isinstance(error, EXPECTED) else None


def _faults(error: DocumentError) -> list[str]:
    lines = [fault.render(error.file) for fault in error.faults[:SHOWN_FAULTS]]
    if more := len(error.faults) - len(lines):
        lines.append(f"and {more:,} more")
    return lines
