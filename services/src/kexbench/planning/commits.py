"""What a commit has measured: the specs that it changed, and those that track a version which it brought. Pure."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter

from kexbench.domain.commits import PATH_MAX, Reason, SpecFault
from kexbench.domain.plans import PlannedSubject
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError
from kexbench.planning.follow import follows_only
from kexbench.planning.plan import subjects_of
from kexbench.planning.spec import Catalogue

SKIP = "[skip bench]"
"""In a commit's message: nothing of it is measured."""


@dataclass(frozen=True)
class Files:
    """What counts of a commit: texts by path, None for what isn't UTF-8; the catalogue apart from the specs."""

    specs: Mapping[str, str | None]
    catalogue: str | None


@dataclass(frozen=True)
class Wanted:
    """A spec that is to be measured. `subjects` are references, or empty for all of the spec."""

    path: str
    text: str
    reason: Reason
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Faulty:
    """A file that says nothing; others are not held up by it."""

    path: str
    faults: tuple[SpecFault, ...]


def wanted(now: Files, before: Files, catalogue_path: str) -> tuple[Wanted | Faulty, ...]:
    """By path. Whether a spec itself is at fault is told when it is planned; of a new version, a spec measures
    that one and the version before it, since of the others there is history. A spec that follows a branch is measured
    when that has new commits."""
    changed = {path for path, text in now.specs.items() if path not in before.specs or before.specs[path] != text}
    found = [_changed(path, text) for path in changed if not _begins_to_follow(path, text := now.specs[path])]
    if now.catalogue is not None and now.catalogue != before.catalogue:
        try:
            catalogue = read_catalogue(now.catalogue, catalogue_path)
        except DocumentError as error:
            return (Faulty(catalogue_path, faults_of(error)), *sorted(found, key=attrgetter("path")))
        known = _read(before.catalogue, catalogue_path)
        others = {path: text for path, text in now.specs.items() if path not in changed and text is not None}
        found += _upgrades(others, catalogue, known)
    return tuple(sorted(found, key=attrgetter("path")))


def at_most(found: tuple[Wanted | Faulty, ...], most: int) -> tuple[Wanted | Faulty, ...]:
    """So many of them; that there are more is told as a fault of the next."""
    if len(found) <= most:
        return found
    path = found[most].path
    told = f"neither this nor what follows is planned: of {len(found):,} changed specs the first {most:,} are"
    return (*found[:most], _faulty(path, told))


def _begins_to_follow(path: str, text: str | None) -> bool:
    """Whether a spec has nothing measured by itself: what it follows is looked at from then on."""
    return text is not None and follows_only(text, path)


def _faulty(path: str, text: str) -> Faulty:
    return Faulty(path, (SpecFault(file=path, line=1, column=1, text=text),))


def _changed(path: str, text: str | None) -> Wanted | Faulty:
    if len(path) > PATH_MAX:
        short = f"{path[: PATH_MAX - 1]}…"
        return _faulty(short, f"its path is longer than {PATH_MAX} characters")
    if text is None:
        return _faulty(path, "it is not UTF-8 text")
    return Wanted(path, text, Reason.SPEC)


def faults_of(error: DocumentError) -> tuple[SpecFault, ...]:
    return tuple(
        SpecFault(file=error.file, line=fault.line, column=fault.column, text=fault.text) for fault in error.faults
    )


def _upgrades(specs: Mapping[str, str], catalogue: Catalogue, known: Catalogue) -> Iterator[Wanted]:
    for path, text in specs.items():
        try:
            after = subjects_of(text, path, catalogue)
        except DocumentError:  # was told when it was committed
            continue
        before = _subjects(text, path, known)
        new = [subject for subject in after if subject.reference not in before]
        if new:
            yield Wanted(path, text, Reason.LIBRARY, _with_previous(after, new))


def _subjects(text: str, path: str, catalogue: Catalogue) -> set[str]:
    """References; none where the catalogue had nothing that the spec names."""
    try:
        return {subject.reference for subject in subjects_of(text, path, catalogue)}
    except DocumentError:
        return set()


def _with_previous(all_of_them: tuple[PlannedSubject, ...], new: list[PlannedSubject]) -> tuple[str, ...]:
    """The new subjects and the one before each, in the spec's order, which is from old to new."""
    kept = set()
    for subject in new:
        own = [other.reference for other in all_of_them if other.library == subject.library]
        place = own.index(subject.reference)
        kept |= set(own[max(0, place - 1) : place + 1])
    return tuple(subject.reference for subject in all_of_them if subject.reference in kept)


def _read(text: str | None, path: str) -> Catalogue:
    """What an earlier commit had; an empty one where there was none, or one with faults."""
    with suppress(DocumentError):
        if text is not None:
            return read_catalogue(text, path)
    return Catalogue.model_validate({"apiVersion": "kexbench.dev/v1", "kind": "Catalogue", "libraries": {}})
