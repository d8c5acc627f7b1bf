"""Which subject somebody means who wrote a version, a source or a name."""

from collections.abc import Collection, Mapping
from http import HTTPStatus

from kexbench.api.models import Candidate
from kexbench.api.problems import ProblemError
from kexbench.comparison.order import version_order
from kexbench.comparison.upgrade_ends import subject_version, version_and_source
from kexbench.domain.library_commits import SHORT_HASH
from kexbench.store.port import SubjectRow

NAMED = 12
"""So many versions are named where an unknown one was asked for."""


def meant(known: Collection[SubjectRow], library: str, text: str, tracked: Collection[str]) -> SubjectRow:
    """The subject that somebody wrote as a version, a source or its unique name. A version that several have is that of
    the `tracked` source. Raises problems, with the candidates where there are several."""
    subjects = {subject.name: subject for subject in known}
    if text in subjects:
        return subjects[text]
    found = [name for name, subject in subjects.items() if _fits(subject, text)]
    found = [name for name in found if subjects[name].source in tracked] or found
    if len(found) > 1:
        detail = f"{library} {text} means {len(found)} subjects: {', '.join(found)}"
        candidates = [_candidate(text, subjects[name]) for name in found]
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "name one of them", candidates)
    if not found:
        raise ProblemError(
            HTTPStatus.NOT_FOUND,
            f"no numbers of {library} {text} are stored; there are some of {_named(subjects)}",
            "measure it: kexbench run SPEC; GET /api/v1/upgrades lists what can be compared",
        )
    return subjects[found[0]]


def _candidate(asked: str, subject: SubjectRow) -> Candidate:
    return Candidate(
        asked=asked,
        subject=subject.name,
        version=subject_version(subject),
        source=subject.source,
        build_profile_label=subject.build_profile_label,
    )


def _fits(subject: SubjectRow, text: str) -> bool:
    reference, version = f"{subject.library}@{subject.source}", subject_version(subject)
    written = (subject.version, subject.source, reference, version, version_and_source(subject))
    of_commit = subject.commit is not None and len(text) >= SHORT_HASH and subject.commit.hash.startswith(text)
    return text in written or of_commit


def _named(subjects: Mapping[str, SubjectRow]) -> str:
    """The newest versions."""
    ordered = sorted(subjects.values(), key=version_order, reverse=True)
    versions = list(dict.fromkeys(map(subject_version, ordered)))
    more = len(versions) - NAMED
    return (", ".join(versions[:NAMED]) or "none") + (f" and {more:,} more" if more > 0 else "")
