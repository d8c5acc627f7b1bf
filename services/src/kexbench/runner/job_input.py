"""What a runner measures: the job order, which is the same on all machines, and the job input with local paths."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Server
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import KitManifest
from kexbench.domain.material import MaterialFiles
from kexbench.domain.plans import Job, Measure
from kexbench.domain.runs import Run


class JobInputKit(Frozen):
    folder: Path
    manifest: KitManifest
    servers: dict[Server, Path] = Field({}, description="the web servers that are built against it")


class StoredResult(Frozen):
    """An invocation that an earlier attempt at the job delivered."""

    case_id: str
    invocation: int
    hopeless: tuple[str, ...] = Field((), description="subjects that need not be tried again on its case")


class JobInput(Frozen):
    """A file with everything that a runner needs to measure one job."""

    format_version: Literal[1] = 1
    run_id: str
    attempt: int = Field(ge=1)
    host_id: str
    seed: str = Field(description="fixes every random order of the job")
    job: Job
    measure: Measure
    cases: tuple[Case, ...]
    kits: dict[str, JobInputKit] = Field(description="by the subject's reference")
    material_folder: Path
    material: dict[str, MaterialFiles] = Field(description="by case id")
    results: Path = Field(description="NDJSON file that invocations are appended to")
    stored: tuple[StoredResult, ...] = Field((), description="measured by earlier attempts, so not again")


class JobOrder(Frozen):
    """The part of a job input that does not depend on the machine or the attempt."""

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
        """The order of a job, when its run is started."""
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

    def job_input(
        self,
        kits: Mapping[str, Path],
        material: Path,
        results: Path,
        *,
        attempt: int,
        host_id: str,
        servers: Mapping[str, Mapping[Server, Path]] = MappingProxyType({}),
        stored: Iterable[StoredResult] = (),
    ) -> JobInput:
        """`kits`: each kit's folder, by its reference. `servers`: the kit's web servers, where it has some."""
        return JobInput(
            run_id=self.run_id,
            attempt=attempt,
            host_id=host_id,
            seed=self.seed,
            job=self.job,
            measure=self.measure,
            cases=self.cases,
            kits={
                reference: JobInputKit(folder=kits[reference], manifest=kit, servers=dict(servers.get(reference, {})))
                for reference, kit in self.kits.items()
            },
            material_folder=material,
            material=self.material,
            results=results,
            stored=tuple(stored),
        )
