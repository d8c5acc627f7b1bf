"""A load as a request: Python and C have the same limits, and a load on nobody is an honest record."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from kexbench.domain.material import MaterialFiles
from kexbench.runner.load import LoadRequest
from kexbench.runner.participant import setup_request
from kexbench.runner.records import Load, Ready, RequestError
from kexbench.runner.worker import Worker
from tests.conftest import FakeKit
from tests.runner.conftest import ECDHE

FILES = MaterialFiles(key="key.pem", certificate="certificate.pem", dh_parameters="-", ocsp_response="-")
USUAL: dict[str, object] = {
    "address": "127.0.0.1",
    "port": 8443,
    "path": "4096.bin",
    "response_bytes": 4096,
    "requests": 1,
    "concurrency": 8,
    "max_connections": 100,
    "max_ns": 10**9,
    "timeout_ns": 10**9,
    "resumed_percent": 0,
}
INSIDE: list[tuple[str, object]] = [
    ("address", "127.255.255.254"),
    ("port", 1),
    ("port", 65535),
    ("path", "a" * 255),
    ("path", "._+-Az0"),
    ("response_bytes", 0),
    ("response_bytes", 16777216),
    ("requests", 1000),
    ("concurrency", 1),
    ("concurrency", 32),
    ("max_connections", 1),
    ("max_connections", 100000),
    ("max_ns", 1),
    ("max_ns", 3600 * 10**9),
    ("timeout_ns", 10**6),
    ("timeout_ns", 60 * 10**9),
    ("resumed_percent", 100),
]
OUTSIDE: list[tuple[str, object]] = [
    ("address", "128.0.0.1"),
    ("address", "192.0.2.1"),
    ("address", "localhost"),
    ("address", "::1"),
    ("port", 0),
    ("port", 65536),
    ("path", ""),
    ("path", "a" * 256),
    ("path", "a/b"),
    ("response_bytes", -1),
    ("response_bytes", 16777217),
    ("requests", 0),
    ("requests", 1001),
    ("concurrency", 0),
    ("concurrency", 33),
    ("max_connections", 0),
    ("max_connections", 100001),
    ("max_ns", 0),
    ("max_ns", 3600 * 10**9 + 1),
    ("timeout_ns", 10**6 - 1),
    ("timeout_ns", 60 * 10**9 + 1),
    ("resumed_percent", -1),
    ("resumed_percent", 101),
]


@pytest.fixture
def worker(fake_kit: FakeKit, tmp_path: Path) -> Iterator[Worker]:
    folder, kit = fake_kit("fake@1.0")
    with Worker(kit.launch(folder, tmp_path), tmp_path / "log") as running:
        yield running


def reason_for(worker: Worker, fields: dict[str, object]) -> str:
    """Of the worker's error. No case is set up, so each load is one, but only a malformed one for its own sake."""
    words = " ".join(f"{name}={value}" for name, value in fields.items())
    record = worker.ask(f"load id=nothing {words}", 5)
    assert isinstance(record, RequestError)
    return record.reason


def test_both_take_what_is_inside_the_limits(worker: Worker) -> None:
    for name, value in INSIDE:
        fields = USUAL | {name: value}
        request = LoadRequest.model_validate(fields)
        assert request.line("nothing") == "load id=nothing " + " ".join(f"{key}={fields[key]}" for key in USUAL)
        assert reason_for(worker, fields) == "the case nothing is not set up", (name, value)


def test_both_refuse_what_is_outside(worker: Worker) -> None:
    for name, value in OUTSIDE:
        with pytest.raises(ValidationError):
            LoadRequest.model_validate(USUAL | {name: value})
        assert name in reason_for(worker, USUAL | {name: value}), (name, value)


def test_a_load_on_a_port_where_nobody_listens_counts_each_connection_as_refused(worker: Worker) -> None:
    with socket.socket() as taken:  # bound, so that nobody else can listen there
        taken.bind(("127.0.0.1", 0))
        request = LoadRequest.model_validate(USUAL | {"port": taken.getsockname()[1]})
        assert isinstance(worker.ask(setup_request(ECDHE, FILES), 5), Ready)
        record = worker.load(ECDHE.case_id, request)
    assert isinstance(record, Load), record
    assert (record.connections, record.failures.refused, record.failures.total) == (0, 100, 100)
    assert record.first_failure == "the server refused during connecting"
    assert record.handshake_p50_ns is None
    assert record.wall_ns > 0


def test_a_worker_is_given_the_time_that_its_load_may_take() -> None:
    request = LoadRequest.model_validate(USUAL | {"max_ns": 30 * 10**9, "timeout_ns": 2 * 10**9})
    assert request.longest_s > 34
