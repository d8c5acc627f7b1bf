"""Upgrades between versions, and their effect on cost."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import Response

from kexbench.analysis.profile_files import MEDIA_TYPES, file_name, profile_file
from kexbench.answers.badge import empty_badge, newest_of_line, upgrade_badge
from kexbench.answers.capacity import mix_report, with_cases
from kexbench.answers.capacity_shapes import MixReport
from kexbench.answers.judging import judged_steps, token_of
from kexbench.answers.missing import missing_cells
from kexbench.answers.server_costs import with_server_costs
from kexbench.answers.subjects import Neighbours, end_of, neighbours, subject_version, version_and_source, version_order
from kexbench.answers.upgrade import UpgradeStory, story_of
from kexbench.answers.why import calls_of_both, counted_profile, explained
from kexbench.api.answers import KeptRoute
from kexbench.api.dependencies import TheCatalogue, TheSampleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.models import Candidate, CapacityRequest, UpgradePage, UpgradeView
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, Before, CaseId
from kexbench.domain.kits import Library
from kexbench.domain.libraries import LIBRARIES, REAL
from kexbench.domain.library_commits import SHORT_HASH
from kexbench.domain.mixes import SERVER_COSTS
from kexbench.domain.plans import Instrument
from kexbench.domain.profiles import CallNode, CaseExplanation, CountedSide, ProfileFormat
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import SIDES_OF, MissingCell, UpgradeCell, UpgradeReport
from kexbench.domain.verdicts import RELEVANT
from kexbench.planning.catalogue import released_between, tracked
from kexbench.planning.documents import DocumentError
from kexbench.planning.mix import read_mix
from kexbench.planning.spec import Catalogue
from kexbench.store.port import SampleStore, Selection, SubjectRow

router = api_router(route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)
at_root = api_router(prefix="", route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)
"""Pictures for other pages have short addresses, without the API's prefix."""
SVG = "image/svg+xml"
End = Annotated[
    str,
    Query(
        min_length=1,
        max_length=500,
        description="a version, a source, or the unique name of a subject",
        examples=["3.5.7", "debian/trixie"],
    ),
]
VersionLine = Annotated[
    str,
    Path(
        max_length=40,
        pattern=r"^[0-9][0-9A-Za-z.+~-]*$",  # the badge shows it: nobody writes other texts into it
        description="the beginning of a version",
        examples=["3.5"],
    ),
]
OnlyPool = Annotated[
    str | None, Query(description="only this pool's cells, tested together with those of all pools", max_length=200)
]
OnlyCpuModel = Annotated[str | None, Query(description="only this CPU model's cells", max_length=200)]
OneCase = Annotated[str, Query(description="only this case", max_length=300)]
OneRun = Annotated[str, Query(description="only what this run counted; default: the newest counts", max_length=100)]
Relevant = Annotated[
    float, Query(ge=0, le=0.5, description="changes below this share are not reported, even if significant")
]


@router.get("/upgrades", operation_id="upgrades")
def upgrades(
    store: TheSampleStore,
    library: Annotated[Library | None, Query(description="only this library")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Before = None,
) -> UpgradePage:
    """Neighbouring versions that share a case on a host kind. The last measured come first."""
    all_pairs = neighbours(store.measured_subjects(Selection(Metric.CPU_NS, libraries=(library,) if library else ())))
    older = [pair for pair in all_pairs if before is None or pair.measured_at < before]
    page = [
        pair for place, pair in enumerate(older) if place < limit or pair.measured_at == older[limit - 1].measured_at
    ]
    return UpgradePage(
        upgrades=[_view(pair) for pair in page],
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
    """The change from one version to another in all cells with both, and what the changes have in common."""
    subjects = [
        row.subject for row in store.measured_subjects(Selection(Metric.CPU_NS, libraries=(library,), asides=True))
    ]
    first, second = _all_meant(subjects, catalogue, library, before, after)
    if first.name == second.name:
        detail = f"{before} and {after} are the same: {first.name}"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "name two versions")
    ends = end_of(first), end_of(second)
    step = (first.name, second.name)

    def is_selected(where: UpgradeCell | MissingCell) -> bool:
        return pool in (None, where.pool) and cpu_model in (None, where.cpu_model)

    def compared() -> tuple[UpgradeStory, tuple[UpgradeCell, ...], tuple[MissingCell, ...]]:
        judged = judged_steps(store, [step], relevant)[step]
        only_asides = store.evidence().left_out.issuperset(run_id for cell in judged.judged for run_id in cell.run_ids)
        shown = judged.where(is_selected).ordered(store.host_kinds())
        return (
            story_of(first, second, shown, relevant),
            with_server_costs(store, step, shown.judged),
            tuple(filter(is_selected, missing_cells(store, first, second, asides=only_asides))),
        )

    story, cells, missing = store.kept_value(
        ("upgrade report", first, second, relevant, pool, cpu_model),
        lambda evidence: (token_of(evidence, step), tuple(evidence.host_kinds())),
        compared,
    )
    between = released_between(catalogue, library, first.version_key, second.version_key)
    return UpgradeReport(
        library=library,
        before=ends[0],
        after=ends[1],
        relevant=relevant,
        sentence=story.sentence,
        cells=cells,
        factors=story.factors,
        missing=missing,
        defaults=_notes((version, entry.defaults) for version, entry in between),
        security=_notes((version, entry.security) for version, entry in between),
    )


@router.post("/capacity", operation_id="capacity")
def capacity(store: TheSampleStore, catalogue: TheCatalogue, request: CapacityRequest) -> MixReport:
    """The cores and machines that a mix of connections needs with a library version, and what another version or other
    parts change of it. Nothing is stored, so no token is needed. A mix with faults is a 422 problem that lists them
    all."""
    try:
        mix = with_cases(store, read_mix(request.mix, request.mix_file))
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "correct the mix") from None
    metric = SERVER_COSTS[mix.cost]
    ends = [version_of(store, catalogue, metric, text) for text in (request.version, request.to) if text is not None]
    if len({end.name for end in ends}) < len(ends):
        detail = f"{request.version} and {request.to} are the same: {ends[0].name}"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "name two versions")
    if len({end.library for end in ends}) > 1:
        detail = f"{request.version} and {request.to} are of different libraries, so there is no upgrade between them"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "ask for each version alone")
    report = mix_report(store, mix, ends[0], ends[1] if len(ends) > 1 else None, request.pool, request.cpu_model)
    if not report.cpus and not report.missing:
        where = ", ".join(filter(None, (request.pool, request.cpu_model)))
        detail = f"no results of {' and '.join(end.name for end in ends)} on {where}"
        raise ProblemError(HTTPStatus.NOT_FOUND, detail, "leave out pool and CPU to see where there are results")
    return report


@router.get("/upgrades/why", operation_id="upgrade_why")
def upgrade_why(
    store: TheStore,
    catalogue: TheCatalogue,
    library: Library,
    before: End,
    after: End,
    case_id: OneCase = "",
    run_id: OneRun = "",
    functions: Annotated[int, Query(ge=1, le=5000, description="of each side, those with the largest change")] = 30,
) -> list[CaseExplanation]:
    """The functions that the change from one version to another is in, in all cases with counted instructions of both.
    The case with the largest change comes first. Empty where nothing was counted."""
    counted = _counted_subjects(store, library)
    if not counted:
        return []
    first, second = _all_meant(counted, catalogue, library, before, after)
    return [_largest(case, functions) for case in explained(store, first.name, second.name, case_id, run_id)]


@router.get("/upgrades/why/stacks", operation_id="upgrade_why_stacks")
def upgrade_why_stacks(
    store: TheStore,
    catalogue: TheCatalogue,
    library: Library,
    before: End,
    after: End,
    case_id: CaseId,
    side: CountedSide,
) -> CallNode:
    """The calls of both versions as one tree, for a flame graph. A function's cost is divided among its callers in
    proportion to the cost of their calls, as gprof does, since callgrind counts calls and no whole stacks."""
    first, second = _all_meant(_counted_subjects(store, library), catalogue, library, before, after)
    calls = calls_of_both(store, first.name, second.name, case_id, side)
    if calls is None:
        raise _uncounted(library, case_id, first, second)
    return calls


@router.get(
    "/upgrades/why/profile",
    operation_id="upgrade_why_profile",
    response_class=Response,
    responses={200: {"content": {name: {} for name in MEDIA_TYPES.values()}, "description": "the profile"}},
)
def upgrade_why_profile(
    store: TheStore,
    catalogue: TheCatalogue,
    library: Library,
    subject: End,
    case_id: CaseId,
    side: CountedSide,
    format: ProfileFormat = "callgrind",
    run_id: OneRun = "",
) -> Response:
    """Counted instructions of one version as a file: all counts for KCachegrind and callgrind_annotate, or the stacks
    of its flame graph for speedscope."""
    (counted,) = _all_meant(_counted_subjects(store, library), catalogue, library, subject)
    profile = counted_profile(store, counted.name, case_id, side, run_id)
    if profile is None:
        raise _uncounted(library, case_id, counted)
    build = f"{library}-{subject_version(counted)}"
    disposition = {"Content-Disposition": f'attachment; filename="{file_name(build, side, format)}"'}
    return Response(profile_file(profile, build, format), media_type=MEDIA_TYPES[format], headers=disposition)


@at_root.get(
    "/badge/{library}/{line}.svg",
    operation_id="badge",
    response_class=Response,
    responses={200: {"content": {SVG: {}}, "description": "the badge"}},
)
def badge(store: TheSampleStore, library: Library, line: VersionLine) -> Response:
    """The verdict on the newest upgrade of a version line, such as 3.5, as a small picture."""
    pairs = neighbours(store.measured_subjects(Selection(Metric.CPU_NS, libraries=(library,))))
    pair = newest_of_line(pairs, line)
    if pair is None:
        return Response(empty_badge(f"{LIBRARIES[library].title} {line}"), media_type=SVG)
    step = (pair.before.name, pair.after.name)
    return Response(upgrade_badge(pair.ends, judged_steps(store, [step])[step].judged), media_type=SVG)


def version_of(store: SampleStore, catalogue: Catalogue, metric: Metric, text: str) -> SubjectRow:
    """The subject for `openssl@3.5.7`, `openssl@debian/trixie`, a unique name, or `openssl@3.5`, which means the newest
    version that begins so. Raises ProblemError."""
    library, _, version = text.partition("@")
    if library not in LIBRARIES or not version:
        detail = f"{text} is not a version: write LIBRARY@VERSION, such as openssl@3.5"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, f"libraries are {', '.join(REAL)}")
    known = [row.subject for row in store.measured_subjects(Selection(metric, libraries=(library,), asides=True))]
    if text in {subject.name for subject in known}:
        version = text
    elif not any(_fits(subject, version) for subject in known):
        begun = [subject for subject in known if subject.version.startswith(f"{version}.")]
        if not begun:
            _refuse_partly_measured(store, metric, library, version)
        version = max(begun, key=version_order).version if begun else version
    return _all_meant(known, catalogue, library, version)[0]


def _refuse_partly_measured(store: SampleStore, metric: Metric, library: str, version: str) -> None:
    """Raises a 404 problem if a version has results, but none of the metric."""
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
        elif disturbed := store.disturbed(selection):
            reason, remedy = disturbed[0].reason, "measure it again while the machine is idle"
        detail = f"{library} {names} has results, but none of {metric}: {reason}"
        raise ProblemError(HTTPStatus.NOT_FOUND, detail, f"{remedy}: kexbench run SPEC")


def _counted_subjects(store: SampleStore, library: str) -> list[SubjectRow]:
    selection = Selection(SIDES_OF[Instrument.INSTRUCTIONS]["both"], libraries=(library,), asides=True)
    return [row.subject for row in store.measured_subjects(selection)]


def _all_meant(subjects: Collection[SubjectRow], catalogue: Catalogue, library: str, *texts: str) -> list[SubjectRow]:
    """The subjects for versions, sources or unique names. Raises ProblemError."""
    sources = {entry.source for name, entry in tracked(catalogue) if name == library}
    return [meant(subjects, library, text, sources) for text in texts]


def _uncounted(library: str, case_id: str, *subjects: SubjectRow) -> ProblemError:
    versions = " and ".join(map(subject_version, subjects))
    return ProblemError(
        HTTPStatus.NOT_FOUND,
        f"no instructions of {library} {versions} were counted in the case {case_id}",
        "count them with kexbench why",
    )


def _largest(case: CaseExplanation, functions: int) -> CaseExplanation:
    sides = tuple(side.model_copy(update={"functions": side.functions[:functions]}) for side in case.sides)
    return case.model_copy(update={"sides": sides})


def _view(pair: Neighbours) -> UpgradeView:
    before, after = pair.ends
    return UpgradeView(library=pair.library, before=before, after=after, measured_at=pair.measured_at, cells=pair.cells)


def _notes(notes_by_version: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Notes such as `3.5.0: hybrid groups with ML-KEM are preferred`, without repetition."""
    return tuple(dict.fromkeys(f"{version}: {note}" for version, notes in notes_by_version for note in notes))


NAMED = 12
"""Versions that are listed if the requested one is unknown."""


def meant(known: Collection[SubjectRow], library: str, text: str, tracked: Collection[str]) -> SubjectRow:
    """The subject for a version, a source or a unique name. If several subjects have the version, the one from a
    `tracked` source is meant. Raises problems, with the candidates if there are several."""
    subjects = {subject.name: subject for subject in known}
    if text in subjects:
        return subjects[text]
    names = [name for name, subject in subjects.items() if _fits(subject, text)]
    names = [name for name in names if subjects[name].source in tracked] or names
    if len(names) > 1:
        detail = f"{library} {text} means {len(names)} subjects: {', '.join(names)}"
        candidates = [_candidate(text, subjects[name]) for name in names]
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "name one of them", candidates)
    if not names:
        raise ProblemError(
            HTTPStatus.NOT_FOUND,
            f"there are no results of {library} {text}; stored versions: {_named(subjects)}",
            f"measure it with kexbench run SPEC; kexbench upgrade {library} lists the possible comparisons",
        )
    return subjects[names[0]]


def _candidate(text: str, subject: SubjectRow) -> Candidate:
    return Candidate(
        asked=text,
        subject=subject.name,
        version=subject_version(subject),
        source=subject.source,
        build_profile_label=subject.build_profile_label,
    )


def _fits(subject: SubjectRow, text: str) -> bool:
    reference, version = f"{subject.library}@{subject.source}", subject_version(subject)
    spellings = (subject.version, subject.source, reference, version, version_and_source(subject))
    of_commit = subject.commit is not None and len(text) >= SHORT_HASH and subject.commit.hash.startswith(text)
    return text in spellings or of_commit


def _named(subjects: Mapping[str, SubjectRow]) -> str:
    """A list of the newest versions."""
    ordered = sorted(subjects.values(), key=version_order, reverse=True)
    versions = list(dict.fromkeys(map(subject_version, ordered)))
    more = len(versions) - NAMED
    return (", ".join(versions[:NAMED]) or "none") + (f" and {more:,} more" if more > 0 else "")
