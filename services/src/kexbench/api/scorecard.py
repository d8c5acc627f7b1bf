"""How good detection is, as `make scorecard` measured it: a file that is read anew for each who asks."""

from http import HTTPStatus
from pathlib import Path
from typing import cast

from fastapi import APIRouter, Request
from pydantic import ValidationError

from kexbench.api.models import Problem
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS
from kexbench.domain.scorecard import Scorecard

router = APIRouter(tags=["reading"], responses=PROBLEMS)
_REMEDY = "make scorecard, in a checkout, measures and writes one; KEXBENCH_SCORECARD says where it is"


@router.get(
    "/scorecard",
    operation_id="scorecard",
    responses={500: {"model": Problem, "description": "What stands in the file is no scorecard"}},
)
def scorecard(request: Request) -> Scorecard:
    """How good detection is beside the methods of others, as it was measured last."""
    path = cast(Path | None, request.app.state.scorecard)
    if path is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "this service has no scorecard", _REMEDY)
    try:
        return Scorecard.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no scorecard at {path}", _REMEDY) from None
    except (OSError, ValidationError) as error:
        detail = f"{path} is no scorecard of this version: {_first(error)}"
        raise ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, detail, _REMEDY) from None


def _first(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    fault = error.errors()[0]
    return f"{fault['msg']} at {'.'.join(map(str, fault['loc'])) or 'its beginning'}"
