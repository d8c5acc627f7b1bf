"""A run's frozen subject: what it says of the machine since the run before, and what reading the clocks cost."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from kexbench.domain.kits import KitManifest
from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Run
from kexbench.domain.samples import Timer
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import HOST, NOON, SPEC, a_kit, a_run, an_invocation

ONE, TWO = "fake@1.0", "fake@1.1"
FROZEN = a_kit("openssl@system", version="3.0.2")
FOUR_CASES = SPEC.replace("[RSA, ECDHE-ECDSA]", "[RSA, ECDHE-RSA, ECDHE-ECDSA, DHE-RSA]")
TIMER = Timer(tick_source="tsc", tick_cost_ns=8.5, thread_cpu_clock_cost_ns=251.25)


def measured(
    store: ClickHouseStore,
    run_id: str,
    *,
    day: int = 0,
    machine: float = 1.0,
    library: float = 1.0,
    kit: KitManifest | None = FROZEN,
    cpu_model: str = HOST.cpu_model,
) -> Run:
    """A run in which everything costs `machine` times as much, and the subject `library` times that."""
    host = HOST.model_copy(update={"cpu_model": cpu_model})
    kits = {SENTINEL: kit} if kit else {}
    run = a_run(run_id, spec=FOUR_CASES, kits=kits, created_at=NOON + timedelta(days=day), host=host)
    store.add_run(run)
    found = []
    for place, case in enumerate(run.plan.cases, start=1):
        for number in range(6):
            noise = 1 + 0.0002 * ((3 * place + number) % 5 - 2)
            cost = {ONE: 4e8 * place * machine * library * noise, SENTINEL: 5e8 * place * machine * noise}
            if kit is None:
                del cost[SENTINEL]
            found.append(an_invocation(run, number, cpu_ns=cost, case_id=case.case_id))
    store.add_invocations(run, found)
    return run


def sentinel(client: httpx2.Client, run: Run) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/runs/{run.run_id}").json()["sentinel"]
    return found


def test_a_first_run_has_a_sentinel_and_nothing_to_compare_it_with(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = measured(empty_store, "one")
    assert sentinel(client, run) == {
        "library": "openssl", "version": "3.0.2", "kit_id": FROZEN.kit_id, "move": None
    }  # fmt: skip


def test_a_run_without_a_sentinel_has_none(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    assert sentinel(client, measured(empty_store, "one", kit=None)) is None


@pytest.mark.parametrize(("machine", "moved"), [(1.02, True), (1 / 1.02, True), (1.0, False), (1.004, False)])
def test_a_machine_that_moved_by_two_percent_has_moved(
    machine: float, moved: bool, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one")
    later = measured(empty_store, "two", day=1, machine=machine)
    move = sentinel(client, later)["move"]
    assert move["moved"] is moved
    assert move["low"] <= move["ratio"] <= move["high"]
    assert move["ratio"] == pytest.approx(machine, rel=0.0005)
    assert (move["since_run"], move["cases"]) == ("one", 4)
    assert move["since"] == "2026-01-01T12:01:05Z"


def test_a_library_that_became_slower_is_no_move_of_the_machine(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one")
    later = measured(empty_store, "two", day=1, library=1.3)
    assert not sentinel(client, later)["move"]["moved"]


def test_the_newest_run_before_it_counts_and_none_after_it(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    runs = [
        measured(empty_store, f"day-{day}", day=day, machine=machine) for day, machine in ((3, 1.5), (2, 1.0), (1, 1.2))
    ]
    moves = {run.run_id: sentinel(client, run)["move"] for run in runs}
    assert moves["day-1"] is None
    assert (moves["day-2"]["since_run"], moves["day-3"]["since_run"]) == ("day-1", "day-2")
    assert moves["day-2"]["ratio"] == pytest.approx(1 / 1.2)
    assert moves["day-3"]["ratio"] == pytest.approx(1.5)


def test_another_sentinel_or_another_machine_says_nothing(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "other-kit", kit=a_kit("openssl@system", version="3.0.1"))
    measured(empty_store, "other-flags", kit=a_kit("openssl@system", version="3.0.2", flags="-O3"))
    measured(empty_store, "other-cpu", cpu_model="Another CPU")
    assert sentinel(client, measured(empty_store, "last", day=1))["move"] is None


def test_through_the_sentinel_two_runs_are_compared_without_what_the_machine_did(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = measured(empty_store, "one")
    cells = client.get(f"/runs/{run.run_id}").json()["cells"]
    assert len(cells) == 4
    assert {cell["subject"].partition("~")[0] for cell in cells} == {"fake@1.0"}
    for cell in cells:
        assert cell["to_sentinel"]["ratio"] == pytest.approx(0.8)


def test_what_reading_the_clocks_cost_is_shown_by_subject(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run(kits={SENTINEL: FROZEN})
    empty_store.add_run(run)
    invocation = an_invocation(run, cpu_ns={ONE: 1, SENTINEL: 2}, timers={ONE: TIMER, SENTINEL: TIMER})
    empty_store.add_invocation(run, invocation)
    assert client.get(f"/runs/{run.run_id}").json()["timers"] == dict.fromkeys((ONE, SENTINEL), TIMER.model_dump())


def test_before_the_first_invocation_no_clock_is_known(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run()
    empty_store.add_run(run)
    assert client.get(f"/runs/{run.run_id}").json()["timers"] == {}
