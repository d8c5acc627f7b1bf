"""A run: one execution of a plan. Its facts never change; its state is a sequence of events."""

from enum import StrEnum
from typing import Any

from pydantic import Field, model_validator

from kexbench.domain.commits import Commit, SpecPath
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostFacts
from kexbench.domain.kits import KitManifest
from kexbench.domain.material import MaterialFiles
from kexbench.domain.moments import Moment
from kexbench.domain.numbers import AttemptNumber, Count
from kexbench.domain.plans import Isolation, Job, Plan


class RunState(StrEnum):
    """In the order of a run's life. One that a command measures itself starts as `running`."""

    QUEUED = "queued"
    BUILDING = "building"
    RUNNING = "running"
    CANCELLING = "cancelling"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_open(self) -> bool:
        """Whether something is still to happen by itself."""
        return self not in (RunState.FINISHED, RunState.CANCELLED, RunState.FAILED)


class Trigger(StrEnum):
    """Who asked for a run. `command-line` is a run that a command measures itself; all others are queued first."""

    COMMAND_LINE = "command-line"
    API = "api"
    SCHEDULE = "schedule"
    COMMIT = "commit"
    LIBRARY = "library"
    PULL_REQUEST = "pull-request"
    BISECTION = "bisection"
    BACKFILL = "backfill"
    CONFIRMATION = "confirmation"

    @property
    def is_watched(self) -> bool:
        """Whether what such a run finds may raise an alert. A pull request's is told to its authors, and a bisection,
        a backfill and a confirmation look where somebody knows already, or at what is past."""
        return self not in (Trigger.PULL_REQUEST, Trigger.BISECTION, Trigger.BACKFILL, Trigger.CONFIRMATION)


class RunReason(StrEnum):
    """Why a run is in its state, as far as anything is decided by it. What people read is the event's detail."""

    SUBMITTED = "submitted"
    """Its jobs were handed to the cluster."""
    BUILDS_KITS = "builds kits"
    WAITS_FOR_RUN = "waits for a run"
    GOES_ON = "goes on"
    """What was waited for is there."""
    TROUBLED = "troubled"
    """Something holds it up; `about` says what, one key for each trouble."""
    SUPERSEDED = "superseded"
    UNBUILDABLE = "does not build"
    """Sources do not compile, or what was compiled of them does not work; `about` are their references."""
    SOURCES_UNAVAILABLE = "sources cannot be had"
    DISK_FULL = "disk full"
    TOO_LITTLE_MEMORY = "too little memory"
    KITS_FAILED = "kits failed"
    """For another reason than their sources."""
    GIVEN_UP = "given up"
    """It was held up for too long."""
    NO_POOL = "no such pool"
    JOBS_FAILED = "jobs failed"
    RUNNER_FAILED = "runner failed"
    PROCESS_ENDED = "process ended"
    DISTURBED = "disturbed"
    """Readers of the service may show in its numbers."""


class Purpose(StrEnum):
    """What a command measures for: the history of versions, or a question of its own."""

    HISTORY = "history"
    SEARCH = "search"
    INTEROP = "interop"
    QUALIFICATION = "qualification"


class Run(Frozen):
    """The facts of a run. It is announced with its plan, and started once its kits are known; where a command measures
    it itself both is one. From then on nothing of it changes."""

    format_version: Count = 1
    run_id: str
    created_at: Moment
    trigger: Trigger
    spec_text: str
    plan: Plan
    kits: dict[str, KitManifest] = Field(description="by the subject's reference in the plan; none before the start")
    host: HostFacts | None = Field(
        description="of a machine that measures by itself; on a cluster attempts have theirs"
    )
    material: dict[str, MaterialFiles] = Field(description="content-addressed key material, by case id")
    commit: Commit | None = Field(None, description="that triggered it")
    spec_path: SpecPath | None = Field(None, description="of the spec within the commit")

    purpose: Purpose = Purpose.HISTORY

    @property
    def is_aside(self) -> bool:
        """Whether it answers a question of its own, so that its numbers are no part of any overview."""
        return self.purpose is not Purpose.HISTORY or self.trigger in (Trigger.BISECTION, Trigger.BACKFILL)

    @property
    def is_started(self) -> bool:
        return bool(self.kits)

    @property
    def was_queued(self) -> bool:
        """Whether it waited for its turn, so that whoever sees to the queue goes on with it."""
        return self.trigger is not Trigger.COMMAND_LINE

    @property
    def is_watched(self) -> bool:
        """Whether it may raise alerts, as far as can be told without reading its spec, which would have to name them
        in `alerts:`."""
        return self.trigger.is_watched and "alerts" in self.spec_text

    def announced(self) -> "Run":
        """As it was before its start."""
        return self.model_copy(update={"kits": {}, "host": None, "material": {}})

    def job(self, job_id: str) -> Job | None:
        return next((job for job in self.plan.jobs if job.job_id == job_id), None)


class JobAttempt(Frozen):
    """One try at a job on a cluster, announced by its pod before anything is measured."""

    run_id: str
    job_id: str
    attempt: AttemptNumber
    host: HostFacts
    isolation: Isolation = Field(description="what CPUs the pod was found to have")
    node: str
    pod: str
    pod_uid: str = Field(min_length=1)
    started_at: Moment


class RunEvent(Frozen):
    """One change of a run's state; the newest event is the state. `detail` is for people, nothing is decided by it."""

    run_id: str
    at: Moment
    state: RunState
    detail: str = ""
    reason: RunReason | None = Field(None, description="null where nothing is decided by it, and of earlier releases")
    about: tuple[str, ...] = Field((), description="what the reason is about: references that do not build, a run")

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_releases(cls, data: Any) -> Any:
        """Folders of runs hold events of theirs, which had a field for what does not build alone."""
        if isinstance(data, dict) and "unbuilt" in data:
            data = dict(data)
            if unbuilt := data.pop("unbuilt"):
                data |= {"reason": RunReason.UNBUILDABLE, "about": unbuilt}
        return data

    @property
    def unbuilt(self) -> tuple[str, ...]:
        """References of kits whose sources do not build."""
        return self.about if self.reason is RunReason.UNBUILDABLE else ()
