"""What is to be measured: the order of a job, wherever it will run, and the ticket of a runner, which knows where."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field

from kexbench.domain.cases import Case
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import KitManifest
from kexbench.domain.material import MaterialFiles
from kexbench.domain.plans import Job, Measure
from kexbench.domain.runs import Run


class TicketKit(Frozen):
    folder: Path
    manifest: KitManifest


class Ticket(Frozen):
    """All that a runner needs to measure one job, as one file."""

    format_version: Literal[1] = 1
    run_id: str
    attempt: int = Field(ge=1)
    host_id: str
    seed: str = Field(description="fixes every random order of the job")
    job: Job
    measure: Measure
    cases: tuple[Case, ...]
    kits: dict[str, TicketKit] = Field(description="by the subject's reference")
    material_folder: Path
    material: dict[str, MaterialFiles] = Field(description="by case id")
    results: Path = Field(description="NDJSON file that invocations are appended to")


class JobOrder(Frozen):
    """All of a job that does not depend on where it runs, nor how often it was tried."""

    format_version: Literal[1] = 1
    run_id: str
    seed: str
    job: Job
    measure: Measure
    cases: tuple[Case, ...]
    kits: dict[str, KitManifest] = Field(description="by the subject's reference")
    material: dict[str, MaterialFiles] = Field(description="by case id")

    @classmethod
    def of(cls, run: Run, job: Job) -> Self:
        """The order of a job of a run that is started."""
        cases = tuple(case for case in run.plan.cases if case.case_id in job.case_ids)
        needed = {reference for block in job.blocks for reference in block}
        needed |= {case.peer_reference for case in cases if case.peer_reference}
        return cls(
            run_id=run.run_id,
            seed=f"{run.run_id}/{job.job_id}",
            job=job,
            measure=run.plan.measure,
            cases=cases,
            kits={reference: kit for reference, kit in run.kits.items() if reference in needed},
            material={case_id: run.material[case_id] for case_id in job.case_ids},
        )

    def ticket(self, kits: Mapping[str, Path], material: Path, results: Path, *, attempt: int, host_id: str) -> Ticket:
        """`kits`: where each kit lies, by its reference."""
        return Ticket(
            run_id=self.run_id,
            attempt=attempt,
            host_id=host_id,
            seed=self.seed,
            job=self.job,
            measure=self.measure,
            cases=self.cases,
            kits={reference: TicketKit(folder=kits[reference], manifest=kit) for reference, kit in self.kits.items()},
            material_folder=material,
            material=self.material,
            results=results,
        )
