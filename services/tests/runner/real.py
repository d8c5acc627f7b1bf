"""Tickets for this machine's own libraries, with real keys, and what their invocations yield."""

import shutil
import subprocess
from collections.abc import Callable

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import Job, Measure
from kexbench.domain.samples import Invocation, Metric
from kexbench.kits import Shelf, WorkerSource, Workshop
from kexbench.kits.system import SystemProvider
from kexbench.material.shelf import MaterialShelf
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn
from kexbench.runner.ticket import Ticket, TicketKit
from kexbench.settings import Settings
from tests.runner.conftest import QUIET, UNPINNED

OPENSSL, GNUTLS = "openssl@system", "gnutls@system"
HEADERS = {OPENSSL: "openssl/ssl.h", GNUTLS: "gnutls/gnutls.h"}
MeasureReal = Callable[..., Invocation]


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
def measure_real(tmp_path_factory: pytest.TempPathFactory) -> MeasureReal:
    """`measure_real(case, "openssl@system")`: the first invocation of a case, with its untimed pass."""
    if reason := missing():
        pytest.skip(reason)
    root = tmp_path_factory.mktemp("real")
    shelf = Shelf(root / "kits", Workshop(WorkerSource(Settings().workers), (SystemProvider(),)))
    manifests = {reference: shelf.add(SubjectRef.parse(reference)) for reference in (OPENSSL, GNUTLS)}
    kits = {name: TicketKit(folder=shelf.folder(kit.kit_id), manifest=kit) for name, kit in manifests.items()}
    material = MaterialShelf(root / "material")

    def measure(case: Case, *block: str) -> Invocation:
        ticket = Ticket(
            run_id="run",
            attempt=1,
            host_id="host",
            seed="seed",
            job=Job(
                job_id="job", pool="local", case_ids=(case.case_id,), blocks=(block,), first_invocation=0, invocations=1
            ),
            measure=Measure(invocations=1, batches=8, batch_ns=3_000_000, max_duration_s=600),
            cases=(case,),
            kits=kits,
            material_folder=material.folder,
            material={case.case_id: material.provide(case)},
            results=root / "results.ndjson",
        )
        turn = Turn(case.case_id, block, 0, examines=True)
        return measure_invocation(ticket, turn, UNPINNED, root / "worker.log", lambda: QUIET)

    return measure


def values(invocation: Invocation, subject: str, metric: Metric) -> tuple[float, ...]:
    """Empty where there is no such sample."""
    found = (each.values for each in invocation.samples if (each.subject, each.metric) == (subject, metric))
    return next(found, ())
