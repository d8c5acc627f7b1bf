"""Logging in: who gets which role, which logins are refused, and what a session may do."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastapi import Response
from joserfc.jwk import RSAKey

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.api.login import Login, session_secret
from kexbench.api.oidc import OidcProvider
from kexbench.api.sessions import Sessions
from kexbench.domain.people import PersonRole
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET as LOCAL
from tests.api.conftest import ClientOf, assert_problem
from tests.api.provider import CLIENT, SECRET, FakeProvider, fake_provider
from tests.api.test_local_queue import asks

PAGES = "http://localhost"
ROLES: dict[str, PersonRole] = {"devs": "submitter", "perf": "triager", "leads": "admin", "guests": "viewer"}
GROUPS = {"alice": ["leads", "devs"], "bob": ["devs"], "carol": ["perf"], "dave": ["guests"], "eve": ["others"]}
ORIGIN = {"Origin": PAGES}
CANCEL = {"queued": True}


@pytest.fixture(scope="module")
def running() -> Iterator[FakeProvider]:
    with fake_provider(groups=GROUPS) as provider:
        yield provider


@pytest.fixture
def provider(running: FakeProvider) -> FakeProvider:
    running.changes, running.calls_itself, running.signs_with = {}, "", None
    return running


def login_by(provider: FakeProvider, pages_url: str = PAGES, roles: dict[str, PersonRole] = ROLES) -> Login:
    sessions = Sessions(session_secret(SECRET), pages_url)
    return Login(OidcProvider(provider.url, CLIENT, SECRET), sessions, roles, "groups")


def client_for(
    store: ClickHouseStore, client_of: ClientOf, login: Login | None, *, anyone_reads: bool = True
) -> httpx2.Client:
    client = client_of(create_app(store, LocalGatekeeper(LOCAL), None, login_by=login, anyone_reads=anyone_reads))
    client.base_url = httpx2.URL(f"{PAGES}{API_PREFIX}")
    return client


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf, provider: FakeProvider) -> Iterator[httpx2.Client]:
    with client_for(empty_store, client_of, login_by(provider)) as client:
        yield client


def begun(client: httpx2.Client, **asked: str) -> str:
    """The address of the provider's login page."""
    answer = client.get("/login", params=asked)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def log_in(client: httpx2.Client, provider: FakeProvider, name: str, **asked: str) -> httpx2.Response:
    return client.get("/login/callback", params=provider.log_in(begun(client, **asked), name))


@pytest.mark.parametrize(
    ("name", "role"), [("alice", "admin"), ("bob", "submitter"), ("carol", "triager"), ("dave", "viewer")]
)
def test_a_login_gives_the_highest_role_of_the_groups(
    client: httpx2.Client, provider: FakeProvider, name: str, role: str
) -> None:
    answer = log_in(client, provider, name, next="/alerts?status=open")
    assert (answer.status_code, answer.headers["location"]) == (302, "/alerts?status=open")
    me = client.get("/me").json()
    assert (me["name"], me["role"], me["proof"], me["login"]) == (name, role, "login", f"{API_PREFIX}/login")
    assert client.get("/audit").status_code == (200 if role == "admin" else 403)
    tried = client.post("/alerts/unknown/events", json={}, headers=ORIGIN)
    assert tried.status_code == (422 if role in ("triager", "admin") else 403)
    cancelled = client.post("/runs/cancel", json=CANCEL, headers=ORIGIN)
    assert cancelled.status_code == (403 if role == "viewer" else 409)  # there is no queue


def test_the_request_for_a_login_has_a_challenge_and_the_answers_address(
    client: httpx2.Client, provider: FakeProvider
) -> None:
    asked = parse_qs(urlsplit(begun(client)).query)
    assert asked["redirect_uri"] == [f"{PAGES}{API_PREFIX}/login/callback"]
    assert (asked["code_challenge_method"], asked["response_type"]) == (["S256"], ["code"])
    assert "openid" in asked["scope"][0].split()
    assert asked["state"] != asked["nonce"]


def test_who_is_in_no_group_with_a_role_is_refused_unless_everyone_has_one(
    client: httpx2.Client, provider: FakeProvider, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    assert_problem(log_in(client, provider, "eve"), 403, "eve is in no group that may use this service")
    assert client.get("/me").json()["name"] is None
    everyone = client_for(empty_store, client_of, login_by(provider, roles={**ROLES, "*": "viewer"}))
    assert log_in(everyone, provider, "eve").status_code == 302
    assert everyone.get("/me").json()["role"] == "viewer"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"iss": "https://other.example"}, "the ID token is of another issuer"),
        ({"aud": "other"}, "the ID token is for another service"),
        ({"aud": ["other"], "azp": CLIENT}, "the ID token is for another service"),
        ({"exp": 1_700_000_000}, "the ID token has expired"),
        ({"exp": None}, "the ID token has no valid exp"),
        ({"nonce": "of another login"}, "the ID token is of another login"),
        ({"nonce": None}, "the ID token is of another login"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_false_id_token_is_refused(
    client: httpx2.Client, provider: FakeProvider, changes: dict[str, Any], says: str
) -> None:
    provider.changes = changes
    answer = log_in(client, provider, "alice")
    assert_problem(answer, 403, says)
    assert answer.json()["remedy"] == "log in again"
    assert client.get("/me").json()["name"] is None


def test_a_token_that_another_key_signed_is_refused(client: httpx2.Client, provider: FakeProvider) -> None:
    provider.signs_with = RSAKey.generate_key(2048, {"kid": "one"})
    assert_problem(log_in(client, provider, "alice"), 403, "the ID token is not valid: BadSignatureError")


def test_a_provider_with_another_name_is_refused(client: httpx2.Client, provider: FakeProvider) -> None:
    provider.calls_itself = "https://other.example"
    assert_problem(client.get("/login"), 403, f"calls itself https://other.example, not {provider.url}")


def test_a_provider_that_does_not_answer_is_said(
    empty_store: ClickHouseStore, client_of: ClientOf, provider: FakeProvider
) -> None:
    sessions = Sessions(session_secret(SECRET), PAGES)
    away = Login(OidcProvider("http://127.0.0.1:9", CLIENT, SECRET), sessions, ROLES, "groups")
    assert_problem(client_for(empty_store, client_of, away).get("/login"), 503, "does not answer: ConnectError")


def test_an_answer_counts_once_and_in_the_browser_that_began_the_login(
    client: httpx2.Client, provider: FakeProvider, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    brought = provider.log_in(begun(client), "alice")
    other = client_for(empty_store, client_of, login_by(provider))
    assert_problem(other.get("/login/callback", params=brought), 403, "this browser did not begin this login")
    begun(other)
    assert_problem(other.get("/login/callback", params=brought), 403, "this browser did not begin this login")
    kept = client.cookies.get("kexbench_login")
    assert client.get("/login/callback", params=brought).status_code == 302
    assert_problem(client.get("/login/callback", params=brought), 403, "finished it already")
    client.cookies.set("kexbench_login", kept or "")
    assert_problem(client.get("/login/callback", params=brought), 403, "refused the login: invalid_grant")


def test_a_login_that_the_provider_refuses_is_said(client: httpx2.Client, provider: FakeProvider) -> None:
    state = provider.log_in(begun(client), "alice")["state"]
    answer = client.get("/login/callback", params={"state": state, "error": "access_denied"})
    assert_problem(answer, 403, "the provider refused the login: access_denied")


@pytest.mark.parametrize("next_page", ["https://evil.example", "//evil.example", "/\\evil.example", "/\n/evil", "x"])
def test_a_login_leads_to_no_other_website(client: httpx2.Client, provider: FakeProvider, next_page: str) -> None:
    assert log_in(client, provider, "alice", next=next_page).headers["location"] == "/"


@pytest.mark.parametrize("origin", [None, "null", "https://evil.example", "http://localhost.evil.example"])
def test_a_session_writes_only_from_the_own_pages(
    client: httpx2.Client, provider: FakeProvider, empty_store: ClickHouseStore, origin: str | None
) -> None:
    log_in(client, provider, "alice")
    headers = {"Origin": origin} if origin else {}
    body = {"name": "ci", "role": "viewer"}
    assert_problem(client.post("/tokens", json=body, headers=headers), 403, "only counts for requests of the pages")
    assert_problem(client.post("/logout", headers=headers), 403)
    assert empty_store.tokens() == []
    (refused,) = empty_store.audit(5)
    assert (refused.name, refused.proof, refused.status) == ("alice", "login", 403)
    assert client.post("/tokens", json=body, headers=ORIGIN).status_code == 201


def test_a_session_ends_by_logging_out_and_by_itself(client: httpx2.Client, provider: FakeProvider) -> None:
    log_in(client, provider, "alice")
    assert client.post("/logout", headers=ORIGIN).status_code == 204
    assert client.get("/me").json()["name"] is None
    over, response = login_by(provider).sessions, Response()
    over.put(response, "session", {"sub": "alice", "role": "admin"}, datetime.now(UTC) - timedelta(hours=8, seconds=1))
    client.cookies.set("kexbench_session", response.headers["set-cookie"].partition("=")[2].partition(";")[0])
    assert client.get("/me").json()["name"] is None
    assert_problem(client.get("/audit"), 401, "the session has expired")
    client.cookies.set("kexbench_session", "forged")
    assert_problem(client.get("/audit"), 401, "the session has expired")


@pytest.mark.parametrize(
    ("pages_url", "named"), [("https://bench.example.org", "__Host-kexbench_session"), (PAGES, "kexbench_session")]
)
def test_cookies_are_for_no_script_and_for_no_other_website(provider: FakeProvider, pages_url: str, named: str) -> None:
    response = Response()
    login_by(provider, pages_url).sessions.begin(response, "alice", "admin")
    cookie = response.headers["set-cookie"]
    assert cookie.startswith(f"{named}=")
    for part in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=28800"):
        assert part in cookie
    assert ("Secure" in cookie) == pages_url.startswith("https:")
    assert "Domain" not in cookie


def test_a_cookie_of_a_begun_login_is_no_session(client: httpx2.Client, provider: FakeProvider) -> None:
    begun(client)
    client.cookies.set("kexbench_session", client.cookies.get("kexbench_login") or "")
    assert_problem(client.get("/audit"), 401)


def test_without_a_provider_there_is_no_login(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    client = client_for(empty_store, client_of, None)
    for method, path in (("GET", "/login"), ("GET", "/login/callback"), ("POST", "/logout")):
        assert_problem(client.request(method, path), 409, "this service has no login")
    assert client.get("/me").json()["login"] is None


def test_where_reading_needs_a_login_nobody_reads_results_without(
    empty_store: ClickHouseStore, client_of: ClientOf, provider: FakeProvider
) -> None:
    client = client_for(empty_store, client_of, login_by(provider), anyone_reads=False)
    for path in (f"{API_PREFIX}/runs", f"{API_PREFIX}/overview", "/feed.xml", "/badge/openssl/1.svg"):
        assert_problem(client.get(f"{PAGES}{path}"), 401)
    assert_problem(client.post("/capacity", json={}), 401)
    assert client.get("/health").status_code == 200
    assert client.get("/me").json()["may_read"] is False
    log_in(client, provider, "dave")
    assert client.get("/runs").status_code == 200
    assert client.get("/me").json()["may_read"] is True
    client.cookies.clear()
    assert_problem(client.get("/runs"), 401)  # also where the answer is at hand
    assert client.get("/runs", headers=asks("ci", "viewer")).status_code == 200
    assert_problem(client.post("/no-such-route", headers=asks("ci", "viewer")), 404)  # which the audit trail lists too
    assert [(entry.name, entry.route, entry.status) for entry in empty_store.audit(1)] == [("ci", API_PREFIX, 404)]
