"""Resolves selectors of a spec (`tracked`, a source, a version) against the catalogue."""

import re
from collections.abc import Iterable

from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import MADE_UP, Library
from kexbench.domain.plans import PlannedSubject
from kexbench.domain.versions import covers
from kexbench.planning.spec import TRACKED, Catalogue, CatalogueEntry

_SOURCE = re.compile(r"(?:system|bundled)(?:\+.*)?|(?:debian|deb-source|crate|toolchain)/.+", re.DOTALL)
"""Selectors that are sources, so that they need no catalogue entry."""
_FROM_ANYWHERE = ("tarball:", "git:", "prefix:", "deb:")


class UnknownSelector(ValueError):
    """A selector that names no subject. The text lists what exists."""


def resolve(library: Library, selector: str, catalogue: Catalogue) -> list[PlannedSubject]:
    """The subjects of a selector, in the catalogue's order, oldest first. Raises UnknownSelector."""
    entries = catalogue.libraries.get(library, [])
    if selector == TRACKED:
        if not entries:
            raise UnknownSelector(f"the catalogue tracks no version of {library}")
        return [_subject(library, entry) for entry in entries]
    matching = [
        entry for entry in entries if selector == entry.source or (entry.version and covers(selector, entry.version))
    ]
    if matching:
        return [_subject(library, entry) for entry in matching]
    if library in MADE_UP or _SOURCE.fullmatch(selector):
        try:
            SubjectRef.parse(f"{library}@{selector}")
        except ValueError as error:
            if library in MADE_UP:
                raise UnknownSelector(f"'{selector}' is not a source; sources look like 1.0 or 1.1+step=1.02") from None
            raise UnknownSelector(str(error)) from None
        return [PlannedSubject(library=library, source=selector, declared_version=None)]
    if selector.startswith(_FROM_ANYWHERE):
        raise UnknownSelector(
            f"'{selector}' is not in the catalogue; building runs code from such sources, "
            "so a spec can use only those in the catalogue"
        )
    choices = ", ".join(entry.version or entry.source for entry in entries) or "none"
    raise UnknownSelector(
        f"unknown version '{selector}' of {library}; the catalogue has {choices}; "
        "or name a source, such as system, debian/trixie, deb-source/trixie or, for openssl, crate/3.5.5"
    )


def with_sources(catalogue: Catalogue, references: Iterable[SubjectRef]) -> Catalogue:
    """The catalogue plus sources that a person named by hand, who may name any."""
    libraries = {library: list(entries) for library, entries in catalogue.libraries.items()}
    for ref in references:
        entries = libraries.setdefault(ref.library, [])
        if ref.source.startswith(_FROM_ANYWHERE) and ref.source not in [entry.source for entry in entries]:
            entries.append(CatalogueEntry(source=ref.source))
    return catalogue.model_copy(update={"libraries": libraries})


def _subject(library: Library, entry: CatalogueEntry) -> PlannedSubject:
    return PlannedSubject(library=library, source=entry.source, declared_version=entry.version)
