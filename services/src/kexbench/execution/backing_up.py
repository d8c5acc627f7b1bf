"""Writes a backup: one tar archive, as pieces for a stream, whose last member is its manifest (docs/adr/0047).

tables/TABLE/NUMBER.parquet  the rows of the store
home/NAME.yaml               what people configured
runs/RUN/…                   runs whose results are not in the store yet
manifest.json                what all these are; without it a backup is not whole
"""

import hashlib
import os
import tarfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import pyarrow as pa
from pyarrow import parquet

from kexbench import __version__
from kexbench.domain.backups import FORMAT, MANIFEST, BackupFile, BackupManifest, BackupTable
from kexbench.execution.folder import RunFolder
from kexbench.files import read_document
from kexbench.store.port import BackupStore

PIECE_BYTES = 32 << 20
"""Of rows in one file, before compression. Each is inserted at once when it is restored."""
_READ_BYTES = 1 << 20
ENDS = "the folders of runs that are in the store, kits, keys, downloads and logs"
SECRETS = "the secret that signs this machine's tokens, and files that settings name: passwords, tokens, certificates"
_WITHHELD = "…"


@dataclass(frozen=True)
class Document:
    """A file that a person wrote, under its usual name in a home. `secrets` are texts in it that must not be copied,
    None if they are not known."""

    name: str
    path: Path
    secrets: Collection[str] | None = ()


@dataclass
class _Archive:
    """What was written so far."""

    files: list[BackupFile] = field(default_factory=list)
    tables: list[BackupTable] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def member(self, name: str, content: bytes) -> Iterator[bytes]:
        return self._copied(name, len(content), [content])

    def file(self, name: str, path: Path) -> Iterator[bytes]:
        """Its whole lines of now: another process may append to it, and removes half a line first."""
        with path.open("rb") as source:
            size_bytes = _end_of_lines(source) if path.suffix == ".ndjson" else source.seek(0, os.SEEK_END)
            source.seek(0)
            pieces = iter(lambda: source.read(min(_READ_BYTES, size_bytes - source.tell())), b"")
            yield from self._copied(name, size_bytes, pieces)

    def _copied(self, name: str, size_bytes: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
        yield _header(name, size_bytes)
        digest = hashlib.sha256()
        for piece in pieces:
            digest.update(piece)
            yield piece
        yield bytes(-size_bytes % tarfile.BLOCKSIZE)
        self.files.append(BackupFile(name=name, size_bytes=size_bytes, sha256=digest.hexdigest()))

    def table(self, store: BackupStore, table: str) -> Iterator[bytes]:
        rows, names = 0, []
        with store.table_rows(table) as reader:
            for number, part in enumerate(_parts(reader), start=1):
                sink = pa.BufferOutputStream()
                parquet.write_table(part, sink, compression="zstd")
                names.append(f"tables/{table}/{number}.parquet")
                yield from self.member(names[-1], sink.getvalue().to_pybytes())
                rows += len(part)
        self.tables.append(BackupTable(table=table, rows=rows, files=tuple(names)))


def backup(
    store: BackupStore, documents: Iterable[Document], run_folders: Callable[[], Iterable[RunFolder]], scratch: Path
) -> Iterator[bytes]:
    """The bytes of the archive. Nobody can write while all tables but the largest are copied to a file without a name
    in `scratch`: that is the moment of the backup. Raises StoreError and OSError."""
    archive = _Archive(left_out=[ENDS, SECRETS])
    yield from _documents(archive, documents)
    with TemporaryFile(dir=scratch) as copy:
        *small, last = store.tables_to_back_up()
        with store.still():
            at = datetime.now(UTC)
            migrations = store.applied_migrations()
            waiting = [folder for folder in run_folders() if not folder.is_delivered()]
            for table in small:
                copy.writelines(archive.table(store, table))
        copy.seek(0)
        yield from iter(lambda: copy.read(_READ_BYTES), b"")
    yield from archive.table(store, last)
    for folder in waiting:
        for path in folder.content():
            yield from archive.file(f"runs/{folder.path.name}/{path.relative_to(folder.path)}", path)
    manifest = BackupManifest(
        format=FORMAT,
        kexbench=__version__,
        engine=store.engine(),
        at=at,
        migrations=migrations,
        tables=tuple(archive.tables),
        files=tuple(archive.files),
        left_out=tuple(archive.left_out),
    )
    content = manifest.model_dump_json(indent=1).encode()
    yield _header(MANIFEST, len(content)) + content + bytes(-len(content) % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _documents(archive: _Archive, documents: Iterable[Document]) -> Iterator[bytes]:
    """What has secrets is copied without them, under a name that kexbench does not read."""
    for document in documents:
        text, name = read_document(document.path), document.name
        if document.secrets is None or not all(secret in text for secret in document.secrets):
            archive.left_out.append(f"{name}, since its secrets cannot be told from the rest")
            continue
        if document.secrets:
            for secret in document.secrets:
                text = text.replace(secret, _WITHHELD)
            incomplete = name.replace(".yaml", ".incomplete.yaml")
            archive.left_out.append(f"the secrets in {name}: complete {incomplete} and rename it")
            name = incomplete
        yield from archive.member(f"home/{name}", text.encode())


def _parts(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """At least one, so that every table is in the archive with its columns."""
    waiting: list[pa.RecordBatch] = []
    is_first = True
    for batch in reader:
        waiting.append(batch)
        if sum(each.nbytes for each in waiting) >= PIECE_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, is_first = [], False
    if waiting or is_first:
        yield pa.Table.from_batches(waiting, reader.schema)


def _end_of_lines(file: BinaryIO) -> int:
    end = file.seek(0, os.SEEK_END)
    while end:
        start = file.seek(max(0, end - _READ_BYTES))
        if (newline := file.read(end - start).rfind(b"\n")) >= 0:
            return start + newline + 1
        end = start
    return 0


def _header(name: str, size_bytes: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size_bytes, 0o600, int(time.time())
    return member.tobuf(tarfile.PAX_FORMAT)
