"""A provider of OpenID Connect in this process, for tokens that no real one sends. Like a real one it checks client,
code and verifier, and takes each code once."""

import base64
import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.serving import serving

CLIENT, SECRET = "kexbench", "client-secret"


@dataclass
class FakeProvider:
    url: str = ""
    groups: dict[str, list[str]] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)
    """Claims of ID tokens that are wrong."""
    calls_itself: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "alg": "RS256"}))
    signs_with: RSAKey | None = None
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def log_in(self, address: str, name: str) -> dict[str, str]:
        """What the browser brings back from the login page at `address`."""
        asked = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
        assert (asked["client_id"], asked["response_type"], asked["code_challenge_method"]) == (CLIENT, "code", "S256")
        code = secrets.token_hex(8)
        self.codes[code] = {**asked, "name": name}
        return {"state": asked["state"], "code": code}

    def token_for(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        asked = self.codes.pop(form.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        client = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        if (
            asked is None
            or client != f"{CLIENT}:{SECRET}"
            or asked["code_challenge"] != challenge.decode().rstrip("=")
            or asked["redirect_uri"] != form["redirect_uri"]
        ):
            return None
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": asked["name"],
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "preferred_username": asked["name"],
            "groups": self.groups.get(asked["name"], []),
        }
        kept = {name: claim for name, claim in (claims | self.changes).items() if claim is not None}
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, kept, self.signs_with or self.key)
        return {"access_token": "opaque", "token_type": "Bearer", "expires_in": 300, "id_token": signed}


@contextmanager
def fake_provider(**fields: Any) -> Iterator[FakeProvider]:
    provider, app = FakeProvider(**fields), FastAPI()

    @app.get("/.well-known/openid-configuration")
    def metadata() -> dict[str, str]:
        url = provider.url
        return {
            "issuer": provider.calls_itself or url,
            "authorization_endpoint": f"{url}/auth",
            "token_endpoint": f"{url}/token",
            "jwks_uri": f"{url}/jwks",
        }

    @app.get("/jwks")
    def jwks() -> dict[str, Any]:
        return {"keys": [provider.key.as_dict(private=False)]}

    @app.post("/token")
    async def token(request: Request) -> Response:
        form = {key: values[0] for key, values in parse_qs((await request.body()).decode()).items()}
        answer = provider.token_for(form, request.headers.get("authorization", ""))
        return JSONResponse(answer) if answer else JSONResponse({"error": "invalid_grant"}, 400)

    with serving(app) as url:
        provider.url = url
        yield provider
