"""Logging in with a provider of OpenID Connect, and out."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, Protocol

from fastapi import Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from kexbench.api.calling import API_PREFIX, TokenError
from kexbench.api.gate import CountedRoute, api_router
from kexbench.api.models import Problem
from kexbench.api.problems import ProblemError
from kexbench.api.sessions import Sessions
from kexbench.domain.people import NAME_MAX, PERSON_ROLES, PersonRole

router = api_router(
    route_class=CountedRoute,
    tags=["people"],
    responses={
        302: {"description": "Go on there"},
        403: {"model": Problem, "description": "The login is refused"},
        409: {"model": Problem, "description": "This service has no login"},
        422: {"model": Problem, "description": "Not a valid request"},
        503: {"model": Problem, "description": "The provider does not answer"},
    },
)
_CALLBACK = f"{API_PREFIX}/login/callback"
_AGAIN = "log in again"
EVERYONE = "*"
"""In place of a group: whoever logs in."""


class LoginRefused(Exception):
    """The text says why."""


class ProviderAway(Exception):
    """The text says what does not answer."""


@dataclass(frozen=True)
class BegunLogin:
    """What connects the answer of the provider with this browser."""

    state: str
    nonce: str
    verifier: str


class Provider(Protocol):
    """Of OpenID Connect. Raises LoginRefused and ProviderAway."""

    def begin(self, redirect_uri: str) -> tuple[str, BegunLogin]:
        """The address to send the browser to."""
        ...

    def finish(self, redirect_uri: str, begun: BegunLogin, code: str, claim: str) -> Mapping[str, Any]:
        """The claims about the person whom the code is for, with `claim` where the provider has it."""
        ...


@dataclass(frozen=True)
class Login:
    """`roles` are those of the provider's groups, which the claim `groups_claim` names."""

    provider: Provider
    sessions: Sessions
    roles: Mapping[str, PersonRole]
    groups_claim: str

    @property
    def redirect_uri(self) -> str:
        return f"{self.sessions.pages_url.rstrip('/')}{_CALLBACK}"

    def role_of(self, claims: Mapping[str, Any]) -> PersonRole:
        """The highest role of the groups. Raises LoginRefused if none has one."""
        groups = claims.get(self.groups_claim)
        named = [groups] if isinstance(groups, str) else list(groups or ())
        roles = {self.roles[group] for group in (*map(str, named), EVERYONE) if group in self.roles}
        if not roles:
            raise LoginRefused(f"{name_of(claims)} is in no group that may use this service")
        return max(roles, key=PERSON_ROLES.index)


def session_secret(client_secret: str) -> bytes:
    """The same in all processes, and another one if the client's secret changes."""
    return hmac.new(client_secret.encode(), b"kexbench sessions", hashlib.sha256).digest()


def name_of(claims: Mapping[str, Any]) -> str:
    named = (claims.get(claim) for claim in ("preferred_username", "email", "name", "sub"))
    return next(str(name) for name in named if name)[:NAME_MAX]


def _login(request: Request) -> Login:
    login: Login | None = request.app.state.login
    if login is None:
        raise ProblemError(HTTPStatus.CONFLICT, "this service has no login", "set KEXBENCH_OIDC_ISSUER, or use a token")
    return login


TheLogin = Annotated[Login, Depends(_login)]


@router.get("/login", operation_id="login", status_code=302, response_class=RedirectResponse)
def begin_login(login: TheLogin, next: Annotated[str, Query(max_length=2000)] = "/") -> Response:
    """Log in with the provider, and come back to the page `next`."""
    try:
        url, begun = login.provider.begin(login.redirect_uri)
    except (LoginRefused, ProviderAway) as error:
        raise _problem(error) from None
    response = RedirectResponse(url, HTTPStatus.FOUND)
    login.sessions.put(response, "login", {**asdict(begun), "next": _own_page(next)}, datetime.now(UTC))
    return response


@router.get("/login/callback", operation_id="login_callback", status_code=302, response_class=RedirectResponse)
def finish_login(request: Request, login: TheLogin, state: str = "", code: str = "", error: str = "") -> Response:
    """Where the provider sends the browser back to."""
    begun = _begun_here(request, login, state)
    try:
        name, role = _who_came_back(login, begun, code, error)
    except (LoginRefused, ProviderAway) as refusal:
        raise _problem(refusal) from None
    response = RedirectResponse(begun["next"], HTTPStatus.FOUND)
    login.sessions.remove(response, "login")
    login.sessions.begin(response, name, role)
    return response


def _begun_here(request: Request, login: Login, state: str) -> dict[str, Any]:
    """What this browser kept of the login. Raises a 403 problem if it has begun none with this state."""
    try:
        begun = login.sessions.read(request, "login")
    except TokenError:
        begun = None
    if begun is None or not hmac.compare_digest(begun["state"].encode(), state.encode()):
        detail = "this browser did not begin this login, or finished it already, or took too long"
        raise ProblemError(HTTPStatus.FORBIDDEN, detail, _AGAIN)
    return begun


def _who_came_back(login: Login, begun: Mapping[str, Any], code: str, error: str) -> tuple[str, PersonRole]:
    """The name and role. Raises LoginRefused and ProviderAway."""
    if error or not code:
        raise LoginRefused(f"the provider refused the login: {error or 'it sent no code'}")
    own = BegunLogin(begun["state"], begun["nonce"], begun["verifier"])
    claims = login.provider.finish(login.redirect_uri, own, code, login.groups_claim)
    return name_of(claims), login.role_of(claims)


@router.post("/logout", operation_id="logout", status_code=204)
def logout(request: Request, login: TheLogin) -> Response:
    """End the session of this browser. The provider's own session goes on."""
    login.sessions.check_origin(request)
    response = Response(status_code=HTTPStatus.NO_CONTENT)
    login.sessions.remove(response, "session")
    return response


def _problem(error: LoginRefused | ProviderAway) -> ProblemError:
    if isinstance(error, ProviderAway):
        return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error), "try again later")
    return ProblemError(HTTPStatus.FORBIDDEN, str(error)[:500], _AGAIN)


def _own_page(path: str) -> str:
    """A page of this service, so that a link to log in leads nowhere else."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_own else "/"
