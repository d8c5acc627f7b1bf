"""Attempts to make kits on a shelf: who may make any, where each has its scratch files, and several side by side."""

import os
import platform
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import SubjectRef
from kexbench.kits.errors import KitError, StepFailed
from kexbench.kits.locks import locked
from kexbench.kits.process import Attempt, Children, Progress
from kexbench.kits.target import target_for

Made = TypeVar("Made")
_LONGEST_NAME = 200


def builds_at_once() -> int:
    """How many libraries are built side by side unless somebody says so: two, since configuring keeps one CPU alone
    busy; on larger machines one for every four CPUs."""
    cpus = len(os.sched_getaffinity(0))
    return min(cpus, max(2, cpus // 4))


def file_name(ref: SubjectRef, machine: str) -> str:
    """Readable, one for each reference and architecture, and no longer than file systems take."""
    name = quote(str(ref), safe="@+=")
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}-{content_hash(str(ref))}"
    return name if machine == platform.machine() else f"{name},{machine}"


@contextmanager
def making(root: Path, ref: SubjectRef, progress: Progress) -> Iterator[None]:
    """The right to make kits on the shelf `root`, which one process has at a time. Raises KitError, about `ref`."""
    try:
        for folder in ("refs", "logs", ".scratch"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        with locked(root / ".lock", progress):
            for leftover in (root / ".scratch").iterdir():  # nobody's: its owner would still hold the lock
                shutil.rmtree(leftover, ignore_errors=True)
            yield
    except OSError as error:
        raise _store_failed(root, ref, error) from error


@contextmanager
def attempt(
    root: Path, ref: SubjectRef, machine: str, progress: Progress, children: Children, at_once: int = 1
) -> Iterator[Attempt]:
    """An attempt with a scratch folder of its own, which is gone afterwards. A failure leaves its log and is raised as
    KitError."""
    try:
        target = target_for(machine)
    except StepFailed as error:
        raise KitError(ref, error.stage, error.reason, error.remedy) from error
    log_path = root / "logs" / f"{file_name(ref, machine)}.log"
    scratch = root / ".scratch" / f"{os.getpid()}-{secrets.token_hex(4)}"
    try:
        scratch.mkdir()
        one = Attempt(scratch, scratch / "log", progress, target, children, at_once)
        try:
            yield one
        except BaseException as error:
            one.write(f"# failed: {error}\n")
            (scratch / "log").replace(log_path)
            raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except StepFailed as error:
        raise KitError(ref, error.stage, error.reason, error.remedy, log_path) from error
    except OSError as error:
        raise _store_failed(root, ref, error, log_path) from error


def side_by_side(calls: Sequence[Callable[[], Made]], at_once: int, children: Children) -> tuple[Made, ...]:
    """What each call returns, in their order; so many run at a time. When one raises, or Ctrl-C is pressed, the tools
    of all others are ended and none is left running."""
    pool = ThreadPoolExecutor(at_once)
    try:
        return tuple(future.result() for future in [pool.submit(call) for call in calls])
    except BaseException:
        children.end()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _store_failed(root: Path, ref: SubjectRef, error: OSError, log_path: Path | None = None) -> KitError:
    known = log_path if log_path and log_path.is_file() else None
    return KitError(ref, "store", str(error), f"check the folder {root}", known)
