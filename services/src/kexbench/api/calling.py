"""What clients of the API need: its prefix, tokens and problems. Imports nothing of the server, which takes long,
and what signs tokens only to do so."""

import ssl
from datetime import UTC, datetime, timedelta

import httpx2

API_PREFIX = "/api/v1"
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For plain HTTP on this machine. Reading the system's certificates would take 0.2 s."""


def problem_words(response: httpx2.Response) -> tuple[str, str | None]:
    """The detail and remedy of a failed request. The answer need not be a Problem: a proxy may have sent it."""
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

    def __init__(self, detail: str, remedy: str = "send a valid token for this service") -> None:
        super().__init__(detail)
        self.remedy = remedy


def sign_run_token(run_id: str, secret: str, *, now: datetime, lifetime: timedelta = timedelta(hours=24)) -> str:
    import jwt

    claims = {"sub": run_id, "aud": AUDIENCE, "exp": now.astimezone(UTC) + lifetime}
    return jwt.encode(claims, secret, algorithm=_ALGORITHM)


def sign_role_token(
    name: str, role: str, secret: str, *, now: datetime, lifetime: timedelta = timedelta(hours=1)
) -> str:
    """`name` is shown as the author of requests."""
    import jwt

    claims = {"sub": name, "role": role, "aud": AUDIENCE, "exp": now.astimezone(UTC) + lifetime}
    return jwt.encode(claims, secret, algorithm=_ALGORITHM)


def bearer_of(token: str, secret: str) -> tuple[str, str | None]:
    """The run of a run's token and None, or the name and role of a role's token. Raises TokenError."""
    import jwt

    try:
        claims = jwt.decode(
            token, secret, algorithms=[_ALGORITHM], audience=AUDIENCE, options={"require": ["exp", "sub", "aud"]}
        )
    except jwt.InvalidTokenError as error:
        raise TokenError(f"no valid token: {error}") from None
    role = claims.get("role")
    return str(claims["sub"]), None if role is None else str(role)
