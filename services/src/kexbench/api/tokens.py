"""Tokens that let one run write its own results: signed by the service's secret, short-lived."""

from datetime import UTC, datetime, timedelta

import jwt

AUDIENCE = "kexbench"
_ALGORITHM = "HS256"


class TokenError(Exception):
    """The token is missing, expired or not signed by this service."""


def sign_run_token(run_id: str, secret: str, *, now: datetime, lifetime: timedelta = timedelta(hours=24)) -> str:
    claims = {"sub": run_id, "aud": AUDIENCE, "exp": now.astimezone(UTC) + lifetime}
    return jwt.encode(claims, secret, algorithm=_ALGORITHM)


def run_of_token(token: str, secret: str) -> str:
    """The run a token was made for. Raises TokenError."""
    try:
        claims = jwt.decode(
            token, secret, algorithms=[_ALGORITHM], audience=AUDIENCE, options={"require": ["exp", "sub", "aud"]}
        )
    except jwt.InvalidTokenError as error:
        raise TokenError(f"no valid token: {error}") from None
    return str(claims["sub"])
