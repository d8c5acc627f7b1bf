"""Streams: what a page that follows runs is sent, over a socket, as a browser reads it."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import fastapi.routing
import httpx2
import pytest
from fastapi import FastAPI

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.api.gate import READERS_AT_ONCE
from kexbench.domain.runs import Run, RunState
from kexbench.queue.streams import News, Streams, TooManyStreams
from kexbench.queue.supplies import LocalSupplies
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import CLUSTER_SPEC, an_attempt, cluster_app, planner
from tests.api.conftest import SECRET, assert_problem
from tests.builders import a_plan, a_run, an_event, an_invocation
from tests.cli.conftest import Cli
from tests.serving import serving


@dataclass
class Stream:
    """The events of a stream, as they arrive."""

    response: httpx2.Response

    def __post_init__(self) -> None:
        self._lines = self.response.iter_lines()
        self.last_id = ""

    def next(self) -> Any:
        """The data of the next event."""
        data = None
        for line in self._lines:
            field, _, value = line.partition(": ")
            if field == "data":
                data = json.loads(value)
            elif field == "id":
                self.last_id = value
            elif line == "" and data is not None:
                return data
        return None

    def until(self, state: str) -> Any:
        """The data of the first event with a state."""
        while (data := self.next())["state"] != state:
            pass
        return data

    def line(self) -> str:
        return next(line for line in self._lines if line)

    def rest(self) -> list[str]:
        """What arrives until it ends, without heartbeats."""
        return [line for line in self._lines if line and not line.startswith(":")]


def app_of(
    store: ClickHouseStore,
    log: Callable[[str], list[str]] = lambda _: [],
    measured: Callable[[str], dict[str, int]] = lambda _: {},
) -> FastAPI:
    supplies = LocalSupplies(lambda *_, **__: a_plan(), log, measured)
    return create_app(store, LocalGatekeeper(SECRET), None, supplies)


@contextmanager
def following(url: str, path: str, last_id: str | None = None) -> Iterator[Stream]:
    headers = {} if last_id is None else {"Last-Event-ID": last_id}
    with httpx2.stream("GET", f"{url}{API_PREFIX}{path}", headers=headers, timeout=60) as response:
        assert response.status_code == 200, response.read()
        yield Stream(response)


@pytest.fixture
def running(empty_store: ClickHouseStore) -> Run:
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_event(an_event(run))
    return run


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def finish(store: ClickHouseStore, run: Run) -> None:
    store.add_event(an_event(run, RunState.FINISHED, seconds=9))


def test_the_stream_of_a_run_says_what_changes_and_ends_with_it(empty_store: ClickHouseStore, running: Run) -> None:
    with serving(app_of(empty_store)) as url, following(url, f"/runs/{running.run_id}/stream") as stream:
        assert stream.response.headers["content-type"].startswith("text/event-stream")
        assert stream.response.headers["x-accel-buffering"] == "no"
        assert stream.response.headers["cache-control"] == "no-cache"
        first = stream.next()
        assert (first["state"], first["invocations_stored"], first["invocations_planned"]) == ("running", 0, 12)
        empty_store.add_invocations(running, [an_invocation(running, 0)])
        assert stream.next()["invocations_stored"] == 1
        finish(empty_store, running)
        stream.until("finished")
        assert stream.rest() == []


def test_a_stream_is_resumed_after_the_last_event_that_was_seen(empty_store: ClickHouseStore, running: Run) -> None:
    path = f"/runs/{running.run_id}/stream"
    with serving(app_of(empty_store)) as url:
        with following(url, path) as stream:
            stream.next()
            seen = stream.last_id
        with following(url, path, seen) as resumed:
            empty_store.add_invocations(running, [an_invocation(running, 0)])
            assert resumed.next()["invocations_stored"] == 1, "the event that was seen is not sent again"
        finish(empty_store, running)
        with following(url, path, seen) as late:
            late.until("finished")  # whoever missed the end hears of it


def test_the_stream_of_an_ended_run_ends_at_once(empty_store: ClickHouseStore, running: Run) -> None:
    finish(empty_store, running)
    with serving(app_of(empty_store)) as url, following(url, f"/runs/{running.run_id}/stream") as stream:
        assert stream.next()["state"] == "finished"
        assert stream.rest() == []


def test_a_silent_stream_has_a_heartbeat(
    empty_store: ClickHouseStore, running: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fastapi.routing, "_PING_INTERVAL", 0.01)
    with serving(app_of(empty_store)) as url, following(url, f"/runs/{running.run_id}/stream") as stream:
        stream.next()
        assert stream.line() == ": ping"


def test_the_log_of_a_run_on_this_machine_grows_in_its_stream(empty_store: ClickHouseStore, running: Run) -> None:
    lines = ["providing keys"]
    with (
        serving(app_of(empty_store, lambda _: list(lines))) as url,
        following(url, f"/runs/{running.run_id}/stream") as stream,
    ):
        assert stream.next()["log"] == ["providing keys"]
        lines.append("measured 1 of 12 invocations")
        assert stream.next()["log"] == lines


def test_the_stream_of_the_overview_lists_what_is_measured_now(empty_store: ClickHouseStore) -> None:
    with serving(app_of(empty_store)) as url, following(url, "/overview/stream") as stream:
        assert stream.next() == {"under_way": [], "waiting": 0}
        run = a_run()
        empty_store.add_run(run)
        empty_store.add_event(an_event(run))
        (under_way,) = stream.next()["under_way"]
        assert (under_way["run_id"], under_way["state"]) == (run.run_id, "running")
        finish(empty_store, run)
        assert stream.next()["under_way"] == []


def test_what_this_machine_measured_is_counted_everywhere_before_it_is_stored(
    empty_store: ClickHouseStore, running: Run
) -> None:
    on_disk = {running.plan.jobs[0].job_id: 2}
    facts = ("invocations_stored", "invocations_measured", "invocations_planned")
    with (
        serving(app_of(empty_store, measured=lambda _: dict(on_disk))) as url,
        following(url, "/overview/stream") as stream,
    ):
        (under_way,) = stream.next()["under_way"]
        assert [under_way[fact] for fact in facts] == [0, 2, 12]
        on_disk[running.plan.jobs[0].job_id] = 3
        (under_way,) = stream.next()["under_way"]
        assert [under_way[fact] for fact in facts] == [0, 3, 12]
        progress, queue = (
            httpx2.get(f"{url}{API_PREFIX}{path}", timeout=60).json()
            for path in (f"/runs/{running.run_id}/progress", "/queue")
        )
        for shown in (progress, *queue["runs"]):
            assert [shown[fact] for fact in facts] == [0, 3, 12]
        end_at = datetime.fromisoformat(under_way["expected_end_at"])
        left = end_at - datetime.fromisoformat(under_way["state_at"])
        assert datetime.fromisoformat(progress["expected_end_at"]) >= end_at
        assert left > timedelta(days=1), "by the pace of three invocations since the run began"


def test_there_is_no_stream_of_an_unknown_run(empty_store: ClickHouseStore) -> None:
    with serving(app_of(empty_store)) as url:
        assert_problem(httpx2.get(f"{url}{API_PREFIX}/runs/none/stream", timeout=60), 404, "none")


def test_streams_are_bounded_hold_up_no_reader_and_are_free_again(empty_store: ClickHouseStore, running: Run) -> None:
    app, path = app_of(empty_store), f"/runs/{running.run_id}/stream"
    app.state.streams = Streams(empty_store, most=READERS_AT_ONCE + 1)
    with serving(app) as url:
        with ExitStack() as stack:
            followers = [stack.enter_context(following(url, path)) for _ in range(READERS_AT_ONCE + 1)]
            assert {follower.next()["state"] for follower in followers} == {"running"}
            assert_problem(httpx2.get(f"{url}{API_PREFIX}{path}", timeout=60), 503, "5 streams")
            assert httpx2.get(f"{url}{API_PREFIX}/overview", timeout=60).status_code == 200
        while not is_followed(f"{url}{API_PREFIX}{path}"):
            pass  # the service has not yet noticed that the clients are gone


def test_an_address_has_a_part_of_all_streams(empty_store: ClickHouseStore) -> None:
    """The others are left to others."""
    streams = Streams(empty_store, most=3, most_of_a_client=2)

    async def open_some() -> None:
        with ExitStack() as stack:
            for client in ("one", "one", "other"):
                stack.enter_context(streams.opened("topic", lambda _changed: None, client))
            with pytest.raises(TooManyStreams, match="3 streams"):
                stack.enter_context(streams.opened("topic", lambda _changed: None, "another"))
        with ExitStack() as stack:
            for _ in range(2):
                stack.enter_context(streams.opened("topic", lambda _changed: None, "one"))
            with pytest.raises(TooManyStreams, match="an address has at most 2 streams"):
                stack.enter_context(streams.opened("topic", lambda _changed: None, "one"))
        await streams.finish()

    asyncio.run(open_some())


def test_the_head_of_a_stream_takes_none(empty_store: ClickHouseStore) -> None:
    app = app_of(empty_store)
    app.state.streams = Streams(empty_store, most=1)
    with serving(app) as url:
        assert httpx2.head(f"{url}{API_PREFIX}/overview/stream", timeout=60).status_code == 200
        while not is_followed(f"{url}{API_PREFIX}/overview/stream"):
            pass


def is_followed(url: str) -> bool:
    with httpx2.stream("GET", url, timeout=60) as response:
        return response.status_code == 200


def test_streams_count_as_no_reading_that_disturbs_a_run(empty_store: ClickHouseStore, running: Run) -> None:
    app = app_of(empty_store)
    with serving(app) as url:
        with following(url, f"/runs/{running.run_id}/stream") as stream:
            stream.next()
        finish(empty_store, running)
    assert app.state.reading.spent_s == 0


def test_all_streams_of_a_topic_share_one_reading(empty_store: ClickHouseStore) -> None:
    reads = 0

    def read(changed: bool) -> News | None:
        nonlocal reads
        if not changed:
            return None
        reads += 1
        return News(str(len(empty_store.run_ids())), "", is_last=bool(empty_store.run_ids()))

    async def follow_twice() -> list[list[str]]:
        shared = Streams(empty_store, pause_s=0)

        async def follow() -> list[str]:
            with shared.opened("runs", read) as topic:
                await shared.begin(topic)
                return [news.news_id async for news in shared.news_of(topic)]

        async def change() -> None:
            while reads < 1:
                await asyncio.sleep(0)
            await asyncio.to_thread(empty_store.add_run, a_run())

        *seen, _ = await asyncio.gather(follow(), follow(), change())
        return seen

    first, second = asyncio.run(follow_twice())
    assert first[-1] == second[-1] == "1"
    assert reads <= 3, "once for both when they begin, once for the change, and maybe in the midst of it"


def jobs_of(url: str, run: Run) -> list[dict[str, Any]]:
    answer: dict[str, Any] = (
        httpx2.get(f"{url}{API_PREFIX}/runs/{run.run_id}/progress", timeout=60).raise_for_status().json()
    )
    assert sum(answer["job_states"].values()) == len(answer["jobs"])
    jobs: list[dict[str, Any]] = answer["jobs"]
    return jobs


def test_jobs_on_a_cluster_have_their_pods_and_how_their_logs_are_read(
    empty_store: ClickHouseStore, running: Run, tmp_path: Path
) -> None:
    on_cluster = running.model_copy(update={"plan": planner()(CLUSTER_SPEC, "spec.yaml"), "run_id": "clustered"})
    empty_store.add_run(on_cluster)
    empty_store.add_event(an_event(on_cluster))
    first, *others = on_cluster.plan.jobs
    for number in (1, 2):
        empty_store.add_attempt(an_attempt(on_cluster, uid=f"uid-{number}", attempt=number), first.pool)
    with serving(cluster_app(empty_store, tmp_path)) as url:
        measuring, *waiting = jobs_of(url, on_cluster)
    assert (measuring["job_id"], measuring["attempt"], measuring["state"]) == (first.job_id, 2, "measuring")
    assert measuring["log_command"] == "kubectl logs pod-uid-2 --namespace kexbench-jobs"
    assert [(job["state"], job["log_command"]) for job in waiting] == [("waiting", None)] * len(others)


def test_the_first_job_that_is_not_stored_is_measured_on_this_machine(
    empty_store: ClickHouseStore, running: Run
) -> None:
    first, second = running.plan.jobs

    def states() -> dict[str, str]:
        return {job["job_id"]: job["state"] for job in jobs_of(url, running)}

    with serving(app_of(empty_store)) as url:
        assert states() == {first.job_id: "measuring", second.job_id: "waiting"}
        measured = product(first.case_ids, first.numbers)
        stored = [an_invocation(running, number, case_id=case_id) for case_id, number in measured]
        empty_store.add_invocations(running, stored)
        assert states() == {first.job_id: "done", second.job_id: "measuring"}
        empty_store.add_event(an_event(running, RunState.FAILED, seconds=9))
        assert states() == {first.job_id: "done", second.job_id: "incomplete"}


def test_the_end_of_the_service_ends_its_streams(cli: Cli) -> None:
    with cli.serving() as (process, url), following(url, "/overview/stream") as stream:
        assert stream.next() == {"under_way": [], "waiting": 0}
        process.terminate()
        assert stream.rest() == [], "a stream that is cut off raises an error here"
