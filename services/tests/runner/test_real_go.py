"""A kit of Go's crypto/tls, built by its toolchain with the real recipe, measured beside this machine's OpenSSL."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE

import pytest

from kexbench.domain.instruments import Instrument
from kexbench.domain.kits import Launch
from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.kits import read_probe
from kexbench.material.store import MaterialStore
from kexbench.runner.counting import count_invocation
from kexbench.runner.order import Turn
from kexbench.runner.participant import run_request, setup_request
from tests.runner.built import built_kits, built_with, contract_with
from tests.runner.conftest import QUIET, UNPINNED
from tests.runner.real import OPENSSL, RealKits, a_case, a_job_input, measured, values

GO = "go@toolchain/1.26.8"
FULL, RESUMED, HYBRID, PSK_ALONE = (
    a_case("TLSv1.3", "ECDHE-ECDSA", **more)
    for more in (
        {"group": "X25519"},
        {"group": "X25519", "resumption": "psk-dhe"},
        {"group": "X25519MLKEM768"},
        {"group": "X25519", "resumption": "psk"},
    )
)
pytestmark = built_with("go")


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> RealKits:
    return built_kits(tmp_path_factory.mktemp("go"), GO)


def test_the_kit_has_gos_version_and_its_defaults(kits: RealKits) -> None:
    kit = kits[GO].manifest
    assert (kit.library, kit.version, kit.source) == ("go", "1.26.8", "toolchain/1.26.8")
    assert (kit.build_profile.provider, kit.build_profile.linkage) == ("toolchain", "static")
    assert b"/tmp/" not in (kits[GO].folder / "bin" / "worker").read_bytes()
    probe = read_probe(kits[GO].folder)
    assert probe is not None
    supported = {feature.value for feature in probe.features if feature.supported}
    assert {"X25519", "P-384", "X25519MLKEM768", "ticket", "psk-dhe"} <= supported
    assert {"ffdhe2048", "session-id", "psk"} & supported == set()
    defaults = [default.negotiated for default in probe.defaults if default.negotiated]
    assert {default.group for default in defaults} == {"X25519MLKEM768"}
    assert {(default.key_shares, default.tickets) for default in defaults} == {(2, 0)}


def test_full_and_resumed_handshakes_are_measured_and_proven(kits: RealKits, tmp_path: Path) -> None:
    for case, resumed in ((FULL, False), (RESUMED, True)):
        folder = tmp_path / case.case_id
        folder.mkdir()
        result = measured(folder, kits, case, GO, OPENSSL)
        assert result.outcomes == ()
        for subject in (GO, OPENSSL):
            negotiated = result.negotiated[subject]
            assert (negotiated.protocol, negotiated.group, negotiated.resumed) == ("TLSv1.3", "X25519", resumed)
            assert (negotiated.key_shares, negotiated.cipher) == (1, "AES-128-GCM")
            assert negotiated.tickets == (1 if resumed and subject == GO else 0)
            assert len(values(result, subject, Metric.CPU_NS)) > 0
        background = {subject: max(values(result, subject, Metric.BACKGROUND_CPU_NS)) for subject in (GO, OPENSSL)}
        assert background[GO] > 10 * background[OPENSSL]
        assert not values(result, GO, Metric.SERVER_ALLOCATIONS)
        assert not values(result, GO, Metric.WALL_NS)
        assert len(values(result, GO, Metric.ELAPSED_NS)) > 0


def test_a_hybrid_is_measured_and_what_the_library_lacks_is_unsupported(kits: RealKits, tmp_path: Path) -> None:
    (tmp_path / "hybrid").mkdir()
    (tmp_path / "psk").mkdir()
    result = measured(tmp_path / "hybrid", kits, HYBRID, GO)
    assert result.negotiated[GO].group == "X25519MLKEM768"
    assert min(values(result, GO, Metric.CLIENT_BYTES)) > 1184  # of the ML-KEM key alone (FIPS 203, table 3)
    (outcome,) = measured(tmp_path / "psk", kits, PSK_ALONE, GO).outcomes
    assert outcome.kind is OutcomeKind.UNSUPPORTED


def test_a_count_of_instructions_is_refused_with_its_reason(kits: RealKits, tmp_path: Path) -> None:
    job_input = a_job_input(kits, MaterialStore(tmp_path / "material"), tmp_path / "results.ndjson", FULL, GO)
    measure = job_input.measure.model_copy(update={"instrument": Instrument.INSTRUCTIONS})
    job_input = job_input.model_copy(update={"measure": measure})
    turn = Turn(FULL.case_id, (GO,), 0, examines=True)
    (outcome,) = count_invocation(job_input, turn, UNPINNED, tmp_path / "worker.log", lambda: QUIET).outcomes
    assert outcome.kind is OutcomeKind.UNSUPPORTED
    assert "does not run in valgrind" in outcome.reason


def test_gos_own_threads_may_run_on_all_cpus_of_the_worker(kits: RealKits, tmp_path: Path) -> None:
    """The worker pins its threads, and threads that Go makes in a call of one must not have its CPU alone. A runtime
    that is preempted before a call has said so may make one nevertheless, so up to three workers are tried."""
    cpus = os.sched_getaffinity(0)
    if len(cpus) < 2:
        pytest.skip("one CPU")
    case = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", threads=len(cpus))
    material = MaterialStore(tmp_path / "material")
    requests = (setup_request(case, material.provide(case)), run_request(case, 3000, 0, 3000))
    launch = kits[GO].manifest.launch(kits[GO].folder, material.folder)
    pinned: list[int] = []
    while len(cpus) not in pinned and len(pinned) < 3:
        allowed = _cpus_of_threads(launch, requests)
        assert set(allowed) == {1, len(cpus)}
        pinned.append(allowed[1])
    assert len(cpus) in pinned


def _cpus_of_threads(launch: Launch, requests: Sequence[str]) -> Counter[int]:
    """On how many CPUs each thread of a worker may run that has measured."""
    with subprocess.Popen(
        launch.arguments, cwd=launch.folder, env=launch.environment, stdin=PIPE, stdout=PIPE, text=True
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write("\n".join([*requests, ""]))
        worker.stdin.flush()
        types = [json.loads(worker.stdout.readline())["type"] for _ in range(3)]
        tasks = [int(task.name) for task in Path(f"/proc/{worker.pid}/task").iterdir()]
        allowed = Counter(len(os.sched_getaffinity(task)) for task in tasks)
        worker.communicate("stop\n")
    assert types == ["hello", "ready", "batch"]
    return allowed


def test_the_workers_contract_holds_with_the_library(kits: RealKits, tmp_path: Path) -> None:
    """The same suite that runs with this machine's OpenSSL and GnuTLS."""
    assert "Go 1.26.8 crypto/tls" in contract_with("go", "1.26.8", tmp_path)
