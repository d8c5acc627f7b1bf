"""The expected errors of commands, and their texts."""

import errno
import re
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from kexbench.client import ApiError, Refused
from kexbench.kits import KitError, KitErrors
from kexbench.pipeline import RunGone, VersionMismatch
from kexbench.planning.documents import DocumentError
from kexbench.publishing.replacing import CannotPublish
from kexbench.runner.results import DamagedFile
from kexbench.service import ServiceUnavailable
from kexbench.store.port import TRY_AGAIN, StoreError
from kexbench.watch.errors import SourceError

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
_ELSEWHERE = "set KEXBENCH_HOME and KEXBENCH_CACHE to writable folders"
_MORE_FILES = "allow more open files, such as with ulimit -n 4096, then repeat the command"
_MORE_MEMORY = "end other programs, or allow this one more memory and threads, then repeat the command"
_OF_THE_SYSTEM = {
    errno.ENOSPC: "free some space, then repeat the command: it continues with what is stored",
    errno.EDQUOT: "free some of your quota, then repeat the command: it continues with what is stored",
    errno.EROFS: _ELSEWHERE,
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.ENOTDIR: _ELSEWHERE,
    errno.EEXIST: _ELSEWHERE,
    errno.ENOENT: _ELSEWHERE,
    errno.ENAMETOOLONG: _ELSEWHERE,
    errno.ELOOP: _ELSEWHERE,
    errno.EINVAL: _ELSEWHERE,
    errno.EIO: f"check the disk, or {_ELSEWHERE}",
    errno.EMFILE: _MORE_FILES,
    errno.ENFILE: _MORE_FILES,
    errno.ENOMEM: _MORE_MEMORY,
    errno.EAGAIN: _MORE_MEMORY,
}
"""Remedies for errors of the operating system, by number."""
_LITTLE = re.compile(r"can't start new thread|failed to map segment|[Cc]annot allocate memory")
"""What Python says if there is too little memory to load a library or to start a thread."""
SHOWN_FAULTS = 15
"""The errors of any input fit one screen."""


def words_of(error: Exception) -> list[str] | None:
    """The lines to print for an error; None for an unexpected one."""
    if lacking := _lacking(error):
        return lacking
    match error:
        case DocumentError() | ValidationError(title="Settings"):
            return _faults(error)
        case CannotPublish(remedy=remedy) | StoreError(remedy=remedy) if remedy != TRY_AGAIN:
            return [str(error), f"  remedy: {remedy}"]
        case Refused(detail=detail, remedy=str(remedy)):
            return [detail, f"  remedy: {remedy}"]
        case KitErrors():
            return [str(part) for part in error.errors]
    return [str(error)] if isinstance(error, EXPECTED) else None


def _folder_is_gone() -> bool:
    """What Python and the embedded ClickHouse say of it does not name the folder."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _lacking(error: Exception) -> list[str] | None:
    """What the system refuses, with the remedy."""
    if isinstance(error, OSError | StoreError) and _folder_is_gone():
        return ["the folder that this command was started in is deleted", "  remedy: cd to a folder that exists"]
    is_bug = isinstance(error, FileNotFoundError) and not Path(error.filename or "").is_absolute()
    if isinstance(error, OSError) and error.errno in _OF_THE_SYSTEM and not is_bug:
        where = f"{error.filename}: " if error.filename else ""
        return [f"{where}{error.strerror}", f"  remedy: {_OF_THE_SYSTEM[error.errno]}"]
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("kexbench"):
        return [
            f"kexbench was installed without {error.name}, which the service of this machine needs",
            "  remedy: install kexbench[local], or set KEXBENCH_API_URL to the service of another machine",
        ]
    of_python = str(error) if isinstance(error, ImportError | RuntimeError) else ""  # these have no number
    if isinstance(error, MemoryError) or _LITTLE.search(of_python):
        return ["there is not enough memory", f"  remedy: {_MORE_MEMORY}"]
    return None


def _of_setting(fault: ErrorDetails) -> str:
    raised = fault.get("ctx", {}).get("error")
    reason = str(raised) if raised else f"{fault['input']!r}: {fault['msg']}"
    return f"KEXBENCH_{str(fault['loc'][0]).upper()}: {reason}"


def _faults(error: DocumentError | ValidationError) -> list[str]:
    if isinstance(error, ValidationError):
        return [_of_setting(fault) for fault in error.errors()]
    lines = [fault.render(error.file) for fault in error.faults[:SHOWN_FAULTS]]
    if more := len(error.faults) - len(lines):
        lines.append(f"and {more:,} more")
    return lines
