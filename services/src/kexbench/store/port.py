"""The store's ports, one a subject: what the rest of kexbench may ask of it. Every write can be repeated."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from kexbench.domain.alerts import AlertAction, AlertEvent, AlertKind
from kexbench.domain.bisections import Bisection, BisectionEvent, Line
from kexbench.domain.cases import Case
from kexbench.domain.commits import HandledCommit
from kexbench.domain.following import FollowedCommit
from kexbench.domain.hosts import HostFacts
from kexbench.domain.judgements import Judgement
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.notifications import Notification, Sending
from kexbench.domain.runs import JobAttempt, Run, RunEvent, RunState, Trigger
from kexbench.domain.samples import Disturbed, Invocation, Metric, Negotiated, OutcomeKind, Timer
from kexbench.domain.schedules import Schedule

TRY_AGAIN = "try again; nothing was lost"


class StoreError(Exception):
    """The store refused or failed; the text says why, `remedy` what to do."""

    def __init__(self, text: str, remedy: str = TRY_AGAIN) -> None:
        super().__init__(text)
        self.remedy = remedy


class StoreAway(StoreError):
    """Nobody answers at the store's address; somebody may in a moment."""


@dataclass(frozen=True)
class HostKindRow:
    """`cpu_model` is what makes hosts comparable: the model, and how it is set (domain.hosts.kind_of)."""

    pool: str
    cpu_model: str


@dataclass(frozen=True)
class RunProgress:
    """What the store holds of a run beside its facts."""

    event: RunEvent
    invocations_stored: int
    discarded_batches: int
    preempted_batches: int


@dataclass(frozen=True)
class RunStateRow:
    """How many runs are in a state, and since when the one that came to it first."""

    state: RunState
    runs: int
    since: datetime


@dataclass(frozen=True)
class OpenRunRow:
    """A run that something is still to happen to, without its plan, which may be large."""

    run_id: str
    spec_name: str
    trigger: Trigger
    pools: tuple[str, ...]
    estimated_s: float
    invocations: int
    line: str
    """Repository, branch and path of the spec that it is of; empty where it is of no commit."""
    queued_at: datetime
    """When it was queued last; of one that never was, when it began."""
    event: RunEvent


@dataclass(frozen=True)
class InvocationKey:
    job_id: str
    attempt: int
    case_id: str
    invocation: int


@dataclass(frozen=True)
class SubjectRow:
    """A library at a version, build profile and kit, as stored with every sample."""

    library: str
    version: str
    version_key: str
    source: str
    build_profile: str
    build_profile_label: str
    kit_id: str
    commit: LibraryCommit | None = None

    @property
    def name(self) -> str:
        """Of what may stand in one column: a library at a version, from a source, with a build profile."""
        return f"{self.library}@{self.version}~{self.source}~{self.build_profile}"


@dataclass(frozen=True)
class MeasuredSubjectRow:
    """A subject on a host kind that has samples of it."""

    subject: SubjectRow
    """With the kit that was measured last."""
    pool: str
    cpu_model: str
    case_ids: frozenset[str]
    measured_at: datetime
    """The newest of them."""


@dataclass(frozen=True)
class AppearanceRow:
    """That a run has samples of a subject in a case on a host kind."""

    case: Case
    subject: str
    """By its name."""
    pool: str
    cpu_model: str
    run_id: str
    measured_at: datetime
    """The newest of them."""
    units: frozenset[str]
    """As SampleRow names them."""


@dataclass(frozen=True)
class LevelRow:
    """What a subject cost in a case on a host kind, without the batches."""

    case_id: str
    subject: SubjectRow
    run_id: str
    invocations: int
    level: float
    """The median over invocations."""
    spread: float
    """The standard deviation of invocations."""
    to_sentinel: "SentinelLevel | None" = None
    """None where no invocation holds both."""


@dataclass(frozen=True)
class SentinelLevel:
    """What a subject cost relative to the sentinel, in the invocations that hold both: what the host did is not in
    it."""

    kit_id: str
    """The sentinel's."""
    invocations: int
    level: float
    """The median over invocations; each is the interquartile mean of its rounds, as `analysis.rounds` has it."""
    spread: float


@dataclass(frozen=True)
class SampleRow:
    """The batches of one subject in one invocation."""

    case: Case
    subject: SubjectRow
    run_id: str
    measured_at: datetime
    unit: str
    """Names the invocation: rows with the same unit were interleaved."""
    level: float
    """What a handshake cost over all batches, in the unit of the metric."""
    values: Sequence[float]
    """In the order of the rounds; not a number where a batch does not know its value."""
    host_id: str = ""
    """Of the machine, as the invocation has it."""


@dataclass(frozen=True)
class OutcomeRow:
    """Why a cell has no number in some invocations of a run."""

    case: Case
    subject: SubjectRow
    run_id: str
    measured_at: datetime
    kind: OutcomeKind | Disturbed
    reason: str
    detail: str | None
    invocations: int


@dataclass(frozen=True)
class NegotiatedRow:
    run_id: str
    case_id: str
    reference: str
    negotiated: Negotiated


@dataclass(frozen=True)
class MeanLoad:
    """Shares of CPU time, 0 to 1; None where nobody looked or there is nothing to look at."""

    steal_share: float | None
    """Of all CPUs, given to others by the hypervisor."""
    sibling_busy_share: float | None
    """Of the measuring core's other threads."""


@dataclass(frozen=True)
class Selection:
    """What to read; None leaves a dimension open. Only counted attempts are read, of subjects or of the sentinel
    but not of both; variants that the measuring is measured with are left out unless runs are named."""

    metric: Metric
    pool: str | None = None
    cpu_model: str | None = None
    libraries: tuple[str, ...] = ()
    case_id: str | None = None
    run_id: str | None = None
    sentinel: bool = False
    before: datetime | None = None
    variants: bool = False
    """Whether relinks and copies are read without a run's name."""
    asides: bool = False
    """Whether runs that answer a question of their own (Run.is_aside) are read without a run's name."""
    subjects: tuple[str, ...] = ()
    """By their names."""
    runs: tuple[str, ...] = ()
    """All that these have, not of each cell the newest run alone."""


@dataclass(frozen=True)
class AlertRow:
    """What an alert is about, and what its status follows from, without what was found."""

    alert_id: str
    kind: AlertKind
    library: str | None
    raised_at: datetime
    steps: Sequence[tuple[AlertAction, datetime | None]]
    """The actions that decide, in their order; of `ignored` with the moment at which it is over."""


@dataclass(frozen=True)
class EndedRunRow:
    """A run that may raise alerts and has ended since it was judged."""

    run_id: str
    spec_name: str
    ended_at: datetime


@dataclass(frozen=True)
class WatchedSpecRow:
    """A spec whose newest run may raise alerts."""

    spec_name: str
    newest_run: str
    since: datetime
    """When its first run was made."""
    finished_at: datetime | None
    """When a run of it finished last."""


EXPORT_COLUMNS = (
    *("run_id", "job_id", "invocation", "measured_at", "pool", "cpu_model", "library", "version", "source"),
    *("build_profile", "kit_id", "case_id", "protocol", "key_exchange", "rsa_bits", "curve", "group", "cipher"),
    *("variation", "metric", "n", "level", "median", "p05", "p95", "values"),
)
"""What an exported sample holds, in this order; `build_profile` is the label that people read."""


class Upkeep(Protocol):
    """The store itself."""

    def migrate(self) -> None: ...
    def engine(self) -> str: ...
    def lost_parts(self) -> Counter[str]:
        """How many parts of each table were damaged when an embedded store opened."""
        ...

    def storing_again(self) -> AbstractContextManager[None]:
        """Meanwhile rows are stored though the same were stored before."""
        ...

    def forget_lost_parts(self) -> None: ...
    def close(self) -> None: ...


class RunStore(Protocol):
    """Runs, and how far they are."""

    def add_run(self, run: Run) -> None: ...
    def add_event(self, event: RunEvent) -> None: ...
    def run(self, run_id: str) -> Run | None: ...
    def run_ids(self) -> set[str]:
        """Of all runs that are stored."""
        ...

    def runs(self, limit: int, before: datetime | None = None) -> list[Run]:
        """Newest first; more than `limit` where the last ones were made at the same moment."""
        ...

    def events(self, run_id: str) -> list[RunEvent]:
        """In their order."""
        ...

    def open_runs(self) -> list[str]:
        """Ids of the runs that something is still to happen to by itself, the oldest first."""
        ...

    def open_run_rows(self) -> list[OpenRunRow]:
        """The same runs, with what the queue knows of them."""
        ...

    def last_begun(self) -> dict[str, datetime]:
        """When a run of each spec began last, by the spec's name."""
        ...

    def run_states(self) -> list[RunStateRow]: ...
    def progress(self, run_ids: list[str]) -> dict[str, RunProgress]: ...


class ResultStore(Protocol):
    """What measuring leaves, and where it was measured."""

    def add_invocation(self, run: Run, invocation: Invocation, host: HostFacts | None = None) -> None:
        """`host`: what it was measured on, by default the run's own."""
        ...

    def add_attempt(self, attempt: JobAttempt, pool: str) -> None:
        """`pool`: that of its job."""
        ...

    def attempts(self, run_id: str, job_id: str = "") -> list[JobAttempt]:
        """Those at a job, or of the whole run; by job, then number."""
        ...

    def nodes(self, pool: str) -> dict[str, HostFacts]:
        """What was recorded last of each node that had a job of a pool in the week before the newest one, by name."""
        ...

    def invocations(self, run_id: str, job_id: str = "") -> set[InvocationKey]:
        """Those of a job, or of the whole run."""
        ...

    def stored_by_job(self, run_id: str) -> dict[str, int]:
        """How many invocations of each job are stored, whatever their attempt; of other jobs there are none."""
        ...


class ScheduleStore(Protocol):
    """Schedules."""

    def add_schedule(self, schedule: Schedule) -> None: ...
    def schedules(self) -> list[Schedule]:
        """The newest change of each, by name; those that were removed too."""
        ...

    def schedules_open_until(self) -> dict[str, datetime]:
        """When something changed last about the newest run of each schedule, by its name."""
        ...


class CommitStore(Protocol):
    """Commits of watched repositories, and of the libraries that their specs follow."""

    def add_commit(self, handled: HandledCommit) -> None: ...
    def commits(self, repository: str, limit: int, before: datetime | None = None) -> list[HandledCommit]:
        """Those that had something measured, or should have had, each once; those that were handled last first. All
        repositories' without a name; more than `limit` where the last ones were handled at the same moment."""
        ...

    def repositories(self) -> list[str]:
        """Names of those that have such commits, in their order."""
        ...

    def heads(self, repository: str) -> dict[str, str]:
        """The commit of each branch that was handled last."""
        ...

    def add_followed(self, followed: FollowedCommit) -> None: ...
    def followed(self, repository: str) -> list[FollowedCommit]:
        """The newest of each following."""
        ...


class BisectionStore(Protocol):
    """Bisections."""

    def add_bisection(self, bisection: Bisection) -> None: ...
    def bisection(self, bisection_id: str) -> Bisection | None: ...
    def bisections(self, limit: int, before: datetime | None = None) -> list[Bisection]:
        """Newest first; more than `limit` where the last ones were asked for at the same moment."""
        ...

    def open_bisections(self) -> list[str]:
        """Ids of those that were neither cancelled nor came to an end since they were asked for last; the oldest
        first."""
        ...

    def add_bisection_event(self, event: BisectionEvent) -> None: ...
    def bisection_events(self, bisection_id: str) -> list[BisectionEvent]:
        """In their order."""
        ...

    def add_line(self, line: Line) -> None: ...
    def line(self, bisection_id: str) -> Line | None:
        """None where its commits are not known yet."""
        ...


class AlertStore(Protocol):
    """Alerts, as the events of each."""

    def add_alert_event(self, event: AlertEvent) -> None: ...
    def alert_events(self, alert_id: str) -> list[AlertEvent]:
        """In their order; none where there is no such alert."""
        ...

    def events_of_alerts(self, alert_ids: Collection[str]) -> list[AlertEvent]:
        """Of several alerts; by alert, then in their order."""
        ...

    def alert_rows(self) -> list[AlertRow]:
        """All alerts; those that were raised last first."""
        ...

    def alerts_beginning_with(self, prefix: str) -> list[str]:
        """Ids, in their order."""
        ...


class JudgementStore(Protocol):
    """What was judged, and what is to be."""

    def add_judgement(self, judgement: Judgement) -> None: ...
    def judgement(self, run_id: str) -> Judgement | None:
        """The newest one of a run."""
        ...

    def judgements(self, limit: int, before: datetime | None = None) -> list[Judgement]:
        """The newest one of each run, the newest first; more than `limit` where the last ones are of the same
        moment."""
        ...

    def judgements_of(self, upgrade_keys: Collection[str]) -> list[Judgement]:
        """The newest one of each run that measured one of some upgrades; those that were made last come last."""
        ...

    def waiting_judgements(self) -> list[Judgement]:
        """Those that wait for a confirming run, which may have ended; the oldest first."""
        ...

    def unjudged_runs(self) -> list[EndedRunRow]:
        """Runs that may raise alerts, have finished or failed, and were not judged since; those that ended first come
        first."""
        ...

    def watched_specs(self) -> list[WatchedSpecRow]:
        """By name."""
        ...

    def runs_of_spec(self, spec_name: str, limit: int) -> list[Run]:
        """Newest first."""
        ...


class NotificationStore(Protocol):
    """What people are told, and what came of telling them."""

    def add_notifications(self, notifications: Sequence[Notification]) -> None:
        """All of them, or none."""
        ...

    def notifications(self, limit: int, before: datetime | None = None) -> list[Notification]:
        """Newest first; more than `limit` where the last ones are of the same moment."""
        ...

    def notified(self, notification_ids: Collection[str]) -> set[str]:
        """Those of some ids that there are notifications of."""
        ...

    def untold_events(self, since: datetime) -> list[tuple[str, int]]:
        """Alert and number of the events since then that no channel has a notification of."""
        ...

    def open_notifications(self, most_tries: int) -> list[Notification]:
        """Those that were not sent, nor tried so often; the oldest first."""
        ...

    def add_sending(self, sending: Sending) -> None: ...
    def sendings(self, notification_ids: Collection[str], since: datetime | None = None) -> list[Sending]:
        """Of these notifications, and any other since a moment; in their order."""
        ...


class SampleStore(Protocol):
    """What was measured."""

    def host_kinds(self, run_id: str | None = None) -> list[HostKindRow]:
        """Those with the newest samples first; with a run named, that run's."""
        ...

    def subjects(self) -> list[SubjectRow]: ...
    def metrics(self) -> set[str]:
        """Names of the metrics that have samples."""
        ...

    def samples(self, selection: Selection) -> list[SampleRow]: ...
    def measured_subjects(self, selection: Selection) -> list[MeasuredSubjectRow]:
        """Which subjects have samples of which cases, by library, then version; without any value."""
        ...

    def appearances(self, selection: Selection) -> list[AppearanceRow]:
        """Of every run, not of the newest alone; without any value."""
        ...

    def qualifying_runs(self, selection: Selection) -> set[str]:
        """Those that measured a kit beside its copy: of each library and case the newest few."""
        ...

    def levels(self, selection: Selection, case_ids: Collection[str]) -> list[LevelRow]:
        """Of some cases and of each cell what the newest run with a sentinel has, else the newest; by case, library,
        then version."""
        ...

    def harness_versions(self, run_ids: Collection[str]) -> dict[str, int]:
        """Those of the plans of runs."""
        ...

    def components(self, run_ids: Collection[str]) -> dict[str, dict[str, str]]:
        """What the libraries of runs stand on: by kit id the versions by component (domain/components.py)."""
        ...

    def sentinels(self, metric: Metric, run_ids: Collection[str]) -> list[SampleRow]:
        """The sentinel's samples in several runs."""
        ...

    def negotiated(self, run_ids: Collection[str]) -> list[NegotiatedRow]:
        """What was negotiated in each run, case and subject; of several invocations any one."""
        ...

    def timers(self, run_id: str) -> dict[str, Timer]:
        """Of the run's newest invocation, by the subject's reference."""
        ...

    def mean_load(self, run_id: str) -> MeanLoad:
        """What ran beside a run's measuring, on average over its invocations that tell it."""
        ...

    def outcomes(self, selection: Selection) -> list[OutcomeRow]: ...
    def disturbed(self, selection: Selection) -> list[OutcomeRow]:
        """Of each cell's newest run, the invocations that know the CPU time but not this metric, since other programs
        ran in between. They are no failures, and `outcomes` does not have them."""
        ...

    def export(self, selection: Selection) -> Iterator[dict[str, Any]]: ...


class Store(
    Upkeep,
    RunStore,
    ResultStore,
    ScheduleStore,
    CommitStore,
    BisectionStore,
    AlertStore,
    JudgementStore,
    NotificationStore,
    SampleStore,
    Protocol,
):
    """All of it. Implementations are safe to call from several threads."""
