"""Specs that follow a branch of a library's git repository: the branch, and its faults. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from kexbench.domain.following import LibraryBranch
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import PlannedSubject
from kexbench.planning.documents import Document, DocumentError, Fault, parse_document, validate
from kexbench.planning.spec import Catalogue, FollowSpec, Spec

_EXAMPLES = {"repository": "https://github.com/openssl/openssl.git", "branch": "master"}


@dataclass(frozen=True)
class Follow:
    """A branch that a spec follows. One of `every` commits is measured."""

    branch: LibraryBranch
    every: int = 1

    def subjects(self, only: Collection[str]) -> tuple[PlannedSubject, ...]:
        """The references in `only` that are commits of the repository; without any, the branch itself."""
        branch = self.branch
        commits = [ref for ref in only if ref.startswith(branch.reference(""))] or [branch.reference(branch.branch)]
        return tuple(PlannedSubject(library=branch.library, source=ref.partition("@")[2]) for ref in commits)


def follow_of(text: str, file: str, catalogue: Catalogue) -> Follow | None:
    """The branch that a spec follows; None where it names subjects. Raises DocumentError with faults of `follow`."""
    document = parse_document(text, file)
    follow, faults = followed(document, catalogue)
    if faults:
        raise DocumentError(file, faults)
    return follow


def follow_in(text: str, file: str) -> LibraryBranch:
    """The branch that a spec follows, allowed or not. Raises DocumentError where it follows none."""
    document = parse_document(text, file)
    follow = _follow(document.value.get("follow"))
    if follow is None:
        raise DocumentError(file, [document.fault(("follow",), "must have library, repository and branch")])
    return follow.branch


def following_text(text: str, file: str, branch: LibraryBranch, every: int) -> str:
    """A spec that measures the same as another one, and follows a branch. Raises DocumentError."""
    written = parse_document(text, file).value
    kept = {name: value for name, value in written.items() if name not in ("subjects", "follow")}
    follow = {"library": branch.library, "repository": branch.address, "branch": branch.branch, "every": every}
    return yaml.safe_dump({**kept, "follow": follow}, sort_keys=False, allow_unicode=True, width=120)


def followed(document: Document, catalogue: Catalogue, *, anywhere: bool = False) -> tuple[Follow | None, list[Fault]]:
    """As `follow_of`, also where the document has other faults. `anywhere` allows all repositories."""
    written = document.value.get("follow")
    if written is None:
        missing = "subjects" not in document.value
        return None, [document.fault(("subjects",), "is required, unless the spec has follow")] * missing
    if "subjects" in document.value:
        message = "a spec cannot have both subjects and follow: write two specs"
        return None, [document.fault(("follow",), message, at_key=True)]
    follow = _follow(written)
    if follow is None:
        return None, []  # the model reports faults of its fields
    if fault := _no_reference(follow, document):
        return None, [fault]
    library, address = follow.branch.library, follow.branch.address
    repositories = catalogue.repositories.get(library, [])
    if address in repositories or anywhere:
        return follow, []
    listed = ", ".join(repositories) or "none"
    message = (
        f"'{address}' is not among the catalogue's repositories of {library} ({listed}); "
        "building runs code from the repository, so a spec can follow only these"
    )
    return None, [document.fault(("follow", "repository"), message)]


def follows_only(text: str, file: str) -> bool:
    """Whether a spec follows a branch and its fields are valid."""
    try:
        spec, _ = validate(parse_document(text, file), Spec)
    except DocumentError:
        return False
    return spec is not None and spec.follow is not None


def _follow(written: Any) -> Follow | None:
    """None where a field is missing or invalid."""
    try:
        spec = FollowSpec.model_validate(written)
    except ValidationError:
        return None
    branch = LibraryBranch(library=spec.library, address=spec.repository, branch=spec.branch)
    return Follow(branch, spec.every)


def _no_reference(follow: Follow, document: Document) -> Fault | None:
    """A fault of the repository or the branch where git could not fetch it."""
    branch = follow.branch
    for field, reference in (("repository", branch.reference("0" * 40)), ("branch", branch.reference(branch.branch))):
        try:
            ref = SubjectRef.parse(reference)
        except ValueError:
            ref = None
        if ref is None or ref.origin != ref.source:
            form = "an absolute path or an https:// or http:// address"
            message = f"must be {form}" if field == "repository" else "is not the name of a branch"
            return document.fault(("follow", field), f"{message}, such as {_EXAMPLES[field]}")
    return None
