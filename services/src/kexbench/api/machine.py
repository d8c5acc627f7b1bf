"""Facts about machines and the measurement itself: scaling curves, qualifications and the scorecard."""

from http import HTTPStatus
from pathlib import Path
from typing import Annotated, cast

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError

from kexbench.answers.qualifications import GROUP, Qualifications, qualifications
from kexbench.answers.scaling import Scaling, scaling
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheSampleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.models import Problem
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, Libraries, OneCpuModel, OnePool
from kexbench.domain.scorecard import Scorecard, from_csv

router = api_router(tags=["reading"], responses=PROBLEMS)
_kept = APIRouter(route_class=KeptRoute)


@_kept.get("/scaling", operation_id="scaling")
def get_scaling(
    store: TheSampleStore, pool: OnePool = None, cpu_model: OneCpuModel = None, library: Libraries = None
) -> Scaling:
    """Throughput over thread counts, and that of web servers over connections at once, for all cases and subjects with
    more than one of them."""
    return scaling(store, pool, cpu_model, library or ())


@_kept.get("/qualifications", operation_id="qualifications")
def get_qualifications(
    store: TheStore,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
    invocations: Annotated[int, Query(ge=3, le=1000, description="invocations of future comparisons")] = GROUP,
) -> Qualifications:
    """Results of the newest A/A run of each case on a host kind: a kit against itself, and relinks of one source."""
    return qualifications(store, pool, cpu_model, invocations)


_REMEDY = "run make scorecard in a checkout to create one; KEXBENCH_SCORECARD sets its path"


@router.get(
    "/scorecard",
    operation_id="scorecard",
    responses={500: {"model": Problem, "description": "The file is not a valid scorecard"}},
)
def scorecard(request: Request) -> Scorecard:
    """How well kexbench detects changes, compared with other methods, as last measured."""
    path = cast(Path | None, request.app.state.scorecard)
    if path is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "this service has no scorecard", _REMEDY)
    try:
        return from_csv(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no scorecard at {path}", _REMEDY) from None
    except (OSError, ValueError) as error:
        detail = f"{path} is not a scorecard of this version: {_first_fault(error)}"
        raise ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, detail, _REMEDY) from None


def _first_fault(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if not isinstance(error, ValidationError):
        return str(error)
    fault = error.errors()[0]
    return f"{fault['msg']} at {'.'.join(map(str, fault['loc'])) or 'the beginning'}"


router.include_router(_kept)
