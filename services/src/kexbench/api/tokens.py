"""Tokens signed by the service's secret, short-lived: of one run, to write its own results, or of somebody with a
role."""

from datetime import UTC, datetime, timedelta

import jwt

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
