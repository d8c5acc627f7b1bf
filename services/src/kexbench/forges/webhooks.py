"""What a forge's webhook delivers: whether it is genuine, and where it says that something happened. Pure.

A webhook only hurries: it says "look at this repository now", and nothing else in it is believed. So one that is sent
again does no harm, and none is remembered.
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
    """A delivery that nobody who knows the secret sent; the text says what is missing or wrong."""


@dataclass(frozen=True)
class Delivery:
    """`repositories` are the addresses that the forge clones it from; `branch` is what was pushed, or a pull request's
    head. Both are as the body says, empty where it says nothing."""

    delivery_id: str
    kind: Kind
    repositories: tuple[str, ...]
    branch: str | None


def read_delivery(headers: Mapping[str, str], body: bytes, secret: str) -> Delivery:
    """Raises WebhookError. Headers are of any case; the body is as it came, of a size that the caller bounds."""
    given = {name.lower(): value for name, value in headers.items()}
    if not secret:
        raise WebhookError("no secret is known here, so that nothing can be genuine")
    if "x-gitea-event" in given:  # which says it in GitHub's words as well
        _check_hex(given.get("x-gitea-signature"), body, secret, "X-Gitea-Signature")
        return _read(given["x-gitea-event"], given.get("x-gitea-delivery", ""), body)
    if "x-gitlab-event" in given:
        _check_gitlab(given, body, secret)
        delivery_id = given.get("idempotency-key") or given.get("x-gitlab-event-uuid", "")
        return _read(given["x-gitlab-event"], delivery_id, body)
    if "x-github-event" in given:
        signature = given.get("x-hub-signature-256")
        prefix, _, digest = (signature or "").partition("=")
        _check_hex(digest if prefix == "sha256" else None, body, secret, "X-Hub-Signature-256")
        return _read(given["x-github-event"], given.get("x-github-delivery", ""), body)
    raise WebhookError("it has no header X-GitHub-Event, X-Gitlab-Event or X-Gitea-Event")


def _check_hex(given: str | None, body: bytes, secret: str, header: str) -> None:
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not given or not _same(given, expected):
        raise WebhookError(f"{header} is {'wrong' if given else 'missing'}: is the secret the same on both sides?")


def _check_gitlab(given: Mapping[str, str], body: bytes, secret: str) -> None:
    """Its signing token signs the body, after https://www.standardwebhooks.com; its older secret token is just sent
    along. Which of them a secret is shows by how it begins."""
    if not secret.startswith(_SIGNING_PREFIX):
        token = given.get("x-gitlab-token")
        if not token or not _same(token, secret):
            raise WebhookError(f"X-Gitlab-Token is {'wrong' if token else 'missing'}: is the secret token the same?")
        return
    try:
        key = base64.b64decode(secret.removeprefix(_SIGNING_PREFIX), validate=True)
    except binascii.Error:
        raise WebhookError("the signing token that is known here is none: there is no base64 behind whsec_") from None
    signed = f"{given.get('webhook-id', '')}.{given.get('webhook-timestamp', '')}.".encode("latin-1", "replace") + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = given.get("webhook-signature", "").split(" ")
    if not any(_same(one, expected) for one in signatures):
        raise WebhookError("webhook-signature is missing or wrong: is the signing token the same on both sides?")


def _same(given: str, expected: str) -> bool:
    """In a time that does not tell where they differ. Headers arrive as latin-1, whatever was sent."""
    return hmac.compare_digest(given.encode("latin-1", "replace"), expected.encode())


def _read(event: str, delivery_id: str, body: bytes) -> Delivery:
    """What a genuine body says, as far as it is understood."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        payload = None
    places = (
        ("repository", "clone_url"),
        ("repository", "ssh_url"),
        ("project", "git_http_url"),
        ("project", "git_ssh_url"),
    )
    kind = _KINDS.get(event, "other")
    return Delivery(
        delivery_id=delivery_id,
        kind=kind,
        repositories=tuple(url for place in places if (url := _text_at(payload, *place))),
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
