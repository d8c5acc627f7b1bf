"""The answers that the pages are developed and tested with, without a service: of a store with fake libraries. They are
checked in, valid by the OpenAPI document, and what a service answers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest

from kexbench.answers.why import culprits_of, explained
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.alerts import AlertAction
from kexbench.domain.instruments import Instrument
from kexbench.domain.runs import RunState
from kexbench.domain.samples import Metric
from kexbench.domain.views import View
from kexbench.planning.catalogue import read_catalogue
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Selection
from tests.api import test_life, test_paths
from tests.api.conftest import SECRET, ClientOf
from tests.api.documented import document
from tests.api.test_upgrades import CATALOGUE, ONE, THREE, TWO, counted, measured
from tests.builders import EXAMPLES, RSA, a_cause, a_finding, a_screening, an_alert_event, an_event
from tests.golden import assert_golden

ANSWERS = EXAMPLES / "answers"
UPGRADE = {"library": "fake", "before": "1.0", "after": "1.1"}
REQUESTS: Mapping[str, tuple[str, Mapping[str, str | list[str]]]] = {
    "alert": (f"/alerts/{a_cause().alert_id}", {}),
    "alerts": ("/alerts", {}),
    "bisections": ("/bisections", {}),
    "compare": ("/compare", {}),
    "commits": ("/commits", {}),
    "cpus": ("/cpus", {}),
    "distribution": ("/distribution", {"subject": "fake@1.1~1.1~697eadce", "case_id": RSA}),
    "filters": ("/filters", {}),
    "fleet": ("/fleet", {}),
    "life": ("/life", {}),
    "matrix": ("/matrix", {}),
    "notifications": ("/notifications", {}),
    "overview": ("/overview", {}),
    "paths": ("/paths", {}),
    "qualifications": ("/qualifications", {}),
    "queue": ("/queue", {}),
    "run": ("/runs/measuring", {}),
    "runs": ("/runs", {}),
    "scaling": ("/scaling", {}),
    "screenings": ("/screenings", {}),
    "stacks": ("/stacks", {"version": ["fake@1.0", "fake@1.1", "fake@1.2"]}),
    "trends": ("/trends", {}),
    "upgrade_why": ("/upgrades/why", UPGRADE),
    "upgrades": ("/upgrades", {}),
    "verdict": ("/runs/measuring/verdict", {}),
}
"""By operation: the address and its parameters."""


EMPTY = (
    "alerts",
    "compare",
    "filters",
    "fleet",
    "life",
    "matrix",
    "overview",
    "paths",
    "runs",
    "stacks",
    "trends",
    "upgrades",
)
"""Operations with an example of an empty store too."""
UNKNOWN = ("compare", {"base": "fake@1.0", "other": "fake@9.9"})


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> httpx2.Client:
    catalogue = read_catalogue(CATALOGUE, "libraries.yaml")
    views = [View(name="RSA handshakes", link="/?q=rsa&library=fake")]
    app = create_app(empty_store, LocalGatekeeper(SECRET), None, catalogue=lambda: catalogue, views=views)
    client = client_of(app)
    client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
    return client


def test_each_example_is_what_a_service_answers(empty_store: ClickHouseStore, client: httpx2.Client) -> None:
    actual = {f"empty/{operation}": answer(client, operation) for operation in EMPTY}
    fill(empty_store)
    actual |= {operation: answer(client, operation) for operation in REQUESTS}
    fill_paths(empty_store)
    actual["paths"] = answer(client, "paths")
    test_life.fill(empty_store)
    actual["life"] = answer(client, "life")
    path, _ = REQUESTS[UNKNOWN[0]]
    actual[f"problem/{UNKNOWN[0]}"] = client.get(path, params=UNKNOWN[1])
    changed = []
    for name, response in actual.items():
        text = json.dumps(_rounded(response.json()), indent=1, ensure_ascii=False) + "\n"
        try:
            assert_golden(ANSWERS / f"{name}.json", text)
        except AssertionError as error:
            changed.append(str(error))
    assert not changed


def _rounded(answer: Any) -> Any:
    """To ten digits: the last ones depend on the instructions that the CPU has for logarithms."""
    match answer:
        case float():
            return float(f"{answer:.10g}")
        case list():
            return [_rounded(each) for each in answer]
        case dict():
            return {name: _rounded(each) for name, each in answer.items()}
    return answer


@pytest.mark.parametrize("path", sorted(ANSWERS.rglob("*.json")), ids=lambda path: str(path.relative_to(ANSWERS)))
def test_each_example_is_valid_by_the_document(path: Path) -> None:
    schema = {
        **answer_schema(path.stem, is_problem=path.parent.name == "problem"),
        "components": document()["components"],
    }
    jsonschema.Draft202012Validator(schema).validate(json.loads(path.read_text(encoding="utf-8")))


def test_examples_that_are_gone_leave_no_file() -> None:
    names = {*REQUESTS, *(f"empty/{name}" for name in EMPTY), f"problem/{UNKNOWN[0]}"}
    assert {str(path.relative_to(ANSWERS).with_suffix("")) for path in ANSWERS.rglob("*.json")} == names


def answer(client: httpx2.Client, operation: str) -> httpx2.Response:
    path, parameters = REQUESTS[operation]
    response = client.get(path, params=parameters)
    assert response.status_code == 200, (operation, response.text)
    return response


def answer_schema(operation: str, *, is_problem: bool) -> dict[str, Any]:
    (found,) = (
        methods["get"]
        for methods in document()["paths"].values()
        if methods.get("get", {}).get("operationId") == operation
    )
    status, media = ("404", "application/problem+json") if is_problem else ("200", "application/json")
    schema: dict[str, Any] = found["responses"][status]["content"][media]["schema"]
    return schema


def fill(store: ClickHouseStore) -> None:
    """A finished run with a step, counted instructions of it, and its alert."""
    run = measured(store, "measuring", {ONE: 1.0, TWO: 1.05, THREE: 1.0})
    for seconds, state in ((1, RunState.RUNNING), (60, RunState.FINISHED)):
        store.add_event(an_event(run, state, seconds=seconds))
    counted(store, "counting", {ONE: 100.0, TWO: 350.0})
    before, after, _ = sorted(row.subject.name for row in store.measured_subjects(Selection(Metric.CPU_NS)))
    store.add_alert_event(an_alert_event(finding=a_finding().model_copy(update={"subjects": (before, after)})))
    culprits = tuple(
        culprits_of(explained(store, before, after, Instrument.INSTRUCTIONS), ("client", "server"), "counting")
    )
    store.add_alert_event(an_alert_event(AlertAction.EXPLAINED, 1, culprits=culprits))
    store.add_screening(a_screening("measuring"))


def fill_paths(store: ClickHouseStore) -> None:
    """A version that waits once more since its certificates do not fit, one that a machine refused, loss, and a round
    trip too short to count."""
    for path in ("50ms", "2ms", "50ms-loss-1"):
        test_paths.measured(store, path, {ONE: test_paths.SMALL, TWO: test_paths.LARGE}, waits={TWO: 2})
    test_paths.measured(store, "50ms", {ONE: test_paths.SMALL, TWO: None}, waits={ONE: 3}, protocol="tlsv1.2", day=1)
