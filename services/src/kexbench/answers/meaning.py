"""What people mean by a name: which subject, and which host kind."""

from collections.abc import Collection, Mapping

from kexbench.answers.subjects import subject_version, version_and_source, version_order
from kexbench.domain.hosts import HostKind, meant_by
from kexbench.domain.libraries import LIBRARIES, REAL
from kexbench.domain.library_commits import SHORT_HASH
from kexbench.domain.refusals import Candidate, Refusal, RefusalReason
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.planning.catalogue import tracked
from kexbench.planning.spec import Catalogue
from kexbench.store.port import SampleStore, Selection


def host_kind(store: SampleStore, pool: str | None, cpu_model: str | None) -> HostKind | None:
    """The first host kind that fits. If none does, the requested one, which has no samples."""
    if kind := fitting_kind(store.host_kinds(), pool, cpu_model):
        return kind
    return HostKind(pool=pool, cpu_model=cpu_model) if pool and cpu_model else None


def fitting_kind(kinds: list[HostKind], pool: str | None, cpu_model: str | None) -> HostKind | None:
    """The first host kind that fits."""
    fitting = [kind for kind in kinds if pool in (None, kind.pool)]
    if cpu_model is not None:
        cpu_models = meant_by(cpu_model, [kind.cpu_model for kind in fitting])
        fitting = [kind for kind in fitting if kind.cpu_model in cpu_models]
    return fitting[0] if fitting else None


def version_of(store: SampleStore, catalogue: Catalogue, metric: Metric, text: str) -> Subject:
    """The subject for `openssl@3.5.7`, `openssl@debian/trixie`, a unique name, or `openssl@3.5`, which means the newest
    version that begins so. Raises Refusal."""
    library, _, version = text.partition("@")
    if library not in LIBRARIES or not version:
        detail = f"{text} is not a version: write LIBRARY@VERSION, such as openssl@3.5"
        raise Refusal(RefusalReason.UNUSABLE, detail, f"libraries are {', '.join(REAL)}")
    known = [row.subject for row in store.measured_subjects(Selection(metric, libraries=(library,), asides=True))]
    if text in {subject.name for subject in known}:
        version = text
    elif not any(_fits(subject, version) for subject in known):
        begun = [subject for subject in known if subject.version.startswith(f"{version}.")]
        if not begun:
            _refuse_partly_measured(store, metric, library, version)
        version = max(begun, key=version_order).version if begun else version
    return all_meant(known, catalogue, library, version)[0]


def _refuse_partly_measured(store: SampleStore, metric: Metric, library: str, version: str) -> None:
    """Raises Refusal if a version has results, but none of the metric."""
    rows = store.measured_subjects(Selection(Metric.CPU_NS, libraries=(library,), asides=True))
    partly = [
        row.subject
        for row in rows
        if _fits(row.subject, version)
        or row.subject.name == f"{library}@{version}"
        or row.subject.version.startswith(f"{version}.")
    ]
    if partly:
        names = ", ".join(dict.fromkeys(map(version_and_source, partly)))
        selection = Selection(metric, subjects=tuple(subject.name for subject in partly), asides=True)
        reason, remedy = "no run measured it in their cases", "measure it with a spec that has such cases"
        if withdrawn := store.withdrawn(selection):
            reason, remedy = withdrawn[0].reason, "measure it again"
        elif aside := store.set_aside(selection):
            reason, remedy = aside[0].reason, "measure it again on another node"
        elif disturbed := store.disturbed(selection):
            reason, remedy = disturbed[0].reason, "measure it again while the machine is idle"
        detail = f"{library} {names} has results, but none of {metric}: {reason}"
        raise Refusal(RefusalReason.MISSING, detail, f"{remedy}: kexbench run SPEC")


def all_meant(subjects: Collection[Subject], catalogue: Catalogue, library: str, *texts: str) -> list[Subject]:
    """The subjects for versions, sources or unique names. Raises Refusal."""
    sources = {entry.source for name, entry in tracked(catalogue) if name == library}
    return [meant(subjects, library, text, sources) for text in texts]


NAMED = 12
"""Versions that are listed if the requested one is unknown."""


def meant(known: Collection[Subject], library: str, text: str, tracked: Collection[str]) -> Subject:
    """The subject for a version, a source or a unique name. If several subjects have the version, the one from a
    `tracked` source is meant. Raises Refusal, with the candidates if there are several."""
    subjects = {subject.name: subject for subject in known}
    if text in subjects:
        return subjects[text]
    names = [name for name, subject in subjects.items() if _fits(subject, text)]
    names = [name for name in names if subjects[name].source in tracked] or names
    if len(names) > 1:
        detail = f"{library} {text} means {len(names)} subjects: {', '.join(names)}"
        candidates = [_candidate(text, subjects[name]) for name in names]
        raise Refusal(RefusalReason.UNUSABLE, detail, "name one of them", candidates)
    if not names:
        raise Refusal(
            RefusalReason.MISSING,
            f"there are no results of {library} {text}; stored versions: {_named(subjects)}",
            f"measure it with kexbench run SPEC; kexbench upgrade {library} lists the possible comparisons",
        )
    return subjects[names[0]]


def _candidate(text: str, subject: Subject) -> Candidate:
    return Candidate(
        asked=text,
        subject=subject.name,
        version=subject_version(subject),
        source=subject.source,
        build_profile_label=subject.build_profile_label,
    )


def _fits(subject: Subject, text: str) -> bool:
    reference, version = f"{subject.library}@{subject.source}", subject_version(subject)
    spellings = (subject.version, subject.source, reference, version, version_and_source(subject))
    of_commit = subject.commit is not None and len(text) >= SHORT_HASH and subject.commit.hash.startswith(text)
    return text in spellings or of_commit


def _named(subjects: Mapping[str, Subject]) -> str:
    """A list of the newest versions."""
    ordered = sorted(subjects.values(), key=version_order, reverse=True)
    versions = list(dict.fromkeys(map(subject_version, ordered)))
    more = len(versions) - NAMED
    return (", ".join(versions[:NAMED]) or "none") + (f" and {more:,} more" if more > 0 else "")
