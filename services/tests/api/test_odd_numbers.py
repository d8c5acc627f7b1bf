"""Numbers that no column holds: refused at their place, so that whatever is stored can be read."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.domain.hosts import HostLoad
from kexbench.domain.runs import Run
from kexbench.domain.samples import Timer
from kexbench.store import migrate
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from tests.api.cluster import cluster_api
from tests.api.conftest import ClientOf, put, token
from tests.builders import a_run, an_invocation, newest_runs
from tests.stores import raw

pytestmark = pytest.mark.thorough
ONE = "fake@1.0"
NOT_FINITE = ("NaN", "Infinity", "-Infinity", "1e999")
WHOLE = ("-1", "65536", "4294967296", "18446744073709551616", "1" + "0" * 400)
Place = tuple[str | int, ...]


def numbers_of(content: Any, place: Place = ()) -> Iterator[Place]:
    """The place of each number in a JSON value."""
    if isinstance(content, dict | list):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from numbers_of(value, (*place, key))
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield place


def with_number(content: Any, place: Place, number: str) -> bytes:
    """As JSON, with another number at a place, written as it is given."""
    changed = inner = json.loads(json.dumps(content))
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = "the number"
    return json.dumps(changed).replace('"the number"', number).encode()


def an_invocation_of(run: Run) -> Any:
    timer = Timer(tick_source="rdtsc", tick_cost_ns=7.5, thread_cpu_clock_cost_ns=200.5)
    invocation = an_invocation(run, cpu_ns={ONE: [1, 2.5]}, timers={ONE: timer})
    load = HostLoad(load_average_1m=1.5, steal_share=0.1, busy_share=0.2)
    return invocation.model_copy(update={"host_load": load}).model_dump(mode="json")


def assert_everything_can_be_read(client: httpx2.Client, run: Run) -> None:
    for path in ("/runs", f"/runs/{run.run_id}", f"/runs/{run.run_id}/invocations", "/matrix", "/export?format=json"):
        answer = client.get(path)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        json.loads(answer.text, parse_constant=_refuse)
    assert run.run_id in client.get("/runs").text


def _refuse(constant: str) -> None:
    pytest.fail(f"an answer has {constant}")


def check(client: httpx2.Client, method: str, address: str, run: Run, body: Any) -> None:
    headers = token(run.run_id) | {"Content-Type": "application/json"}
    for place in numbers_of(body):
        for number in (*NOT_FINITE, *WHOLE):
            answer = client.request(method, address, content=with_number(body, place, number), headers=headers)
            if answer.status_code == 204:
                assert number not in NOT_FINITE, place
                assert_everything_can_be_read(client, run)
                continue
            assert answer.status_code in (409, 422), f"{number} at {place}: {answer.text}"
            if number in NOT_FINITE:
                assert answer.status_code == 422
                assert ".".join(map(str, ("body", *place))) in answer.json()["detail"]


@pytest.mark.long
def test_a_number_that_no_column_holds_is_refused_wherever_it_stands_in_an_invocation(client: httpx2.Client) -> None:
    run = a_run()
    put(client, run)
    check(client, "POST", f"/runs/{run.run_id}/invocations", run, an_invocation_of(run))


@pytest.mark.long
def test_a_number_that_no_column_holds_is_refused_wherever_it_stands_in_a_run(client: httpx2.Client) -> None:
    """What is accepted once is a conflict with another number; so each number is tried on a run that is not there."""
    body = a_run("new").model_dump(mode="json")
    for place in numbers_of(body):
        for number in (*NOT_FINITE, *WHOLE):
            run = a_run(f"run-{'.'.join(map(str, place))}-{number[:20]}")
            content = with_number(body | {"run_id": run.run_id}, place, number)
            headers = token(run.run_id) | {"Content-Type": "application/json"}
            answer = client.put(f"/runs/{run.run_id}", content=content, headers=headers)
            assert answer.status_code in (204, 422), f"{number} at {place}: {answer.text}"
            assert answer.status_code == 422 or number not in NOT_FINITE, f"{number} at {place}"
            if answer.status_code == 422 and number in NOT_FINITE:
                assert ".".join(map(str, ("body", *place))) in answer.json()["detail"]
    for run in client.get("/runs?limit=200").json()["runs"]:
        assert client.get(f"/runs/{run['run_id']}").status_code == 200


@pytest.mark.parametrize("number", ["0", "65536", "18446744073709551616", "-1", "1e999", "NaN"])
def test_an_attempts_number_beyond_its_column_is_refused_in_the_address(
    empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path, number: str
) -> None:
    run_id = a_run().run_id
    api = cluster_api(empty_store, client_of, tmp_path)
    answer = api.ask(f"pod {run_id} job uid-1", "PUT", f"/runs/{run_id}/jobs/job/attempts/{number}", {})
    assert answer.status_code == 422
    assert "path.attempt" in answer.json()["detail"]


@pytest.mark.parametrize("number", ["0", "-1", "201", "18446744073709551616", "1" + "0" * 400, "NaN"])
@pytest.mark.parametrize("path", ["/runs", "/commits", "/alerts", "/screenings", "/notifications", "/bisections"])
def test_a_page_of_no_possible_length_is_refused(client: httpx2.Client, path: str, number: str) -> None:
    answer = client.get(path, params={"limit": number})
    assert answer.status_code == 422
    assert "query.limit" in answer.json()["detail"]


def test_what_was_stored_of_numbers_that_are_not_finite_is_read_again(
    warm_chdb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Releases before kept them as null."""
    store = ClickHouseStore(warm_chdb, "odd_numbers", EngineClauses())
    before = [migration for migration in migrate.load_migrations() if migration.name != "finite"]
    run, timer = a_run(), Timer(tick_source="rdtsc", tick_cost_ns=7.5, thread_cpu_clock_cost_ns=200.5)
    with monkeypatch.context() as earlier:
        earlier.setattr(migrate, "load_migrations", lambda: before)
        store.migrate()
        odd = run.plan.model_copy(update={"estimated_s": float("nan")})
        store.add_run(run.model_copy(update={"plan": odd}))
        slow = timer.model_copy(update={"tick_cost_ns": float("inf")})
        store.add_invocation(run, an_invocation(run, cpu_ns={ONE: [5.0]}, timers={ONE: slow}))
    store.migrate()
    (found,) = newest_runs(store, 5)
    assert (found.plan.estimated_s, found.plan.cases) == (0, run.plan.cases)
    assert store.timers(run.run_id)[ONE] == timer.model_copy(update={"tick_cost_ns": 0})
    store.close()


def test_a_stored_run_that_cannot_be_read_hides_no_other(empty_store: ClickHouseStore, client: httpx2.Client) -> None:
    good, bad = a_run("good"), a_run("bad")
    put(client, good)
    damaged = bad.model_dump_json().replace('"spec_name":"example"', '"spec_name":7')
    raw(empty_store).insert("runs", [{"run_id": "bad", "created_at": bad.created_at, "run": damaged}])
    assert [run["run_id"] for run in client.get("/runs").json()["runs"]] == ["good"]
    answer = client.get("/runs/bad")
    assert answer.status_code == 503
    assert "run bad" in answer.json()["detail"]
    assert "plan.spec_name" in answer.json()["detail"]
