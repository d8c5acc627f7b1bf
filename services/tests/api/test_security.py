"""Handshakes by their strength: of the chosen version, model, side and host kind."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from kexbench.domain.hosts import kind_of
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import assert_problem
from tests.builders import HOST, NOON, SPEC, a_run, an_invocation

COSTS_US = {"RSA": 1500.0, "ECDHE-RSA": 1700.0, "ECDHE-ECDSA": 250.0}
OTHER = HOST.model_copy(update={"cpu_model": "another CPU"})


def measured(store: ClickHouseStore, run_id: str, *, version: str = "1.0", day: int = 0, host: Any = HOST) -> None:
    """Key exchanges of TLS 1.2 at 128 bits under NIST."""
    spec = SPEC.replace("[1.0, 1.1]", f"[{version}]").replace(
        "[RSA, ECDHE-ECDSA]", f"[{', '.join(COSTS_US)}]\n  securityBits: [128]"
    )
    run = a_run(run_id, spec=spec, created_at=NOON + timedelta(days=day), host=host)
    store.add_run(run)
    invocations = []
    for case in run.plan.cases:
        for number in range(6):
            cost = 1000 * COSTS_US[case.key_exchange] * (1 + 0.0005 * (number - 2.5))
            cpu_ns = {f"fake@{version}": cost}
            invocations.append(an_invocation(run, number, case_id=case.case_id, cpu_ns=cpu_ns, host=host))
    store.add_invocations(run, invocations)


def security(client: httpx2.Client, **parameters: str) -> dict[str, Any]:
    answer = client.get("/security", params=parameters)
    assert answer.status_code == 200, answer.text
    view: dict[str, Any] = answer.json()
    return view


def level(answer: dict[str, Any], level_bits: int) -> dict[str, Any]:
    at_level: dict[str, Any] = next(each for each in answer["levels"] if each["level_bits"] == level_bits)
    return at_level


def test_an_empty_store_has_levels_without_handshakes(client: httpx2.Client) -> None:
    answer = security(client)
    assert (answer["host_kind"], answer["subject"], answer["subjects"]) == (None, None, [])
    assert [each["handshakes"] for each in answer["levels"]] == [[]] * 6
    assert all("securityBits" in each["missing"] for each in answer["levels"])
    assert [each["model"] for each in answer["models"]] == ["nist", "ecrypt", "cnsa", "cnsa-2"]


def test_the_version_measured_last_is_shown_and_others_are_offered(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "20260101-120000-0001", version="1.1")
    measured(empty_store, "20260102-120000-0001", version="1.0", day=1)
    answer = security(client)
    assert [each["version"] for each in answer["subjects"]] == ["1.0", "1.1"]
    assert answer["subject"] == answer["subjects"][0]["name"]
    older = security(client, subject=answer["subjects"][1]["name"])
    assert {each["run_id"] for each in level(older, 128)["handshakes"]} == {"20260101-120000-0001"}


def test_the_answers_of_a_level(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "20260101-120000-0001")
    answer = level(security(client), 128)
    assert answer["missing"] is None
    assert answer["cheapest"].startswith("The cheapest handshake with forward secrecy is TLS 1.2 EC")
    assert "With an RSA certificate, TLS 1.2 ECDHE-RSA" in answer["forward_secrecy_adds"]
    *_, rsa = kinds = [each["case"]["key_exchange"] for each in answer["handshakes"]]
    assert (set(kinds), rsa) == (set(COSTS_US), "ECDHE-RSA")
    weaker = level(security(client), 112)
    assert weaker["handshakes"] == []
    assert weaker["cheapest_case"] == answer["cheapest_case"], "a stronger handshake answers for a lower level too"


def test_another_model_ranks_the_same_handshakes(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "20260101-120000-0001")
    answer = security(client, model="cnsa-2")
    assert [each["handshakes"] for each in answer["levels"]] == [[]] * 6
    assert len(answer["unranked"]) == len(level(security(client), 128)["handshakes"])
    assert level(security(client, model="ecrypt"), 112)["handshakes"], "3072 bits are less than 128 there"


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_side_has_its_own_costs(client: httpx2.Client, empty_store: ClickHouseStore, side: str) -> None:
    measured(empty_store, "20260101-120000-0001")
    of_both, of_side = (level(security(client, side=each), 128)["handshakes"] for each in ("both", side))
    costs = {each["case"]["id"]: each["cost"]["value"] for each in of_side}
    assert all(costs[each["case"]["id"]] < each["cost"]["value"] for each in of_both)
    assert costs


def test_only_the_chosen_host_kind_is_shown(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "20260101-120000-0001")
    measured(empty_store, "20260102-120000-0001", day=1, host=OTHER)
    here = security(client, cpu_model=kind_of(HOST))
    assert {each["run_id"] for each in level(here, 128)["handshakes"]} == {"20260101-120000-0001"}
    assert security(client)["host_kind"]["cpu_model"] == kind_of(OTHER)


def test_an_unknown_subject_is_not_shown_as_one_without_handshakes(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "20260101-120000-0001")
    assert_problem(client.get("/security", params={"subject": "fake@9.9"}), 404, "fake@9.9")


def test_an_unknown_model_is_refused(client: httpx2.Client) -> None:
    assert client.get("/security", params={"model": "nsa"}).status_code == 422
