"""Search: what some words find, in which order."""

import httpx2
import pytest

from kexbench.store.clickhouse import ClickHouseStore
from tests.api.test_reading import ONE, TWO, measured
from tests.builders import ECDSA, RSA, a_run


def found(client: httpx2.Client, words: str) -> list[tuple[str, str]]:
    answer = client.get("/search", params={"q": words})
    assert answer.status_code == 200, answer.text
    return [(hit["kind"], hit["id"]) for hit in answer.json()]


@pytest.fixture
def run_id(empty_store: ClickHouseStore) -> str:
    return measured(empty_store, a_run()).run_id


def test_a_case_is_found_by_words_of_its_title_in_any_order_and_case(client: httpx2.Client, run_id: str) -> None:
    assert found(client, "ecdsa tls") == found(client, "TLS  Ecdsa") == [("case", ECDSA)]
    assert {hit for hit in found(client, "tls") if hit[0] == "case"} == {("case", RSA), ("case", ECDSA)}


def test_an_upgrade_names_both_of_its_ends(client: httpx2.Client, run_id: str) -> None:
    (upgrade,) = (hit for hit in client.get("/search", params={"q": "1.1"}).json() if hit["kind"] == "upgrade")
    assert (upgrade["library"], upgrade["title"]) == ("fake", "fake 1.0 to 1.1")
    assert upgrade["before"].startswith(f"{ONE}~")
    assert upgrade["id"].startswith(f"{TWO}~")


def test_a_run_is_found_by_the_name_of_its_spec_and_by_its_id(client: httpx2.Client, run_id: str) -> None:
    spec_name = a_run().plan.spec_name
    assert ("run", run_id) in found(client, spec_name.upper())
    assert found(client, run_id) == [("run", run_id)]


def test_a_word_that_is_nowhere_finds_nothing(client: httpx2.Client, run_id: str) -> None:
    assert found(client, "tls nowhere") == found(client, "%") == found(client, "   ") == []


def test_what_is_measured_later_is_found_too(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    assert found(client, "p-256") == []
    measured(empty_store, a_run())
    assert found(client, "p-256") == [("case", ECDSA)]


def test_without_words_the_question_is_refused(client: httpx2.Client) -> None:
    assert client.get("/search").status_code == 422
    assert client.get("/search", params={"q": ""}).status_code == 422
