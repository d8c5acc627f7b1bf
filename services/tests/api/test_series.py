"""Series: where the level of a line changed, and across what nothing is compared."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import httpx
import pytest

from kexbench.domain.hosts import HostFacts
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import HOST, NOON, RSA, SPEC, a_run, an_invocation

VERSIONS = tuple(f"1.{number}" for number in range(12))
NEWER_KERNEL = HOST.model_copy(update={"kernel": "6.12.0"})


def measured(
    store: ClickHouseStore,
    run_id: str,
    versions: Sequence[str],
    *,
    day: int = 0,
    host: HostFacts = HOST,
    harness: int | None = None,
    invocations: int = 6,
) -> None:
    """From version 1.6 on it costs 5% more; all have a little noise of their own."""
    spec = SPEC.replace("[1.0, 1.1]", f"[{', '.join(versions)}]")
    run = a_run(run_id, spec=spec, created_at=NOON + timedelta(days=day), host=host)
    if harness is not None:
        run = run.model_copy(update={"plan": run.plan.model_copy(update={"harness_version": harness})})
    store.add_run(run)
    blocks = len(run.plan.jobs[0].blocks)
    for number in range(invocations * blocks):
        cpu_ns = {
            f"fake@{version}": 1e6 * (1.05 if minor(version) >= 6 else 1) * (1 + noise(minor(version), number))
            for version in versions
        }
        store.add_invocation(run, an_invocation(run, number, cpu_ns=cpu_ns, host=host))


def minor(version: str) -> int:
    return int(version.partition(".")[2])


def noise(version: int, invocation: int) -> float:
    return 0.0005 * ((5 * version + 7 * invocation + version * version) % 11 - 5)


def change_points(client: httpx.Client, **asked: Any) -> list[dict[str, Any]]:
    (line,) = client.get("/series", params={"case_id": RSA, **asked}).json()["lines"]
    assert [point["version"] for point in line["points"]] == list(VERSIONS)
    found: list[dict[str, Any]] = line["change_points"]
    return found


@pytest.mark.parametrize("invocations", [1, 6])
def test_a_planted_step_is_a_change_point_at_its_version(
    invocations: int, client: httpx.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", VERSIONS, invocations=invocations)
    (found,) = change_points(client)
    assert found["index"] == 6
    assert found["ratio"] == pytest.approx(1.05, abs=0.004)
    assert found["z"] >= 4.5
    assert change_points(client, metric="server_cpu_ns")[0]["index"] == 6


@pytest.mark.parametrize("changed", [{"host": NEWER_KERNEL}, {"harness": 1}], ids=["another kernel", "another harness"])
def test_nothing_is_compared_across_another_machine_or_way_of_measuring(
    changed: dict[str, Any], client: httpx.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", VERSIONS[:6])
    measured(empty_store, "two", VERSIONS[6:], day=1, **changed)
    assert change_points(client) == []


def test_runs_on_one_machine_are_one_history(client: httpx.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", VERSIONS[:6])
    measured(empty_store, "two", VERSIONS[6:], day=1)
    assert [found["index"] for found in change_points(client)] == [6]


def test_what_costs_nothing_has_no_change_points(client: httpx.Client, empty_store: ClickHouseStore) -> None:
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_invocation(run, an_invocation(run, cpu_ns={"fake@1.0": 0, "fake@1.1": 1}))
    (line,) = client.get("/series", params={"case_id": RSA}).json()["lines"]
    assert line["change_points"] == []
