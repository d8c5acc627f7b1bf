"""The audit trail has every accepted and refused write of people, nothing of machines, and no secret."""

import logging
from typing import Any

import httpx2
import pytest

from kexbench.api.calling import API_PREFIX
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import StoreError
from tests.api.cluster import CLUSTER_SPEC, ClusterApi, cluster_api
from tests.api.conftest import ClientOf, assert_problem
from tests.api.test_local_queue import asks
from tests.api.test_scheduling import NIGHTLY
from tests.api.test_tokens import CANCEL, bearer, client, made

__all__ = ["client"]


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Any) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


def trail(api: ClusterApi) -> list[tuple[str, str, str, str, str, int]]:
    """Oldest first."""
    answer = api.ask("admin", "GET", "/audit")
    assert answer.status_code == 200, answer.text
    entries = answer.json()["entries"][::-1]
    parts = ("name", "role", "method", "route", "subject", "status")
    return [tuple(each[part] for part in parts) for each in entries]


def test_what_people_did_and_were_refused_is_in_it_with_what_it_was_about(api: ClusterApi) -> None:
    run_id = api.submit().json()["run_id"]
    api.submit("no: spec")
    api.ask("viewer", "POST", f"/runs/{run_id}/cancel")
    api.ask("submitter", "POST", f"/runs/{run_id}/cancel")
    api.ask("submitter", "POST", "/runs/cancel", {"run_ids": [run_id, "other"]})
    api.ask("submitter", "POST", "/schedules", {"spec_text": NIGHTLY})
    api.ask("triager", "DELETE", "/fleet/set-asides/amd/node-7")
    prefix = API_PREFIX
    assert trail(api) == [
        ("ci:pipeline", "submitter", "POST", f"{prefix}/runs", run_id, 201),
        ("ci:pipeline", "submitter", "POST", f"{prefix}/runs", "", 422),
        ("eve", "viewer", "POST", f"{prefix}/runs/{{run_id}}/cancel", run_id, 403),
        ("ci:pipeline", "submitter", "POST", f"{prefix}/runs/{{run_id}}/cancel", run_id, 202),
        ("ci:pipeline", "submitter", "POST", f"{prefix}/runs/cancel", f"{run_id} other", 202),
        ("ci:pipeline", "submitter", "POST", f"{prefix}/schedules", "nightly", 201),
        ("ops:triage", "triager", "DELETE", f"{prefix}/fleet/set-asides/{{pool}}/{{node}}", "amd/node-7", 404),
    ]


def test_pods_and_the_dispatcher_are_not_in_it_nor_who_reads(api: ClusterApi) -> None:
    run = api.queued()
    before = trail(api)
    api.deliver_kits(run)
    assert api.ask("dispatcher", "POST", f"/runs/{run.run_id}/start").status_code == 200
    assert_problem(api.ask("nobody", "POST", "/runs", {"spec_text": CLUSTER_SPEC}), 401)
    assert api.ask("submitter", "GET", "/runs").status_code == 200
    assert trail(api) == before


@pytest.mark.parametrize("who", ["viewer", "submitter", "triager", "dispatcher"])
def test_only_administrators_read_it(api: ClusterApi, who: str) -> None:
    assert_problem(api.ask(who, "GET", "/audit"), 403)


def test_an_ended_token_is_named_and_no_secret_is(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    new = made(client, "submitter")
    client.delete(f"/tokens/{new['token']['token_id']}", headers=asks("bob", "admin"))
    client.post("/runs/cancel", json=CANCEL, headers=bearer(new["text"]))
    refused, revoked, created = empty_store.audit(5)
    token_id = new["token"]["token_id"]
    assert (refused.name, refused.proof, refused.token_id, refused.status) == ("ci", "token", token_id, 401)
    assert (revoked.name, revoked.subject, revoked.status) == ("bob", token_id, 204)
    assert (created.name, created.subject, created.status, created.proof) == ("alice", token_id, 201, "signed")
    assert new["text"].rpartition("_")[2] not in str(empty_store.audit(5))


def test_a_page_leads_to_the_next(client: httpx2.Client) -> None:
    for _ in range(3):
        made(client)
    first = client.get("/audit?limit=2", headers=asks("alice", "admin")).json()
    rest = client.get(
        "/audit", params={"limit": 2, "before": first["next_before"]}, headers=asks("alice", "admin")
    ).json()
    assert len({each["entry_id"] for each in first["entries"] + rest["entries"]}) == 3
    assert rest["next_before"] is None


def test_what_was_asked_is_done_and_logged_if_the_trail_cannot_be_written(
    client: httpx2.Client,
    empty_store: ClickHouseStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(empty_store, "add_audit_entry", fails)
    with caplog.at_level(logging.WARNING):
        new = made(client)
    assert [each.token_id for each in empty_store.tokens()] == [new["token"]["token_id"]]
    (record,) = (each for each in caplog.records if "not in the audit trail" in each.message)
    assert new["token"]["token_id"] in record.message
    assert new["text"] not in record.message
