"""Supplies of pods: the orders of jobs, their kits and key material. Also uploads of kits."""

import re
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool

from kexbench.answers.runs import known_run
from kexbench.api.access import TheCaller, caller_of, check_bounds
from kexbench.api.dependencies import TheRunStore, TheSupplies
from kexbench.api.gate import CountedRoute, api_router
from kexbench.api.problems import ProblemError
from kexbench.api.uploading import router as uploads
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.runs import Run
from kexbench.kits.shared_store import OrderedKit, OtherKit
from kexbench.kits.transport import DamagedKit
from kexbench.runner.job_input import JobOrder

KitId = Annotated[str, InPath(pattern=r"^[0-9a-f]{16}$")]
Ingredients = Annotated[str, Query(pattern=r"^[0-9a-f]{32}$", description="hash of the kit's ingredients")]
_MATERIAL = r"^[0-9a-f]{64}\.(pem|der)$"
router = api_router(
    route_class=CountedRoute, tags=["supplying"], responses=uploads.responses, dependencies=[Depends(caller_of)]
)


@router.get("/runs/{run_id}/jobs/{job_id}/order", operation_id="job_order")
def job_order(store: TheRunStore, caller: TheCaller, run_id: str, job_id: str) -> JobOrder:
    """Everything that a job's pod needs to know."""
    check_bounds(caller, run_id=run_id, job_id=job_id)
    run = known_run(store, run_id)
    job = run.job(job_id)
    if job is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"run {run_id} has no job {job_id}")
    if not run.is_started:
        raise ProblemError(HTTPStatus.CONFLICT, f"run {run_id} is not started: its kits are not known yet")
    return JobOrder.of(run, job)


@router.get("/runs/{run_id}/material/{file}", operation_id="material", response_class=FileResponse)
def material(store: TheRunStore, supplies: TheSupplies, caller: TheCaller, run_id: str, file: str) -> FileResponse:
    """A key, certificate, OCSP response or DH parameters of a run's cases, by the file's SHA-256."""
    check_bounds(caller, run_id=run_id, job_id=caller.job_id)
    run = known_run(store, run_id)
    if not re.fullmatch(_MATERIAL, file) or file not in _files(run):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"run {run_id} has no material {file}")
    return FileResponse(supplies.material.folder / file, media_type="application/octet-stream")


@router.get("/kits/{kit_id}", operation_id="kit", response_class=FileResponse)
def kit(supplies: TheSupplies, kit_id: KitId) -> FileResponse:
    """A kit as a tar archive."""
    try:
        return FileResponse(supplies.shared_store.archive(kit_id), media_type="application/x-tar")
    except KeyError as error:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no kit {kit_id}") from error


@router.put("/kits/{kit_id}", operation_id="put_kit")
async def put_kit(
    request: Request, supplies: TheSupplies, caller: TheCaller, kit_id: KitId, ingredients: Ingredients
) -> KitManifest:
    """Receive the kit that a pod was created to build: a tar archive whose manifest has this id. The pod's reference
    then means this kit. Repeating it changes nothing."""
    if caller.reference is None or caller.architecture is None:
        raise ProblemError(HTTPStatus.FORBIDDEN, f"{caller.name} was not created to build a kit")
    ordered = OrderedKit(SubjectRef.parse(caller.reference), caller.architecture, ingredients)
    with supplies.shared_store.arrival(kit_id, ordered) as arrival:
        try:
            async for piece in request.stream():
                arrival.write(piece)
            return await run_in_threadpool(arrival.take)
        except OtherKit as error:
            raise ProblemError(HTTPStatus.FORBIDDEN, f"{caller.name} may not upload this: {error}") from error
        except DamagedKit as error:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "build the kit again") from error


def _files(run: Run) -> set[str]:
    return {file for files in run.material.values() for file in files.names}
