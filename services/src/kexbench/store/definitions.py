"""The files in which an embedded store defines its tables. On a full disk the engine replaces them with empty ones and
reports nothing. Then the store does not open again, so they are copied before they change."""

from collections.abc import Iterator
from pathlib import Path

from kexbench.files import make_folder, write_whole
from kexbench.store.port import StoreError

_FORMAT_FILE, _FORMAT = "format_version.txt", b"1"
"""The format of a table's folder, as the engine writes it."""


class Definitions:
    def __init__(self, store: Path, database: str) -> None:
        self._store = store
        self._database = database
        self._copies = store / "definitions"

    def restore(self) -> None:
        """Restore the incomplete definitions. A definition without a copy belongs to a table that was being created.
        Call it before the store is opened."""
        for version in self._store.glob(f"store/*/*/{_FORMAT_FILE}"):
            if version.read_bytes() != _FORMAT:  # the same for every table, and the engine does not start without it
                write_whole(version, _FORMAT)
        if not self._copies.is_dir():
            return  # of a new store, or one of an earlier release
        for file in self._incomplete():
            copy = self._copy_of(file)
            if copy.exists():
                write_whole(file, copy.read_bytes())
            else:
                self._remove(file)

    def copy(self) -> None:
        """Call it before and after they change. Raises OSError, and StoreError if one is incomplete without a copy."""
        for file in self._incomplete():
            if not self._copy_of(file).exists():
                raise StoreError(
                    f"the store in {self._store} does not open: the definition of {file.stem} is incomplete",
                    move_away(self._store),
                )
        make_folder(self._copies)
        for file in self._files():
            copy, content = self._copy_of(file), file.read_bytes()
            if _is_complete(content) and not (copy.exists() and copy.read_bytes() == content):
                write_whole(copy, content)

    def forget_dropped(self) -> None:
        """Call it when all changes are done."""
        for copy in [*self._copies.glob("*.sql"), *self._copies.glob("*/*.sql")]:
            if not (self._store / "metadata" / copy.relative_to(self._copies)).exists():
                copy.unlink()

    def check(self) -> None:
        """Call it after each change. Raises StoreError if one is incomplete."""
        for file in self._incomplete():
            raise StoreError(
                f"the store in {self._store} cannot be changed: the definition of {file.stem} was not written", _REMEDY
            )

    def _files(self) -> Iterator[Path]:
        metadata = self._store / "metadata"
        yield from sorted(metadata.glob("*.sql"))
        yield from sorted((metadata / self._database).glob("*.sql"))

    def _incomplete(self) -> list[Path]:
        return [file for file in self._files() if not _is_complete(file.read_bytes())]

    def _copy_of(self, file: Path) -> Path:
        return self._copies / file.relative_to(self._store / "metadata")

    def _remove(self, file: Path) -> None:
        tables = file.with_suffix("")
        if any(tables.glob("*.sql")):
            return  # a database with tables, which was not being created
        file.unlink()
        if tables.is_symlink():  # the engine creates another
            tables.unlink()


def move_away(store: Path) -> str:
    """The remedy for a store that does not open."""
    return (
        f"move {store} away and restore a backup of it; "
        "without a backup, runs are restored from runs/ next to it, and nothing else is"
    )


_REMEDY = "free some space on its disk, then start again"


def _is_complete(definition: bytes) -> bool:
    return definition.endswith(b"\n")
