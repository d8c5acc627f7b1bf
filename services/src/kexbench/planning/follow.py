"""Specs that follow a branch of a library's git repository: what they follow, and what is wrong with that. Pure."""

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
    """A branch that a spec follows; of `every` so many commits one is measured."""

    branch: LibraryBranch
    every: int = 1

    def subjects(self, only: Collection[str]) -> tuple[PlannedSubject, ...]:
        """Those references that are commits of what is followed; without any, the branch itself."""
        branch = self.branch
        named = [one for one in only if one.startswith(branch.reference(""))] or [branch.reference(branch.branch)]
        return tuple(PlannedSubject(library=branch.library, source=one.partition("@")[2]) for one in named)


def follow_of(text: str, file: str, catalogue: Catalogue) -> Follow | None:
    """What a spec follows; None where it names subjects. Raises DocumentError, for what is wrong with that alone."""
    document = parse_document(text, file)
    found, faults = followed(document, catalogue)
    if faults:
        raise DocumentError(file, faults)
    return found


def follow_in(text: str, file: str) -> LibraryBranch:
    """The branch that a spec follows, whether it may or not. Raises DocumentError where it follows none."""
    document = parse_document(text, file)
    found = _follow(document.value.get("follow"))
    if found is None:
        raise DocumentError(file, [document.fault(("follow",), "must say library, repository and branch")])
    return found.branch


def following_text(text: str, file: str, branch: LibraryBranch, every: int) -> str:
    """A spec that measures what another one does, and follows a branch. Raises DocumentError."""
    written = parse_document(text, file).value
    kept = {name: value for name, value in written.items() if name not in ("subjects", "follow")}
    follow = {"library": branch.library, "repository": branch.address, "branch": branch.branch, "every": every}
    return yaml.safe_dump({**kept, "follow": follow}, sort_keys=False, allow_unicode=True, width=120)


def followed(document: Document, catalogue: Catalogue, *, anywhere: bool = False) -> tuple[Follow | None, list[Fault]]:
    """The same, whatever else is wrong with the document. `anywhere` takes repositories that the catalogue hasn't."""
    written = document.value.get("follow")
    if written is None:
        missing = "subjects" not in document.value
        return None, [document.fault(("subjects",), "is required, unless the spec says what to follow")] * missing
    if "subjects" in document.value:
        message = "a spec has subjects or follows a branch: write two specs"
        return None, [document.fault(("follow",), message, at_key=True)]
    found = _follow(written)
    if found is None:
        return None, []  # the model tells what is wrong with its fields
    if fault := _no_reference(found, document):
        return None, [fault]
    library, address = found.branch.library, found.branch.address
    known = catalogue.repositories.get(library, [])
    if address in known or anywhere:
        return found, []
    named = f"has {', '.join(known)}" if known else "names none"
    message = (
        f"'{address}' is not among the catalogue's repositories of {library}, of which it {named}; "
        "what is in a repository is run when it is built, so a spec can follow only those"
    )
    return None, [document.fault(("follow", "repository"), message)]


def follows_only(text: str, file: str) -> bool:
    """Whether a spec is one that follows a branch and is right in its fields."""
    try:
        spec, _ = validate(parse_document(text, file), Spec)
    except DocumentError:
        return False
    return spec is not None and spec.follow is not None


def _follow(written: Any) -> Follow | None:
    """None where a field is missing or of another form."""
    try:
        spec = FollowSpec.model_validate(written)
    except ValidationError:
        return None
    branch = LibraryBranch(library=spec.library, address=spec.repository, branch=spec.branch)
    return Follow(branch, spec.every)


def _no_reference(found: Follow, document: Document) -> Fault | None:
    """What git could not build: the repository is at fault, or the branch."""
    branch = found.branch
    for field, reference in (("repository", branch.reference("0" * 40)), ("branch", branch.reference(branch.branch))):
        try:
            ref = SubjectRef.parse(reference)
        except ValueError:
            ref = None
        if ref is None or ref.origin != ref.source:
            wanted = "an absolute path or an address that begins with https:// or http://"
            message = f"must be {wanted}" if field == "repository" else "is not the name of a branch"
            return document.fault(("follow", field), f"{message}, such as {_EXAMPLES[field]}")
    return None
