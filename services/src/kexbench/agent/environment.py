"""What a pod is told by its workflow and by Kubernetes."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

WORK = Path("/var/lib/kexbench")


class PodSettings(BaseSettings):
    """Of every pod of ours."""

    model_config = SettingsConfigDict(env_prefix="KEXBENCH_", frozen=True)

    api_url: str
    token_file: Path
    work: Path = Field(WORK, description="where everything is written; it goes with the pod")


class JobPod(PodSettings):
    """Of the pod of a job."""

    run_id: str
    job_id: str
    attempt: int = Field(ge=1, description="the first number to try: the API knows which are taken")
    cpus: int = Field(ge=1, description="whole CPUs that the pod asked for")
    pod_name: str
    pod_uid: str
    node_name: str

    @property
    def order_file(self) -> Path:
        return self.work / "order.json"

    @property
    def kits(self) -> Path:
        return self.work / "kits"

    @property
    def material(self) -> Path:
        return self.work / "material"

    @property
    def path(self) -> str:
        """Of the job in the API."""
        return f"/runs/{self.run_id}/jobs/{self.job_id}"


BUILT = Path("/var/lib/kexbench-built")
"""What the container that builds leaves for the one that sends."""


class BuildContainer(BaseSettings):
    """Of the container that builds a kit. It runs scripts of sources that anybody may have written, so it has neither
    a token nor the API's address."""

    model_config = PodSettings.model_config

    reference: str
    architecture: str
    work: Path = WORK
    built: Path = BUILT


class BuilderPod(PodSettings):
    """Of the container beside it, which sends the kit."""

    built: Path = BUILT


class LinePod(PodSettings):
    """Of a pod that finds the commits that a bisection searches."""

    bisection_id: str
    good: str = Field(description="a reference, such as openssl@git:https://…#openssl-3.5.0")
    bad: str


class SchedulePod(PodSettings):
    """Of a pod that asks for a run when a schedule's time has come."""

    schedule: str
    scheduled_time: str
