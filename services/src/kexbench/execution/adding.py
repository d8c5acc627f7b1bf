"""Copies the folders of runs that were measured elsewhere into this home: each whole, once, and never over another."""

import fcntl
import hashlib
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kexbench.domain.fitting import emulated, incoherent, misfit
from kexbench.domain.runs import Run
from kexbench.execution.folder import RunFolder, run_folders
from kexbench.files import make_folder, sync
from kexbench.locks import locked

_OF_THIS_HOME = ("lock", "delivered")


class NotAdded(Exception):
    """A run cannot be added. The text is the cause, `remedy` what the user can do."""

    def __init__(self, text: str, remedy: str) -> None:
        super().__init__(text)
        self.remedy = remedy


@contextmanager
def adding(home: Path, on_wait: Callable[[str], None]) -> Iterator[Path]:
    """An empty scratch folder on the disk of the home, without what a killed process left. One process adds at a
    time."""
    scratch = home / ".adding"
    with locked(home / "adding.lock", on_wait, does="adds runs"):
        shutil.rmtree(scratch, ignore_errors=True)
        make_folder(scratch)
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def sources_in(path: Path, scratch: Path) -> list[RunFolder]:
    """The folders of runs at a path: that folder, those below it, or those in an archive, which is unpacked. Raises
    NotAdded."""
    root = path if path.is_dir() else _unpacked(path, scratch / f"archive-{len(list(scratch.iterdir()))}")
    if (root / "run.json").exists():
        return [RunFolder(root.resolve())]
    folders = [folder for parent in (root, *root.glob("*"), *root.glob("*/*")) for folder in run_folders(parent)]
    if not folders:
        raise NotAdded(f"{path} has no folder of a run", "name a folder with a run.json, or one that holds some")
    return folders


def _unpacked(path: Path, folder: Path) -> Path:
    make_folder(folder)
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if not (member.isreg() or member.isdir()):
                    raise NotAdded(f"{path}: {member.name} is neither a file nor a folder", "make it without links")
            archive.extractall(folder, filter="data")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise NotAdded(f"{path}: {error}", "make it again: tar -czf runs.tar.gz -C KEXBENCH_HOME runs") from None
    return folder


def checked(source: RunFolder) -> Run:
    """The run, if all of it can be stored. Raises NotAdded, and DamagedFile."""
    run, events = source.run(), source.events()
    if run.host is None:
        raise NotAdded(f"run {run.run_id} was not measured on a machine by itself", "copy the store: kexbench backup")
    if not events or events[-1].state.is_open:
        remedy = f"end it where it is measured: kexbench run --resume {run.run_id}, or kexbench serve"
        raise NotAdded(f"run {run.run_id} has not ended", remedy)
    for invocation in source.invocations(run):
        if fault := misfit(run, invocation) or emulated(run, invocation, run.host):
            raise NotAdded(f"{source.path}: {fault}", "copy its folder again from where it was measured")
    if fault := incoherent(run):
        raise NotAdded(f"{source.path}: {fault}", "copy its folder again from where it was measured")
    return run


def copied(source: RunFolder, target: RunFolder, scratch: Path) -> bool:
    """Whether the run was copied now. It was not if it is there with the same content. Raises NotAdded if it is there
    with another, and while it is measured."""
    with _at_rest(source):
        if target.path.exists():
            if _sums(source) == _sums(target):
                return False
            remedy = f"keep one of them: {source.path} and {target.path} differ"
            raise NotAdded(f"run {target.path.name} is here with other content; nothing was overwritten", remedy)
        for path in source.path.rglob("*"):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise NotAdded(f"{path} is neither a file nor a folder", "copy its folder without links")
        partial = scratch / target.path.name
        shutil.copytree(source.path, partial, ignore=lambda _, names: set(names) & set(_OF_THIS_HOME))
        for path in [*partial.rglob("*"), partial]:
            sync(path)
        make_folder(target.path.parent)
        partial.rename(target.path)
        sync(target.path.parent)
    return True


def _sums(folder: RunFolder) -> dict[str, str]:
    """Of the files that hold what it is and measured."""
    return {
        str(path.relative_to(folder.path)): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.content()
    }


@contextmanager
def _at_rest(source: RunFolder) -> Iterator[None]:
    """Nobody measures or delivers it meanwhile. Writes nothing there: it may be on a disk that is read-only."""
    try:
        lock = (source.path / "lock").open("rb")
    except FileNotFoundError:
        yield
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotAdded(f"run {source.path.name} is being measured", "add it when it has ended") from None
        yield
