"""A provider of OpenID Connect: the authorization code flow with PKCE, by authlib."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import ExpiredTokenError, InvalidClaimError, JoseError, MissingClaimError
from joserfc.jwk import KeySet

from kexbench.api.login import BegunLogin, LoginRefused, ProviderAway

_SCOPE = "openid profile email"
_TIMEOUT_S = 10.0
_LEEWAY_S = 60
"""That the clocks of provider and service may differ."""
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
"""Asymmetric ones: nobody but the provider can sign."""
_WRONG = {
    "iss": "is of another issuer",
    "aud": "is for another service",
    "azp": "is for another service",
    "nonce": "is of another login",
    "at_hash": "does not belong to the access token",
}


@dataclass(frozen=True)
class OidcProvider:
    """Implements the port of `login.py`."""

    issuer: str
    client_id: str
    client_secret: str
    scope: str = _SCOPE

    def begin(self, redirect_uri: str) -> tuple[str, BegunLogin]:
        """The address to send the browser to. Raises ProviderAway."""
        begun = BegunLogin(generate_token(32), generate_token(32), generate_token(48))
        with self._client(redirect_uri) as client:
            url, _ = client.create_authorization_url(
                self._metadata(client)["authorization_endpoint"],
                state=begun.state,
                nonce=begun.nonce,
                code_verifier=begun.verifier,
            )
        return str(url), begun

    def finish(self, redirect_uri: str, begun: BegunLogin, code: str, claim: str) -> Mapping[str, Any]:
        """The claims about the person whom the code is for, with `claim` where the provider has it. Raises LoginRefused
        and ProviderAway."""
        with self._client(redirect_uri) as client:
            metadata = self._metadata(client)
            try:
                token = client.fetch_token(metadata["token_endpoint"], code=code, code_verifier=begun.verifier)
            except OAuthError as error:
                raise LoginRefused(f"the provider refused the login: {error.error}") from None
            except httpx2.HTTPError as error:
                raise ProviderAway(f"the provider does not answer: {type(error).__name__}") from None
            if "id_token" not in token:
                raise LoginRefused("the provider sent no ID token")
            claims = self._checked(token, begun.nonce, self._json(client, metadata["jwks_uri"]))
            if claim in claims or "userinfo_endpoint" not in metadata:
                return claims
            about = self._json(client, metadata["userinfo_endpoint"], str(token["access_token"]))
        if about.get("sub") != claims["sub"]:
            raise LoginRefused("the provider describes another person than the one who logged in")
        return {**about, **claims}

    def _checked(self, token: Mapping[str, Any], nonce: str, keys: Mapping[str, Any]) -> dict[str, Any]:
        try:
            decoded = jwt.decode(token["id_token"], KeySet.import_key_set(dict(keys)), algorithms=_ALGORITHMS)  # type: ignore[arg-type]
            options = {
                "iss": {"essential": True, "value": self.issuer},
                "aud": {"essential": True, "value": self.client_id},
            }
            about = {"nonce": nonce, "client_id": self.client_id, "access_token": token.get("access_token")}
            claims = CodeIDToken(decoded.claims, decoded.header, options, about)
            claims.validate(leeway=_LEEWAY_S)
        except ExpiredTokenError:
            raise LoginRefused("the ID token has expired") from None
        except (InvalidClaimError, MissingClaimError) as error:
            wrong = _WRONG.get(error.claim, f"has no valid {error.claim}")
            raise LoginRefused(f"the ID token {wrong}") from None
        except (JoseError, ValueError) as error:
            raise LoginRefused(f"the ID token is not valid: {type(error).__name__}") from None
        return dict(claims)

    def _metadata(self, client: OAuth2Client) -> dict[str, Any]:
        metadata = self._json(client, f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        if metadata.get("issuer") != self.issuer:
            raise LoginRefused(f"the provider calls itself {metadata.get('issuer')}, not {self.issuer}")
        return metadata

    def _client(self, redirect_uri: str) -> OAuth2Client:
        return OAuth2Client(
            self.client_id,
            self.client_secret,
            token_endpoint_auth_method="client_secret_basic",  # noqa: S106 (a method)
            scope=self.scope,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=_TIMEOUT_S,
        )

    def _json(self, client: OAuth2Client, url: str, access_token: str | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {access_token}"} if access_token else {}
        try:
            response = client.request("GET", url, headers=headers, withhold_token=True)
            response.raise_for_status()
            answer = response.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise ProviderAway(f"the provider does not answer: {type(error).__name__}") from None
        if not isinstance(answer, dict):
            raise ProviderAway("the provider does not answer as one")
        return answer
