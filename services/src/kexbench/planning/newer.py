"""Versions that the catalogue could add or replace, by what its sources offer now. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import Library
from kexbench.domain.variants import Variant
from kexbench.domain.versions import covers, is_pre_release, series_of, version_key
from kexbench.planning.catalogue import tracked
from kexbench.planning.spec import Catalogue


@dataclass(frozen=True)
class Newer:
    """An entry that the catalogue could have. `replaces` is the version that its source, a suite, had before: the entry
    replaces the old one. Otherwise it is added to its series, whose newest version is `behind`, if there is one."""

    library: Library
    source: str
    version: str
    behind: str | None = None
    replaces: str | None = None


@dataclass(frozen=True)
class _Place:
    """Where versions come from: a registry, whose sources are `prefix` plus a version, or one suite."""

    library: Library
    prefix: str
    moves: bool


def places_to_ask(catalogue: Catalogue) -> tuple[SubjectRef, ...]:
    """One reference for each place that may offer newer versions than the tracked ones."""
    return tuple(refs[0] for refs in _places(catalogue).values())


def newer(catalogue: Catalogue, having: Mapping[SubjectRef, tuple[str, ...]]) -> tuple[Newer, ...]:
    """The newest version of each minor series, where it is newer than all tracked versions of the series. `having` are
    the versions that each place offers. A series without tracked versions counts where it is newer than the oldest
    tracked version. Pre-releases count where one of their series is tracked."""
    versions = {_ref(library, entry.source): entry.version for library, entry in tracked(catalogue)}
    additions: list[Newer] = []
    for place, refs in _places(catalogue).items():
        offered = [version for version in having.get(refs[0], ()) if _is_version(version)]
        present = [version for ref in refs if (version := versions[ref])]
        if place.moves:
            moved = [version for version in offered if _moved(present[0], version)]
            additions += [Newer(place.library, place.prefix, version, replaces=present[0]) for version in moved]
        else:
            additions += [
                Newer(place.library, place.prefix + version, version, behind)
                for version, behind in _ahead(present, offered)
            ]
    return tuple(additions)


def _places(catalogue: Catalogue) -> dict[_Place, list[SubjectRef]]:
    """Subjects by place. Variants are skipped: the catalogue lists them next to their version."""
    places: dict[_Place, list[SubjectRef]] = defaultdict(list)
    for library, entry in tracked(catalogue):
        ref = _ref(library, entry.source)
        if ref.variant != Variant() or entry.version is None:
            continue
        version = ref.told_version
        place = _Place(library, ref.source if version is None else ref.source.removesuffix(version), version is None)
        places[place].append(ref)
    return places


def _ref(library: Library, source: str) -> SubjectRef:
    return SubjectRef(library=library, source=source)


def _moved(before: str, now: str) -> bool:
    return not covers(before, now) and version_key(now) > version_key(before)


def _ahead(present: list[str], offered: Iterable[str]) -> Iterable[tuple[str, str | None]]:
    """The newest version of each series that is newer than the tracked ones, and the newest tracked one."""
    oldest = min(present, key=version_key)
    newest: dict[str, str] = {}
    for version in sorted(present, key=version_key):
        newest[series_of(version)] = version
    tested = {series_of(version) for version in present if is_pre_release(version)}
    best: dict[str, str] = {}
    for version in sorted(offered, key=version_key):
        series = series_of(version)
        if is_pre_release(version) and series not in tested:
            continue
        if version_key(version) > version_key(newest.get(series, oldest)):
            best[series] = version
    return [(version, newest.get(series)) for series, version in best.items()]


def _is_version(text: str) -> bool:
    try:
        version_key(text)
    except ValueError:
        return False
    return True
