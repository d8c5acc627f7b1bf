"""What a rule suspects in the stored runs of its spec. Nothing is written, asked for or told."""

from http import HTTPStatus

from fastapi import APIRouter

from kexbench.alerts.replaying import replay
from kexbench.api.access import TheCaller, admit
from kexbench.api.alert_models import RuleDryRun, RuleWanted
from kexbench.api.dependencies import TheStore
from kexbench.api.faults import CountedRoute
from kexbench.api.problems import ProblemError
from kexbench.api.uploading import router as uploads
from kexbench.planning.documents import DocumentError

router = APIRouter(route_class=CountedRoute, tags=["alerts"], responses=uploads.responses)


@router.post("/alerts/dry-run", operation_id="dry_run_alerts")
def dry_run_alerts(store: TheStore, caller: TheCaller, wanted: RuleWanted) -> RuleDryRun:
    """What the rule of a spec suspects in the stored runs of that spec. A spec with faults, or without a rule, is a 422
    problem that names them with their places."""
    admit(caller, "submitter")
    try:
        found = replay(store, wanted.spec_text, wanted.spec_file)
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "correct the spec") from None
    return RuleDryRun(spec_name=found.spec_name, runs=found.runs, upgrades=found.upgrades, told=list(found.told))
