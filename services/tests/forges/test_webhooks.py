"""Deliveries of webhooks: genuine ones are read, and nothing else is."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.forges.webhooks import Delivery, WebhookError, read_delivery

SECRET = "it's a secret"
KEY = bytes(range(32))
SIGNING_TOKEN = f"whsec_{base64.b64encode(KEY).decode()}"
GITHUB_EXAMPLE = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "72d3162e"}
Headers = dict[str, str]
ADDRESSES = ("https://forge/acme/specs.git", "git@forge:acme/specs.git")
PUSH = {"ref": "refs/heads/main", "repository": {"clone_url": ADDRESSES[0], "ssh_url": ADDRESSES[1], "id": 1}}
PULL = {**PUSH, "action": "opened", "ref": None, "pull_request": {"head": {"ref": "faster", "sha": "0"}}}
PROJECT = {"project": {"git_http_url": ADDRESSES[0], "git_ssh_url": ADDRESSES[1], "id": 1}}


def digest(body: bytes, key: bytes = SECRET.encode()) -> bytes:
    return hmac.new(key, body, hashlib.sha256).digest()


def by_github(body: bytes, event: str = "push") -> Headers:
    signature = f"sha256={digest(body).hex()}"
    return {"X-GitHub-Event": event, "X-GitHub-Delivery": "72d3162e", "X-Hub-Signature-256": signature}


def by_gitea(body: bytes, event: str = "push") -> Headers:
    """With GitHub's headers, as Gitea sends them too."""
    own = {"X-Gitea-Event": event, "X-Gitea-Delivery": "f6266f16", "X-Gitea-Signature": digest(body).hex()}
    return {**by_github(body, event), **own}


def by_gitlab(_: bytes, event: str = "Push Hook") -> Headers:
    return {"X-Gitlab-Event": event, "X-Gitlab-Event-UUID": "13792a34", "X-Gitlab-Token": SECRET}


def signed_by_gitlab(body: bytes, event: str = "Push Hook") -> Headers:
    """https://www.standardwebhooks.com, with a second signature, of a key that is being replaced."""
    signed = base64.b64encode(digest(b"f5e5f430.1700000000." + body, KEY)).decode()
    return {
        "X-Gitlab-Event": event,
        "Idempotency-Key": "f5e5f430",
        "webhook-id": "f5e5f430",
        "webhook-timestamp": "1700000000",
        "webhook-signature": f"v1,AAAA v1,{signed}",
    }


SIGNED = [(by_github, SECRET), (by_gitea, SECRET), (signed_by_gitlab, SIGNING_TOKEN)]
ALL = [*SIGNED, (by_gitlab, SECRET)]
Sender = Callable[..., Headers]


@pytest.mark.parametrize(
    ("sender", "secret", "event", "payload", "expected"),
    [
        (by_github, SECRET, "push", PUSH, Delivery("72d3162e", "push", ADDRESSES, "main")),
        (by_github, SECRET, "pull_request", PULL, Delivery("72d3162e", "pull-request", ADDRESSES, "faster")),
        (by_github, SECRET, "ping", {"zen": "Design for failure."}, Delivery("72d3162e", "ping", (), None)),
        (by_github, SECRET, "issue_comment", {}, Delivery("72d3162e", "other", (), None)),
        (by_gitea, SECRET, "push", PUSH, Delivery("f6266f16", "push", ADDRESSES, "main")),
        (by_gitea, SECRET, "pull_request", PULL, Delivery("f6266f16", "pull-request", ADDRESSES, "faster")),
        (
            by_gitlab,
            SECRET,
            "Push Hook",
            {**PROJECT, "ref": "refs/heads/a/b"},
            Delivery("13792a34", "push", ADDRESSES, "a/b"),
        ),
        (
            signed_by_gitlab,
            SIGNING_TOKEN,
            "Merge Request Hook",
            {**PROJECT, "object_attributes": {"source_branch": "faster", "iid": 1}},
            Delivery("f5e5f430", "pull-request", ADDRESSES, "faster"),
        ),
        (by_gitlab, SECRET, "Tag Push Hook", {"ref": "refs/tags/v1"}, Delivery("13792a34", "other", (), None)),
    ],
)
def test_a_genuine_delivery_says_what_happened_where(
    sender: Sender, secret: str, event: str, payload: dict[str, object], expected: Delivery
) -> None:
    body = json.dumps(payload).encode()
    headers = sender(body, event)
    assert read_delivery(headers, body, secret) == expected
    assert read_delivery({name.lower(): value for name, value in headers.items()}, body, secret) == expected


def test_githubs_own_example_of_a_signature_is_genuine() -> None:
    """https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries"""
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    headers = {**GITHUB_EXAMPLE, "X-Hub-Signature-256": signature}
    assert read_delivery(headers, b"Hello, World!", "It's a Secret to Everybody").kind == "push"


@pytest.mark.parametrize(("sender", "secret"), SIGNED)
@given(body=st.binary(min_size=1, max_size=200), data=st.data())
def test_any_changed_byte_of_a_signed_body_is_refused(
    sender: Sender, secret: str, body: bytes, data: st.DataObject
) -> None:
    headers = sender(body)
    read_delivery(headers, body, secret)
    place, flipped = data.draw(st.integers(0, len(body) - 1)), data.draw(st.integers(1, 255))
    changed = body[:place] + bytes([body[place] ^ flipped]) + body[place + 1 :]
    for other in (changed, body[:-1], body + b"\n"):
        with pytest.raises(WebhookError, match="wrong"):
            read_delivery(headers, other, secret)


@pytest.mark.parametrize(("sender", "secret"), ALL)
@given(data=st.data())
def test_any_changed_character_of_a_signature_or_token_is_refused(
    sender: Sender, secret: str, data: st.DataObject
) -> None:
    headers = sender(b"{}")
    proof = next(
        name
        for name in ("X-Gitea-Signature", "webhook-signature", "X-Gitlab-Token", "X-Hub-Signature-256")
        if name in headers
    )
    right = headers[proof].rpartition(" ")[2] if proof == "webhook-signature" else headers[proof]
    place, letter = data.draw(st.integers(0, len(right) - 1)), data.draw(st.characters())
    changed = right[:place] + letter + right[place + 1 :]
    for other in (right[:-1], right + "0", "", *([changed] if changed != right else [])):
        with pytest.raises(WebhookError):
            read_delivery({**headers, proof: other}, b"{}", secret)


@pytest.mark.parametrize(("sender", "secret"), ALL)
@given(other=st.text())
def test_another_secret_or_none_is_refused(sender: Sender, secret: str, other: str) -> None:
    if other != secret:
        with pytest.raises(WebhookError):
            read_delivery(sender(b"{}"), b"{}", other)


def test_without_a_secret_nothing_is_genuine_not_even_what_has_none() -> None:
    empty = {"X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": ""}
    unkeyed = {**GITHUB_EXAMPLE, "X-Hub-Signature-256": f"sha256={digest(b'{}', b'').hex()}"}
    for headers in (empty, unkeyed):
        with pytest.raises(WebhookError, match="no secret"):
            read_delivery(headers, b"{}", "")


def test_a_signing_token_is_not_taken_as_one_that_is_sent_along() -> None:
    headers = {"X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": SIGNING_TOKEN}
    with pytest.raises(WebhookError, match="webhook-signature"):
        read_delivery(headers, b"{}", SIGNING_TOKEN)


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({}, "no header"),
        ({"X-GitHub-Event": "push"}, "X-Hub-Signature-256 is missing"),
        ({"X-GitHub-Event": "push", "X-Hub-Signature-256": digest(b"{}").hex()}, "missing"),
        ({"X-Gitea-Event": "push", **by_github(b"{}")}, "X-Gitea-Signature is missing"),
        ({"X-Gitlab-Event": "Push Hook"}, "X-Gitlab-Token is missing"),
    ],
)
def test_what_is_missing_is_named(headers: Headers, says: str) -> None:
    with pytest.raises(WebhookError, match=says):
        read_delivery(headers, b"{}", SECRET)


@given(
    body=st.binary(max_size=100) | st.recursive(st.none() | st.text(), st.lists).map(lambda it: json.dumps(it).encode())
)
def test_a_genuine_body_of_any_content_is_read_without_fault(body: bytes) -> None:
    assert read_delivery(by_github(body), body, SECRET).kind == "push"


def test_a_body_nested_too_deep_says_nothing() -> None:
    body = b"[" * 200_000
    assert read_delivery(by_github(body), body, SECRET) == Delivery("72d3162e", "push", (), None)
