"""Attempts to make kits on a shelf: who may make any, where each has its scratch files, and several side by side."""

import os
import platform
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar
from urllib.parse import quote

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import SubjectRef
from kexbench.kits.errors import KitError, StepFailed, lack_of
from kexbench.kits.locks import locked
from kexbench.kits.process import Attempt, Children, Progress
from kexbench.kits.target import target_for

Made = TypeVar("Made")
SCRATCH = ".scratch"
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
def as_kit_error(ref: SubjectRef, root: Path, log_path: Path | None = None) -> Iterator[None]:
    """What fails meanwhile, a step or the disk with the shelf `root`, is raised as KitError."""
    try:
        yield
    except StepFailed as error:
        raise KitError.of(ref, error, log_path) from error
    except OSError as error:
        known = log_path if log_path and log_path.is_file() else None
        raise KitError(ref, "store", str(error), f"check the folder {root}", known, lack=lack_of(error)) from error


class Making:
    """The right to make kits on the shelf `root`, which one process has at a time. It is taken when the first kit has
    to be made: a process that finds all its kits on the shelf does not wait for another one that builds."""

    def __init__(self, root: Path, progress: Progress) -> None:
        self._root = root
        self._progress = progress
        self._held = ExitStack()
        self._taking = Lock()
        self._taken = False

    def take(self, while_waiting: Callable[[], None]) -> None:
        """By any thread of this process; the others then have it too. `while_waiting` ends the waiting by raising."""
        with self._taking:
            if not self._taken:
                self._held.enter_context(locked(self._root / ".lock", self._progress, while_waiting))
                self._taken = True

    def give_back(self) -> None:
        self._held.close()


@contextmanager
def making(root: Path, ref: SubjectRef, progress: Progress) -> Iterator[Making]:
    """The right to make kits, to be taken when there is something to make. Raises KitError, about `ref`."""
    with as_kit_error(ref, root):
        for folder in ("refs", "logs", SCRATCH):
            (root / folder).mkdir(parents=True, exist_ok=True)
        _clear_leftovers(root / SCRATCH)
        right = Making(root, progress)
        try:
            yield right
        finally:
            right.give_back()


@contextmanager
def _scratch_folder(folder: Path) -> Iterator[Path]:
    """A new folder below `folder`, gone afterwards. Its lock, which lies beside it, ends with this process."""
    scratch = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
    lock = scratch.with_suffix(".lock")
    with ExitStack() as held:
        with _registering(folder):
            held.enter_context(locked(lock, lambda _: None))
        try:
            scratch.mkdir()
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            lock.unlink()


def _clear_leftovers(folder: Path) -> None:
    """What processes that were killed have left: scratch folders whose lock nobody holds."""
    with _registering(folder):
        for scratch in folder.iterdir():
            if scratch.is_dir() and not scratch.with_suffix(".lock").exists():  # earlier releases made no such locks
                shutil.rmtree(scratch, ignore_errors=True)
        for lock in folder.glob("*.lock"):
            with suppress(FileNotFoundError, _InUseError), locked(lock, lambda _: None, _in_use):
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink()


def _registering(folder: Path) -> AbstractContextManager[int]:
    """Held while a lock is made and while leftovers are cleared: between its making and its taking a new lock looks
    like that of a process that was killed."""
    return locked(folder.with_suffix(".lock"), lambda _: None)


class _InUseError(Exception):
    """Somebody works in a scratch folder."""


def _in_use() -> None:
    raise _InUseError


@contextmanager
def attempt(
    root: Path, ref: SubjectRef, machine: str, progress: Progress, children: Children, at_once: int = 1
) -> Iterator[Attempt]:
    """An attempt with a scratch folder of its own, which is gone afterwards. A failure leaves its log and is raised as
    KitError."""
    with as_kit_error(ref, root):
        target = target_for(machine)
    log_path = root / "logs" / f"{file_name(ref, machine)}.log"
    with as_kit_error(ref, root, log_path), _scratch_folder(root / SCRATCH) as scratch:
        one = Attempt(scratch, scratch / "log", progress, target, children, at_once)
        try:
            yield one
        except BaseException as error:
            one.write(f"# failed: {error}\n")
            (scratch / "log").replace(log_path)
            raise


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
