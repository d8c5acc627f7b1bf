"""Tokens that administrators made. Each is looked up for each request, so that a revoked one is refused at once, also
by another process."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from kexbench.api.access import Caller, Gatekeeper, TokenEnded
from kexbench.api.calling import TokenError
from kexbench.domain.people import AccessToken
from kexbench.store.port import TokenStore

_PREFIX = "kexbench_"
"""By which scanners find one that was published."""
_TEXT = re.compile(rf"{_PREFIX}(?P<token_id>[0-9a-f]{{12}})_(?P<secret>[0-9a-f]{{64}})")


def new_token_id() -> str:
    return secrets.token_hex(6)


def new_secret() -> str:
    return secrets.token_hex(32)


def text_of(token_id: str, secret: str) -> str:
    """The token as its holder sends it."""
    return f"{_PREFIX}{token_id}_{secret}"


def sha256_of(secret: str) -> str:
    """A secret of 32 random bytes cannot be guessed from it, so a slow hash would only delay requests."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(frozen=True)
class TokenGatekeeper:
    """Accepts stored tokens, and leaves others to `other`."""

    store: TokenStore
    other: Gatekeeper
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def identify(self, token: str) -> Caller:
        """Also raises StoreError."""
        if not token.startswith(_PREFIX):
            return self.other.identify(token)
        match = _TEXT.fullmatch(token)
        stored = self.store.token(match["token_id"]) if match else None
        if not match or not stored or not hmac.compare_digest(sha256_of(match["secret"]), stored.secret_sha256):
            raise TokenError("no administrator made this token")
        caller = Caller(stored.token.role, stored.token.name, proof="token", token_id=stored.token.token_id)
        if end := _end_of(stored.token, self.clock()):
            raise TokenEnded(f"token {stored.token.token_id} of {stored.token.name} {end}", caller)
        return caller


def _end_of(token: AccessToken, now: datetime) -> str | None:
    if token.revoked_at:
        return f"was revoked at {token.revoked_at:%Y-%m-%d %H:%M} UTC"
    if token.expires_at and token.expires_at <= now:
        return f"expired at {token.expires_at:%Y-%m-%d %H:%M} UTC"
    return None
