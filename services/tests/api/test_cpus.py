"""One case on all CPUs: the same version is compared, with an interval and no verdict, and all else says why not."""

from typing import Any

import httpx2
import pytest

from kexbench.domain.cpu_features import accelerating, reported_features
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import assert_problem
from tests.api.test_upgrades import ONE, THREE, TWO, measured
from tests.builders import ECDSA, HOST, RSA

OTHER = HOST.model_copy(update={"cpu_model": "Other CPU", "cpu_flags": ("adx", "aes", "fpu", "sha_ni")})


def cpus(client: httpx2.Client, **asked: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/cpus", params=asked).raise_for_status().json()
    return answer


def by_cpu(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["host_kind"]["cpu_model"].split(",")[0]: row for row in answer["rows"]}


def test_an_empty_store_has_no_cpus(client: httpx2.Client) -> None:
    answer = cpus(client)
    assert (answer["case"], answer["base"], answer["rows"], answer["host_kinds"]) == (None, None, [], [])


def test_an_unknown_case_is_a_problem(client: httpx2.Client) -> None:
    assert_problem(client.get("/cpus", params={"case_id": "unknown"}), 404, "unknown")


def test_costs_are_relative_to_the_chosen_cpu(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02})
    measured(empty_store, "two", {ONE: 2.0, TWO: 2.04}, day=1, host=OTHER)
    answer = cpus(client)
    assert answer["base"]["cpu_model"] == OTHER.cpu_model, "measured last"
    rows = by_cpu(answer)
    assert rows["Other CPU"]["relation"] == "base"
    other = rows[HOST.cpu_model]
    assert other["relation"] == "compared"
    assert other["relative"]["ratio"] == pytest.approx(0.5, rel=0.002)
    assert other["relative"]["low"] < 0.5 < other["relative"]["high"]
    chosen = by_cpu(cpus(client, cpu_model=HOST.cpu_model))
    assert chosen["Other CPU"]["relative"]["ratio"] == pytest.approx(2.0, rel=0.002)


def test_the_gain_of_the_newest_version_is_that_of_its_matrix(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02})
    measured(empty_store, "two", {ONE: 1.0, TWO: 0.9}, day=1, host=OTHER)
    for row in cpus(client)["rows"]:
        where = row["host_kind"]
        matrix = client.get("/matrix", params=where).raise_for_status().json()
        (cell,) = [
            cell for cell in matrix["cells"] if (cell["case_id"], cell["subject"]) == (RSA, row["subject"]["name"])
        ]
        assert row["change"] == cell["change"]
        assert row["estimate"] == cell["estimate"]


def test_another_version_gets_no_ratio(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0, THREE: 1.0})
    measured(empty_store, "two", {ONE: 2.0, TWO: 2.0}, day=1, host=OTHER)
    row = by_cpu(cpus(client))[HOST.cpu_model]
    assert (row["subject"]["version"], row["relation"], row["relative"]) == ("1.2", "other version", None)


def test_another_method_of_measuring_gets_no_ratio(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0}, harness=1)
    measured(empty_store, "two", {ONE: 2.0, TWO: 2.0}, day=1, host=OTHER)
    row = by_cpu(cpus(client))[HOST.cpu_model]
    assert (row["relation"], row["relative"]) == ("other work", None)
    assert row["cautions"] == ["measured by different methods of different kexbench versions"]


def test_few_invocations_get_no_ratio(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0}, count=2)
    measured(empty_store, "two", {ONE: 2.0, TWO: 2.0}, day=1, host=OTHER)
    assert by_cpu(cpus(client))[HOST.cpu_model]["relation"] == "few invocations"


def test_cpus_without_the_case_are_left_out(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    measured(empty_store, "two", {ONE: 2.0, TWO: 2.0}, day=1, cases=(RSA,), host=OTHER)
    answer = cpus(client, case_id=ECDSA)
    assert [kind["cpu_model"] for kind in answer["host_kinds"]] == [HOST.cpu_model]
    assert {choice["id"] for choice in answer["choices"]} == {RSA, ECDSA}


def test_the_features_of_a_cpu_are_those_with_code_for_them(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0}, host=OTHER)
    (row,) = cpus(client)["rows"]
    assert row["cpu_features"] == ["AES", "ADX", "SHA"]
    assert row["used_features"] is None, "nothing was counted"


def test_a_librarys_report_is_read_by_its_bits() -> None:
    assert reported_features("OPENSSL_ia32cap=0x200000000000000:0x80000 env:0x1") == ["AES", "ADX"]
    assert reported_features("no report") == []
    assert accelerating(["pmull", "sve", "unknown"]) == ["PMULL", "SVE"]
