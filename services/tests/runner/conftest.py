"""Tickets for real fake workers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.hosts import HostLoad
from kexbench.domain.instruments import Instrument
from kexbench.domain.material import MaterialFiles
from kexbench.domain.plans import Job, Measure
from kexbench.runner.cpus import Cpus
from kexbench.runner.job_input import JobInput, JobInputKit
from kexbench.runner.records import Batch
from tests.conftest import FakeKit

RSA = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.RSA, rsa_bits=2048)
ECDHE = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519")
QUIET = HostLoad(load_average_1m=0.0)
UNPINNED = Cpus(None)


def a_batch(**changes: int | None) -> Batch:
    """Four handshakes of 100 ns on the client's side and 200 on the server's, with objects of 10 and 20 ns."""
    fields: dict[str, int | None] = {
        "handshakes": 4,
        "thread_cpu_ns": 1400,
        "background_cpu_ns": 40,
        "client_cpu_ns": 400,
        "server_cpu_ns": 800,
        "wall_ns": 1300,
        "elapsed_ns": 1600,
        "first_client_ns": 150,
        "first_server_ns": 250,
        "client_bytes": 40,
        "server_bytes": 80,
        "client_objects_cpu_ns": 40,
        "server_objects_cpu_ns": 80,
        "client_transfer_cpu_ns": None,
        "server_transfer_cpu_ns": None,
        "client_finish_cpu_ns": None,
        "server_finish_cpu_ns": None,
        "involuntary_switches": 0,
        "others_ns": 0,
        "alone_handshakes": None,
        "alone_elapsed_ns": None,
        "alone_others_ns": None,
    }
    return Batch.model_validate({"type": "batch", "id": "x", **fields, **changes})


MakeJobInput = Callable[..., JobInput]


@pytest.fixture
def make_job_input(tmp_path: Path, fake_kit: FakeKit) -> MakeJobInput:
    """A job input of one job over some fake subjects, two cases, and as many invocations as asked for."""

    def make(
        *references: str,
        invocations: int = 2,
        batches: int = 3,
        max_duration_s: int = 600,
        cases: tuple[Case, ...] = (RSA, ECDHE),
        instrument: Instrument = Instrument.TIME,
    ) -> JobInput:
        job = Job(
            job_id="job",
            pool="local",
            case_ids=tuple(case.case_id for case in cases),
            blocks=(references,),
            first_invocation=0,
            invocations=invocations,
        )
        peers = {case.peer_reference for case in cases} - {None}
        kits = {reference: fake_kit(reference) for reference in (*references, *map(str, peers))}
        files = MaterialFiles(key="key.pem", certificate="certificate.pem", dh_parameters="-", ocsp_response="-")
        return JobInput(
            run_id="run",
            attempt=1,
            host_id="host",
            seed="seed",
            job=job,
            measure=Measure(
                invocations=invocations,
                batches=batches,
                batch_ns=5_000_000,
                max_duration_s=max_duration_s,
                instrument=instrument,
            ),
            cases=cases,
            kits={reference: JobInputKit(folder=folder, manifest=kit) for reference, (folder, kit) in kits.items()},
            material_folder=tmp_path,
            material={case.case_id: files for case in cases},
            results=tmp_path / "results" / "job.1.ndjson",
        )

    return make
