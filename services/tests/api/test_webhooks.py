"""Webhooks over the API: who is let in, what rings, and that nothing else happens."""

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.api.doorbell import Doorbell
from kexbench.api.gate import MAX_UPLOAD_BYTES
from kexbench.domain.runs import RunState
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.builders import a_run, an_event

PATH = f"{API_PREFIX}/webhooks/specs"
HOOK_SECRET = "hook-secret"
PUSH = b'{"ref": "refs/heads/main", "repository": {"clone_url": "https://forge/acme/specs.git"}}'


@dataclass
class Hooked:
    """An application with one repository `specs`, and another whose secret is gone."""

    http: httpx2.Client
    doorbell: Doorbell
    secret_file: Path

    def deliver(
        self, body: bytes = PUSH, event: str = "push", secret: str = HOOK_SECRET, path: str = PATH
    ) -> httpx2.Response:
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {"X-GitHub-Event": event, "X-Hub-Signature-256": f"sha256={signature}"}
        return self.http.post(path, content=body, headers={**headers, "Content-Type": "application/json"})


@pytest.fixture
def hooked(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> Iterator[Hooked]:
    secret_file = tmp_path / "secret"
    secret_file.write_text(f"{HOOK_SECRET}\n")
    doorbell = Doorbell({"specs": secret_file, "lost": tmp_path / "nowhere"})
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, doorbell=doorbell)) as http:
        yield Hooked(http, doorbell, secret_file)


@pytest.mark.parametrize("event", ["push", "pull_request"])
def test_a_push_or_a_pull_request_rings_for_its_repository(hooked: Hooked, event: str) -> None:
    answer = hooked.deliver(event=event)
    assert (answer.status_code, answer.content) == (204, b"")
    assert hooked.doorbell.rings() == {"specs": 1}


@pytest.mark.parametrize("event", ["ping", "issue_comment"])
def test_anything_else_is_accepted_and_does_nothing(hooked: Hooked, event: str) -> None:
    assert hooked.deliver(event=event).status_code == 204
    assert hooked.doorbell.rings() == {}


def test_a_delivery_that_comes_again_rings_again_and_changes_nothing(
    hooked: Hooked, empty_store: ClickHouseStore
) -> None:
    run = a_run("one")
    empty_store.add_run(run)
    empty_store.add_event(an_event(run, RunState.FINISHED))
    pages = [f"{API_PREFIX}/runs", f"{API_PREFIX}/runs/one"]
    before = [hooked.http.get(page).content for page in pages]
    answers = {hooked.deliver().status_code for _ in range(3)}
    assert answers == {204}
    assert hooked.doorbell.rings() == {"specs": 3}
    assert [hooked.http.get(page).content for page in pages] == before


def test_what_is_not_signed_with_the_repositorys_secret_is_refused(hooked: Hooked) -> None:
    assert_problem(hooked.deliver(secret="another"), 401, "X-Hub-Signature-256 is wrong")
    assert_problem(hooked.http.post(PATH, content=PUSH), 401, "X-GitHub-Event")
    assert hooked.doorbell.rings() == {}


def test_a_renewed_secret_counts_at_once(hooked: Hooked) -> None:
    hooked.secret_file.write_text("renewed")
    assert_problem(hooked.deliver(), 401)
    assert hooked.deliver(secret="renewed").status_code == 204


def test_an_empty_secret_lets_nobody_in(hooked: Hooked) -> None:
    hooked.secret_file.write_text("\n")
    assert_problem(hooked.deliver(secret=""), 401, "no secret")


def test_a_secret_that_cannot_be_read_is_no_fault_of_the_forge(hooked: Hooked) -> None:
    answer = hooked.deliver(path=f"{API_PREFIX}/webhooks/lost")
    assert_problem(answer, 503, "repository lost")
    assert "nowhere" not in answer.text


def test_a_repository_that_is_not_watched_is_not_found(hooked: Hooked) -> None:
    assert_problem(hooked.deliver(path=f"{API_PREFIX}/webhooks/other"), 404, "no repository other")


def test_without_a_doorbell_there_is_nothing_to_ring(client: httpx2.Client) -> None:
    assert_problem(client.post("/webhooks/specs", content=PUSH), 404, "no repository specs")


def test_a_delivery_that_is_too_large_is_not_even_read(hooked: Hooked) -> None:
    assert_problem(hooked.deliver(b" " * (MAX_UPLOAD_BYTES + 1)), 413)
    assert hooked.doorbell.rings() == {}
