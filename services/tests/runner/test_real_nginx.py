"""Loads on a real nginx: what the worker counts, nginx has logged."""

from collections import Counter
from pathlib import Path

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.kits import KitManifest
from kexbench.material.store import MaterialStore
from kexbench.runner.load import LoadRequest
from kexbench.runner.participant import expect, setup_request
from kexbench.runner.records import Failed, Load, Ready, Record
from kexbench.runner.worker import Worker
from tests.runner.nginx import Logged, nginx, read_log
from tests.runner.real import GNUTLS, OPENSSL, RealKits, a_case, real_kits, real_servers

__all__ = ["real_kits", "real_servers"]
pytestmark = pytest.mark.real
CONNECTIONS, BYTES = 200, 4096
FULL_1_2 = a_case("TLSv1.2", "ECDHE-ECDSA", group="P-256")
FULL_1_3 = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519")
TICKET = a_case("TLSv1.2", "ECDHE-ECDSA", group="P-256", resumption="ticket")
SESSION_ID = a_case("TLSv1.2", "ECDHE-ECDSA", group="P-256", resumption="session-id")
PSK = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", resumption="psk-dhe")
SUITES = {"TLSv1.2": "ECDHE-ECDSA-AES128-GCM-SHA256", "TLSv1.3": "TLS_AES_128_GCM_SHA256"}
CURVES = {"P-256": "prime256v1", "X25519": "X25519"}


def load(kits: RealKits, reference: str, case: Case, folder: Path, **changed: object) -> tuple[Record, list[Logged]]:
    """The record of a load on nginx, and nginx's own."""
    kit, material = kits[reference], MaterialStore(folder / "material")
    files = material.provide(case)
    place = folder / "nginx"
    place.mkdir()
    with nginx(place, material.folder, files) as server, launched(kit.manifest, kit.folder, material, folder) as worker:
        server.content("body.bin", BYTES)
        expect(Ready, worker.ask(setup_request(case, files), 30))
        plan: dict[str, object] = {
            "port": server.port,
            "path": "body.bin",
            "response_bytes": BYTES,
            "concurrency": 8,
            "max_connections": CONNECTIONS,
            "max_ns": 60 * 10**9,
            "timeout_ns": 60 * 10**9,
        }
        record = worker.load(case.case_id, LoadRequest.model_validate(plan | changed))
    return record, read_log(place)


def launched(manifest: KitManifest, kit: Path, material: MaterialStore, folder: Path) -> Worker:
    return Worker(manifest.launch(kit, material.folder), folder / "worker.log")


@pytest.mark.parametrize("reference", [OPENSSL, GNUTLS])
@pytest.mark.parametrize(
    ("case", "percent"),
    [(FULL_1_2, 0), (FULL_1_3, 0), (TICKET, 100), (SESSION_ID, 50), (PSK, 100), (PSK, 25)],
    ids=lambda value: value.case_id if isinstance(value, Case) else str(value),
)
def test_nginx_has_logged_the_connections_that_the_worker_counts(
    case: Case, percent: int, reference: str, real_kits: RealKits, tmp_path: Path
) -> None:
    record, logged = load(real_kits, reference, case, tmp_path, resumed_percent=percent)
    assert isinstance(record, Load), record
    resumed = CONNECTIONS * percent // 100
    assert (record.connections, record.resumed, record.failures.total) == (CONNECTIONS, resumed, 0), record
    assert record.server_bytes > CONNECTIONS * BYTES
    before = 1 if percent else 0  # it yields the first session and is in no number of the worker
    assert Counter(one.resumed for one in logged) == Counter({True: resumed, False: CONNECTIONS + before - resumed})
    assert {(one.protocol, one.cipher) for one in logged} == {(case.protocol, SUITES[case.protocol])}
    full = {one.curve for one in logged if not one.resumed or case.protocol == "TLSv1.3"}
    assert full == {CURVES[case.group]}
    assert {(one.status, one.body_bytes, one.requests) for one in logged} == {(200, BYTES, 1)}


def test_several_requests_share_a_connection(real_kits: RealKits, tmp_path: Path) -> None:
    record, logged = load(real_kits, OPENSSL, FULL_1_3, tmp_path, requests=3, max_connections=20)
    assert isinstance(record, Load), record
    assert (record.connections, record.failures.total) == (20, 0), record
    assert Counter(one.requests for one in logged) == {1: 20, 2: 20, 3: 20}


def test_what_nginx_does_not_have_is_counted_as_a_failure_of_each_connection(
    real_kits: RealKits, tmp_path: Path
) -> None:
    record, logged = load(real_kits, OPENSSL, FULL_1_3, tmp_path, path="missing.bin")
    assert isinstance(record, Load), record
    assert (record.connections, record.failures.http) == (0, CONNECTIONS), record
    assert record.first_failure == "status: wanted HTTP/1.1 200, the server sent HTTP/1.1 404 Not Found"
    assert {one.status for one in logged} == {404}


def test_a_load_for_another_certificate_ends_as_a_mismatch(real_kits: RealKits, tmp_path: Path) -> None:
    """The set-up's material and nginx's differ: same case, another key."""
    kit, material, other = real_kits[OPENSSL], MaterialStore(tmp_path / "one"), MaterialStore(tmp_path / "other")
    place = tmp_path / "nginx"
    place.mkdir()
    with (
        nginx(place, other.folder, other.provide(FULL_1_3)) as server,
        launched(kit.manifest, kit.folder, material, tmp_path) as worker,
    ):
        expect(Ready, worker.ask(setup_request(FULL_1_3, material.provide(FULL_1_3)), 30))
        plan = LoadRequest(
            port=server.port, path="x", response_bytes=BYTES, concurrency=2, max_connections=10, max_ns=10**9
        )
        record = worker.load(FULL_1_3.case_id, plan)
    assert isinstance(record, Failed), record
    assert (record.kind, record.handshakes) == ("mismatch", 0)
    assert record.reason.startswith("certificate: the server showed another than ")
