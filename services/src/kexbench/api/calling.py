"""What whoever calls the API knows of it, without what serving it takes, which is much to import."""

import ssl
from datetime import UTC, datetime, timedelta

import httpx
import jwt

API_PREFIX = "/api/v1"
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For addresses of this machine, which are plain HTTP: to read what the system trusts takes a fifth of a second."""


def problem_words(response: httpx.Response) -> tuple[str, str | None]:
    """What an answer that is no success says is wrong, and what puts it right. Also of one that is no problem of ours,
    such as a proxy's."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if isinstance(problem, dict) and isinstance(problem.get("detail"), str):
        return problem["detail"], problem.get("remedy")
    return f"the API answered {response.status_code}", None


AUDIENCE = "kexbench"
_ALGORITHM = "HS256"


class TokenError(Exception):
    """The token is missing, expired or not signed by this service."""


def sign_run_token(run_id: str, secret: str, *, now: datetime, lifetime: timedelta = timedelta(hours=24)) -> str:
    claims = {"sub": run_id, "aud": AUDIENCE, "exp": now.astimezone(UTC) + lifetime}
    return jwt.encode(claims, secret, algorithm=_ALGORITHM)


def sign_role_token(
    name: str, role: str, secret: str, *, now: datetime, lifetime: timedelta = timedelta(hours=1)
) -> str:
    """`name` is told as who asked."""
    claims = {"sub": name, "role": role, "aud": AUDIENCE, "exp": now.astimezone(UTC) + lifetime}
    return jwt.encode(claims, secret, algorithm=_ALGORITHM)


def bearer_of(token: str, secret: str) -> tuple[str, str | None]:
    """The run that a token was made for and None, or a name and its role. Raises TokenError."""
    try:
        claims = jwt.decode(
            token, secret, algorithms=[_ALGORITHM], audience=AUDIENCE, options={"require": ["exp", "sub", "aud"]}
        )
    except jwt.InvalidTokenError as error:
        raise TokenError(f"no valid token: {error}") from None
    role = claims.get("role")
    return str(claims["sub"]), None if role is None else str(role)
