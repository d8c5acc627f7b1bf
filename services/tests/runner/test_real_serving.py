"""Real invocations of cases with a web server: what their numbers have to be, and that no fault leaves a process."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import psutil
import pytest

from kexbench.domain.cases import Case, impossible
from kexbench.domain.dimensions import Server
from kexbench.domain.metrics import LATENCIES
from kexbench.domain.plans import WARM_UP_BATCHES
from kexbench.domain.samples import Invocation, Metric, Outcome, OutcomeKind
from kexbench.material.store import MaterialStore
from kexbench.runner import haproxy, httpd, nginx, serving, web_server
from kexbench.runner.invocation import CutShort, measure_invocation
from kexbench.runner.load import LoadRequest
from kexbench.runner.order import Turn
from kexbench.runner.records import Load, Record
from kexbench.runner.serving import Served, ServedParticipant
from kexbench.runner.worker import Worker
from tests.runner.conftest import QUIET, UNPINNED
from tests.runner.real import (
    EACH_SERVER,
    GNUTLS,
    OPENSSL,
    KitsWith,
    MeasureReal,
    a_case,
    a_job_input,
    kits_with,
    measure_real,
    real_kits,
    real_servers,
    values,
)

__all__ = ["kits_with", "measure_real", "real_kits", "real_servers"]
pytestmark = [pytest.mark.real, pytest.mark.builds]
BYTES, BATCHES = 4096, 3
each_server = pytest.mark.parametrize("server", EACH_SERVER)
TLS_1_2, TLS_1_3 = {"transfer_bytes": BYTES, "server": "nginx"}, {"group": "X25519", "server": "nginx"}
FULL = a_case("TLSv1.2", "ECDHE-ECDSA", curve="P-256", group="P-256", **TLS_1_2)
"""A cheap handshake, so that sockets and requests are a large part of the cost."""
RESUMED = [
    a_case("TLSv1.2", "ECDHE-RSA", group="P-256", resumption="session-id", **TLS_1_2),
    a_case("TLSv1.2", "ECDHE-RSA", group="P-256", resumption="ticket", **TLS_1_2),
    a_case("TLSv1.3", "ECDHE-RSA", resumption="psk-dhe", **TLS_1_3),
]
SERVABLE = [
    a_case("TLSv1.2", "RSA", rsa_bits=1024, **TLS_1_2),
    a_case("TLSv1.2", "DHE-RSA", rsa_bits=1024, group="dh-1024", **TLS_1_2),
    a_case("TLSv1.2", "ECDHE-ECDSA", curve="secp192r1", group="secp192r1", **TLS_1_2),
    a_case("TLSv1.2", "ECDHE-ECDSA", curve="P-384", group="X25519", cipher="CHACHA20-POLY1305", **TLS_1_2),
    a_case("TLSv1.3", "ECDHE-ECDSA", chain_length=3, verification=True, trust_anchors=3, **TLS_1_3),
    a_case("TLSv1.3", "ECDHE-RSA", cpu_features="no-aes", cipher="AES-256-GCM", concurrency=1, **TLS_1_3),
    a_case("TLSv1.3", "DHE-ECDSA", **TLS_1_3 | {"group": "ffdhe2048"}),
    a_case("TLSv1.3", "ECDHE-Ed25519", curve="-", concurrency=32, transfer_bytes=2**20, **TLS_1_3),
    a_case("TLSv1.3", "ECDHE-RSA-PSS", rsa_bits=2048, curve="-", **TLS_1_3),
    a_case("TLSv1.3", "ECDHE-RSA", requests_per_connection=1000, **TLS_1_3),
    a_case("TLSv1.3", "ECDHE-RSA", ecdsa_percent=50, chain_length=3, verification=True, **TLS_1_3),
    a_case("TLSv1.3", "DHE-RSA", ecdsa_percent=90, **TLS_1_3 | {"group": "ffdhe2048"}),
]
HYBRID = [
    (a_case("TLSv1.2", "RSA", ecdsa_percent=10, **TLS_1_2), "AES128-GCM-SHA256"),
    (a_case("TLSv1.2", "DHE-RSA", group="dh-1024", ecdsa_percent=50, **TLS_1_2), "DHE-RSA-AES128-GCM-SHA256"),
    (
        a_case("TLSv1.2", "ECDHE-RSA", group="X25519", ecdsa_percent=90, concurrency=3, **TLS_1_2),
        "ECDHE-RSA-AES128-GCM-SHA256",
    ),
]


def in_server(server: Server, *cases: Case) -> list[Case]:
    """The cases with that web server, those that it can serve."""
    changed = [case.model_copy(update={"server": server}) for case in cases]
    return [case for case in changed if impossible(case) is None]


@pytest.fixture
def serve(tmp_path: Path, kits_with: KitsWith) -> Iterator[MeasureReal]:
    """`serve(case, "openssl@system")`: an invocation, after which neither a process nor a folder is left."""
    material = MaterialStore(tmp_path / "material")
    processes_of_other_tests = set(psutil.Process().children(recursive=True))

    def measure(case: Case, *block: str) -> Invocation:
        results = tmp_path / "results.ndjson"
        job_input = a_job_input(kits_with(case.server), material, results, case, *block, batches=BATCHES)
        turn = Turn(case.case_id, block, 0, examines=True)
        return measure_invocation(job_input, turn, UNPINNED, tmp_path / "worker.log", lambda: QUIET)

    yield measure
    assert set(psutil.Process().children(recursive=True)) <= processes_of_other_tests
    assert not (tmp_path / "servers").exists()


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[Load]:
    """The records of all loads, as they come."""
    records: list[Load] = []
    load = Worker.load

    def recording(worker: Worker, case_id: str, request: LoadRequest) -> Record:
        record = load(worker, case_id, request)
        assert isinstance(record, Load)
        records.append(record)
        return record

    monkeypatch.setattr(Worker, "load", recording)
    return records


def outcome(invocation: Invocation) -> Outcome:
    """The only result."""
    assert invocation.samples == ()
    (found,) = invocation.outcomes
    return found


@pytest.fixture
def before_batch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`before_batch(act)`: `act(pid of the web server)` happens before the last batch of each subject."""

    def install(act: Any) -> None:
        batch, count = ServedParticipant.batch, Counter[str]()

        def acting(participant: ServedParticipant, min_ns: int) -> Served:
            count["batch"] += 1
            if count["batch"] == WARM_UP_BATCHES + BATCHES:
                act(participant._server.pid)
            return batch(participant, min_ns)

        monkeypatch.setattr(ServedParticipant, "batch", acting)

    return install


@each_server
def test_a_web_server_negotiates_what_is_negotiated_in_memory_and_has_every_number(
    server: Server, serve: MeasureReal, measure_real: MeasureReal
) -> None:
    (case,) = in_server(server, FULL)
    served, in_memory = serve(case, OPENSSL), measure_real(FULL.model_copy(update={"server": Server.NONE}), OPENSSL)
    assert served.outcomes == in_memory.outcomes == ()
    assert served.negotiated[OPENSSL] == in_memory.negotiated[OPENSSL]
    assert values(in_memory, OPENSSL, Metric.CPU_NS)
    for metric in (Metric.CPU_NS, Metric.SERVER_CONNECTION_CPU_NS, Metric.WALL_NS, Metric.ELAPSED_NS, *LATENCIES):
        assert len(values(served, OPENSSL, metric)) == BATCHES
        assert min(values(served, OPENSSL, metric)) > 0, metric
    costs = {sample.metric: sample.cost for sample in served.samples}
    assert costs[Metric.CPU_NS] == pytest.approx(costs[Metric.CLIENT_CPU_NS] + costs[Metric.SERVER_CPU_NS])
    assert costs[Metric.HANDSHAKE_P50_NS] <= costs[Metric.RESPONSE_P50_NS] <= costs[Metric.RESPONSE_P99_NS]
    assert min(values(served, OPENSSL, Metric.SERVER_BYTES)) > BYTES


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=server.marks, id=case.case_id)
        for server in EACH_SERVER
        for case in in_server(cast(Server, server.values[0]), *SERVABLE)
    ],
)
def test_a_web_server_serves_every_kind_of_case_that_is_possible(case: Case, serve: MeasureReal) -> None:
    served = serve(case, OPENSSL)
    assert served.outcomes == ()
    assert len(values(served, OPENSSL, Metric.SERVER_CPU_NS)) == BATCHES


def logging(monkeypatch: pytest.MonkeyPatch, log: Path, values: str) -> None:
    """Has nginx log each request."""
    logs = f'log_format values "{values}"; access_log "{log}" values;'
    monkeypatch.setattr(nginx, "_CONFIGURATION", nginx._CONFIGURATION.replace("access_log off;", logs))


@pytest.mark.parametrize("case", RESUMED, ids=lambda case: case.case_id)
def test_every_measured_connection_of_a_resumption_resumes(
    case: Case, serve: MeasureReal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "access.log"
    logging(monkeypatch, log, "$ssl_session_reused")
    resumed, full = (
        serve(case, OPENSSL),
        serve(a_case(case.protocol, "ECDHE-RSA", group=case.group, **TLS_1_2), OPENSSL),
    )
    assert resumed.outcomes == full.outcomes == ()
    # The second server's connections are full ones, and so are the first of each load: one at the start, and two loads
    # in each batch, one of which has no other.
    lines = log.read_text().splitlines()
    until = len(lines) - lines[::-1].index("r")
    assert lines[:until].count(".") == 1 + 2 * (WARM_UP_BATCHES + BATCHES)
    assert lines[:until].count("r") > lines[:until].count(".")
    assert set(lines[until:]) == {"."}


@pytest.mark.parametrize("percent", [1, 50, 99])
@pytest.mark.parametrize("case", RESUMED, ids=lambda case: case.case_id)
def test_as_many_connections_resume_as_the_case_says(
    case: Case, percent: int, serve: MeasureReal, loads: list[Load], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "access.log"
    logging(monkeypatch, log, "$ssl_session_reused")
    served = serve(case.model_copy(update={"resumed_percent": percent}), OPENSSL)
    assert served.outcomes == ()
    measured = loads[2::2]  # after the first load: in each batch one full connection, and the load itself
    assert len(measured) == WARM_UP_BATCHES + BATCHES
    assert [load.resumed for load in measured] == [load.connections * percent // 100 for load in measured]
    assert sum(load.resumed for load in measured) < sum(load.connections for load in measured)
    assert log.read_text().splitlines().count("r") == sum(load.resumed for load in loads)


def test_a_server_that_resumes_nothing_has_an_outcome_and_no_number(
    serve: MeasureReal, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = nginx.configuration
    monkeypatch.setattr(nginx, "configuration", lambda *case: text(*case).replace("shared:sessions:1m", "off"))
    found = outcome(serve(RESUMED[0].model_copy(update={"resumed_percent": 50}), OPENSSL))
    assert found.kind in (OutcomeKind.ERROR, OutcomeKind.MISMATCH)


def test_a_share_of_resumptions_that_was_not_wanted_is_an_error(
    serve: MeasureReal, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = LoadRequest.line

    def other_share(request: LoadRequest, case_id: str) -> str:
        return line(request.model_copy(update={"resumed_percent": min(50, request.resumed_percent)}), case_id)

    monkeypatch.setattr(LoadRequest, "line", other_share)
    found = outcome(serve(RESUMED[1].model_copy(update={"resumed_percent": 90}), OPENSSL))
    assert found.kind is OutcomeKind.ERROR
    assert re.fullmatch(r"\d+ of \d+ connections resumed, not 90%", found.reason)


def test_several_requests_share_each_connection(
    serve: MeasureReal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "access.log"
    logging(monkeypatch, log, "$connection_requests $body_bytes_sent")
    kept, alone = serve(FULL.model_copy(update={"requests_per_connection": 5}), OPENSSL), serve(FULL, OPENSSL)
    lines = Counter(log.read_text().splitlines())
    assert {f"{number} {BYTES}" for number in range(1, 6)} == set(lines)
    assert len({lines[f"{number} {BYTES}"] for number in range(2, 6)}) == 1
    assert lines[f"5 {BYTES}"] > 0
    sent = [min(values(each, OPENSSL, Metric.SERVER_BYTES)) for each in (kept, alone)]
    assert 5 * BYTES < sent[0] < 5 * sent[1], "the handshake is paid once"


@pytest.mark.parametrize(("case", "cipher"), HYBRID, ids=[case.case_id for case, _ in HYBRID])
def test_one_server_has_both_certificates_and_each_kind_of_client_its_share(
    case: Case, cipher: str, serve: MeasureReal, loads: list[Load], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "access.log"
    logging(monkeypatch, log, "$pid $ssl_cipher")
    served = serve(case, OPENSSL)
    assert served.outcomes == ()
    lines = Counter(log.read_text().splitlines())
    assert len({line.partition(" ")[0] for line in lines}) == 1, "there was one server"
    assert {line.partition(" ")[2] for line in lines} == {cipher, "ECDHE-ECDSA-AES128-GCM-SHA256"}
    for rsa, ecdsa in zip(loads[2::2], loads[3::2], strict=True):  # after the first connection of each kind
        assert ecdsa.connections * 100 == case.ecdsa_percent * (rsa.connections + ecdsa.connections)
        assert min(rsa.connections, ecdsa.connections) >= case.concurrency
    assert sum(lines.values()) == sum(load.connections for load in loads)
    costs = {sample.metric: sample.cost for sample in served.samples}
    assert costs[Metric.CPU_NS] == pytest.approx(costs[Metric.CLIENT_CPU_NS] + costs[Metric.SERVER_CPU_NS])
    assert not costs.keys() & {Metric.WALL_NS, Metric.ELAPSED_NS, *LATENCIES}, "each had the server to itself"


@pytest.mark.long
@pytest.mark.parametrize("case", [case for case, _ in HYBRID], ids=lambda case: case.case_id)
def test_httpd_too_has_both_certificates(case: Case, serve: MeasureReal, loads: list[Load]) -> None:
    """Each kind of client compares what it negotiated with its case."""
    assert serve(case.model_copy(update={"server": Server.HTTPD}), OPENSSL).outcomes == ()
    for rsa, ecdsa in zip(loads[2::2], loads[3::2], strict=True):  # after the first connection of each kind
        assert ecdsa.connections * 100 == case.ecdsa_percent * (rsa.connections + ecdsa.connections)


@pytest.mark.long
@pytest.mark.parametrize("server", [Server.HTTPD, Server.HAPROXY])
def test_several_requests_share_each_connection_to_another_server(server: Server, serve: MeasureReal) -> None:
    kept, alone = (
        serve(FULL.model_copy(update={"server": server, "requests_per_connection": requests}), OPENSSL)
        for requests in (5, 1)
    )
    sent = [min(values(each, OPENSSL, Metric.SERVER_BYTES)) for each in (kept, alone)]
    assert 5 * BYTES < sent[0] < 5 * sent[1], "the handshake is paid once"


def test_clients_of_a_hybrid_server_resume_their_own_sessions(serve: MeasureReal, loads: list[Load]) -> None:
    case = RESUMED[1].model_copy(update={"resumed_percent": 50, "ecdsa_percent": 50})
    assert serve(case, OPENSSL).outcomes == ()
    full = [load for load in loads if load.connections == 1]
    measured = [load for load in loads if load.connections > 1]
    assert len(full) == 2 + 2 * (WARM_UP_BATCHES + BATCHES)
    assert len(measured) == 2 * (WARM_UP_BATCHES + BATCHES)
    assert [load.resumed for load in measured] == [load.connections // 2 for load in measured]


def test_a_hybrid_server_without_its_second_certificate_has_no_number(
    serve: MeasureReal, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = nginx.configuration
    monkeypatch.setattr(
        nginx,
        "configuration",
        lambda *case: (
            text(*case)
            .replace("ssl_certificate ecdsa-certificate.pem;", "")
            .replace("ssl_certificate_key ecdsa-key.pem;", "")
        ),
    )
    found = outcome(serve(HYBRID[0][0], OPENSSL))
    assert found.kind is OutcomeKind.ERROR
    assert "1 of 1 connections failed" in found.reason


@each_server
def test_a_library_that_a_web_server_cannot_be_built_with_is_unsupported(server: Server, serve: MeasureReal) -> None:
    found = outcome(serve(*in_server(server, FULL), GNUTLS))
    assert (found.kind, found.reason) == (
        OutcomeKind.UNSUPPORTED,
        f"{server} can't be built with gnutls, only with OpenSSL",
    )


@pytest.mark.long
def test_a_version_that_a_web_server_cannot_be_built_with_is_named(
    serve: MeasureReal, kits_with: KitsWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    kits = kits_with(Server.HAPROXY)
    kit = kits[OPENSSL]
    newer = kit.model_copy(update={"manifest": kit.manifest.model_copy(update={"version": "4.0.3"}), "servers": {}})
    monkeypatch.setitem(kits, OPENSSL, newer)
    found = outcome(serve(*in_server(Server.HAPROXY, FULL), OPENSSL))
    assert (found.kind, found.reason) == (
        OutcomeKind.UNSUPPORTED,
        "haproxy can't be built with OpenSSL 4.0.3, only with versions before 4.0",
    )


@each_server
def test_a_web_server_whose_program_is_gone_says_so(
    server: Server, serve: MeasureReal, kits_with: KitsWith, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kits = kits_with(server)
    absent = kits[OPENSSL].model_copy(update={"servers": {server: tmp_path / "absent"}})
    monkeypatch.setitem(kits, OPENSSL, absent)
    found = outcome(serve(*in_server(server, FULL), OPENSSL))
    assert (found.kind, found.reason) == (OutcomeKind.ERROR, f"{server} ended with status 127")
    assert str(tmp_path / "absent") in (found.detail or "")


@pytest.mark.long
@pytest.mark.parametrize("server", [Server.HTTPD, Server.HAPROXY])
@pytest.mark.parametrize("case", RESUMED, ids=lambda case: case.case_id)
def test_every_connection_of_a_resumption_in_another_server_resumes(
    case: Case, server: Server, serve: MeasureReal, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, resumed = ServedParticipant.batch, []

    def recording(participant: ServedParticipant, min_ns: int) -> Served:
        served = batch(participant, min_ns)
        resumed.append(served.loads[0].resumed / served.connections)
        return served

    monkeypatch.setattr(ServedParticipant, "batch", recording)
    full = a_case(case.protocol, "ECDHE-RSA", group=case.group, **TLS_1_2)
    for each in in_server(server, case, full):
        assert serve(each, OPENSSL).outcomes == ()
    count = WARM_UP_BATCHES + BATCHES
    assert resumed == [1.0] * count + [0.0] * count


def test_a_case_that_the_library_lacks_is_refused_before_nginx_starts(serve: MeasureReal) -> None:
    lacking = a_case("TLSv1.3", "ECDHE-RSA", **TLS_1_3 | {"group": "X25519MLKEM768"})
    found = outcome(serve(lacking, OPENSSL))
    assert found.kind is OutcomeKind.UNSUPPORTED
    assert "group list X25519MLKEM768" in found.reason


@each_server
def test_a_server_that_crashes_between_batches_is_distinguished_from_a_slow_one(
    server: Server, serve: MeasureReal, before_batch: Any
) -> None:
    before_batch(lambda pid: os.kill(pid, signal.SIGSEGV))
    found = outcome(serve(*in_server(server, FULL), OPENSSL))
    assert (found.kind, found.reason) == (OutcomeKind.CRASHED, f"{server} was ended by signal 11")


@each_server
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_invocation_whose_server_is_ended_from_outside_is_not_kept(
    number: signal.Signals, server: Server, serve: MeasureReal, before_batch: Any
) -> None:
    before_batch(lambda pid: os.kill(pid, number))
    with pytest.raises(CutShort, match=rf"{OPENSSL}: {server} was ended by signal {number:d}"):
        serve(*in_server(server, FULL), OPENSSL)


@each_server
def test_a_server_that_hangs_is_ended(
    server: Server, serve: MeasureReal, before_batch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(pid: int) -> None:
        monkeypatch.setattr(serving, "TIMEOUT_NS", 10**8)
        os.kill(pid, signal.SIGSTOP)

    before_batch(hang)
    found = outcome(serve(*in_server(server, FULL), OPENSSL))
    assert found.kind is OutcomeKind.HUNG
    assert "connections failed: " in found.reason


@pytest.mark.parametrize(
    ("module", "server", "right", "wrong", "words"),
    [
        (nginx, Server.NGINX, "daemon off;", "demon off;", 'unknown directive "demon"'),
        pytest.param(
            httpd, Server.HTTPD, "ServerName", "ServantName", "Invalid command 'ServantName'", marks=pytest.mark.long
        ),
        pytest.param(
            haproxy, Server.HAPROXY, "nbthread", "nbtread", "unknown keyword 'nbtread'", marks=pytest.mark.long
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, Server) else "",
)
def test_a_server_that_does_not_start_says_why(
    module: ModuleType,
    server: Server,
    right: str,
    wrong: str,
    words: str,
    serve: MeasureReal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_CONFIGURATION", module._CONFIGURATION.replace(right, wrong))
    found = outcome(serve(*in_server(server, FULL), OPENSSL))
    assert (found.kind, found.reason) == (OutcomeKind.ERROR, f"{server} ended with status 1")
    assert words in (found.detail or "")


@pytest.mark.long
def test_a_port_that_another_program_took_before_httpd_is_named(
    serve: MeasureReal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server((web_server.ADDRESS, 0)) as taken:
        port = taken.getsockname()[1]
        right = httpd._CONFIGURATION
        monkeypatch.setattr(httpd, "_CONFIGURATION", right.replace("{port}", str(port)))
        found = outcome(serve(*in_server(Server.HTTPD, FULL), OPENSSL))
    assert (found.kind, found.reason) == (OutcomeKind.ERROR, "httpd ended with status 1")
    assert f"could not bind to address 127.0.0.1:{port}" in (found.detail or "")


@pytest.mark.long
def test_a_server_that_never_listens_is_an_error(serve: MeasureReal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "_START_TIMEOUT_S", 0.0)
    found = outcome(serve(*in_server(Server.HTTPD, FULL), OPENSSL))
    assert found.kind is OutcomeKind.ERROR
    assert "httpd does not start: it does not listen on port" in found.reason


@each_server
def test_a_failed_connection_is_an_outcome_and_no_number(
    server: Server, serve: MeasureReal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "CONTENT", "missing.bin")
    found = outcome(serve(*in_server(server, FULL), OPENSSL))
    assert found.kind is OutcomeKind.ERROR
    assert (
        found.reason == "1 of 1 connections failed: status: wanted HTTP/1.1 200, the server sent HTTP/1.1 404 Not Found"
    )
    assert server is not Server.NGINX or "missing.bin" in (found.detail or ""), "nginx logs it"


@each_server
def test_a_killed_runner_leaves_no_server(server: Server, tmp_path: Path, kits_with: KitsWith) -> None:
    (case,), kits = in_server(server, FULL), kits_with(server)
    material = MaterialStore(tmp_path / "material")
    job_input = a_job_input(kits, material, tmp_path / "results.ndjson", case, OPENSSL, batches=1000)
    file, log = tmp_path / "job-input.json", tmp_path / "worker.log"
    file.write_bytes(job_input.model_dump_json().encode())
    with subprocess.Popen([sys.executable, "-m", "kexbench.runner", str(file), str(log)]) as runner:
        children: list[psutil.Process] = []
        while not any(str(kits[OPENSSL].servers[server]) in child.cmdline() for child in children):
            assert runner.poll() is None
            children = [child for child in psutil.Process(runner.pid).children() if child.is_running()]
        runner.kill()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
