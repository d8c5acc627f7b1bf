"""Tokens that administrators make: what each may do, until it expires or is revoked, here and in another process."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper, TokenEnded
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.api.stored_tokens import TokenGatekeeper, sha256_of, text_of
from kexbench.domain.people import PERSON_ROLES
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.api.test_local_queue import asks
from tests.store.test_people import a_token
from tests.stores import raw

CANCEL = {"queued": True}


def client_on(store: ClickHouseStore, client_of: ClientOf) -> httpx2.Client:
    client = client_of(create_app(store, TokenGatekeeper(store, LocalGatekeeper(SECRET)), None))
    client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
    return client


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    with client_on(empty_store, client_of) as client:
        yield client


def made(client: httpx2.Client, role: str = "submitter", **fields: Any) -> dict[str, Any]:
    answer = client.post("/tokens", json={"name": "ci", "role": role, **fields}, headers=asks("alice", "admin"))
    assert answer.status_code == 201, answer.text
    new: dict[str, Any] = answer.json()
    return new


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


@pytest.mark.parametrize("role", PERSON_ROLES)
def test_a_token_may_do_what_it_says(client: httpx2.Client, role: str) -> None:
    text = made(client, role)["text"]
    me = client.get("/me", headers=bearer(text)).json()
    assert (me["name"], me["role"], me["proof"]) == ("ci", role, "token")
    assert ("change_alert" in me["operations"]) == (role in ("triager", "admin"))
    refused = client.get("/tokens", headers=bearer(text))
    assert refused.status_code == (200 if role == "admin" else 403)


def test_a_token_is_shown_once_and_the_store_has_only_its_hash(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    new = made(client)
    text, token_id = new["text"], new["token"]["token_id"]
    secret = text.rpartition("_")[2]
    assert re.fullmatch(rf"kexbench_{token_id}_[0-9a-f]{{64}}", text)
    (listed,) = client.get("/tokens", headers=asks("alice", "admin")).json()
    assert listed == new["token"]
    assert (listed["created_by"], listed["revoked_at"]) == ("alice", None)
    rows = raw(empty_store).query("SELECT * FROM tokens") + raw(empty_store).query("SELECT * FROM audit")
    assert secret not in str(rows)
    assert sha256_of(secret) in str(rows)
    assert "sha256" not in str(listed)


def test_a_revoked_token_is_refused_at_once_also_by_another_process(
    client: httpx2.Client, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    new, other_store = made(client), raw(empty_store).opened_as(ClickHouseStore)
    other = client_on(other_store, client_of)
    assert other.post("/runs/cancel", json=CANCEL, headers=bearer(new["text"])).status_code == 409  # it has no queue
    path = f"/tokens/{new['token']['token_id']}"
    for _ in range(2):
        assert client.delete(path, headers=asks("bob", "admin")).status_code == 204
    for each in (client, other):
        refused = each.post("/runs/cancel", json=CANCEL, headers=bearer(new["text"]))
        assert_problem(refused, 401, f"token {new['token']['token_id']} of ci was revoked")
    (listed,) = client.get("/tokens", headers=asks("alice", "admin")).json()
    assert listed["revoked_by"] == "bob"
    other_store.close()


def test_an_expired_token_is_refused(empty_store: ClickHouseStore) -> None:
    end = datetime(2026, 3, 1, tzinfo=UTC)
    token = a_token(name="ci", expires_at=end)
    empty_store.add_token(token, sha256_of("1" * 64))
    text = text_of(token.token_id, "1" * 64)
    before = TokenGatekeeper(empty_store, LocalGatekeeper(SECRET), lambda: end - timedelta(seconds=1))
    assert before.identify(text).name == "ci"
    with pytest.raises(TokenEnded, match="expired at 2026-03-01 00:00 UTC"):
        TokenGatekeeper(empty_store, LocalGatekeeper(SECRET), lambda: end).identify(text)


def test_a_token_that_would_be_over_already_is_not_made(client: httpx2.Client) -> None:
    body = {"name": "ci", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z"}
    assert_problem(client.post("/tokens", json=body, headers=asks("alice", "admin")), 422, "which is over")


@pytest.mark.parametrize("change", ["id", "secret", "cut", "no secret"])
def test_what_only_looks_like_a_token_is_nobodys(client: httpx2.Client, change: str) -> None:
    text = made(client)["text"]
    prefix, token_id, secret = text.split("_")
    wrong = {
        "id": f"{prefix}_{'f' * 12}_{secret}",
        "secret": f"{prefix}_{token_id}_{'0' * 64}",
        "cut": text[:-1],
        "no secret": f"{prefix}_",
    }[change]
    assert_problem(client.post("/runs/cancel", json=CANCEL, headers=bearer(wrong)), 401, "no administrator made")
    assert_problem(client.get("/me", headers=bearer(wrong)), 401, "no administrator made")


def test_an_unknown_token_cannot_be_revoked(client: httpx2.Client) -> None:
    assert_problem(client.delete("/tokens/unknown", headers=asks("alice", "admin")), 404, "no token unknown")


def test_whoever_says_nothing_is_nobody(client: httpx2.Client) -> None:
    open_to_all = {"login": None, "may_read": True}
    assert client.get("/me").json() == {"name": None, "role": None, "proof": "", "operations": [], **open_to_all}
    assert client.get("/me", headers=asks("alice", "triager")).json()["proof"] == "signed"
