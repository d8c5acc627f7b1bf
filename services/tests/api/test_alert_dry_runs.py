"""What a rule would have suspected, asked over the API."""

import httpx2

from tests.api.conftest import assert_problem, token
from tests.api.test_alerts import as_person
from tests.builders import SPEC

RULE = "alerts: { relevant: 1%, notify: [crypto-team] }\n"


def tried(client: httpx2.Client, text: str, headers: dict[str, str] | None = None) -> httpx2.Response:
    body = {"spec_text": text, "spec_file": "nightly.yaml"}
    return client.post("/alerts/dry-run", json=body, headers=as_person() if headers is None else headers)


def test_over_an_empty_store_a_rule_raises_nothing(client: httpx2.Client) -> None:
    answer = tried(client, SPEC + RULE)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"spec_name": "example", "runs": 0, "upgrades": 0, "suspected": []}
    assert client.get("/alerts").json()["alerts"] == []


def test_a_spec_with_faults_or_without_a_rule_is_reported_at_its_place(client: httpx2.Client) -> None:
    assert_problem(tried(client, SPEC), 422, "nightly.yaml:1:1: alerts: is required here")
    assert_problem(
        tried(client, SPEC + "alerts: { relevant: 1 }\n"), 422, "nightly.yaml:10:21: alerts.relevant: must be"
    )


def test_who_may_not_ask_for_runs_may_not_try_rules(client: httpx2.Client) -> None:
    assert_problem(tried(client, SPEC + RULE, {}), 401)
    assert_problem(tried(client, SPEC + RULE, token("a run")), 403)
