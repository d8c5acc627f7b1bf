"""The disk of a running service's store is full, and has room again: a real file system in its own namespace."""

import json
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import httpx2

from kexbench.api.calling import API_PREFIX
from kexbench.client import ApiClient
from kexbench.domain.runs import Run, RunState
from kexbench.domain.samples import Invocation, Metric
from kexbench.queue.runs import run_event
from kexbench.service.reach import wait_until_healthy
from kexbench.store.lock import ServiceAddress, StoreLock
from tests.builders import a_run, an_invocation
from tests.cli.conftest import TIMEOUT_S, Cli
from tests.faults.scene import until
from tests.store.test_full_disk import ON_A_SMALL_DISK, fill, own_mounts_or_skip

SIZE_MIB, BATCHES = 48, 20_000


@dataclass(frozen=True)
class Served:
    process: "subprocess.Popen[str]"
    address: ServiceAddress
    store: Path
    """As it is seen from outside of its namespace."""
    log: Path

    def health(self) -> dict[str, str]:
        """The reason of each trouble."""
        health = httpx2.get(f"{self.address.url}{API_PREFIX}/health", trust_env=False).json()
        return {trouble["part"]: trouble["reason"] for trouble in health["troubles"]}

    def metric(self, name: str) -> float:
        text = httpx2.get(f"{self.address.url}/metrics", trust_env=False).text
        (value,) = [line.split()[-1] for line in text.splitlines() if line.startswith(f"{name} ")]
        return float(value)

    def fill(self, left_bytes: int) -> None:
        fill(self.store, left_bytes)

    def make_room(self) -> None:
        (self.store / "filler").unlink()


@contextmanager
def served_from_a_small_disk(cli: Cli) -> Iterator[Served]:
    home, log = cli.folder / "home", cli.folder / "service.log"
    command = [*own_mounts_or_skip(), "sh", "-ec", ON_A_SMALL_DISK, "sh", str(SIZE_MIB), str(home / "store")]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, *cli.command("serve", "--port", "0")], env=cli.environment, stderr=output, text=True
        )
    try:
        lock = StoreLock(home / "store.lock")
        until(lambda: process.poll() is not None or lock.read() is not None, TIMEOUT_S, "the lock of the store")
        address = lock.read()
        assert address is not None, log.read_text()
        wait_until_healthy(address)
        yield Served(process, address, Path(f"/proc/{process.pid}/root{home / 'store'}"), log)
    finally:
        process.terminate()
        process.wait(timeout=TIMEOUT_S)


def invocations_of(run: Run) -> list[Invocation]:
    """Each with values of its own, and all with so many that the engine frees less by itself, by removing old parts of
    tables."""
    return [
        an_invocation(run, number, cpu_ns={"fake@1.0": range(1000 * place + number, BATCHES)}, case_id=case_id)
        for job in run.plan.jobs
        for place, case_id in enumerate(job.case_ids, 1)
        for number in job.numbers
    ]


def values_sent(invocations: list[Invocation]) -> set[tuple[str, int, tuple[float, ...]]]:
    samples = [(each, sample) for each in invocations for sample in each.samples if sample.metric is Metric.CPU_NS]
    return {(each.case_id, each.invocation, tuple(map(float, sample.values))) for each, sample in samples}


def values_stored(api: ApiClient) -> set[tuple[str, int, tuple[float, ...]]]:
    rows = json.loads(b"".join(api.stream("/export?format=json")))
    return {(row["case_id"], row["invocation"], tuple(row["values"])) for row in rows}


def test_uploads_wait_while_the_store_has_no_room_and_are_stored_when_it_has(cli: Cli) -> None:
    run = a_run()
    first, *others = invocations_of(run)
    waiting: list[str] = []
    has_waited = Event()

    def says(text: str) -> None:
        waiting.append(text)
        has_waited.set()

    with served_from_a_small_disk(cli) as served, ThreadPoolExecutor(1) as threads:
        token = ApiClient.of_run(served.address, run.run_id)._token
        with closing(ApiClient(served.address.url, token, says, patience_s=TIMEOUT_S, longest_wait_s=0.2)) as api:
            api.put_run(run)
            api.add_event(run_event(run.run_id, RunState.FINISHED))
            assert list(api.add_invocations(run.run_id, [first])) == [1]
            assert served.health() == {}
            served.fill(left_bytes=300 << 10)
            upload = threads.submit(lambda: list(api.add_invocations(run.run_id, others)))
            assert has_waited.wait(TIMEOUT_S)
            (reason,) = served.health().values()
            assert list(served.health()) == ["room"]
            assert reason.startswith("the store has no room: ")
            assert re.search(r"[1-9]\S+ KiB free, [3-9]\.\d MiB needed; free some space on the disk of /", reason)
            assert served.metric("kexbench_store_full") == 1
            assert served.metric('kexbench_uploads_total{result="no_room"}') >= len(others)
            assert served.metric('kexbench_uploads_total{result="failed"}') == 0
            assert served.metric('kexbench_store_disk_free_bytes{disk="default"}') < 2 << 20
            assert served.metric('kexbench_store_disk_size_bytes{disk="default"}') == SIZE_MIB << 20
            assert "the store has no room: " in cli("queue").err
            assert served.log.read_text().count("the store has no room") == 1
            assert not upload.done()
            served.make_room()
            assert upload.result(TIMEOUT_S) == [len(others)]
            assert served.health() == {}
            assert served.metric("kexbench_store_full") == 0
            assert "room: works again" in served.log.read_text()
            assert values_stored(api) == values_sent([first, *others])
    assert "the store has no room" in waiting[0]
