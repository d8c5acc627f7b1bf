"""Who calls, and what they may do. Reading is open; whoever writes shows a bearer token, which a gatekeeper knows."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal, Protocol, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from kexbench.api.calling import TokenError, bearer_of
from kexbench.api.problems import ProblemError

Role = Literal["run", "job", "builder", "dispatcher", "submitter", "schedule"]
"""`run`: a machine that measures by itself, for one run. `job`: the pod of one job. `builder`: a pod that builds kits.
`dispatcher`: submits and records what becomes of runs. `submitter`: asks for runs, cancels and resumes them,
adds and removes schedules. `schedule`: the pod that asks for a run when a schedule's time has come."""
_LOCAL_ROLES: tuple[Role, ...] = ("submitter", "dispatcher")
_bearer = HTTPBearer(auto_error=False, description="a token signed for one run, or of a ServiceAccount")


class AccessUnknown(Exception):
    """Nobody could be asked who the caller is; the text says why."""


@dataclass(frozen=True)
class Caller:
    """`run_id`, `job_id` and `schedule` say what a caller is bound to, `reference` and `architecture` which kit a
    builder may send; `pod`, `pod_uid` and `node` are those of its token."""

    role: Role
    name: str
    run_id: str | None = None
    job_id: str | None = None
    pod: str = ""
    pod_uid: str = ""
    node: str = ""
    schedule: str | None = None
    reference: str | None = None
    architecture: str | None = None


class Gatekeeper(Protocol):
    def identify(self, token: str) -> Caller:
        """Raises TokenError with the reason why nobody is known by this token, and AccessUnknown."""
        ...


@dataclass(frozen=True)
class LocalGatekeeper:
    """On one machine: tokens signed by the service's own secret, each for one run, of one who asks for runs, or of the
    service itself, which does a dispatcher's work."""

    secret: str

    def identify(self, token: str) -> Caller:
        name, role = bearer_of(token, self.secret)
        if role is None:
            return Caller("run", f"run {name}", name)
        known = next((local for local in _LOCAL_ROLES if local == role), None)
        if known is None:
            raise TokenError(f"a machine by itself has no {role}")
        return Caller(known, name)


def caller_of(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Caller:
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is not None:
        return caller
    gatekeeper = cast(Gatekeeper, request.app.state.gatekeeper)
    try:
        return gatekeeper.identify(credentials.credentials if credentials else "")
    except TokenError as error:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, str(error), "send the token made for this") from None
    except AccessUnknown as error:
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error), "try again; nothing was lost") from error


TheCaller = Annotated[Caller, Depends(caller_of)]


async def identify_caller(request: Request) -> None:
    """Find out who calls before anything else of a request is read; `caller_of` doesn't ask again then. Raises what
    that raises."""
    request.state.caller = await run_in_threadpool(caller_of, request, await _bearer(request))


def admit(
    caller: Caller, *roles: Role, run_id: str | None = None, job_id: str | None = None, schedule: str | None = None
) -> None:
    """Raises a 403 problem unless the caller has one of the roles, and is bound to nothing but what is named here."""
    if caller.role not in roles:
        raise ProblemError(HTTPStatus.FORBIDDEN, f"{caller.name} is a {caller.role}, which may not do this")
    bounds = (("run", caller.run_id, run_id), ("job", caller.job_id, job_id), ("schedule", caller.schedule, schedule))
    for what, bound, asked in bounds:
        if bound is not None and bound != asked:
            raise ProblemError(HTTPStatus.FORBIDDEN, f"the token is for {what} {bound}, not {asked}")
