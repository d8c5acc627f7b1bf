"""The errors that a command ends with in words, and the words."""

import errno

from kexbench.client import ApiError, Refused
from kexbench.kits import KitError, KitErrors
from kexbench.pipeline import RunGone, VersionMismatch
from kexbench.planning.documents import DocumentError
from kexbench.runner.results import DamagedFile
from kexbench.service import ServiceUnavailable
from kexbench.store.port import TRY_AGAIN, StoreError
from kexbench.watch.source import SourceError

EXPECTED = (
    KitError,
    DamagedFile,
    RunGone,
    VersionMismatch,
    StoreError,
    ServiceUnavailable,
    ApiError,
    SourceError,
)
_ELSEWHERE = "set KEXBENCH_HOME and KEXBENCH_CACHE to folders that you may write to"
_OF_THE_DISK = {
    errno.ENOSPC: "free some space: what was acknowledged is kept, and the same command goes on",
    errno.EDQUOT: "free some of your quota: what was acknowledged is kept, and the same command goes on",
    errno.EROFS: _ELSEWHERE,
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.ENOTDIR: _ELSEWHERE,
    errno.EEXIST: _ELSEWHERE,
}
"""What a person can put right of what the system refused, by its number, and how."""
SHOWN_FAULTS = 15
"""So that the errors of any input fit one screen."""


def words_of(error: Exception) -> list[str] | None:
    """What a person is told of an error, None where it is none that is expected."""
    match error:
        case DocumentError():
            return _faults(error)
        case OSError(errno=int(number), strerror=str(reason)) if number in _OF_THE_DISK:
            where = f"{error.filename}: " if error.filename else ""
            return [f"{where}{reason}", f"  remedy: {_OF_THE_DISK[number]}"]
        case StoreError(remedy=str(remedy)) if remedy != TRY_AGAIN:
            return [str(error), f"  remedy: {remedy}"]
        case Refused(detail=detail, remedy=str(remedy)):
            return [detail, f"  remedy: {remedy}"]
        case KitErrors():
            return [str(each) for each in error.errors]
    return [str(error)] if isinstance(error, EXPECTED) else None


def _faults(error: DocumentError) -> list[str]:
    lines = [fault.render(error.file) for fault in error.faults[:SHOWN_FAULTS]]
    if more := len(error.faults) - len(lines):
        lines.append(f"and {more:,} more")
    return lines
