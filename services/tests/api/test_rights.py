"""Who may use which route. The table of rights has every route that writes, and says the same as the routes do."""

from collections.abc import Iterable, Iterator
from typing import cast

import httpx2
import pytest
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.gate import needs_caller
from kexbench.api.rights import OPEN, RIGHTS
from kexbench.domain.people import PERSON_ROLES, PersonRole, at_least
from kexbench.store.port import Store
from tests.api.conftest import assert_problem
from tests.api.documented import document
from tests.api.test_local_queue import asks

READING = {"GET", "HEAD", "OPTIONS"}
OF_PEOPLE: dict[PersonRole, set[str]] = {
    "viewer": set(),
    "submitter": {
        *("submit_run", "cancel_run", "cancel_runs", "resume_run", "backfill", "dry_run", "open_run"),
        *("add_schedule", "remove_schedule", "begin_bisection", "cancel_bisection", "resume_bisection"),
        *("dry_run_alerts", "prunable"),
    },
    "triager": {"change_alert", "set_aside", "return_node"},
    "admin": {"prune", "create_token", "tokens", "revoke_token", "audit"},
}
"""What each role may do beside what those before it may. Written out, since it is a promise."""


def routes() -> list[APIRoute]:
    return list(_of(create_app(cast(Store, None), LocalGatekeeper(""), None).routes))


def _of(routes: Iterable[BaseRoute]) -> Iterator[APIRoute]:
    """Also those of routers that are included in others."""
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif included := getattr(route, "original_router", None):
            yield from _of(included.routes)


def test_no_route_is_overlooked_here() -> None:
    documented = {operation["operationId"] for path in document()["paths"].values() for operation in path.values()}
    assert documented == {route.operation_id for route in routes() if route.include_in_schema}


def test_every_route_that_writes_is_in_the_table() -> None:
    writing = {route.operation_id for route in routes() if (route.methods or set()) - READING}
    assert writing - OPEN.keys() <= RIGHTS.keys()
    assert not OPEN.keys() & RIGHTS.keys()


def test_the_routes_of_the_table_are_those_that_need_a_caller() -> None:
    """One that forgot its caller would be for anyone, whatever the table says."""
    assert {route.operation_id for route in routes() if needs_caller(route.dependant)} == RIGHTS.keys()


def test_each_role_may_do_what_those_before_it_may_and_what_is_its_own() -> None:
    for role in PERSON_ROLES:
        allowed = {operation for operation, roles in RIGHTS.items() if role in roles}
        assert allowed == set().union(*(OF_PEOPLE[each] for each in PERSON_ROLES if role in at_least(each)))


WRITES = [
    ("POST", "/runs/cancel", {"queued": True}, "submitter"),
    ("POST", "/schedules", {"spec_text": ""}, "submitter"),
    ("POST", "/alerts/unknown/events", {}, "triager"),
    ("POST", "/fleet/set-asides", {"pool": "local", "node": "local", "reason": "hot"}, "triager"),
    ("DELETE", "/fleet/set-asides/local/local", None, "triager"),
    ("POST", "/store/prune", {"before": "2026-01-01T00:00:00Z"}, "admin"),
]


@pytest.mark.parametrize("role", PERSON_ROLES)
@pytest.mark.parametrize(("method", "path", "body", "least"), WRITES, ids=lambda each: str(each) if each else "")
def test_a_route_refuses_lower_roles_before_it_reads_the_request(
    client: httpx2.Client, method: str, path: str, body: object, least: PersonRole, role: PersonRole
) -> None:
    answer = client.request(method, path, json=body, headers=asks("alice", role))
    if role in at_least(least):
        assert answer.status_code not in (401, 403), answer.text
    else:
        assert_problem(answer, 403, f"alice is a {role}, which may not do this")
        assert answer.json()["remedy"] == f"ask for the role {least}"
