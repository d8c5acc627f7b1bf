"""Deliveries of a forge's webhook: whether they are genuine, and which repository changed. Pure.

A webhook only makes the watcher poll a repository at once, and nothing else in it is trusted. A repeated delivery is
therefore harmless, and none is stored.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["push", "pull-request", "ping", "other"]
_KINDS: Mapping[str, Kind] = {
    "push": "push",
    "Push Hook": "push",
    "pull_request": "pull-request",
    "Merge Request Hook": "pull-request",
    "ping": "ping",
}
_SIGNING_PREFIX = "whsec_"


class WebhookError(Exception):
    """The delivery's sender does not know the secret. The text says what is missing or wrong."""


@dataclass(frozen=True)
class Delivery:
    """`repositories`: the repository's clone addresses. `branch`: the pushed branch, or the head branch of a pull
    request. Both are as in the body, and empty if it has none."""

    delivery_id: str
    kind: Kind
    repositories: tuple[str, ...]
    branch: str | None


def read_delivery(headers: Mapping[str, str], body: bytes, secret: str) -> Delivery:
    """Raises WebhookError. Header names may have any case. `body`: as received, with its size limited by the caller."""
    lower = {name.lower(): value for name, value in headers.items()}
    if not secret:
        raise WebhookError("no secret is configured, so no delivery can be verified")
    if "x-gitea-event" in lower:  # Gitea also sends GitHub's headers
        _check_hex(lower.get("x-gitea-signature"), body, secret, "X-Gitea-Signature")
        return _read(lower["x-gitea-event"], lower.get("x-gitea-delivery", ""), body)
    if "x-gitlab-event" in lower:
        _check_gitlab(lower, body, secret)
        delivery_id = lower.get("idempotency-key") or lower.get("x-gitlab-event-uuid", "")
        return _read(lower["x-gitlab-event"], delivery_id, body)
    if "x-github-event" in lower:
        signature = lower.get("x-hub-signature-256")
        prefix, _, digest = (signature or "").partition("=")
        _check_hex(digest if prefix == "sha256" else None, body, secret, "X-Hub-Signature-256")
        return _read(lower["x-github-event"], lower.get("x-github-delivery", ""), body)
    raise WebhookError("it has no header X-GitHub-Event, X-Gitlab-Event or X-Gitea-Event")


def _check_hex(given: str | None, body: bytes, secret: str, header: str) -> None:
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not given or not _same(given, expected):
        raise WebhookError(f"{header} is {'wrong' if given else 'missing'}: check that both sides have the same secret")


def _check_gitlab(headers: Mapping[str, str], body: bytes, secret: str) -> None:
    """A signing token signs the body (https://www.standardwebhooks.com), a secret token is sent in a header. The prefix
    of `secret` tells them apart."""
    if not secret.startswith(_SIGNING_PREFIX):
        token = headers.get("x-gitlab-token")
        if not token or not _same(token, secret):
            raise WebhookError(f"X-Gitlab-Token is {'wrong' if token else 'missing'}: check the secret token")
        return
    try:
        key = base64.b64decode(secret.removeprefix(_SIGNING_PREFIX), validate=True)
    except binascii.Error:
        raise WebhookError("the configured signing token is invalid: whsec_ must be followed by base64") from None
    head = f"{headers.get('webhook-id', '')}.{headers.get('webhook-timestamp', '')}."
    digest = hmac.new(key, head.encode("latin-1", "replace") + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    if not any(_same(signature, expected) for signature in headers.get("webhook-signature", "").split(" ")):
        raise WebhookError("webhook-signature is missing or wrong: check that both sides have the same signing token")


def _same(given: str, expected: str) -> bool:
    """Compares in constant time. Headers arrive as latin-1, whatever was sent."""
    return hmac.compare_digest(given.encode("latin-1", "replace"), expected.encode())


def _read(event: str, delivery_id: str, body: bytes) -> Delivery:
    """The known fields of a verified body."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        payload = None
    paths = (
        ("repository", "clone_url"),
        ("repository", "ssh_url"),
        ("project", "git_http_url"),
        ("project", "git_ssh_url"),
    )
    kind = _KINDS.get(event, "other")
    return Delivery(
        delivery_id=delivery_id,
        kind=kind,
        repositories=tuple(url for path in paths if (url := _text_at(payload, *path))),
        branch=_branch(payload, kind),
    )


def _branch(payload: Any, kind: Kind) -> str | None:
    if kind == "pull-request":
        return _text_at(payload, "pull_request", "head", "ref") or _text_at(
            payload, "object_attributes", "source_branch"
        )
    ref = _text_at(payload, "ref") or ""
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None


def _text_at(payload: Any, *path: str) -> str | None:
    for step in path:
        payload = payload.get(step) if isinstance(payload, dict) else None
    return payload if isinstance(payload, str) else None
