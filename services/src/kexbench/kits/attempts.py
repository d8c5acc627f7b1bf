"""Attempts to make kits: the lock, a scratch folder for each attempt, and parallel attempts."""

import os
import platform
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TypeVar
from urllib.parse import quote

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import SubjectRef
from kexbench.files import move
from kexbench.kits.errors import KitError, StepFailed, lack_of
from kexbench.kits.process import Attempt, Children, Progress
from kexbench.kits.target import target_for
from kexbench.locks import locked

Made = TypeVar("Made")
SCRATCH = ".scratch"
FAILED = "# failed: "
"""Begins the last line of a log, which has the reason."""
_LONGEST_NAME = 200


def builds_at_once() -> int:
    """How many libraries are built in parallel by default: two, since configuring keeps only one CPU busy; on larger
    machines one for every four CPUs."""
    cpus = len(os.sched_getaffinity(0))
    return min(cpus, max(2, cpus // 4))


def file_name(ref: SubjectRef, machine: str) -> str:
    """A readable name, unique for a reference and architecture, and short enough for file systems."""
    name = quote(str(ref), safe="@+=")
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}-{content_hash(str(ref))}"
    return name if machine == platform.machine() else f"{name},{machine}"


@contextmanager
def as_kit_error(ref: SubjectRef, root: Path, log_path: Path | None = None) -> Iterator[None]:
    """Turns a StepFailed, or an OSError of the disk with the kit store `root`, into a KitError."""
    try:
        yield
    except StepFailed as error:
        raise KitError.of(ref, error, log_path) from error
    except OSError as error:
        log = log_path if log_path and log_path.is_file() else None
        raise KitError(ref, "store", str(error), f"check the folder {root}", log, lack=lack_of(error)) from error


class Making:
    """The right to make kits in the kit store `root`, which one process has at a time. A process takes it when it has
    to make its first kit. If the store has all its kits, it doesn't wait for another process that builds."""

    def __init__(self, root: Path, progress: Progress) -> None:
        self._root = root
        self._progress = progress
        self._held = ExitStack()
        self._lock = Lock()
        self._taken = False

    def take(self, while_waiting: Callable[[], None]) -> None:
        """Take the right for all threads of this process. `while_waiting` ends the wait by raising."""
        with self._lock:
            if not self._taken:
                self._held.enter_context(locked(self._root / ".lock", self._progress, while_waiting))
                self._taken = True

    def give_back(self) -> None:
        self._held.close()


@contextmanager
def making(root: Path, ref: SubjectRef, progress: Progress) -> Iterator[Making]:
    """The right to make kits, not taken yet. Raises KitError for `ref`."""
    with as_kit_error(ref, root):
        for folder in ("refs", "logs", SCRATCH):
            (root / folder).mkdir(parents=True, exist_ok=True)
        _clear_leftovers(root / SCRATCH)
        right = Making(root, progress)
        try:
            yield right
        finally:
            right.give_back()


_PLAIN = re.compile(r"[\w./+@~,=-]+")
"""A path that make and the builds of libraries take. With a space in it, for one, they build somewhere else."""


@contextmanager
def _scratch_folder(folder: Path) -> Iterator[Path]:
    """A new temporary folder in `folder`. Its lock file, next to it, is released when this process ends."""
    scratch = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
    lock = scratch.with_suffix(".lock")
    with ExitStack() as held:
        with _registering(folder):
            held.enter_context(locked(lock, lambda _: None))
        if not _PLAIN.fullmatch(str(folder.absolute())):
            held.callback(lock.unlink)
            yield Path(held.enter_context(TemporaryDirectory(prefix="kexbench-")))
            return
        try:
            scratch.mkdir()
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            lock.unlink()


def _clear_leftovers(folder: Path) -> None:
    """Delete what killed processes left: scratch folders whose lock nobody holds."""
    with _registering(folder):
        for scratch in folder.iterdir():
            if scratch.is_dir() and not scratch.with_suffix(".lock").exists():  # earlier releases made no locks
                shutil.rmtree(scratch, ignore_errors=True)
        for lock in folder.glob("*.lock"):
            with suppress(FileNotFoundError, _InUseError), locked(lock, lambda _: None, _in_use):
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink()


def _registering(folder: Path) -> AbstractContextManager[int]:
    """Held while a lock file is created and while leftovers are deleted: until it is taken, a new lock file looks like
    one of a killed process."""
    return locked(folder.with_suffix(".lock"), lambda _: None)


class _InUseError(Exception):
    """A running process uses a scratch folder."""


def _in_use() -> None:
    raise _InUseError


@contextmanager
def attempt(
    root: Path, ref: SubjectRef, machine: str, progress: Progress, children: Children, at_once: int = 1
) -> Iterator[Attempt]:
    """An attempt with a temporary scratch folder. A failure keeps its log and is raised as KitError."""
    with as_kit_error(ref, root):
        target = target_for(machine)
    log_path = root / "logs" / f"{file_name(ref, machine)}.log"
    with as_kit_error(ref, root, log_path), _scratch_folder(root / SCRATCH) as scratch:
        current = Attempt(scratch, scratch / "log", progress, target, children, at_once)
        try:
            yield current
        except BaseException as error:
            current.write(f"{FAILED}{error}\n")
            move(scratch / "log", log_path)
            raise


@contextmanager
def asking(ref: SubjectRef, progress: Progress, children: Children | None = None) -> Iterator[Attempt]:
    """An attempt for a query. It makes no kit and leaves no files. Raises KitError."""
    with TemporaryDirectory(prefix="kexbench-") as folder:
        try:
            yield Attempt(Path(folder), Path(folder) / "log", progress, children=children or Children())
        except StepFailed as error:
            raise KitError.of(ref, error) from error


def side_by_side(calls: Sequence[Callable[[], Made]], at_once: int, children: Children) -> tuple[Made, ...]:
    """The results of the calls, in their order; `at_once` run in parallel. If a call raises, or on Ctrl-C, the tools of
    all calls are killed."""
    pool = ThreadPoolExecutor(at_once)
    try:
        return tuple(future.result() for future in [pool.submit(call) for call in calls])
    except BaseException:
        children.end()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
