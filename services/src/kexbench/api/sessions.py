"""Sessions of browsers: a signed cookie, which no script can read and which ends after some hours."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import urlsplit

import jwt
from fastapi import Request, Response

from kexbench.api.access import Caller
from kexbench.api.calling import API_PREFIX, TokenError
from kexbench.api.problems import ProblemError
from kexbench.api.refusals import WRITING
from kexbench.domain.people import PERSON_ROLES, PersonRole

SESSION_LASTS = timedelta(hours=8)
"""A role that somebody loses at the provider ends with it at the latest."""
LOGIN_LASTS = timedelta(minutes=10)
"""From the first page of a login to its last."""
_ALGORITHM = "HS256"
Kind = Literal["session", "login"]
_LASTS: dict[Kind, timedelta] = {"session": SESSION_LASTS, "login": LOGIN_LASTS}
_PATHS: dict[Kind, str] = {"session": "/", "login": f"{API_PREFIX}/login"}


@dataclass(frozen=True)
class Sessions:
    """`secret` signs the cookies; all processes that serve the same pages have the same. `pages_url` is where people
    reach the pages."""

    secret: bytes
    pages_url: str

    @property
    def origin(self) -> str:
        url = urlsplit(self.pages_url)
        return f"{url.scheme}://{url.netloc}".lower()

    def begin(self, response: Response, name: str, role: PersonRole) -> None:
        self.put(response, "session", {"sub": name, "role": role}, datetime.now(UTC))

    def put(self, response: Response, kind: Kind, claims: dict[str, Any], now: datetime) -> None:
        """Also where somebody else is logged in."""
        lasts = _LASTS[kind]
        cookie = jwt.encode({**claims, "aud": self._name(kind), "exp": now + lasts}, self.secret, algorithm=_ALGORITHM)
        response.set_cookie(
            self._name(kind),
            cookie,
            max_age=int(lasts.total_seconds()),
            path=_PATHS[kind],
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )

    def remove(self, response: Response, kind: Kind) -> None:
        response.delete_cookie(
            self._name(kind), path=_PATHS[kind], secure=self._is_secure, httponly=True, samesite="lax"
        )

    def read(self, request: Request, kind: Kind) -> dict[str, Any] | None:
        """What the cookie says; None if there is none. Raises TokenError if it has expired or is not ours."""
        cookie = request.cookies.get(self._name(kind))
        if cookie is None:
            return None
        try:
            claims: dict[str, Any] = jwt.decode(
                cookie,
                self.secret,
                algorithms=[_ALGORITHM],
                audience=self._name(kind),
                options={"require": ["exp", "aud"]},
            )
        except jwt.InvalidTokenError:
            raise TokenError(f"the {kind} has expired") from None
        return claims

    def caller(self, request: Request) -> Caller | None:
        """Who is logged in. None if nobody is. Raises TokenError."""
        claims = self.read(request, "session")
        if claims is None:
            return None
        return Caller(next(role for role in PERSON_ROLES if role == claims["role"]), claims["sub"], proof="login")

    def check_origin(self, request: Request) -> None:
        """A browser sends the cookie along, whoever made it ask. Raises a 403 problem if a writing request does not
        come from the own pages: browsers name the origin of each."""
        if request.method in WRITING and request.headers.get("origin", "").lower() != self.origin:
            detail = f"a login only counts for requests of the pages at {self.origin}"
            raise ProblemError(HTTPStatus.FORBIDDEN, detail, "programs send a token: kexbench tokens create")

    @property
    def _is_secure(self) -> bool:
        return self.origin.startswith("https:")

    def _name(self, kind: Kind) -> str:
        """No neighbour of the same domain can set a cookie with this prefix (RFC 6265bis)."""
        prefix = {"session": "__Host-", "login": "__Secure-"}[kind] if self._is_secure else ""
        return f"{prefix}kexbench_{kind}"
