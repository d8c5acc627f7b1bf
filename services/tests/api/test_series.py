"""Series: where the level of a line changed, and across what nothing is compared."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from kexbench.domain.hosts import HostFacts
from kexbench.domain.plans import SENTINEL
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.asking import series
from tests.builders import HOST, NOON, RSA, SPEC, a_kit, a_run, an_invocation

VERSIONS = tuple(f"1.{number}" for number in range(12))
RECYCLED = HOST.model_copy(update={"kernel": "6.1.1", "memory_bytes": HOST.memory_bytes - 4096})


def measured(
    store: ClickHouseStore,
    run_id: str,
    versions: Sequence[str],
    *,
    day: int = 0,
    host: HostFacts = HOST,
    harness: int | None = None,
    invocations: int = 6,
    frozen: str | None = None,
    slower: float = 1,
) -> None:
    """From version 1.6 on it costs 5% more; all have a little noise of their own. `frozen` is the version of a sentinel
    that is measured along, on a machine that is so much slower."""
    spec = SPEC.replace("[1.0, 1.1]", f"[{', '.join(versions)}]")
    kits = {SENTINEL: a_kit("openssl@system", version=frozen)} if frozen else None
    run = a_run(run_id, spec=spec, kits=kits, created_at=NOON + timedelta(days=day), host=host)
    if harness is not None:
        run = run.model_copy(update={"plan": run.plan.model_copy(update={"harness_version": harness})})
    store.add_run(run)
    blocks = len(run.plan.jobs[0].blocks)
    found = []
    for number in range(invocations * blocks):
        cpu_ns = {
            f"fake@{version}": slower * 1e6 * (1.05 if minor(version) >= 6 else 1) * (1 + noise(minor(version), number))
            for version in versions
        }
        if frozen:
            cpu_ns[SENTINEL] = slower * 2e6
        found.append(an_invocation(run, number, cpu_ns=cpu_ns, host=host))
    store.add_invocations(run, found)


def minor(version: str) -> int:
    return int(version.partition(".")[2])


def noise(version: int, invocation: int) -> float:
    return 0.0005 * ((5 * version + 7 * invocation + version * version) % 11 - 5)


def the_line(client: httpx2.Client, **asked: Any) -> dict[str, Any]:
    (line,) = series(client, RSA, **asked)
    assert [point["subject"]["version"] for point in line["points"]] == list(VERSIONS)
    assert isinstance(line, dict)
    return line


def change_points(client: httpx2.Client, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = the_line(client, **asked)["change_points"]
    return found


@pytest.mark.parametrize("invocations", [1, 6])
def test_a_planted_step_is_a_change_point_at_its_version(
    invocations: int, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", VERSIONS, invocations=invocations)
    (found,) = change_points(client)
    assert found["index"] == 6
    assert found["move"]["ratio"] == pytest.approx(1.05, abs=0.004)
    assert found["z"] >= 4.5
    assert change_points(client, metric="server_cpu_ns")[0]["index"] == 6


@pytest.mark.parametrize(
    ("frozen", "slower"), [(None, 1), ("3.0.2", 1), ("3.0.2", 1.2)], ids=["alone", "with a sentinel", "a slower node"]
)
def test_a_step_is_found_across_a_node_that_was_recycled(
    frozen: str | None, slower: float, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """How the new node differs from the old one is in the sentinel too."""
    measured(empty_store, "one", VERSIONS[:4], frozen=frozen)
    measured(empty_store, "two", VERSIONS[4:], day=1, frozen=frozen, host=RECYCLED, slower=slower)
    assert [(found["index"], round(found["move"]["ratio"], 2)) for found in change_points(client)] == [(6, 1.05)]


def test_nothing_is_compared_across_another_way_of_measuring(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", VERSIONS[:6])
    measured(empty_store, "two", VERSIONS[6:], day=1, harness=1)
    assert change_points(client) == []


@pytest.mark.parametrize("changed", [{"microcode": "0x2"}, {"governor": "powersave"}], ids=["microcode", "governor"])
def test_a_machine_that_was_changed_has_a_line_of_its_own(
    changed: dict[str, str], client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", VERSIONS[:6])
    measured(empty_store, "two", VERSIONS[6:], day=1, host=HOST.model_copy(update=changed))
    kinds = client.get("/filters").json()["host_kinds"]
    assert len(kinds) == 2
    lines = series(client, RSA)
    assert [line["host_kind"] for line in lines] == kinds
    versions = [[point["subject"]["version"] for point in line["points"]] for line in lines]
    assert versions == [list(VERSIONS[6:]), list(VERSIONS[:6])]


def test_an_old_link_leads_to_the_machine_that_it_named(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", VERSIONS, host=HOST.model_copy(update={"microcode": "0x2", "governor": "performance"}))
    (line,) = series(client, RSA, cpu_model=f"{HOST.cpu_model}, microcode 0x2")
    assert line["host_kind"]["cpu_model"] == f"{HOST.cpu_model}, microcode 0x2, governor performance"


def test_runs_on_one_machine_are_one_history(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", VERSIONS[:6])
    measured(empty_store, "two", VERSIONS[6:], day=1)
    assert [found["index"] for found in change_points(client)] == [6]


def test_what_the_machine_did_is_no_change_where_the_sentinel_was_measured_along(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """Slower from 1.4 on, and again from 1.9 on; only the step at 1.6 is the library's."""
    for day, (begin, end, slower) in enumerate(((0, 4, 1), (4, 9, 1.2), (9, 12, 1.3))):
        measured(empty_store, str(day), VERSIONS[begin:end], day=day, frozen="3.0.2", slower=slower)
    line = the_line(client)
    assert line["through_sentinel"]
    assert [(one["index"], round(one["move"]["ratio"], 2)) for one in line["change_points"]] == [(6, 1.05)]
    costs = [point["value"] for point in line["points"]]
    assert costs == pytest.approx([1e6] * 4 + [1.2e6] * 2 + [1.26e6] * 3 + [1.365e6] * 3, rel=0.01), "as measured"


def test_points_without_the_sentinel_are_compared_as_they_were_measured(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", VERSIONS[:6], frozen="3.0.2")
    measured(empty_store, "two", VERSIONS[6:], day=1)
    line = the_line(client)
    assert not line["through_sentinel"]
    assert [one["index"] for one in line["change_points"]] == [6]


def test_costs_relative_to_one_sentinel_are_not_compared_with_those_to_another(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", VERSIONS[:6], frozen="3.0.2")
    measured(empty_store, "two", VERSIONS[6:], day=1, frozen="3.0.3")
    line = the_line(client)
    assert line["through_sentinel"]
    assert line["change_points"] == []


def test_in_three_points_nothing_is_looked_for(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", VERSIONS[:3], frozen="3.0.2")
    (line,) = series(client, RSA)
    assert not line["through_sentinel"]
    assert line["change_points"] == []


def test_what_costs_nothing_has_no_change_points(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_invocation(run, an_invocation(run, cpu_ns={"fake@1.0": 0, "fake@1.1": 1}))
    (line,) = series(client, RSA)
    assert line["change_points"] == []


def test_a_change_point_has_the_step_that_the_table_shows(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """Its size is that of the two versions next to it, as judged, whatever the level of longer stretches."""
    measured(empty_store, "one", VERSIONS)
    (found,) = change_points(client)
    matrix = client.get("/matrix").json()
    (cell,) = [cell for cell in matrix["cells"] if cell["case_id"] == RSA and "@1.6~" in cell["subject"]]
    change = cell["change"]
    assert found["move"] == {key: change[key] for key in ("ratio", "low", "high")}
    assert {key: found[key] for key in ("before", "after", "verdict")}.items() <= change.items()


def test_a_change_point_between_runs_that_share_nothing_has_no_size(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", VERSIONS[:6])
    measured(empty_store, "two", VERSIONS[6:], day=1)
    (found,) = change_points(client)
    assert (found["verdict"], found["move"]) == ("apart", None)


def test_trends_have_the_points_of_each_series(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    other = HOST.model_copy(update={"cpu_model": "Other CPU"})
    measured(empty_store, "one", VERSIONS)
    measured(empty_store, "two", VERSIONS[:3], day=1, host=other)
    asked = {"case_id": [RSA, "unknown"], "metric": ["cpu_ns", "server_cpu_ns"]}
    trends = client.get("/trends", params=asked).raise_for_status().json()
    assert [case["id"] for case in trends["cases"]] == [RSA]
    assert trends["left_out"] == 0
    lines = {(line["metric"], line["host_kind"]["cpu_model"]): line for line in trends["lines"]}
    assert len(lines) == len(trends["lines"]) == 4
    alone = the_line(client, cpu_model=HOST.cpu_model)
    line = lines["cpu_ns", HOST.cpu_model]
    assert line["change_points"] == alone["change_points"]
    for point, shown in zip(alone["points"], line["points"], strict=True):
        assert trends["subjects"][shown["subject"]] == point["subject"]
        numbers = ("value", "low", "high", "invocations")
        assert {key: point[key] for key in numbers} == {key: shown[key] for key in numbers}
    narrowed = client.get("/trends", params={**asked, "cpu_model": "Other CPU"}).json()
    assert {line["host_kind"]["cpu_model"] for line in narrowed["lines"]} == {"Other CPU"}


def test_trends_of_nothing_are_empty(client: httpx2.Client) -> None:
    trends = client.get("/trends", params={"case_id": RSA}).raise_for_status().json()
    assert (trends["lines"], trends["subjects"], trends["releases"]) == ([], [], [])
