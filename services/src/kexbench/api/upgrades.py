"""Upgrades: which there are, and what each cost."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from kexbench.analysis.attribution import attribute
from kexbench.analysis.sentences import sentence
from kexbench.api.dependencies import TheCatalogue, TheSampleStore
from kexbench.api.models import Candidate, UpgradePage, UpgradeView
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, Before
from kexbench.comparison.order import version_order
from kexbench.comparison.upgrade_data import judged_steps, missing_cells
from kexbench.comparison.upgrade_ends import Neighbours, end_of, neighbours, subject_version, version_and_source
from kexbench.domain.kits import Library
from kexbench.domain.library_commits import SHORT_HASH
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import MissingCell, UpgradeCell, UpgradeReport
from kexbench.domain.verdicts import RELEVANT
from kexbench.planning.catalogue import released_between, tracked
from kexbench.store.port import Selection, SubjectRow

router = APIRouter(tags=["reading"], responses=PROBLEMS)
End = Annotated[
    str,
    Query(
        min_length=1,
        max_length=500,
        description="a version, a source, or a subject's unique name",
        examples=["3.5.7", "debian/trixie"],
    ),
]
OnlyPool = Annotated[
    str | None, Query(description="only this pool's cells, judged among those of all pools", max_length=200)
]
OnlyCpuModel = Annotated[str | None, Query(description="only this CPU model's cells", max_length=200)]
Relevant = Annotated[
    float, Query(ge=0, le=0.5, description="changes below this share are not called moved, however sure they are")
]


@router.get("/upgrades", operation_id="upgrades")
def upgrades(
    store: TheSampleStore,
    library: Annotated[Library | None, Query(description="only this one's")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Before = None,
) -> UpgradePage:
    """Neighbours in version order that have a case on a host kind in common; those that were measured last first."""
    found = neighbours(store.measured_subjects(Selection(Metric.CPU_NS, libraries=(library,) if library else ())))
    older = [one for one in found if before is None or one.measured_at < before]
    page = [one for place, one in enumerate(older) if place < limit or one.measured_at == older[limit - 1].measured_at]
    return UpgradePage(
        upgrades=[_view(one) for one in page],
        next_before=page[-1].measured_at if len(page) < len(older) else None,
    )


@router.get("/upgrades/report", operation_id="upgrade_report")
def upgrade_report(
    store: TheSampleStore,
    catalogue: TheCatalogue,
    library: Library,
    before: End,
    after: End,
    pool: OnlyPool = None,
    cpu_model: OnlyCpuModel = None,
    relevant: Relevant = RELEVANT,
) -> UpgradeReport:
    """What the step from one version to another cost in every cell that has both, and what the moves have in common."""
    subjects = [
        row.subject for row in store.measured_subjects(Selection(Metric.CPU_NS, libraries=(library,), asides=True))
    ]
    sources = {entry.source for name, entry in tracked(catalogue) if name == library}
    first, second = (meant(subjects, library, text, sources) for text in (before, after))
    if first.name == second.name:
        detail = f"{before} and {after} are the same: {first.name}"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "name two versions")
    ends = end_of(first), end_of(second)
    step = (first.name, second.name)

    def is_wanted(where: UpgradeCell | MissingCell) -> bool:
        return pool in (None, where.pool) and cpu_model in (None, where.cpu_model)

    found = judged_steps(store, [step], relevant)[step].where(is_wanted)
    factors = attribute(found.data, found.judged, relevant)
    between = released_between(catalogue, library, first.version_key, second.version_key)
    return UpgradeReport(
        library=library,
        before=ends[0],
        after=ends[1],
        relevant=relevant,
        sentence=sentence(*ends, found.judged, factors),
        cells=found.judged,
        factors=factors,
        missing=tuple(filter(is_wanted, missing_cells(store, first, second))),
        defaults=_notes((version, entry.defaults) for version, entry in between),
        security=_notes((version, entry.security) for version, entry in between),
    )


def _view(found: Neighbours) -> UpgradeView:
    before, after = found.ends
    return UpgradeView(
        library=found.library, before=before, after=after, measured_at=found.measured_at, cells=found.cells
    )


def _notes(told: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """`3.5.0: hybrid groups with ML-KEM are preferred`, each once."""
    return tuple(dict.fromkeys(f"{version}: {note}" for version, notes in told for note in notes))


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
