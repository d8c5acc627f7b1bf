"""The specs to measure for a commit: those it changed, and those that track a version it added. Pure."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter

from kexbench.domain.commits import PATH_MAX, Reason, SpecFault
from kexbench.domain.plans import PlannedSubject
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError
from kexbench.planning.follow import follows_only
from kexbench.planning.plan import subjects_of
from kexbench.planning.spec import Catalogue

SKIP = "[skip bench]"
"""In a commit's message: measure nothing for this commit."""


class Unusable(Enum):
    """Why the content of a path is no text."""

    NOT_UTF8 = "the file is not UTF-8 text"
    NAME = "the name has control characters or is not UTF-8; rename it"
    NO_FILE = "a symbolic link or a submodule is not read; commit a file or folder in its place"


@dataclass(frozen=True)
class Files:
    """The relevant files of a commit: specs by path, and the catalogue by itself. A folder of specs that can't be read
    stands there like a spec."""

    specs: Mapping[str, str | Unusable]
    catalogue: str | Unusable | None

    @property
    def catalogue_text(self) -> str | None:
        return self.catalogue if isinstance(self.catalogue, str) else None


@dataclass(frozen=True)
class Wanted:
    """A spec to measure. `subjects` are references, or empty for all subjects of the spec."""

    path: str
    text: str
    reason: Reason
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Faulty:
    """A file that cannot be used; it does not hold up the others."""

    path: str
    faults: tuple[SpecFault, ...]


def wanted(now: Files, before: Files, catalogue_path: str) -> tuple[Wanted | Faulty, ...]:
    """Sorted by path. Faults of a spec itself are reported when it is planned. For a new version, a spec measures that
    version and the one before it, since the others have a history. A spec that follows a branch is measured when the
    branch has new commits."""
    changed = {path for path, text in now.specs.items() if path not in before.specs or before.specs[path] != text}
    specs = [_changed(path, text) for path in changed if not _begins_to_follow(path, text := now.specs[path])]
    if isinstance(now.catalogue, Unusable):
        places = {spec.path for spec in specs} | ({catalogue_path} if now.catalogue != before.catalogue else set())
        return tuple(_faulty(path, f"the catalogue {catalogue_path}: {now.catalogue.value}") for path in sorted(places))
    if now.catalogue is not None and now.catalogue != before.catalogue:
        try:
            catalogue = read_catalogue(now.catalogue, catalogue_path)
        except DocumentError as error:
            return (Faulty(catalogue_path, faults_of(error)), *sorted(specs, key=attrgetter("path")))
        earlier = _read(before.catalogue, catalogue_path)
        others = {
            path: text for path, text in now.specs.items() if path not in changed and not isinstance(text, Unusable)
        }
        specs += _upgrades(others, catalogue, earlier)
    return tuple(sorted(specs, key=attrgetter("path")))


def at_most(specs: tuple[Wanted | Faulty, ...], most: int) -> tuple[Wanted | Faulty, ...]:
    """The first `most` of them; the next one gets a fault that says how many were left out."""
    if len(specs) <= most:
        return specs
    path = specs[most].path
    text = f"only the first {most:,} of {len(specs):,} changed specs are planned; this one and later ones are not"
    return (*specs[:most], _faulty(path, text))


def _begins_to_follow(path: str, text: str | Unusable) -> bool:
    """Whether the change itself needs no run, since the spec's branch is polled from then on."""
    return not isinstance(text, Unusable) and follows_only(text, path)


def _faulty(path: str, text: str) -> Faulty:
    return Faulty(path, (SpecFault(file=path, line=1, column=1, text=text),))


def _changed(path: str, text: str | Unusable) -> Wanted | Faulty:
    if len(path) > PATH_MAX:
        short = f"{path[: PATH_MAX - 1]}…"
        return _faulty(short, f"the path is longer than {PATH_MAX} characters")
    if isinstance(text, Unusable):
        return _faulty(path, text.value)
    return Wanted(path, text, Reason.SPEC)


def faults_of(error: DocumentError) -> tuple[SpecFault, ...]:
    return tuple(
        SpecFault(file=error.file, line=fault.line, column=fault.column, text=fault.text) for fault in error.faults
    )


def _upgrades(specs: Mapping[str, str], catalogue: Catalogue, earlier: Catalogue) -> Iterator[Wanted]:
    for path, text in specs.items():
        try:
            after = subjects_of(text, path, catalogue)
        except DocumentError:  # reported when the spec was committed
            continue
        before = _subjects(text, path, earlier)
        new = [subject for subject in after if subject.reference not in before]
        if new:
            yield Wanted(path, text, Reason.LIBRARY, _with_previous(after, new))


def _subjects(text: str, path: str, catalogue: Catalogue) -> set[str]:
    """References; empty where the catalogue lacked what the spec names."""
    try:
        return {subject.reference for subject in subjects_of(text, path, catalogue)}
    except DocumentError:
        return set()


def _with_previous(subjects: tuple[PlannedSubject, ...], new: list[PlannedSubject]) -> tuple[str, ...]:
    """The new subjects and the one before each, in the spec's order, which is from old to new."""
    kept = set()
    for subject in new:
        own = [other.reference for other in subjects if other.library == subject.library]
        place = own.index(subject.reference)
        kept |= set(own[max(0, place - 1) : place + 1])
    return tuple(subject.reference for subject in subjects if subject.reference in kept)


def _read(text: str | Unusable | None, path: str) -> Catalogue:
    """The catalogue of an earlier commit; empty where there was none, or where it had faults."""
    with suppress(DocumentError):
        if isinstance(text, str):
            return read_catalogue(text, path)
    return Catalogue.model_validate({"apiVersion": "kexbench.dev/v1", "kind": "Catalogue", "libraries": {}})
