"""The ticket: all that a runner needs to measure one job, as one file."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from kexbench.domain.cases import Case
from kexbench.domain.kits import KitManifest
from kexbench.domain.material import MaterialFiles
from kexbench.domain.plans import Job, Measure


class TicketKit(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path
    manifest: KitManifest


class Ticket(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

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
