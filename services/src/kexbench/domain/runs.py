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
    """In the order of a run's life."""

    QUEUED = "queued"
    BUILDING = "building"
    RUNNING = "running"
    CANCELLING = "cancelling"
    INCOMPLETE = "incomplete"
    """It ended without an error, but lacks invocations: its time was up."""
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_open(self) -> bool:
        """Whether the run has not ended."""
        return self not in (RunState.INCOMPLETE, RunState.FINISHED, RunState.CANCELLED, RunState.FAILED)

    @property
    def has_results(self) -> bool:
        """Whether the run ended without an error, so that its numbers decide as far as they go."""
        return self in (RunState.INCOMPLETE, RunState.FINISHED)


class Trigger(StrEnum):
    """Who requested a run."""

    API = "api"
    SCHEDULE = "schedule"
    COMMIT = "commit"
    LIBRARY = "library"
    PULL_REQUEST = "pull-request"
    BISECTION = "bisection"
    BACKFILL = "backfill"
    CONFIRMATION = "confirmation"
    EXPLANATION = "explanation"

    @classmethod
    def _missing_(cls, value: object) -> "Trigger | None":
        """Commands of earlier releases measured runs without queuing them."""
        return cls.API if value == "command-line" else None

    @property
    def is_watched(self) -> bool:
        """Whether such a run may raise alerts. Results of a pull request go to its authors. The others measure
        changes that are already known or past."""
        return self in (Trigger.API, Trigger.SCHEDULE, Trigger.COMMIT, Trigger.LIBRARY)


class RunReason(StrEnum):
    """Why a run is in its state, for decisions in code. People read the event's detail."""

    SUBMITTED = "submitted"
    """The jobs were submitted to the cluster."""
    BUILDS_KITS = "builds kits"
    WAITS_FOR_RUN = "waits for a run"
    GOES_ON = "goes on"
    """The wait is over."""
    TROUBLED = "troubled"
    """Something blocks the run; `about` has one key for each problem."""
    SUPERSEDED = "superseded"
    UNBUILDABLE = "does not build"
    """Sources do not compile, or the result does not work; `about` has their references."""
    SOURCES_UNAVAILABLE = "sources cannot be had"
    DISK_FULL = "disk full"
    TOO_LITTLE_MEMORY = "too little memory"
    KITS_FAILED = "kits failed"
    """Kits failed for another reason than their sources."""
    GIVEN_UP = "given up"
    """The run was blocked for too long."""
    NO_POOL = "no such pool"
    JOBS_FAILED = "jobs failed"
    RUNNER_FAILED = "runner failed"
    BY_COMMAND = "by command"
    """A command runs it, so Ctrl-C ends it."""
    PROCESS_ENDED = "process ended"
    OUT_OF_TIME = "out of time"
    """Measuring reached the spec's `maxDuration`."""
    DISTURBED = "disturbed"
    """Readers of the service may have affected the numbers."""


class Purpose(StrEnum):
    """The purpose of a command's run: the history of versions, or a separate question."""

    HISTORY = "history"
    FIRST_LOOK = "first-look"
    """A few short invocations, for a person who waits: `kexbench run --quick`."""
    COMPARISON = "comparison"
    """Two builds for a person or a job who reads the verdict: `kexbench compare`. It raises no alert."""
    SEARCH = "search"
    INTEROP = "interop"
    QUALIFICATION = "qualification"


class Run(Frozen):
    """The facts of a run. It is announced with its plan, and started once its kits are known. It never changes after
    that."""

    format_version: Count = 1
    run_id: str
    created_at: Moment
    trigger: Trigger
    spec_text: str
    plan: Plan
    kits: dict[str, KitManifest] = Field(description="by the subject's reference in the plan; empty before the start")
    host: HostFacts | None = Field(description="outside a cluster; on a cluster each attempt has its own")
    material: dict[str, MaterialFiles] = Field(description="content-addressed key material, by case id")
    commit: Commit | None = Field(None, description="the commit that triggered it")
    spec_path: SpecPath | None = Field(None, description="of the spec within the commit")

    purpose: Purpose = Purpose.HISTORY

    @property
    def is_aside(self) -> bool:
        """Whether it answers a separate question, so that overviews leave its numbers out. First looks are left out
        only where another run has results (`Evidence.left_out`)."""
        is_history = self.purpose in (Purpose.HISTORY, Purpose.COMPARISON)
        return not is_history or self.trigger in (Trigger.BISECTION, Trigger.BACKFILL)

    @property
    def is_started(self) -> bool:
        return bool(self.kits)

    @property
    def is_watched(self) -> bool:
        """Whether it may raise alerts, without parsing its spec, which would need `alerts:`."""
        return self.trigger.is_watched and self.purpose is not Purpose.COMPARISON and "alerts" in self.spec_text

    def announced(self) -> "Run":
        """The run as it was before its start."""
        return self.model_copy(update={"kits": {}, "host": None, "material": {}})

    def job(self, job_id: str) -> Job | None:
        return next((job for job in self.plan.jobs if job.job_id == job_id), None)


class JobAttempt(Frozen):
    """An attempt at a job on a cluster, announced by its pod before it measures."""

    run_id: str
    job_id: str
    attempt: AttemptNumber
    host: HostFacts
    isolation: Isolation = Field(description="whether the pod has CPUs of its own")
    node: str
    pod: str
    pod_uid: str = Field(min_length=1)
    started_at: Moment


class RunEvent(Frozen):
    """A change of a run's state; the newest event is the state. `detail` is for people, never for decisions."""

    run_id: str
    at: Moment
    state: RunState
    detail: str = ""
    reason: RunReason | None = Field(None, description="null where no decision needs it, and in earlier releases")
    about: tuple[str, ...] = Field((), description="what the reason refers to: references that do not build, a run")

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_releases(cls, data: Any) -> Any:
        """Their events, stored in folders of runs, had a separate field for references that do not build."""
        if isinstance(data, dict) and "unbuilt" in data:
            data = dict(data)
            if unbuilt := data.pop("unbuilt"):
                data |= {"reason": RunReason.UNBUILDABLE, "about": unbuilt}
        return data

    @property
    def unbuilt(self) -> tuple[str, ...]:
        """References of kits whose sources do not build."""
        return self.about if self.reason is RunReason.UNBUILDABLE else ()
