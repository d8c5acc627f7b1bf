"""Reads a backup (execution/backing_up.py), checks it, and restores it. Nothing that exists is overwritten."""

import hashlib
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
from pyarrow import parquet
from pydantic import ValidationError

from kexbench.domain.backups import FORMAT, MANIFEST, BackupFile, BackupManifest
from kexbench.files import write_whole
from kexbench.runner.results import DamagedFile
from kexbench.store.migrate import load_migrations
from kexbench.store.port import BackupStore, StoreError

_READ_BYTES = 1 << 20
_MOST_MANIFEST_BYTES = 256 << 20
_REMEDY = "use another backup; nothing was changed"


class Backup:
    """An open, checked backup."""

    def __init__(self, path: Path, archive: tarfile.TarFile, manifest: bytes) -> None:
        self._path = path
        self._archive = archive
        self.id = hashlib.sha256(manifest).hexdigest()
        """The manifest has the sums of all other files, so this is that of everything."""
        self.manifest = _parsed(path, manifest)

    def content(self, name: str) -> bytes:
        return self._opened(name).read()

    def home_files(self) -> dict[str, str]:
        """Where each belongs in a home, by its name in the archive."""
        names = [file.name for file in self.manifest.files if not file.name.startswith("tables/")]
        return {name: name.removeprefix("home/") for name in names}

    def tables(self) -> Iterator[tuple[str, pa.Table]]:
        """The rows, a file after the other."""
        for table in self.manifest.tables:
            for name in table.files:
                yield table.table, parquet.read_table(pa.BufferReader(self.content(name)))

    def check(self, on_progress: Callable[[int, int], None]) -> None:
        """Raises DamagedFile unless every file of the manifest is there once, whole, and nothing else is."""
        names = [member.name for member in self._archive.getmembers()]
        if sorted(names) != sorted([*(file.name for file in self.manifest.files), MANIFEST]):
            raise DamagedFile(self._path, "its files are not those of its manifest", _REMEDY)
        done, total = 0, sum(file.size_bytes for file in self.manifest.files)
        for file in self.manifest.files:
            if self._sum_of(file) != file.sha256:
                raise DamagedFile(self._path, f"{file.name} is damaged: its SHA-256 is another", _REMEDY)
            done += file.size_bytes
            on_progress(done, total)
        listed = [name for table in self.manifest.tables for name in table.files]
        if sorted(listed) != sorted(file.name for file in self.manifest.files if file.name.startswith("tables/")):
            raise DamagedFile(self._path, "its tables are not those of its files", _REMEDY)

    def _sum_of(self, file: BackupFile) -> str:
        digest = hashlib.sha256()
        opened = self._opened(file.name)
        while piece := opened.read(_READ_BYTES):
            digest.update(piece)
        return digest.hexdigest()

    def _opened(self, name: str) -> IO[bytes]:
        opened = self._archive.extractfile(name)
        if opened is None:
            raise DamagedFile(self._path, f"{name} is not a file", _REMEDY)
        return opened


@contextmanager
def opened(path: Path, on_progress: Callable[[int, int], None] = lambda _done, _total: None) -> Iterator[Backup]:
    """A backup whose sums are right; `on_progress` gets the bytes that were checked, of all. Raises DamagedFile."""
    try:
        archive = tarfile.open(path, "r:")  # noqa: SIM115 (closed below)
    except tarfile.TarError as error:
        raise DamagedFile(path, f"is not a backup: {error}", _REMEDY) from None
    with archive:
        try:
            last = archive.getmembers()[-1:]
            manifest = archive.extractfile(last[0]) if last and last[0].name == MANIFEST else None
            if manifest is None or last[0].size > _MOST_MANIFEST_BYTES:
                raise DamagedFile(path, "is not a whole backup: it does not end with its manifest", _REMEDY)
            backup = Backup(path, archive, manifest.read())
            backup.check(on_progress)
        except (tarfile.TarError, OSError, EOFError) as error:
            raise DamagedFile(path, f"is not a whole backup: {error}", _REMEDY) from None
        yield backup


def restore_backup(
    store: BackupStore, home: Path, backup: Backup, on_progress: Callable[[int, int], None] = lambda _done, _total: None
) -> None:
    """Restore into an empty store and a home that has none of the files, or the same. Repeated after a kill, it goes
    on. `on_progress` gets the rows that are stored, of all. Raises StoreError and DamagedFile, and then nothing was
    changed unless the disk or the store failed."""
    manifest = backup.manifest
    _check_schema(manifest)
    missing = _missing_files(home, backup)
    if store.begin_restore(backup.id, manifest.migrations):
        done, total = 0, sum(table.rows for table in manifest.tables)
        for table, rows in backup.tables():
            store.put_back(table, rows)
            done += len(rows)
            on_progress(done, total)
    for name, place in missing.items():
        write_whole(home / place, backup.content(name))
    store.end_restore(backup.id)


def _check_schema(manifest: BackupManifest) -> None:
    newest, newest_known = max(manifest.migrations), len(load_migrations())
    if newest > newest_known:
        raise StoreError(
            f"the backup has migration {newest} of kexbench {manifest.kexbench}, this release knows {newest_known}",
            f"restore it with kexbench {manifest.kexbench} or a newer release; nothing was changed",
        )


def _missing_files(home: Path, backup: Backup) -> dict[str, str]:
    """What has to be written. Raises StoreError if one is there with another content."""
    missing = {}
    for name, place in backup.home_files().items():
        path = home / place
        if not path.exists():
            missing[name] = place
        elif path.read_bytes() != backup.content(name):
            remedy = "move it away, or set KEXBENCH_HOME to a new folder, and restore there"
            raise StoreError(f"{path} exists with another content; nothing was changed", remedy)
    return missing


def _parsed(path: Path, manifest: bytes) -> BackupManifest:
    try:
        return BackupManifest.model_validate_json(manifest)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        detail = f"its manifest is not of format {FORMAT}: {where}: {fault['msg']}"
        raise DamagedFile(path, detail, "restore it with the release that made it; nothing was changed") from None
