"""What Prometheus reads."""

import asyncio
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest

from kexbench.api import monitoring as monitoring_module
from kexbench.api.calling import sign_role_token
from kexbench.api.monitoring import Monitoring, StoreCheck
from kexbench.domain.runs import RunState
from kexbench.queue.troubles import Troubles
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import StoreError
from tests.api.cluster import cluster_api
from tests.api.conftest import SECRET, ClientOf, assert_problem, put, token
from tests.builders import NOON, a_run, an_event, an_invocation


def lines(text: str) -> set[str]:
    return {line for line in text.splitlines() if not line.startswith("#") and "_created" not in line}


def test_runs_are_counted_by_their_state_and_how_long_the_longest_has_been_in_it(empty_store: ClickHouseStore) -> None:
    for number, state in enumerate([RunState.QUEUED, RunState.QUEUED, RunState.RUNNING, RunState.FAILED]):
        run = a_run(f"run-{number}", created_at=NOON + timedelta(minutes=number))
        empty_store.add_run(run)
        empty_store.add_event(an_event(run, RunState.QUEUED, seconds=0))
        empty_store.add_event(an_event(run, state, seconds=1))
    shown = lines(Monitoring(empty_store, Troubles(), lambda: NOON + timedelta(minutes=10)).text().decode())
    assert shown >= {
        'kexbench_runs{state="queued"} 2.0',
        'kexbench_runs{state="running"} 1.0',
        'kexbench_runs{state="failed"} 1.0',
        'kexbench_runs{state="finished"} 0.0',
        'kexbench_run_state_seconds{state="queued"} 599.0',
        'kexbench_run_state_seconds{state="running"} 479.0',
        'kexbench_run_state_seconds{state="building"} 0.0',
    }
    assert not any("run_state_seconds" in line and "failed" in line for line in shown)


def test_the_age_of_the_oldest_waiting_run_also_grows_while_it_waits_for_one_thing_after_the_other(
    empty_store: ClickHouseStore,
) -> None:
    monitoring = Monitoring(empty_store, Troubles(), lambda: NOON + timedelta(hours=3))
    assert "kexbench_oldest_waiting_run_seconds 0.0" in lines(monitoring.text().decode())
    for number, state in enumerate([RunState.RUNNING, RunState.BUILDING, RunState.QUEUED]):
        run = a_run(f"run-{number}")
        empty_store.add_run(run)
        empty_store.add_event(an_event(run, RunState.QUEUED, seconds=number))
        if state is not RunState.QUEUED:
            empty_store.add_event(an_event(run, state, seconds=10_000))
    assert lines(monitoring.text().decode()) >= {
        "kexbench_oldest_waiting_run_seconds 10799.0",  # the second, queued a second after noon
        'kexbench_run_state_seconds{state="building"} 800.0',
    }


def test_the_events_of_runs_are_read_again_only_after_a_write(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, run_states = [], type(empty_store).run_states

    def counted(store: ClickHouseStore) -> Any:
        read.append(1)
        return run_states(store)

    monkeypatch.setattr(type(empty_store), "run_states", counted)
    run, now = a_run(), NOON
    empty_store.add_run(run)
    empty_store.add_event(an_event(run, RunState.QUEUED, seconds=0))
    monitoring = Monitoring(empty_store, Troubles(), lambda: now)
    monitoring.text()
    now = NOON + timedelta(minutes=1)
    assert 'kexbench_run_state_seconds{state="queued"} 60.0' in lines(monitoring.text().decode())
    assert len(read) == 1
    empty_store.add_event(an_event(run, RunState.FINISHED, seconds=1))
    assert 'kexbench_runs{state="finished"} 1.0' in lines(monitoring.text().decode())
    assert len(read) == 2


def test_the_room_on_the_disk_of_the_store_is_that_of_its_file_system(
    empty_store: ClickHouseStore, chdb_dsn: str
) -> None:
    text = lines(Monitoring(empty_store, Troubles()).text().decode())
    total = shutil.disk_usage(chdb_dsn.removeprefix("chdb://")).total
    (size,) = [float(line.split()[1]) for line in text if line.startswith("kexbench_store_disk_size_bytes")]
    assert size == total
    (free,) = [float(line.split()[1]) for line in text if line.startswith("kexbench_store_disk_free_bytes")]
    assert 0 < free < total


def test_what_the_store_does_not_answer_is_missing_and_everything_else_is_there(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> None:
        raise StoreError("not granted")

    troubles = Troubles()
    monitoring = Monitoring(empty_store, troubles)
    with monkeypatch.context() as patched:
        patched.setattr(type(empty_store), "disks", refused)
        monitoring.text()
        text = monitoring.text().decode()
    assert "kexbench_store_disk" not in text
    assert lines(text) >= {'kexbench_runs{state="queued"} 0.0', "kexbench_service_troubles 1.0"}
    assert [(each.part, each.reason) for each in troubles.now()] == [("metrics of disks", "not granted")]
    assert "kexbench_store_disk" in monitoring.text().decode()
    assert troubles.now() == []


def test_refused_writes_are_counted_by_their_reason_whatever_refused_them(client: httpx2.Client) -> None:
    run = a_run(created_at=datetime.now(UTC).replace(microsecond=0))
    put(client, run)
    body = an_invocation(run, cpu_ns={"fake@1.0": [1]}).model_dump(mode="json")
    uploads, mine = f"/runs/{run.run_id}/invocations", token(run.run_id)
    assert client.post(uploads, json=body).status_code == 401
    assert client.post(uploads, json=body, headers=token("another")).status_code == 403
    assert client.post(uploads, json={}, headers=mine).status_code == 422
    assert client.post(f"/runs/{run.run_id}/invocation-batches", json=[{}], headers=mine).status_code == 422
    assert client.put(f"/runs/{run.run_id}", json={}, headers=mine).status_code == 422
    assert client.get("/runs/nothing").status_code == 404
    text = lines(client.get("http://localhost/metrics").text)
    counted = {line for line in text if line.startswith("kexbench_refusals_total") and not line.endswith(" 0.0")}
    assert counted == {
        'kexbench_refusals_total{of="upload",reason="unknown_caller"} 1.0',
        'kexbench_refusals_total{of="upload",reason="forbidden"} 1.0',
        'kexbench_refusals_total{of="upload",reason="invalid"} 2.0',
        'kexbench_refusals_total{of="other",reason="invalid"} 1.0',
    }
    assert 'kexbench_refusals_total{of="upload",reason="conflict"} 0.0' in text


def test_the_rounds_of_loops_are_seen_with_their_last_success(empty_store: ClickHouseStore) -> None:
    now = NOON
    troubles = Troubles(lambda: now)
    monitoring = Monitoring(empty_store, troubles)

    def broken() -> bool:
        raise KeyError("a bug")

    def shown() -> dict[str, float]:
        return {
            name: float(value)
            for name, _, value in (line.partition(" ") for line in lines(monitoring.text().decode()))
            if name.startswith("kexbench_loop")
        }

    assert shown() == {}
    troubles.begin_rounds("watcher")
    succeeded = 'kexbench_loop_last_success_timestamp_seconds{loop="watcher"}'
    failures = 'kexbench_loop_failures_total{loop="watcher"}'
    assert shown() == {succeeded: 0, failures: 0}
    for once in (lambda: True, lambda: False, broken):
        troubles.guard_round("watcher", "repositories", once)
        now += timedelta(minutes=1)
    assert shown() == {succeeded: NOON.timestamp(), failures: 2}
    assert [trouble.part for trouble in troubles.now()] == ["repositories"]


def test_uploads_are_counted_by_what_became_of_them(client: httpx2.Client) -> None:
    run = a_run(created_at=datetime.now(UTC).replace(microsecond=0))
    put(client, run)
    body = an_invocation(run, cpu_ns={"fake@1.0": [1]}).model_dump(mode="json")
    for _ in range(2):
        client.post(f"/runs/{run.run_id}/invocations", json=body, headers=token(run.run_id))
    wrong = client.post(f"/runs/{run.run_id}/invocations", json={**body, "run_id": "x"}, headers=token(run.run_id))
    assert_problem(wrong, 422)
    answer = client.get("http://localhost/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert lines(answer.text) >= {
        'kexbench_uploads_total{result="stored"} 2.0',
        'kexbench_uploads_total{result="refused"} 1.0',
    }


def test_an_upload_that_the_store_cannot_take_is_counted_logged_and_a_trouble_until_one_is_stored(
    client: httpx2.Client,
    empty_store: ClickHouseStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = a_run(created_at=datetime.now(UTC).replace(microsecond=0))
    put(client, run)
    body = an_invocation(run, cpu_ns={"fake@1.0": [1]}).model_dump(mode="json")

    def full(*_: object) -> None:
        raise StoreError("the disk is full", "free space")

    with monkeypatch.context() as patched:
        patched.setattr(type(empty_store), "add_invocations", full)
        for _ in range(2):
            answer = client.post(f"/runs/{run.run_id}/invocations", json=body, headers=token(run.run_id))
            assert_problem(answer, 503)
    health = client.get("/health").json()
    assert health["status"] == "impaired"
    reasons = {trouble["part"]: trouble["reason"] for trouble in health["troubles"]}
    assert reasons == {"uploads": "results wait where they were measured: the disk is full; free space"}
    assert len([record for record in caplog.records if "the disk is full" in record.getMessage()]) == 1
    assert lines(client.get("http://localhost/metrics").text) >= {
        'kexbench_uploads_total{result="failed"} 2.0',
        "kexbench_service_troubles 1.0",
    }
    stored = client.post(f"/runs/{run.run_id}/invocations", json=body, headers=token(run.run_id))
    assert stored.status_code == 204
    assert client.get("/health").json()["troubles"] == []


def test_failures_of_uploads_that_nobody_repeats_are_no_trouble_for_ever(empty_store: ClickHouseStore) -> None:
    times = iter([NOON, NOON + timedelta(minutes=9), NOON + timedelta(minutes=11)])
    troubles = Troubles()
    monitoring = Monitoring(empty_store, troubles, lambda: next(times))
    monitoring.failed(StoreError("full"), 1)
    monitoring.forget_failures()
    assert [trouble.part for trouble in troubles.now()] == ["uploads"]
    monitoring.forget_failures()
    assert troubles.now() == []


def test_health_tries_what_pages_read(
    client: httpx2.Client, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> None:
        raise StoreError("not granted")

    monkeypatch.setattr(type(empty_store), "check_readable", refused)
    health = client.get("/health").json()
    assert (health["status"], [trouble["part"] for trouble in health["troubles"]]) == ("impaired", ["answers"])


def test_a_store_that_hangs_is_a_trouble_until_it_answers(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, troubles, now_s = Event(), Troubles(), 0.0
    monkeypatch.setattr(type(empty_store), "check_readable", lambda _: answers.wait(60) and None)
    check = StoreCheck(empty_store, troubles, clock=lambda: now_s)
    asyncio.run(check.current())
    assert troubles.now() == [], "it may take a while"
    now_s = 60.0
    asyncio.run(check.current())
    assert [(each.part, each.reason) for each in troubles.now()] == [("answers", "the store does not answer")]
    answers.set()
    asyncio.run(check.current())
    assert troubles.now() == []


def test_while_the_store_hangs_its_metrics_are_missing_and_prometheus_learns_that_it_hangs(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, troubles = Event(), Troubles()
    monitoring = Monitoring(empty_store, troubles)
    monkeypatch.setattr(monitoring_module, "_METRICS_WAIT_S", 0.0)
    monkeypatch.setattr(monitoring_module, "_HANGS_AFTER_S", -1.0)
    monkeypatch.setattr(type(empty_store), "sizes", lambda _: answers.wait(60) and [])
    for _ in range(2):
        hanging = lines(asyncio.run(monitoring.current_text()).decode())
        assert hanging >= {"kexbench_service_troubles 1.0", 'kexbench_uploads_total{result="stored"} 0.0'}
        assert not any(line.startswith("kexbench_runs") for line in hanging)
    assert [(each.part, each.reason) for each in troubles.now()] == [
        ("metrics of the store", "the store does not answer")
    ]
    answers.set()
    monkeypatch.setattr(monitoring_module, "_METRICS_WAIT_S", 60.0)
    shown = lines(asyncio.run(monitoring.current_text()).decode())
    assert shown >= {'kexbench_runs{state="queued"} 0.0', "kexbench_service_troubles 0.0"}


def test_readers_get_status_503_at_once_while_the_store_hangs(
    client: httpx2.Client, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Event()
    monkeypatch.setattr(type(empty_store), "check_readable", lambda _: answers.wait(60) and None)
    with monkeypatch.context() as hanging:
        hanging.setattr(monitoring_module, "_CHECK_WAIT_S", 0.0)
        hanging.setattr(monitoring_module, "_HANGS_AFTER_S", -1.0)
        hanging.setattr(type(empty_store), "content_version", lambda _: pytest.fail("the store was asked"))
        assert [trouble["part"] for trouble in client.get("/health").json()["troubles"]] == ["answers"]
        assert_problem(client.get("/overview"), 503, "the store does not answer")
        assert client.get("http://localhost/healthz").text == "OK"
    answers.set()
    monkeypatch.setattr(monitoring_module, "_CHECK_WAIT_S", 60.0)
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/overview").status_code == 200


OLD = {"before": (NOON + timedelta(days=1)).isoformat()}


def submitter(role: str = "submitter") -> dict[str, str]:
    return {"Authorization": f"Bearer {sign_role_token('alice', role, SECRET, now=datetime.now(UTC))}"}


def owner() -> dict[str, str]:
    """As commands of this machine, unlike its pages."""
    return submitter("dispatcher")


def measured(store: ClickHouseStore) -> None:
    run = a_run()
    store.add_run(run)
    store.add_invocation(run, an_invocation(run, cpu_ns={"fake@1.0": [10, 12], "fake@1.1": [11, 13]}))


def test_the_store_tells_its_size_and_what_can_be_removed(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store)
    answer = client.get("/store").json()
    assert answer["size_bytes"] == sum(table["size_bytes"] for table in answer["tables"]) > 0
    assert 'kexbench_store_bytes{table="samples"}' in client.get("http://localhost/metrics").text
    assert_problem(client.get("/store/prunable", params=OLD), 401)
    assert_problem(client.get("/store/prunable", params=OLD, headers=token("run")), 403)
    prunable = client.get("/store/prunable", params=OLD, headers=submitter()).json()
    assert {name: prunable[name] for name in ("runs", "samples", "values")} == {"runs": 1, "samples": 6, "values": 12}
    no_zone = {"before": "2026-01-01T00:00:00"}
    assert_problem(client.get("/store/prunable", params=no_zone, headers=submitter()), 422)


def test_batches_are_removed_by_the_owner_of_this_machine_only(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store)
    assert_problem(client.post("/store/prune", json=OLD), 401)
    assert_problem(client.post("/store/prune", json=OLD, headers=token("run")), 403)
    assert_problem(client.post("/store/prune", json=OLD, headers=submitter()), 403, "is a submitter, which may not")
    for number in (0, 4102444800, "0", "4102444800"):
        wrong = {"before": number}
        for answer in (
            client.post("/store/prune", json=wrong, headers=owner()),
            client.get("/store/prunable", params=wrong, headers=owner()),
        ):
            assert_problem(answer, 422, "body.before" if answer.request.method == "POST" else "query.before")
            assert "must be a date and time" in answer.json()["errors"][0]["msg"]
    answers: list[dict[str, Any]] = []
    while not (answers and answers[-1]["is_last"]):
        answers.append(client.post("/store/prune", json=OLD, headers=owner()).json())
    assert sum(answer["removed_values"] for answer in answers) == 12
    assert client.get("/store/prunable", params=OLD, headers=submitter()).json()["values"] == 0


def test_batches_stay_while_this_machine_measures(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store)
    run = a_run("another")
    empty_store.add_run(run)
    empty_store.add_event(an_event(run, RunState.RUNNING))
    refused = client.post("/store/prune", json=OLD, headers=owner())
    assert_problem(refused, 409, "a run is measured on this machine")
    assert client.get("/store/prunable", params=OLD, headers=submitter()).json()["values"] == 12
    empty_store.add_event(an_event(run, RunState.FINISHED))
    assert client.post("/store/prune", json=OLD, headers=owner()).json()["removed_values"] == 12


def test_on_a_cluster_only_the_setting_removes_batches(
    empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path
) -> None:
    cluster = cluster_api(empty_store, client_of, tmp_path)
    assert_problem(cluster.ask("admin", "POST", "/store/prune", OLD), 409, "by its setting")
