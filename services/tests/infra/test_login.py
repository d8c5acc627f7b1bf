"""People of each role log in with a certified provider, in its real flow, and may do what their role may."""

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.api.login import Login, session_secret
from kexbench.api.oidc import OidcProvider
from kexbench.api.sessions import Sessions
from kexbench.domain.people import PERSON_ROLES, PersonRole, at_least
from kexbench.store.clickhouse import ClickHouseStore
from tests.infra.pools import ROOT
from tests.serving import serving

pytestmark = pytest.mark.infra

ROLES: dict[str, PersonRole] = {"guests": "viewer", "devs": "submitter", "perf": "triager", "leads": "admin"}
GROUPS = {role: [group] for group, role in ROLES.items()} | {"eve": ["others"], "both": ["guests", "perf"]}
"""By name: people are called as their roles."""
CLIENT_SECRET = "test-secret"
WRITES: list[tuple[str, str, object, PersonRole]] = [
    ("POST", "/runs/cancel", {"queued": True}, "submitter"),
    ("DELETE", "/schedules/unknown", None, "submitter"),
    ("POST", "/alerts/unknown/events", {}, "triager"),
    ("DELETE", "/fleet/set-asides/amd/node-1", None, "triager"),
    ("POST", "/tokens", {"name": "ci", "role": "viewer"}, "admin"),
    ("GET", "/audit", None, "admin"),
]


@contextmanager
def provider(redirect_uri: str) -> Iterator[str]:
    tools = subprocess.run(
        [ROOT / "infra/tools/provider/install.sh"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    command = ["node", "provider.mjs", redirect_uri, json.dumps(GROUPS)]
    with subprocess.Popen(command, cwd=tools, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def service(store: ClickHouseStore, client_secret: str = CLIENT_SECRET) -> Iterator[str]:
    """The address of the API. People come back to the pages at the same address."""
    listening = socket.create_server(("127.0.0.1", 0))
    pages = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with provider(f"{pages}{API_PREFIX}/login/callback") as issuer:
        sessions = Sessions(session_secret(client_secret), pages)
        login = Login(OidcProvider(issuer, "kexbench", client_secret), sessions, ROLES, "groups")
        app = create_app(store, LocalGatekeeper("s" * 64), None, login_by=login, anyone_reads=False)
        with serving(app, listening):
            yield pages


def browser(pages: str) -> httpx2.Client:
    return httpx2.Client(
        base_url=f"{pages}{API_PREFIX}", headers={"Origin": pages}, timeout=60, trust_env=False, follow_redirects=True
    )


def log_in(http: httpx2.Client, name: str) -> httpx2.Response:
    """As a person does: the provider asks who they are, and sends them back."""
    form = http.get("/login")
    assert "<form>" in form.text, form.text
    return http.get(form.url, params={"name": name})


def test_people_of_each_role_log_in_and_may_do_what_their_role_may(empty_store: ClickHouseStore) -> None:
    with service(empty_store) as pages:
        for role in PERSON_ROLES:
            with browser(pages) as http:
                assert http.get("/runs").status_code == 401
                log_in(http, role)
                me = http.get("/me").json()
                assert (me["name"], me["role"], me["proof"]) == (role, role, "login")
                assert http.get("/runs").status_code == 200
                for method, path, body, least in WRITES:
                    answer = http.request(method, path, json=body)
                    assert (answer.status_code == 403) == (role not in at_least(least)), (role, path, answer.text)
                    assert answer.status_code != 401
                assert http.post("/logout").status_code == 204
                assert http.get("/runs").status_code == 401
        names = {entry.name for entry in empty_store.audit(100)}
        assert names == set(PERSON_ROLES)


def test_the_highest_of_several_roles_counts_and_no_role_is_refused(empty_store: ClickHouseStore) -> None:
    with service(empty_store) as pages:
        with browser(pages) as http:
            log_in(http, "both")
            assert http.get("/me").json()["role"] == "triager"
        with browser(pages) as http:
            refused = log_in(http, "eve")
            assert (refused.status_code, refused.json()["detail"]) == (
                403,
                "eve is in no group that may use this service",
            )
            assert http.get("/me").json()["name"] is None


def test_an_answer_of_the_provider_counts_once(empty_store: ClickHouseStore) -> None:
    with service(empty_store) as pages, browser(pages) as http:
        answer = log_in(http, "admin")
        (callback,) = (each.url for each in answer.history if each.url.path.endswith("/login/callback"))
        replayed = http.get(callback)
        assert (replayed.status_code, replayed.json()["remedy"]) == (403, "log in again")
        assert "did not begin this login" in replayed.json()["detail"]


def test_a_service_with_a_wrong_secret_logs_nobody_in(empty_store: ClickHouseStore) -> None:
    with service(empty_store, client_secret="wrong") as pages, browser(pages) as http:
        refused = log_in(http, "admin")
        assert (refused.status_code, refused.json()["detail"]) == (
            403,
            "the provider refused the login: invalid_client",
        )
