"""Any two ends: judged like an upgrade where both are alike, otherwise a ratio with its interval and the reason."""

from typing import Any

import httpx2
import pytest

from kexbench.answers import comparison
from kexbench.answers.comparing import DIFFERENT_CPU, DIFFERENT_PROFILE, DIFFERENT_RUN, THE_SENTINEL, THROUGH
from kexbench.domain.plans import SENTINEL
from kexbench.domain.samples import Metric
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Selection
from tests.api.conftest import assert_problem
from tests.api.test_upgrades import FROZEN, ONE, OTHER_CPU, THREE, TWO, measured, report
from tests.builders import ECDSA, HOST, RSA, a_kit


def compared(client: httpx2.Client, **asked: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/compare", params=asked).raise_for_status().json()
    return answer


def cell_of(answer: dict[str, Any], case_id: str = RSA) -> dict[str, Any]:
    (cell,) = [cell for cell in answer["cells"] if cell["case_id"] == case_id]
    return cell  # type: ignore[no-any-return]


def test_an_empty_store_has_nothing_to_compare(client: httpx2.Client) -> None:
    answer = compared(client)
    assert (answer["base"], answer["other"], answer["cells"], answer["subjects"]) == (None, None, [], [])


def test_an_unknown_subject_is_a_problem(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0})
    assert_problem(client.get("/compare", params={"base": "fake@1.0", "other": "fake@9"}), 404, "9")


def test_two_versions_have_the_verdicts_of_their_upgrade(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 1.0})
    measured(empty_store, "two", {ONE: 1.0, TWO: 0.98}, day=1, host=OTHER_CPU)
    for base, other in (("1.0", "1.1"), ("1.0", "1.2"), ("1.2", "1.0")):
        answer = compared(client, base=f"fake@{base}", other=f"fake@{other}")
        upgrade = report(client, base, other)
        shown = [
            (cell["case_id"], cell["host_kind"]["cpu_model"], cell["verdict"], cell["move"]) for cell in answer["cells"]
        ]
        assert shown == [
            (cell["case_id"], cell["host_kind"]["cpu_model"], cell["verdict"], cell["move"])
            for cell in upgrade["cells"]
        ]
        for cell, judged in zip(answer["cells"], upgrade["cells"], strict=True):
            assert (cell["unalike"], cell["warnings"]) == ([], judged["warnings"])
            assert [end["value"] for end in cell["estimates"]["both"]] == [judged["before_ns"], judged["after_ns"]]
            for side, share in (("client", 0.25), ("server", 0.75)):
                assert cell[side] == judged[side]
                (before, _) = cell["estimates"][side]
                assert before["value"] == pytest.approx(share * judged["before_ns"], rel=0.001)


def test_without_ends_it_is_the_upgrade_measured_last(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {TWO: 1.0, THREE: 1.0})
    measured(empty_store, "two", {ONE: 1.0, TWO: 1.02}, day=1)
    answer = compared(client)
    assert (answer["base"]["subject"]["version"], answer["other"]["subject"]["version"]) == ("1.0", "1.1")
    answer = compared(client, other="fake@1.2")
    assert answer["base"]["subject"]["version"] == "1.1"


def test_one_version_on_two_cpus_has_a_ratio_and_no_verdict(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    measured(empty_store, "two", {ONE: 2.0, TWO: 2.0}, day=1, cases=(RSA,), host=OTHER_CPU)
    answer = compared(
        client,
        base="fake@1.0",
        base_cpu_model=HOST.cpu_model,
        other="fake@1.0",
        other_cpu_model=OTHER_CPU.cpu_model,
    )
    (cell,) = answer["cells"]
    assert (cell["unalike"], cell["warnings"], cell["resolves"]) == (["cpu"], [DIFFERENT_CPU], None)
    assert cell["run_ids"] == ["one", "two"]
    assert [cell["verdict"], *(cell[side]["verdict"] for side in ("client", "server"))] == ["unjudged"] * 3
    for side in ("move", "client", "server"):
        assert cell[side]["low"] < 2.0 < cell[side]["high"]
    row = client.get("/cpus", params={"cpu_model": HOST.cpu_model, "library": "fake"}).json()["rows"]
    assert cell["move"] == pytest.approx(next(row["relative"] for row in row if row["relative"]), rel=0.001), (
        "the page of CPUs has the same of the newest version, which costs as much"
    )
    assert [(line["host_kind"]["cpu_model"], line["base"], line["other"]) for line in answer["lines"]] == [
        (HOST.cpu_model, 0, 0),
        (OTHER_CPU.cpu_model, 0, 0),
    ]
    assert [history["line"] for history in cell["history"]] == [0, 1]


def test_two_builds_of_other_profiles_have_the_verdict_of_their_upgrade_and_a_warning(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.05}, kits={TWO: a_kit(TWO, flags="-O3")})
    cell = cell_of(compared(client, base="fake@1.0", other="fake@1.1"))
    assert (cell["unalike"], cell["warnings"], cell["paired"]) == ([], [DIFFERENT_PROFILE], True)
    (judged,) = (one for one in report(client)["cells"] if one["case_id"] == RSA)
    assert cell["verdict"] == judged["verdict"] == "more"
    assert cell["move"] == judged["move"]


def test_runs_without_a_shared_subject_have_a_ratio_and_no_verdict(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0})
    measured(empty_store, "two", {TWO: 1.1}, day=1)
    cell = cell_of(compared(client, base="fake@1.0", other="fake@1.1"))
    assert (cell["unalike"], cell["warnings"]) == (["runs"], [DIFFERENT_RUN])
    assert cell["verdict"] == "apart"
    assert cell["move"]["low"] < 1.1 < cell["move"]["high"]


def test_other_work_has_a_ratio_and_no_verdict(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0}, harness=1)
    measured(empty_store, "two", {ONE: 1.1}, day=1)
    cell = cell_of(compared(client, base="fake@1.0", base_run_id="one", other="fake@1.0", other_run_id="two"))
    assert "work" in cell["unalike"]
    assert cell["verdict"] == "unlike"
    assert cell["move"]["ratio"] == pytest.approx(1.1, rel=0.01)


def test_two_runs_of_one_version_are_judged_through_their_sentinel(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    kits = {SENTINEL: FROZEN}
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0, SENTINEL: 1.0}, kits=kits)
    measured(empty_store, "two", {ONE: 1.1, TWO: 1.1, SENTINEL: 1.1}, day=1, kits=kits)
    asked = {"base": "fake@1.0", "base_run_id": "one", "other": "fake@1.0", "other_run_id": "two"}
    answer = compared(client, **asked)
    cell = cell_of(answer)
    assert cell["run_ids"] == ["one", "two"]
    assert cell["warnings"] == [THROUGH.format(subject=THE_SENTINEL)]
    assert cell["move"]["ratio"] == pytest.approx(1.0, abs=0.002), "the machine became slower"
    assert cell["estimates"]["both"][1]["value"] == pytest.approx(1.1e6, rel=0.002), "costs are as measured"
    assert cell["verdict"] == "same"
    assert {run["run_id"] for run in answer["base"]["runs"]} == {"one", "two"}


def test_a_version_in_two_runs_is_never_its_own_bridge(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0})
    measured(empty_store, "two", {ONE: 1.1}, day=1)
    asked = {"base": "fake@1.0", "base_run_id": "one", "other": "fake@1.0", "other_run_id": "two"}
    cell = cell_of(compared(client, **asked))
    assert (cell["unalike"], cell["warnings"]) == (["runs"], [DIFFERENT_RUN])
    assert cell["move"]["ratio"] == pytest.approx(1.1, rel=0.01)


def test_an_end_is_not_compared_with_itself(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    assert compared(client, base="fake@1.0", other="fake@1.0")["cells"] == []
    assert compared(client, base="fake@1.0", base_run_id="one", other="fake@1.0")["cells"] == []


def test_the_history_of_a_cell_has_a_value_for_each_version(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 1.04})
    measured(empty_store, "two", {ONE: 1.0, THREE: 1.04}, day=1, cases=(ECDSA,))
    answer = compared(client, base="fake@1.0", other="fake@1.2")
    (line,) = answer["lines"]
    assert (line["versions"], line["base"], line["other"]) == (["1.0", "1.1", "1.2"], 0, 2)
    for cell in answer["cells"]:
        (history,) = cell["history"]
        assert history["values"] == pytest.approx([1e6, 1.02e6, 1.04e6], rel=0.002)


def test_the_answer_has_the_choices_of_both_ends(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    measured(empty_store, "two", {TWO: 1.0, THREE: 1.0}, day=1, host=OTHER_CPU)
    answer = compared(client, base="fake@1.0", other="fake@1.1")
    assert [subject["version"] for subject in answer["subjects"]] == ["1.0", "1.1", "1.2"]
    assert [kind["cpu_model"] for kind in answer["base"]["host_kinds"]] == [HOST.cpu_model]
    assert [kind["cpu_model"] for kind in answer["other"]["host_kinds"]] == [OTHER_CPU.cpu_model, HOST.cpu_model]
    assert [run["run_id"] for run in answer["other"]["runs"]] == ["two", "one"]
    names = {row.subject.name for row in empty_store.measured_subjects(Selection(Metric.CPU_NS))}
    assert {subject["name"] for subject in answer["subjects"]} == names


def test_an_answer_is_bounded_and_says_what_it_leaves_out(
    client: httpx2.Client, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    measured(empty_store, "two", {THREE: 1.0}, day=1)
    monkeypatch.setattr(comparison, "MOST_CELLS", 1)
    monkeypatch.setattr(comparison, "MOST_SUBJECTS", 2)
    answer = compared(client, base="fake@1.0", other="fake@1.1")
    assert ([cell["case_id"] for cell in answer["cells"]], answer["left_out"]) == ([RSA], 1)
    assert [subject["version"] for subject in answer["subjects"]] == ["1.0", "1.1"], "the ends are always there"
