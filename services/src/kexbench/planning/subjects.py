"""Selectors of a spec (`tracked`, a source, a version) resolved against the catalogue."""

import re

from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import PlannedSubject
from kexbench.domain.versions import covers
from kexbench.planning.spec import TRACKED, Catalogue, CatalogueEntry, LibraryName

_SOURCE = re.compile(r"system(?:\+.*)?|(?:debian|deb-source|crate)/.+|prefix:.*", re.DOTALL)
"""Selectors that name a source themselves, so that no catalogue entry is needed. Repositories and archives from
anywhere are built by running what is in them, so a spec can name only those that the catalogue has."""


class UnknownSelector(ValueError):
    """A selector that names no subject; the text names what there is."""


def resolve(library: LibraryName, selector: str, catalogue: Catalogue) -> list[PlannedSubject]:
    """The subjects that a selector names, oldest first as the catalogue lists them. Raises UnknownSelector."""
    entries = catalogue.libraries.get(library, [])
    if selector == TRACKED:
        if not entries:
            raise UnknownSelector(f"the catalogue tracks no version of {library}")
        return [_subject(library, entry) for entry in entries]
    found = [
        entry for entry in entries if selector == entry.source or (entry.version and covers(selector, entry.version))
    ]
    if found:
        return [_subject(library, entry) for entry in found]
    if library == "fake" or _SOURCE.fullmatch(selector):
        try:
            SubjectRef.parse(f"{library}@{selector}")
        except ValueError as error:
            if library == "fake":
                raise UnknownSelector(f"'{selector}' is not a source; sources look like 1.0 or 1.1+step=1.02") from None
            raise UnknownSelector(str(error)) from None
        return [PlannedSubject(library=library, source=selector, declared_version=None)]
    known = [TRACKED, *(entry.version or entry.source for entry in entries)]
    raise UnknownSelector(
        f"unknown version '{selector}' of {library}; the catalogue has {', '.join(known)}; "
        "or name a source, such as system or debian/trixie"
    )


def _subject(library: LibraryName, entry: CatalogueEntry) -> PlannedSubject:
    return PlannedSubject(library=library, source=entry.source, declared_version=entry.version)
