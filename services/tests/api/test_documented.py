"""The methods and statuses of every address are those that the OpenAPI document tells."""

import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from kexbench.api.calling import API_PREFIX
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from tests.api.cluster import ClusterApi, cluster_app
from tests.api.conftest import ClientOf, assert_problem
from tests.api.documented import METHODS, document, documented_methods, documented_statuses
from tests.builders import RSA, an_invocation, newest_runs
from tests.serving import serving

pytestmark = pytest.mark.thorough

ALL_METHODS = (*METHODS, "options", "trace")
GATE = {HTTPStatus(status) for status in (400, 408, 411, 413, 421)}
"""What the service may answer to any request before it looks at it."""
CALLERS = (None, "nobody", "submitter", "dispatcher", "pod one 0123456789abcdef uid-1", "builder one fake@1.0")
checked = schemathesis.openapi.from_dict(document())
OPERATIONS = [(method, path) for path, methods in document()["paths"].items() for method in methods]


@pytest.fixture(scope="module")
def api(warm_chdb: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterApi]:
    """An API with pages and a cluster, whose store holds a run with one invocation, on a socket."""
    store = ClickHouseStore(warm_chdb, "documented", EngineClauses())
    store.migrate()
    folder = tmp_path_factory.mktemp("documented")
    (folder / "index.html").write_text("<title>kexbench</title>")
    app = cluster_app(store, folder / "api", pages=folder)
    with serving(app) as url, httpx2.Client(base_url=url + API_PREFIX, trust_env=False, timeout=60) as http:
        found = ClusterApi(http, app.state.supplies.shared_store, store, folder)
        run = found.started()
        assert found.announce(run).status_code == HTTPStatus.NO_CONTENT
        one = an_invocation(run, run.plan.jobs[0].numbers.start, cpu_ns={"fake@1.0": 1e6}, case_id=RSA)
        sent = found.ask(
            f"pod {run.run_id} {one.job_id} uid-1",
            "POST",
            f"/runs/{run.run_id}/invocations",
            json.loads(one.model_dump_json()),
        )
        assert sent.status_code == HTTPStatus.NO_CONTENT, sent.text
        yield found
    store.close()


def filled(path: str) -> str:
    """The address below the API's prefix, with something for each parameter."""
    return re.sub(r"\{[^}]*\}", "one", path).removeprefix(API_PREFIX)


@pytest.mark.parametrize("path", [path for path in document()["paths"] if path.startswith(API_PREFIX)])
def test_a_method_that_is_not_documented_is_refused_with_those_that_are(path: str, api: ClusterApi) -> None:
    own = {method.upper() for method in document()["paths"][path] if method in METHODS}
    allowed = own | ({"HEAD"} if "GET" in own else set())
    documented = documented_methods(API_PREFIX + filled(path))
    for method in {method.upper() for method in ALL_METHODS} - documented:
        answer = api.ask("submitter", method, filled(path))
        assert_problem(answer, 405)
        assert set(answer.headers["allow"].split(", ")) == allowed
    if "GET" not in documented:
        head = api.http.head(filled(path))
        assert (head.status_code, head.content) == (405, b"")
        assert set(head.headers["allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    "path", [path for path, methods in document()["paths"].items() if path.startswith(API_PREFIX) and "get" in methods]
)
def test_head_is_get_without_its_body(path: str, api: ClusterApi) -> None:
    run_id = newest_runs(api.store, 1)[0].run_id
    for address in (filled(path), filled(path.replace("{run_id}", run_id))):
        for who in ("dispatcher", "nobody"):
            got, head = (api.ask(who, method, address, **{"Accept-Encoding": "identity"}) for method in ("GET", "HEAD"))
            assert (head.status_code, head.content) == (got.status_code, b"")
            assert unlike(got) == unlike(head)
            assert len(got.content) == int(head.headers.get("content-length", len(got.content)))


def unlike(answer: httpx2.Response) -> dict[str, str]:
    """The headers but for the time, and that of a length which changes with what time it is."""
    return {name: value for name, value in answer.headers.items() if name not in ("date", "content-length")}


def test_pages_and_figures_for_prometheus_have_methods_too(api: ClusterApi) -> None:
    for path in ("/", "/runs/one", "/metrics"):
        head = api.http.head(str(api.http.base_url.join(path)))
        assert (head.status_code, head.content) == (200, b"")
        refused = api.http.post(str(api.http.base_url.join(path)), content=b"")
        assert_problem(refused, 405)
        assert refused.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("method", [method.upper() for method in ALL_METHODS])
@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/v1", "/api/v1/nothing", "/api/v1/runs/", "/api/v2/runs", "/api/x.js"]
)
def test_an_address_that_the_api_does_not_have_is_a_problem(path: str, method: str, api: ClusterApi) -> None:
    assert_problem(api.http.request(method, str(api.http.base_url.join(path))), 404)


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_what_the_gate_answers_is_documented_for_every_route(method: str, path: str) -> None:
    responses = document()["paths"][path][method]["responses"]
    for status in GATE:
        content = responses[str(int(status))]["content"]
        assert content == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


@pytest.mark.parametrize(
    ("headers", "content", "status"),
    [
        ({"Host": "evil.example"}, b"", 421),
        ({"Content-Length": str(17 << 20)}, b"", 413),
        ({"Transfer-Encoding": "chunked"}, b"0\r\n\r\n", 411),
        ({"Content-Type": "application/json"}, b'"\xff', 400),
        ({"Content-Type": "application/json"}, b"{", 422),
        ({"Content-Type": "application/json"}, b"[" * 100_000, 400),
    ],
    ids=["host", "large", "no length", "no text", "no json", "deep"],
)
def test_a_malformed_request_gets_a_documented_status(
    headers: dict[str, str],
    content: bytes,
    status: int,
    client_of: ClientOf,
    empty_store: ClickHouseStore,
    tmp_path: Path,
) -> None:
    with client_of(cluster_app(empty_store, tmp_path)) as client:
        asked = httpx2.Request("POST", f"http://localhost{API_PREFIX}/runs", content=content)
        asked.headers.update({"Authorization": "Bearer submitter", **headers})
        if "Transfer-Encoding" in headers:
            del asked.headers["content-length"]
        answer = client.send(asked)
    assert_problem(answer, status)
    assert status in (documented_statuses("POST", f"{API_PREFIX}/runs") or set())


@checked.parametrize()
@settings(
    max_examples=8, suppress_health_check=list(HealthCheck), deadline=None, phases=[Phase.generate], derandomize=True
)
def test_whatever_is_asked_by_whomever_gets_a_documented_answer(case: schemathesis.Case[Any], api: ClusterApi) -> None:
    asked = case.as_transport_kwargs(base_url=str(api.http.base_url.join("/")))
    body = {name: asked[name] for name in ("json", "data") if asked.get(name) is not None}
    content = json.dumps(body["json"]).encode() if "json" in body else body.get("data") or b""
    headers = {"Content-Type": "application/json", **(asked["headers"] or {})}
    for who in CALLERS:
        named = {"Authorization": f"Bearer {who}"} if who else {}
        bare = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        answer = api.http.request(
            asked["method"], asked["url"], params=asked["params"], content=content, headers=bare | named
        )
        checks = [status_code_conformance, content_type_conformance, response_schema_conformance]
        case.validate_response(answer, checks=checks)
