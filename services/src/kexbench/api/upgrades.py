"""Upgrades: which there are, and what each cost."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from kexbench.analysis.estimates import RELEVANT
from kexbench.api.dependencies import TheStore
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, Before
from kexbench.api.upgrade_ends import Neighbours, neighbours
from kexbench.api.upgrade_models import UpgradePage, UpgradeView
from kexbench.domain.kits import Library
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import UpgradeReport
from kexbench.store.port import Selection

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
OnlyPool = Annotated[str | None, Query(description="only this pool's cells", max_length=200)]
OnlyCpuModel = Annotated[str | None, Query(description="only this CPU model's cells", max_length=200)]
Relevant = Annotated[
    float, Query(ge=0, le=0.5, description="changes below this share are not called moved, however sure they are")
]


@router.get("/upgrades", operation_id="upgrades")
def upgrades(
    store: TheStore,
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
    store: TheStore,
    library: Library,
    before: End,
    after: End,
    pool: OnlyPool = None,
    cpu_model: OnlyCpuModel = None,
    relevant: Relevant = RELEVANT,
) -> UpgradeReport:
    """What the step from one version to another cost in every cell that has both, and what the moves have in common."""
    raise ProblemError(HTTPStatus.NOT_IMPLEMENTED, "not yet")


def _view(found: Neighbours) -> UpgradeView:
    before, after = found.ends
    return UpgradeView(
        library=found.library, before=before, after=after, measured_at=found.measured_at, cells=found.cells
    )
