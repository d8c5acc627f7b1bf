"""Tickets for this machine's own libraries, with real keys, and what their invocations yield."""

import shutil
import subprocess
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Server
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import Job, Measure
from kexbench.domain.samples import Invocation, Metric
from kexbench.kits import KitStore, WorkerSource, Workshop
from kexbench.kits.servers import ServerStore, server_builds
from kexbench.kits.system import SystemProvider
from kexbench.material.store import MaterialStore
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.job_input import JobInput, JobInputKit
from kexbench.runner.order import Turn
from kexbench.settings import Settings
from tests.runner.conftest import QUIET, UNPINNED

OPENSSL, GNUTLS = "openssl@system", "gnutls@system"
HEADERS = {OPENSSL: "openssl/ssl.h", GNUTLS: "gnutls/gnutls.h"}
MeasureReal = Callable[..., Invocation]
RealKits = dict[str, JobInputKit]
KitsWith = Callable[[Server], RealKits]
EACH_SERVER = [
    pytest.param(server, marks=[] if server is Server.NGINX else pytest.mark.long)
    for server in Server
    if server is not Server.NONE
]
"""All but nginx take minutes to build."""


def a_case(protocol: str, key_exchange: str, **more: object) -> Case:
    """With a key and a group that every library has."""
    usual: dict[str, object] = {"protocol": protocol, "key_exchange": key_exchange}
    usual |= {"rsa_bits": 2048} if key_exchange.endswith("RSA") else {"curve": "P-256"}
    return Case.model_validate(usual | more)


def missing() -> str | None:
    """Why nothing real can be measured here, or None."""
    if shutil.which("cc") is None or shutil.which("make") is None:
        return "no compiler, no make"
    for reference, header in HEADERS.items():
        command = ["cc", "-E", "-include", header, "-x", "c", "/dev/null"]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return f"no development files of {reference}"
    return None


@pytest.fixture(scope="session")
def real_servers(tmp_path_factory: pytest.TempPathFactory) -> ServerStore:
    """A kit store of this machine's libraries, with what builds web servers. Their builds are kept in the cache."""
    if reason := missing():
        pytest.skip(reason)
    root = tmp_path_factory.mktemp("real-kits")
    workshop = Workshop(WorkerSource(Settings().workers), (SystemProvider(),))
    return ServerStore(KitStore(root, workshop), workshop, server_builds(Settings().cache, jobs=2))


@pytest.fixture(scope="session")
def real_kits(real_servers: ServerStore) -> RealKits:
    """The kits of this machine's libraries by reference."""
    kit_store = real_servers.kit_store
    manifests = {reference: kit_store.add(SubjectRef.parse(reference)) for reference in (OPENSSL, GNUTLS)}
    return {name: JobInputKit(folder=kit_store.folder(kit.kit_id), manifest=kit) for name, kit in manifests.items()}


@pytest.fixture(scope="session")
def kits_with(real_servers: ServerStore, real_kits: RealKits) -> KitsWith:
    """`kits_with(Server.NGINX)`: the same kits, OpenSSL's with that web server, which is built when first asked for."""

    @cache
    def built(server: Server) -> RealKits:
        kit = real_kits[OPENSSL]
        program = real_servers.add(server, kit.manifest.ref, kit.manifest)
        return {**real_kits, OPENSSL: kit.model_copy(update={"servers": {server: program}})}

    return built


def a_job_input(
    kits: RealKits, material: MaterialStore, results: Path, case: Case, *block: str, batches: int = 8
) -> JobInput:
    """Of one invocation."""
    job = Job(job_id="job", pool="local", case_ids=(case.case_id,), blocks=(block,), first_invocation=0, invocations=1)
    return JobInput(
        run_id="run",
        attempt=1,
        host_id="host",
        seed="seed",
        job=job,
        measure=Measure(invocations=1, batches=batches, batch_ns=3_000_000, max_duration_s=600),
        cases=(case,),
        kits=kits,
        material_folder=material.folder,
        material={case.case_id: material.provide(case)},
        results=results,
    )


def measured(root: Path, kits: RealKits, case: Case, *block: str) -> Invocation:
    """The first invocation of a case, with its untimed pass."""
    job_input = a_job_input(kits, MaterialStore(root / "material"), root / "results.ndjson", case, *block)
    turn = Turn(case.case_id, block, 0, examines=True)
    return measure_invocation(job_input, turn, UNPINNED, root / "worker.log", lambda: QUIET)


@pytest.fixture(scope="session")
def measure_real(tmp_path_factory: pytest.TempPathFactory, real_kits: RealKits) -> MeasureReal:
    """`measure_real(case, "openssl@system")`, as `measured`."""
    return partial(measured, tmp_path_factory.mktemp("real"), real_kits)


def values(invocation: Invocation, subject: str, metric: Metric) -> tuple[float, ...]:
    """Empty where there is no such sample."""
    found = (each.values for each in invocation.samples if (each.subject, each.metric) == (subject, metric))
    return next(found, ())
