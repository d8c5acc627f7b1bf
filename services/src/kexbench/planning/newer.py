"""What could be tracked beside, or in place of, what the catalogue tracks, by what its sources have now. Pure."""

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
    """An entry that the catalogue could have. `replaces` is the version that its source, a suite, had before; such an
    entry takes the place of the one there is. Else it stands beside those of its series, the newest of which is
    `behind`, if there is any."""

    library: Library
    source: str
    version: str
    behind: str | None = None
    replaces: str | None = None


@dataclass(frozen=True)
class _Place:
    """Where versions come from: a registry, whose sources are `prefix` and a version, or one suite."""

    library: Library
    prefix: str
    moves: bool


def places_to_ask(catalogue: Catalogue) -> tuple[SubjectRef, ...]:
    """One reference for each place that may have newer versions than those that are tracked from it."""
    return tuple(refs[0] for refs in _places(catalogue).values())


def newer(catalogue: Catalogue, having: Mapping[SubjectRef, tuple[str, ...]]) -> tuple[Newer, ...]:
    """The newest version of each minor series that is newer than all that is tracked of the series, by the versions
    that each place has. Of a series of which nothing is tracked it is told when it is newer than the oldest tracked
    version. Pre-releases count where one of their series is tracked."""
    versions = {_ref(library, entry.source): entry.version for library, entry in tracked(catalogue)}
    found: list[Newer] = []
    for place, refs in _places(catalogue).items():
        offered = [version for version in having.get(refs[0], ()) if _is_version(version)]
        known = [version for ref in refs if (version := versions[ref])]
        if place.moves:
            moved = [version for version in offered if _moved(known[0], version)]
            found += [Newer(place.library, place.prefix, version, replaces=known[0]) for version in moved]
        else:
            found += [
                Newer(place.library, place.prefix + version, version, behind)
                for version, behind in _ahead(known, offered)
            ]
    return tuple(found)


def _places(catalogue: Catalogue) -> dict[_Place, list[SubjectRef]]:
    """Subjects by place. Variants are not looked at: they stand beside the version that they are variants of."""
    found: dict[_Place, list[SubjectRef]] = defaultdict(list)
    for library, entry in tracked(catalogue):
        ref = _ref(library, entry.source)
        if ref.variant != Variant() or entry.version is None:
            continue
        told = ref.told_version
        place = _Place(library, ref.source if told is None else ref.source.removesuffix(told), told is None)
        found[place].append(ref)
    return found


def _ref(library: Library, source: str) -> SubjectRef:
    return SubjectRef(library=library, source=source)


def _moved(before: str, now: str) -> bool:
    return not covers(before, now) and version_key(now) > version_key(before)


def _ahead(known: list[str], offered: Iterable[str]) -> Iterable[tuple[str, str | None]]:
    """The newest version of each series that is ahead of the tracked ones, and the newest of those."""
    oldest = min(known, key=version_key)
    newest: dict[str, str] = {}
    for version in sorted(known, key=version_key):
        newest[series_of(version)] = version
    tested = {series_of(version) for version in known if is_pre_release(version)}
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
