"""Callers and their rights. Reading needs no token. Writing needs a bearer token that the gatekeeper accepts."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Protocol, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from starlette.concurrency import run_in_threadpool

from kexbench.api.calling import TokenError, bearer_of
from kexbench.api.problems import ProblemError
from kexbench.api.rights import PERSON, RIGHTS, Role
from kexbench.domain.people import PERSON_ROLES, Proof

_LOCAL_ROLES: tuple[Role, ...] = (*PERSON_ROLES, "dispatcher")
_bearer = HTTPBearer(auto_error=False, description="a token signed for one run, or a ServiceAccount's")


class AccessUnknown(Exception):
    """The caller could not be identified; the text says why."""


@dataclass(frozen=True)
class Caller:
    """A caller may only write for its `run_id`, `job_id` and `schedule`, if set. A builder may only upload the kit of
    its `reference` and `architecture`. `pod`, `pod_uid` and `node` come from the token."""

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
    proof: Proof = ""
    token_id: str = ""
    """Of a stored token."""


class TokenEnded(TokenError):
    """A stored token that has expired or was revoked, and who it was made for."""

    def __init__(self, detail: str, caller: Caller) -> None:
        super().__init__(detail)
        self.caller = caller


class Sessions(Protocol):
    """Logins of browsers."""

    def caller(self, request: Request) -> Caller | None:
        """Who is logged in, None if nobody is. Raises TokenError if the login has expired."""
        ...

    def check_origin(self, request: Request) -> None:
        """Raises a 403 problem if a writing request does not come from the own pages."""
        ...


class Gatekeeper(Protocol):
    def identify(self, token: str) -> Caller:
        """Raises TokenError if the token is not valid, and AccessUnknown."""
        ...


@dataclass(frozen=True)
class LocalGatekeeper:
    """On one machine: accepts tokens signed with the service's own secret. They are for one run, for a person,
    or for the service itself, which does the dispatcher's work."""

    secret: str

    def identify(self, token: str) -> Caller:
        name, role = bearer_of(token, self.secret)
        if role is None:
            return Caller("run", f"run {name}", name)
        local_role = next((local for local in _LOCAL_ROLES if local == role), None)
        if local_role is None:
            raise TokenError(f"a service on a single machine has no role {role}")
        return Caller(local_role, name, proof="signed" if local_role in PERSON else "")


_Shown = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
"""For the document alone: middleware identifies callers too, and has only a request."""


def caller_of(request: Request, _: _Shown) -> Caller:
    """Who sends a request. Raises a 401 problem if nobody does, and a 403 problem if they may not use the route."""
    caller = identified(request)
    allowed = RIGHTS[request.scope["route"].operation_id]
    if caller.role not in allowed:
        least = next((role for role in PERSON_ROLES if role in allowed), None)
        remedy = f"ask for the role {least}" if least and caller.role in PERSON else None
        detail = f"{caller.name} is {'an' if caller.role == 'admin' else 'a'} {caller.role}, which may not do this"
        raise ProblemError(HTTPStatus.FORBIDDEN, detail, remedy)
    if caller.proof == "login":
        cast(Sessions, request.app.state.sessions).check_origin(request)
    return caller


def maybe_caller_of(request: Request, _: _Shown) -> Caller | None:
    """None if a request says nothing about who sends it, or its login has expired. Raises a 401 problem for a token
    that is not valid."""
    if _token_of(request) is not None:
        return identified(request)
    try:
        return _logged_in(request)
    except TokenError:
        return None


def identified(request: Request) -> Caller:
    """Raises a 401 problem, a 503 problem, and StoreError."""
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is not None:
        return caller
    gatekeeper, token = cast(Gatekeeper, request.app.state.gatekeeper), _token_of(request)
    try:
        logged_in = _logged_in(request) if token is None else None
        request.state.caller = caller = logged_in or gatekeeper.identify(token or "")
    except TokenError as error:
        if isinstance(error, TokenEnded):
            request.state.ended_caller = error.caller
        remedy = "log in again" if token is None else error.remedy
        raise ProblemError(HTTPStatus.UNAUTHORIZED, str(error), remedy) from None
    except AccessUnknown as error:
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error), "try again; nothing was lost") from error
    return caller


def _token_of(request: Request) -> str | None:
    scheme, token = get_authorization_scheme_param(request.headers.get("Authorization"))
    return token if scheme.lower() == "bearer" else None


def _logged_in(request: Request) -> Caller | None:
    sessions = cast(Sessions | None, request.app.state.sessions)
    return sessions.caller(request) if sessions else None


TheCaller = Annotated[Caller, Depends(caller_of)]
MaybeCaller = Annotated[Caller | None, Depends(maybe_caller_of)]
ADMITTED = (Depends(caller_of),)
"""Of a route that needs a caller, whoever it is."""


async def identify_caller(request: Request) -> None:
    """Identify the caller before the body is read. `caller_of` then reuses the result. Raises the same errors."""
    request.state.caller = await run_in_threadpool(caller_of, request, None)


def check_bounds(
    caller: Caller, *, run_id: str | None = None, job_id: str | None = None, schedule: str | None = None
) -> None:
    """Raises a 403 problem unless the caller may write for the given run, job and schedule."""
    bounds = (("run", caller.run_id, run_id), ("job", caller.job_id, job_id), ("schedule", caller.schedule, schedule))
    for what, bound, requested in bounds:
        if bound is not None and bound != requested:
            raise ProblemError(HTTPStatus.FORBIDDEN, f"the token is for {what} {bound}, not {requested}")
