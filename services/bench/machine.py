"""Shared by all benchmarks: kits, material, CPUs, and settings of participants without a plan."""

import os
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import BATCH_NS, BATCHES, Job, Measure
from kexbench.runner.cpus import Cpus, claim_cpus
from kexbench.runner.job_input import JobInput, JobInputKit
from kexbench.runner.participant import Setting
from kexbench.runner.records import Batch
from kexbench.settings import Settings
from kexbench.wiring import Installation


class BenchError(Exception):
    """Something cannot be measured here. The text is the reason."""


def turns_ns(batch: Batch) -> float:
    """CPU time of both sides' turns per handshake. Raises BenchError for an unsplit batch."""
    if batch.cpu_ns is None:
        raise BenchError("the batch was not split by side")
    return batch.cpu_ns / batch.handshakes


def children_cpu_s() -> float:
    """CPU time of this process's ended children, including the descendants that they waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclass(frozen=True)
class Scale:
    """How much is measured: everything, or a quick sample."""

    invocations: int
    batches: int
    builds: int
    """Invocations of each case that compares kits with packages. There are hundreds of cases."""
    pool: int
    peer_rounds: int
    cases: int
    """Cases of the plan that runs on a simulated cluster."""
    nodes: int
    shard_nodes: tuple[int, ...]
    """How many simulated nodes share the jobs of one pool."""
    pushes: int
    counts: int
    """Of each case that counts instructions."""
    stored_millions: tuple[int, ...]
    """The sizes of stores whose answers are timed, in values."""
    load_millions: tuple[int, ...]
    """The sizes of stores that many readers ask at once, in values."""
    load_s: float
    pages_millions: int
    """The size of the store behind the pages that a browser opens, in values."""
    page_rounds: int
    mixes: int
    """Invocations of each mix of a web server, and of its parts."""


FULL = Scale(
    invocations=20,
    batches=BATCHES,
    builds=6,
    pool=400,
    peer_rounds=8,
    cases=10_000,
    nodes=1000,
    shard_nodes=(1, 4, 20),
    pushes=10,
    counts=20,
    mixes=10,
    stored_millions=(14, 99),
    load_millions=(14, 99),
    load_s=120,
    pages_millions=14,
    page_rounds=10,
)
QUICK = Scale(
    invocations=6,
    batches=10,
    builds=6,
    pool=48,
    peer_rounds=2,
    cases=1000,
    nodes=100,
    shard_nodes=(1, 4),
    pushes=3,
    counts=3,
    mixes=4,
    stored_millions=(1,),
    load_millions=(1,),
    load_s=10,
    pages_millions=1,
    page_rounds=3,
)


class Machine:
    """This machine's kit store and CPUs. Creating an instance moves this process off the measuring CPU."""

    def __init__(self) -> None:
        self.installation = Installation(Settings())
        self.cpus: Cpus = claim_cpus()
        self.log = Path(self.installation.settings.home) / "bench.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)

    def kit(self, reference: str) -> JobInputKit:
        """The kit, which is built if it does not exist. Raises KitError."""
        kit_store = self.installation.kits()
        manifest = kit_store.add(SubjectRef.parse(reference))
        return JobInputKit(folder=kit_store.folder(manifest.kit_id), manifest=manifest)

    def job_input(self, cases: Sequence[Case], kits: dict[str, JobInputKit], batches: int) -> JobInput:
        """A job with all cases, and with all kits in one block."""
        material = self.installation.material()
        measure = Measure(invocations=1, batches=batches, batch_ns=BATCH_NS, max_duration_s=86400)
        job = Job(
            job_id="bench",
            pool="local",
            case_ids=tuple(case.case_id for case in cases),
            blocks=(tuple(kits),),
            first_invocation=0,
            invocations=1,
        )
        return JobInput(
            run_id="bench",
            attempt=1,
            host_id="bench",
            seed="bench",
            job=job,
            measure=measure,
            cases=tuple(cases),
            kits=kits,
            material_folder=material.folder,
            material={case.case_id: material.provide(case) for case in cases},
            results=self.log.with_suffix(".ndjson"),
        )

    def setting(self, case: Case, kits: dict[str, JobInputKit], batches: int) -> Setting:
        return Setting(self.job_input([case], kits, batches), case, self.cpus, self.log)


def pin(process: int, cpu: int | None) -> None:
    """Move a process to a CPU; with None it stays on those that it may use."""
    if cpu is not None:
        os.sched_setaffinity(process, {cpu})


@contextmanager
def all_cpus(cpus: Cpus) -> Iterator[None]:
    """Inside the context, child processes may also use the measuring CPU."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {*before, *([] if cpus.measuring is None else [cpus.measuring])})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
