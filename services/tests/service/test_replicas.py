"""Two APIs on one store on a server: both answer alike, whichever is asked to write, and one goes on when the other is
killed."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from secrets import token_hex
from threading import Event, Lock
from typing import Any

import httpx2
import pytest

from bench.furnishing import furnish
from bench.large_store import Extent, fill, run_of
from bench.questions import Asked, questions
from kexbench.domain.runs import Run
from kexbench.domain.samples import Invocation
from kexbench.service.reach import LOCK
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.lock import StoreLock
from kexbench.store.migrate import EngineClauses
from kexbench.store.rights import grants
from tests.api.cluster import CLUSTER_SPEC, ClusterApi
from tests.api.test_golden_answers import _text
from tests.builders import an_invocation
from tests.service.replica import LEASE_S
from tests.stores import raw

pytestmark = pytest.mark.thorough
SERVICES = Path(__file__).parents[2]
TIMEOUT_S = 120.0
CLIENTS, UPLOADS = 20, 3
"""Of each client, so many uploads."""
LATER = (429, 503)
EXTENT = Extent(runs=2, groups=1, versions=3, hosts=2, batches=4)
OF_A_PROCESS = {"health", "store"}
"""What each says of itself, and sizes on the disk, which change by themselves."""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "it never came to this"
        time.sleep(0.02)


@dataclass
class Api:
    process: "subprocess.Popen[bytes]"
    url: str

    def get(self, path: str, **parameters: Any) -> httpx2.Response:
        return httpx2.get(f"{self.url}{path}", params=parameters, timeout=30, trust_env=False)

    def writes(self) -> bool:
        with suppress(httpx2.HTTPError):
            return "kexbench_service_writes 1.0" in self.get("/metrics").text
        return False

    def answers(self) -> bool:
        with suppress(httpx2.HTTPError):
            return self.get("/api/v1/runs").is_success
        return False


@dataclass
class Scene:
    folder: Path
    dsn: str
    database: str
    server: "subprocess.Popen[str]"
    stack: ExitStack

    def api(self, name: str) -> Api:
        settings = {
            "HOME": self.folder / "home",
            "CACHE": self.folder / name,
            "STORE_URL": self.dsn,
            "STORE_DATABASE": self.database,
            "ACCESS": "cluster",
            "PORT": 0,
            "PUBLIC_URL": "https://kexbench.example.org",
            "PAGES": self.folder / "no-pages",
            "REPLICA": name,
            "REPLICA_HOST": "127.0.0.1",
            "REPLICA_LEASE": "kexbench:kexbench-api",
        }
        environment = os.environ | {f"KEXBENCH_{key}": str(value) for key, value in settings.items()}
        log = self.stack.enter_context((self.folder / f"{name}.log").open("wb"))
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.service.replica"], cwd=SERVICES, env=environment, stdout=log, stderr=log
        )
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        lock = StoreLock(self.folder / name / LOCK)
        until(lambda: lock.read() is not None)
        address = lock.read()
        assert address is not None
        return Api(process, address.url)

    def both(self) -> tuple[Api, Api]:
        """The first one writes."""
        with ThreadPoolExecutor() as starting:
            one, other = starting.map(self.api, ("one", "other"))
        until(lambda: (one.writes() or other.writes()) and one.answers() and other.answers())
        return (one, other) if one.writes() else (other, one)

    @contextmanager
    def store(self) -> Iterator[ClickHouseStore]:
        store = ClickHouseStore(self.dsn, self.database, EngineClauses())
        yield store
        store.close()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    command = [sys.executable, "-m", "tests.store.clickhouse_double", str(tmp_path / "server"), *grants("replicas_*")]
    (tmp_path / "home").mkdir()
    with subprocess.Popen(command, cwd=SERVICES, stdout=subprocess.PIPE, text=True) as server, ExitStack() as stack:
        assert server.stdout is not None
        dsn = f"http://127.0.0.1:{int(server.stdout.readline())}"
        yield Scene(tmp_path, dsn, f"replicas_{token_hex(4)}", server, stack)
        stack.close()
        server.kill()


class AnyOf(httpx2.BaseTransport):
    """As clients see several APIs behind one address: each request goes to the next one, and again to another while the
    answer is that it should."""

    def __init__(self, *apis: Api) -> None:
        self._transports = [httpx2.HTTPTransport() for _ in apis]
        self._turns = cycle(self._transports)
        self._urls = cycle([httpx2.URL(api.url) for api in apis])
        self._lock = Lock()
        self.repeated: Counter[int] = Counter()
        """By status; 0 if there was no answer."""

    def close(self) -> None:
        for transport in self._transports:
            transport.close()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        deadline = time.monotonic() + TIMEOUT_S
        body = request.read()
        while True:
            with self._lock:
                transport, url = next(self._turns), next(self._urls)
            status = 0
            with suppress(httpx2.TransportError):
                there = request.url.copy_with(host=url.host, port=url.port)
                answer = transport.handle_request(
                    httpx2.Request(request.method, there, headers=request.headers, content=body)
                )
                answer.read()
                if answer.status_code not in LATER:
                    return answer
                status = answer.status_code
            self.repeated[status] += 1
            assert time.monotonic() < deadline, f"still {status}"
            time.sleep(0.05)


def cluster_of(scene: Scene, store: ClickHouseStore, *apis: Api) -> ClusterApi:
    http = httpx2.Client(transport=AnyOf(*apis), base_url=f"{apis[0].url}/api/v1", timeout=30)
    scene.stack.callback(http.close)
    return ClusterApi(http, None, store, scene.folder)  # type: ignore[arg-type]


def uploads_of(run: Run) -> list[Invocation]:
    """All of one job."""
    job = run.plan.jobs[0]
    numbers = {subject.reference: [1000.0 + 10 * place] for place, subject in enumerate(run.plan.subjects)}
    return [
        an_invocation(run, number, cpu_ns=numbers, case_id=case_id).model_copy(update={"job_id": job.job_id})
        for case_id in job.case_ids
        for number in job.numbers
    ]


def upload(api: ClusterApi, run: Run, invocation: Invocation, uid: str = "uid-1") -> httpx2.Response:
    who = f"pod {run.run_id} {invocation.job_id} {uid}"
    return api.ask(who, "POST", f"/runs/{run.run_id}/invocations", invocation.model_dump(mode="json"))


def answers_of(api: Api, asked: Asked) -> dict[str, str]:
    headers = {"Authorization": "Bearer dispatcher"}
    answers = {}
    for question in questions(asked):
        if question.name not in OF_A_PROCESS:
            url = f"{api.url}{question.path}"
            answer = httpx2.get(url, params=question.parameters, headers=headers, timeout=60, trust_env=False)
            answers[question.name] = _text(question.name, answer)  # without what is about the time of the question
    return answers


@pytest.mark.long
def test_both_give_the_same_answers_before_and_after_what_either_was_asked_to_write(scene: Scene) -> None:
    with scene.store() as store:
        store.migrate()
        fill(store, EXTENT)
        furnish(store, EXTENT)
        asked = Asked(EXTENT, run_of(EXTENT, 1, 1))
        first, second = scene.both()
        one, other = (cluster_of(scene, store, api) for api in (first, second))
        assert answers_of(first, asked) == answers_of(second, asked)
        run = other.started()
        assert other.announce(run).status_code == 204
        for number, invocation in enumerate(uploads_of(run)[:4]):
            assert upload((one, other)[number % 2], run, invocation).status_code == 204
            matrices = [api.get("/api/v1/matrix", run_id=run.run_id).text for api in (second, first)]
            assert matrices[0] == matrices[1]
        assert answers_of(first, asked) == answers_of(second, asked)


def test_what_was_written_through_one_is_read_through_the_other_at_once(scene: Scene) -> None:
    """Also numbers that replace others, which leave no trace in the checksums of what is stored."""
    with scene.store() as store:
        first, second = scene.both()
        api = cluster_of(scene, store, second)
        run = api.started()
        assert api.announce(run).status_code == 204
        invocation = uploads_of(run)[0]
        for cost_ns in (1000.0, 3000.0, 2000.0):
            changed = {"samples": tuple(_costing(sample, cost_ns) for sample in invocation.samples)}
            assert upload(api, run, invocation.model_copy(update=changed)).status_code == 204
            for reader in (first, second):
                cells = reader.get("/api/v1/matrix", run_id=run.run_id, metric="cpu_ns").json()["cells"]
                assert {cell["estimate"]["value"] for cell in cells if cell["estimate"]} == {cost_ns}


def _costing(sample: Any, cost_ns: float) -> Any:
    return sample.model_copy(update={"values": (cost_ns,)})


def test_what_only_the_writer_has_is_read_through_the_other(scene: Scene) -> None:
    with scene.store() as store:
        _, second = scene.both()
        api = cluster_of(scene, store, second)
        run = api.started()
        kits = api.ask("dispatcher", "GET", f"/runs/{run.run_id}/kits").json()["kits"]
        kit_id = next(iter(kits.values()))
        archive = api.ask("dispatcher", "GET", f"/kits/{kit_id}")
        assert archive.status_code == 200
        assert archive.content == api.packed(run.plan.subjects[0].reference)[1].read_bytes()
        assert api.ask("dispatcher", "GET", "/rings").json() == {}
        assert api.ask("nobody", "POST", "/runs", {"spec_text": CLUSTER_SPEC}).status_code == 401
        assert [(entry.name, entry.route, entry.status) for entry in store.audit(10)] == [
            ("ci:pipeline", "/api/v1/runs", 201)
        ], "the writer notes what was handed on, once"


@pytest.mark.long
def test_twenty_clients_lose_and_double_nothing_when_the_writer_is_killed(scene: Scene) -> None:
    with scene.store() as store:
        first, second = scene.both()
        api = cluster_of(scene, store, first, second)
        api.deliver_kits(api.queued())
        stored, killed = Counter[str](), Event()
        counting = Lock()

        def client(number: int) -> tuple[Run, list[Invocation]]:
            headers = {"Idempotency-Key": f"client-{number}"}
            run = api.stored(api.submit(CLUSTER_SPEC, **headers).json()["run_id"])
            assert api.submit(CLUSTER_SPEC, **headers).json()["run_id"] == run.run_id
            assert api.ask("dispatcher", "POST", f"/runs/{run.run_id}/start").status_code == 200
            assert api.announce(run).status_code == 204
            run = api.stored(run.run_id)
            uploads = uploads_of(run)[:UPLOADS]
            for invocation in uploads:
                assert upload(api, run, invocation).status_code == 204
                with counting:
                    stored["uploads"] += 1
                    if stored["uploads"] == CLIENTS:
                        first.process.send_signal(signal.SIGKILL)
                        killed.set()
            return run, uploads

        with ThreadPoolExecutor(CLIENTS) as clients:
            outcomes = list(clients.map(client, range(CLIENTS)))
        assert killed.is_set()
        until(second.writes)
        run_ids = {run.run_id for run, _ in outcomes}
        assert len(run_ids) == CLIENTS
        for run, uploads in outcomes:
            keys = store.invocations(run.run_id)
            assert {(key.case_id, key.invocation) for key in keys} == {(up.case_id, up.invocation) for up in uploads}
            assert sum(second.get(f"/api/v1/runs/{run.run_id}/stored-by-job").json().values()) == len(uploads)
            assert [event.state for event in store.events(run.run_id)] == ["queued", "running"]
        doubled = raw(store).query("SELECT run_id, number, count() AS times FROM run_events FINAL GROUP BY 1, 2")
        assert {row["times"] for row in doubled} == {1}
        transport: Any = api.http._transport
        assert transport.repeated, "the kill was noticed"


def test_a_paused_writer_that_wakes_writes_nothing_more_and_hands_on(scene: Scene) -> None:
    with scene.store() as store:
        first, second = scene.both()
        api = cluster_of(scene, store, first)
        first.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        until(second.writes)
        assert time.monotonic() - began >= LEASE_S - 1, "not before the lease had ended"
        first.process.send_signal(signal.SIGCONT)
        until(lambda: not first.writes())
        run_id = api.submit().json()["run_id"]
        assert second.get(f"/api/v1/runs/{run_id}").is_success
        assert second.writes()


def test_both_start_on_an_empty_server_and_one_makes_the_schema(scene: Scene) -> None:
    first, second = scene.both()
    assert (first.writes(), second.writes()) == (True, False)
    first.process.terminate()
    assert first.process.wait(TIMEOUT_S) == 0
    until(second.writes)


def test_a_store_that_is_away_ends_no_process(scene: Scene) -> None:
    first, second = scene.both()
    scene.server.kill()
    scene.server.wait()
    for api in (first, second):
        until(lambda api=api: api.get("/api/v1/health").json()["status"] == "impaired")  # type: ignore[misc]
        assert api.get("/api/v1/health").status_code == 200
        assert api.get("/healthz").text == "OK"
        assert api.get("/api/v1/runs").status_code == 503
        assert api.process.poll() is None
