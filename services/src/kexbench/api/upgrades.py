"""Upgrades in brief, why they changed a cost, badges, and the capacity that a traffic mix needs."""

from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import Response

from kexbench.analysis.profile_files import MEDIA_TYPES, file_name, profile_file
from kexbench.answers.badge import badge
from kexbench.answers.capacity import capacity
from kexbench.answers.capacity_shapes import CapacityRequest, MixReport
from kexbench.answers.upgrade import UpgradePage, upgrades
from kexbench.answers.why import why, why_profile, why_stacks
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheCatalogue, TheSampleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.reading import PROBLEMS, Before, CaseId
from kexbench.domain.instruments import CountedSide, Instrument
from kexbench.domain.kits import Library
from kexbench.domain.profiles import CallNode, CaseExplanation, ProfileFormat

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
OneCase = Annotated[str, Query(description="only this case", max_length=300)]
OneRun = Annotated[str, Query(description="only what this run counted; default: the newest counts", max_length=100)]
Counting = Annotated[Instrument, Query(description="what counted by function; time does not")]
Relevant = Annotated[
    float, Query(ge=0, le=0.5, description="changes below this share are not reported, even if significant")
]


@router.get("/upgrades", operation_id="upgrades")
def get_upgrades(
    store: TheSampleStore,
    library: Annotated[Library | None, Query(description="only this library")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Before = None,
) -> UpgradePage:
    """Neighbouring versions that share a case on a host kind. The last measured come first."""
    return upgrades(store, library, limit, before)


@router.post("/capacity", operation_id="capacity")
def get_capacity(store: TheSampleStore, catalogue: TheCatalogue, request: CapacityRequest) -> MixReport:
    """The cores and machines that a mix of connections needs with a library version, and what another version or other
    parts change of it. Nothing is stored, so no token is needed. A mix with faults is a 422 problem that lists them
    all."""
    return capacity(store, catalogue, request)


@router.get("/upgrades/why", operation_id="upgrade_why")
def get_why(
    store: TheStore,
    catalogue: TheCatalogue,
    library: Library,
    before: End,
    after: End,
    case_id: OneCase = "",
    run_id: OneRun = "",
    functions: Annotated[int, Query(ge=1, le=5000, description="of each side, those with the largest change")] = 30,
    after_library: Annotated[
        Library | None, Query(description="of `after`, if it is another one of common ancestry")
    ] = None,
    instrument: Counting = Instrument.INSTRUCTIONS,
) -> list[CaseExplanation]:
    """The functions that the change from one version to another is in, in all cases with counts of both.
    The case with the largest change comes first. Empty where nothing was counted."""
    return why(store, catalogue, library, before, after, case_id, run_id, functions, after_library, instrument)


@router.get("/upgrades/why/stacks", operation_id="upgrade_why_stacks")
def get_why_stacks(
    store: TheStore,
    catalogue: TheCatalogue,
    library: Library,
    before: End,
    after: End,
    case_id: CaseId,
    side: CountedSide,
    instrument: Counting = Instrument.INSTRUCTIONS,
) -> CallNode:
    """The calls of both versions as one tree, for a flame graph. A function's cost is divided among its callers in
    proportion to the cost of their calls, as gprof does, since stored profiles have calls and no whole stacks."""
    return why_stacks(store, catalogue, library, before, after, case_id, side, instrument)


@router.get(
    "/upgrades/why/profile",
    operation_id="upgrade_why_profile",
    response_class=Response,
    responses={200: {"content": {name: {} for name in MEDIA_TYPES.values()}, "description": "the profile"}},
)
def get_why_profile(
    store: TheStore,
    catalogue: TheCatalogue,
    library: Library,
    subject: End,
    case_id: CaseId,
    side: CountedSide,
    format: ProfileFormat = "callgrind",
    run_id: OneRun = "",
    instrument: Counting = Instrument.INSTRUCTIONS,
) -> Response:
    """What was counted of one version as a file: all counts for KCachegrind and callgrind_annotate, or the stacks
    of its flame graph for speedscope."""
    build, profile = why_profile(store, catalogue, library, subject, case_id, side, run_id, instrument)
    disposition = {"Content-Disposition": f'attachment; filename="{file_name(build, side, format)}"'}
    return Response(profile_file(profile, build, format), media_type=MEDIA_TYPES[format], headers=disposition)


@at_root.get(
    "/badge/{library}/{line}.svg",
    operation_id="badge",
    response_class=Response,
    responses={200: {"content": {SVG: {}}, "description": "the badge"}},
)
def get_badge(store: TheSampleStore, library: Library, line: VersionLine) -> Response:
    """The verdict on the newest upgrade of a version line, such as 3.5, as a small picture."""
    return Response(badge(store, library, line), media_type=SVG)
