"""The settings that a pod gets from its workflow and from Kubernetes."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

WORK = Path("/var/lib/kexbench")


class PodSettings(BaseSettings):
    """Settings of all our pods."""

    model_config = SettingsConfigDict(env_prefix="KEXBENCH_", frozen=True)

    api_url: str
    token_file: Path
    work: Path = Field(WORK, description="folder of all files, deleted with the pod")


class JobPod(PodSettings):
    """Settings of a job's pod."""

    run_id: str
    job_id: str
    attempt: int = Field(ge=1, description="first number to try, since the API knows which are taken")
    cpus: int = Field(ge=1, description="whole CPUs that the pod requests")
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
        """The job's path in the API."""
        return f"/runs/{self.run_id}/jobs/{self.job_id}"


BUILT = Path("/var/lib/kexbench-built")
"""The folder of the finished kit, from the build container for the sending one."""


class BuildContainer(BaseSettings):
    """Settings of the container that builds a kit. It runs scripts of untrusted sources, so it has neither a token
    nor the API's address."""

    model_config = PodSettings.model_config

    reference: str
    architecture: str
    work: Path = WORK
    built: Path = BUILT


class BuilderPod(PodSettings):
    """Settings of the container in the same pod that sends the kit."""

    built: Path = BUILT


class LinePod(PodSettings):
    """Settings of a pod that finds the commit range of a bisection."""

    bisection_id: str
    good: str = Field(description="a reference, such as openssl@git:https://…#openssl-3.5.0")
    bad: str


class SchedulePod(PodSettings):
    """Settings of a pod that requests a schedule's run when it is due."""

    schedule: str
    scheduled_time: str
