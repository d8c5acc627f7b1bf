"""What every benchmark of the harness needs: kits, material, CPUs, and parties outside of any plan."""

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
from kexbench.runner.party import Setting
from kexbench.runner.records import Batch
from kexbench.runner.ticket import Ticket, TicketKit
from kexbench.settings import Settings
from kexbench.wiring import Installation


class BenchError(Exception):
    """Something can't be measured here; the text says what and why."""


def turns_ns(batch: Batch) -> float:
    """CPU time of both sides' turns a handshake. Raises BenchError for a batch that knows no sides."""
    if batch.cpu_ns is None:
        raise BenchError("this batch was not split by side")
    return batch.cpu_ns / batch.handshakes


def children_cpu_s() -> float:
    """CPU time of all processes that this one started and that have ended, with those that they waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclass(frozen=True)
class Scale:
    """How much is measured: all of it, or a quick look."""

    invocations: int
    batches: int
    builds: int
    """Invocations of each case of kits beside packages: there are hundreds of cases."""
    pool: int
    peer_rounds: int
    cases: int
    """Of the plan that is run on a simulated cluster."""
    nodes: int
    pushes: int


FULL = Scale(invocations=20, batches=BATCHES, builds=6, pool=400, peer_rounds=8, cases=10_000, nodes=1000, pushes=10)
QUICK = Scale(invocations=6, batches=10, builds=6, pool=48, peer_rounds=2, cases=1000, nodes=100, pushes=3)


class Lab:
    """This machine's shelf and CPUs; making one moves this process off the measuring CPU."""

    def __init__(self) -> None:
        self.installation = Installation(Settings())
        self.cpus: Cpus = claim_cpus()
        self.log = Path(self.installation.settings.home) / "bench.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)

    def kit(self, reference: str) -> TicketKit:
        """Built if need be. Raises KitError."""
        shelf = self.installation.kits()
        manifest = shelf.add(SubjectRef.parse(reference))
        return TicketKit(folder=shelf.folder(manifest.kit_id), manifest=manifest)

    def ticket(self, cases: Sequence[Case], kits: dict[str, TicketKit], batches: int) -> Ticket:
        """A job of its own: every case, with all kits in one block."""
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
        return Ticket(
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

    def setting(self, case: Case, kits: dict[str, TicketKit], batches: int) -> Setting:
        return Setting(self.ticket([case], kits, batches), case, self.cpus, self.log)


@contextmanager
def all_cpus(cpus: Cpus) -> Iterator[None]:
    """Let what is started here run on the measuring CPU too."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {*before, *([] if cpus.measuring is None else [cpus.measuring])})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
