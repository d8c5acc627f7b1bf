"""Reads the catalogue, with every fault at its place, and lists what it tracks."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import LIBRARIES, Library
from kexbench.domain.versions import covers, version_key
from kexbench.planning.documents import Document, DocumentError, Fault, parse_document, validate
from kexbench.planning.spec import Catalogue, CatalogueEntry


@lru_cache(maxsize=4)
def read_catalogue(text: str, file: str) -> Catalogue:
    """Cached, since a commit with many specs is planned with one catalogue. Raises DocumentError with every fault."""
    document = parse_document(text, file)
    catalogue, faults = validate(document, Catalogue)
    faults += _inconsistent(document)
    if catalogue is None or faults:
        raise DocumentError(file, faults)
    return catalogue


def tracked(catalogue: Catalogue) -> Iterator[tuple[Library, CatalogueEntry]]:
    """Every entry with its library, in the order of the file."""
    for library, entries in catalogue.libraries.items():
        for entry in entries:
            yield library, entry


def released_between(catalogue: Catalogue, library: str, before: str, after: str) -> list[tuple[str, CatalogueEntry]]:
    """Entries and their versions, after the version key `before` and up to the key `after`."""
    return [
        (entry.version, entry)
        for name, entry in tracked(catalogue)
        if name == library and entry.version and before < version_key(entry.version) <= after
    ]


def _inconsistent(document: Document) -> list[Fault]:
    """Faults that no single field shows, checked even where other parts of the catalogue have faults."""
    faults = []
    libraries = document.value.get("libraries")
    for library, entries in libraries.items() if isinstance(libraries, dict) else ():
        if library not in LIBRARIES or not isinstance(entries, list):
            continue
        sources: set[str] = set()
        newest: str | None = None
        for index, entry in enumerate(entries):
            source, version = _written(entry, "source"), _written(entry, "version")
            place = ("libraries", library, index)
            if source is not None:
                if source in sources:
                    faults.append(document.fault((*place, "source"), f"'{source}' is given twice"))
                sources.add(source)
                faults += _wrong_source(document, place, f"{library}@{source}", version)
            if version is None:
                continue
            if message := _out_of_order(version, newest):
                faults.append(document.fault((*place, "version"), message))
            elif newest is None or not covers(version, newest):
                newest = version
    return faults


def _written(entry: Any, field: str) -> str | None:
    value = entry.get(field) if isinstance(entry, dict) else None
    return value if isinstance(value, str) else None


def _wrong_source(
    document: Document, place: tuple[str | int, ...], reference: str, version: str | None
) -> Iterator[Fault]:
    """A fault where the source is invalid, or names another version than the entry."""
    try:
        source_version = SubjectRef.parse(reference).told_version
    except ValueError as error:
        yield document.fault((*place, "source"), str(error))
        return
    if source_version is not None and version is not None and not covers(version, source_version):
        yield document.fault((*place, "version"), f"'{version}' is not the source's version {source_version}")


def _out_of_order(version: str, newest: str | None) -> str | None:
    """The fault of a version that is older than the newest so far, or None. A series and one of its versions may come
    in either order, since the series may mean any of them."""
    try:
        key = version_key(version)
    except ValueError as error:
        return str(error)
    if newest is None or covers(version, newest) or covers(newest, version) or key > version_key(newest):
        return None
    return f"'{version}' comes after {newest}: list the oldest version first"
