"""The ports of the store, one for each topic. The rest of kexbench uses only these. Every write can be repeated."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from kexbench.domain.alerts import AlertAction, AlertEvent, AlertKind
from kexbench.domain.batches import Values
from kexbench.domain.bisections import Bisection, BisectionEvent, Line
from kexbench.domain.cases import Case
from kexbench.domain.commits import BranchHead, HandledCommit
from kexbench.domain.fleet import SetAside
from kexbench.domain.following import FollowedCommit
from kexbench.domain.hosts import HostFacts, HostKind
from kexbench.domain.instruments import Instrument
from kexbench.domain.notifications import Notification, Sending
from kexbench.domain.numbers import bytes_words
from kexbench.domain.people import AccessToken, AuditEntry
from kexbench.domain.profiles import Profile
from kexbench.domain.runs import JobAttempt, Run, RunEvent, RunState, Trigger
from kexbench.domain.samples import Absence, Invocation, Metric, Negotiated, OutcomeKind, Timer
from kexbench.domain.schedules import Schedule
from kexbench.domain.screenings import Screening
from kexbench.domain.subjects import Subject
from kexbench.store.evidence import Evidence, Token

if TYPE_CHECKING:
    import numpy as np
    from pyarrow import RecordBatchReader, Table

    Batches: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
    Steps: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int32]]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
TRY_AGAIN = "try again; nothing was lost"


class StoreError(Exception):
    """The store refused or failed. The text is the cause, `remedy` what the user can do."""

    def __init__(self, text: str, remedy: str = TRY_AGAIN) -> None:
        super().__init__(text)
        self.remedy = remedy


class StoreAway(StoreError):
    """The store does not answer. It may be starting."""


class NotTheWriter(StoreError):
    """Another process may write to the store, and this one may not."""

    def __init__(self) -> None:
        super().__init__("another process writes to the store now")


class StoreFull(StoreError):
    """The disk of the store has no room for a write, which arrives once there is. `free_bytes` are those of its disk
    with most room, None if nobody knows; `needed_bytes` is the least that the write needs."""

    def __init__(self, free_bytes: int | None, needed_bytes: int, remedy: str) -> None:
        free = "" if free_bytes is None else f"{bytes_words(free_bytes)} free, "
        super().__init__(f"the store has no room: {free}{bytes_words(needed_bytes)} needed", remedy)
        self.free_bytes = free_bytes
        self.needed_bytes = needed_bytes


@dataclass(frozen=True)
class RunProgress:
    """A run's last event and its stored results."""

    event: RunEvent
    invocations_stored: int
    discarded_batches: int
    preempted_batches: int


class RunKey(NamedTuple):
    run_id: str
    created_at: datetime
    content: int
    """A checksum of the run, which changes when it starts."""


@dataclass(frozen=True)
class RunStateRow:
    """The number of runs in a state, and when the first of them entered it."""

    state: RunState
    runs: int
    since: datetime
    queued_at: datetime
    """When the first of them was last queued. For a run that was never queued, when it began."""


@dataclass(frozen=True)
class RunNameRow:
    run_id: str
    spec_name: str
    created_at: datetime


@dataclass(frozen=True)
class OpenRunRow:
    """A run that has not ended, without its plan, which may be large."""

    run_id: str
    spec_name: str
    trigger: Trigger
    pools: tuple[str, ...]
    estimated_s: float
    invocations: int
    has_host: bool
    """Whether it is of a single machine, not of a cluster."""
    line: str
    """Repository, branch and path of its spec. Empty if the run is not for a commit."""
    queued_at: datetime
    """When it was last queued. For a run that was never queued, when it began."""
    event: RunEvent


@dataclass(frozen=True)
class RunDurationRow:
    """A run that was measured as a whole, without an interruption."""

    spec_name: str
    estimated_s: float
    took_s: float
    """From the start of measuring to the stored end, with all that is not estimated, such as pods that wait."""


@dataclass(frozen=True)
class InvocationKey:
    job_id: str
    attempt: int
    case_id: str
    invocation: int


@dataclass(frozen=True)
class MeasuredSubjectRow:
    """A subject with samples on a host kind."""

    subject: Subject
    """With its last measured kit."""
    host_kind: HostKind
    case_ids: frozenset[str]
    measured_at: datetime
    """The time of the newest sample."""


@dataclass(frozen=True)
class MeasuredCaseRow:
    """A case with samples."""

    case: Case
    host_kinds: tuple[HostKind, ...]
    """Those that measured it, the last one first."""


@dataclass(frozen=True)
class AppearanceRow:
    """A run has samples of a subject in a case on a host kind."""

    case: Case
    subject: str
    """Subject.name."""
    host_kind: HostKind
    run_id: str
    measured_at: datetime
    """The time of the newest sample."""
    units: frozenset[str]
    """SampleRow.unit of all samples."""


@dataclass(frozen=True)
class LevelRow:
    """The cost of a subject in a case on a host kind, without batches."""

    case_id: str
    subject: Subject
    run_id: str
    invocations: int
    level: float
    """The median over invocations."""
    spread: float
    """The standard deviation of invocations."""
    to_sentinel: "SentinelLevel | None" = None
    """None if no invocation has both."""


@dataclass(frozen=True)
class SentinelLevel:
    """The cost of a subject relative to the sentinel, from invocations with both. Changes of the host cancel out."""

    kit_id: str
    """The sentinel's kit."""
    invocations: int
    level: float
    """The median over invocations. Each invocation is the interquartile mean of its rounds, as in `analysis.rounds`."""
    spread: float


@dataclass(frozen=True)
class SampleRow:
    """The batches of one subject in one invocation."""

    case: Case
    subject: Subject
    run_id: str
    measured_at: datetime
    unit: str
    """Identifies the invocation. The batches of rows with the same unit were interleaved."""
    level: float
    """The cost of a handshake over all batches, in the unit of the metric."""
    values: Values
    """The batches, or what is kept of them."""
    host_id: str = ""
    """The machine of the invocation."""
    host_kind: HostKind | None = None


@dataclass(frozen=True)
class OutcomeRow:
    """The reason why a cell has no number in some invocations of a run."""

    case: Case
    subject: Subject
    run_id: str
    measured_at: datetime
    kind: OutcomeKind | Absence
    reason: str
    detail: str | None
    invocations: int


@dataclass(frozen=True)
class ProfileRow:
    """What was counted in one part of a subject in a case."""

    case: Case
    subject: Subject
    run_id: str
    measured_at: datetime
    profile: Profile
    spread: float
    """The largest count of the run by the smallest, less one."""


@dataclass(frozen=True)
class NegotiatedRow:
    run_id: str
    case_id: str
    reference: str
    negotiated: Negotiated


@dataclass(frozen=True)
class StoredToken:
    """A token and the SHA-256 of its secret, in hexadecimal digits."""

    token: AccessToken
    secret_sha256: str


@dataclass(frozen=True)
class MeanLoad:
    """Shares of CPU time, 0 to 1. None if they were not read, or do not exist on the machine."""

    steal_share: float | None
    """Time that the hypervisor gave to other guests."""
    sibling_busy_share: float | None
    """Busy time of the measuring core's other threads."""


@dataclass(frozen=True)
class NodeRow:
    """What a node did lately. A machine by itself is the node `local` of the pool `local`."""

    pool: str
    node: str
    host: HostFacts
    """As its last job recorded it."""
    isolation: str | None
    """Of its last job; None for a machine by itself."""
    last_seen: datetime
    """The start of its last invocation, or of its last job if that has none."""
    steal_share: float | None
    """Averages over the invocations of its last job, 0 to 1, as in MeanLoad."""
    sibling_busy_share: float | None
    jobs: int
    """Attempts at jobs in the shown days."""
    lost: int
    """Those of them that another attempt followed."""
    failed: int
    """Those of them without a result, if the run ended since jobs failed."""
    days: Mapping[date, int]
    """Invocations of each of the shown days with any, in UTC."""
    failures: Mapping[str, int]
    """Outcomes in these days, by kind."""


class SentinelRunRow(NamedTuple):
    """The sentinel's costs in one run on a node, as log ratios to the median of all listed runs on comparable nodes of
    the pool with the same kit and case. A tuple, since a thousand nodes have 30,000 of them, which are pickled to be
    kept."""

    pool: str
    node: str
    host_kind: str
    kit_id: str
    run_id: str
    at: datetime
    logs: Sequence[float]
    """Of each invocation, sorted."""
    shared_log: float | None
    """Their mean in cases that other nodes measured too; None if there are none."""


@dataclass(frozen=True)
class FleetRows:
    until: datetime | None
    """The time of the newest invocation. The shown days end with it."""
    nodes: Sequence[NodeRow]
    """By pool, then name."""
    sentinels: Sequence[SentinelRunRow]
    """By pool and node, oldest first."""
    set_asides: Sequence[SetAside]
    """The newest change of each node that was ever set aside."""


@dataclass(frozen=True)
class Selection:
    """Filters for samples. None and empty values do not filter. Only counted attempts are read, either of subjects or
    of the sentinel. Variants are read only if runs are named."""

    metric: Metric
    pool: str | None = None
    cpu_model: str | None = None
    libraries: tuple[str, ...] = ()
    case_ids: tuple[str, ...] = ()
    run_id: str | None = None
    sentinel: bool = False
    before: datetime | None = None
    variants: bool = False
    """Read variants even if no run is named."""
    asides: bool = False
    """Read runs aside (Run.is_aside) even if no run is named."""
    subjects: tuple[str, ...] = ()
    """Subject.name of each."""
    runs: tuple[str, ...] = ()
    """Read all samples of these runs, instead of each cell's newest run."""


@dataclass(frozen=True)
class AlertRow:
    """An alert's subject and the steps that decide its status, without its findings."""

    alert_id: str
    kind: AlertKind
    library: str | None
    metric: Metric | None
    """Of an upgrade: what became more."""
    raised_at: datetime
    steps: Sequence[tuple[AlertAction, datetime | None]]
    """The deciding actions in order. `ignored` has the time when it ends."""


@dataclass(frozen=True)
class EndedRunRow:
    """A run that may raise alerts and has not been screened since it ended."""

    run_id: str
    spec_name: str
    ended_at: datetime


@dataclass(frozen=True)
class WatchedSpecRow:
    """A spec whose newest run may raise alerts."""

    spec_name: str
    newest_run: str
    since: datetime
    """When its first run was created."""
    finished_at: datetime | None
    """When one of its runs last finished."""


EXPORT_COLUMNS = (
    *("run_id", "job_id", "invocation", "measured_at", "pool", "cpu_model", "library", "version", "source"),
    *("build_profile", "kit_id", "case_id", "protocol", "key_exchange", "rsa_bits", "curve", "group", "cipher"),
    *("variation", "metric", "n", "level", "median", "p05", "p95", "values", "batches_removed_at"),
)
"""The columns of an exported sample, in this order. `build_profile` is its readable label. `values` is empty once
the batches were removed."""


@dataclass(frozen=True)
class Prunable:
    """The results of a run whose batches can be removed."""

    run_id: str
    metrics: tuple[str, ...]
    samples: int
    """Subjects in invocations."""
    values: int


@dataclass(frozen=True)
class TableSize:
    table: str
    rows: int
    size_bytes: int
    """On disk, compressed."""


@dataclass(frozen=True)
class DiskRoom:
    """A disk of the store. `free_bytes` are those that the store may use."""

    disk: str
    free_bytes: int
    size_bytes: int


KeptOf: TypeAlias = "Callable[[Sequence[Batches], Sequence[float]], Steps | None]"
"""What is kept of the batches of an invocation's subjects, given with their stored medians. None if the kept numbers
could give other answers than the batches: then they stay. Otherwise the mean and the median of each pair of subjects
(RoundRatio) in steps, by the first subject, then the second."""


Schema = Literal["older", "same", "newer"]


class Upkeep(Protocol):
    """The store itself."""

    def migrate(self) -> None: ...
    def schema(self) -> Schema:
        """The schema of the store compared with this release's. One that is not there yet, or whose restore has not
        finished, is older. Raises StoreError."""
        ...

    def share(self, may_write: Callable[[], bool]) -> None:
        """Other processes use the store too, and this one writes only while it may: otherwise each write raises
        NotTheWriter. Only for a server."""
        ...

    def engine(self) -> str: ...
    def check_readable(self) -> None:
        """Reads nothing of every table that answers are read from. Raises StoreError if one can't be read."""
        ...

    def content_version(self) -> str:
        """Changes with every insert, by whichever process. Computes the summaries of what was stored first."""
        ...

    def newest_write(self) -> str:
        """The version without that: it is the content's if nothing was stored since that was taken."""
        ...

    def lost_parts(self) -> Counter[str]:
        """The number of damaged parts of each table, found when an embedded store opened."""
        ...

    def summarise(self) -> int:
        """Compute all summaries anew from samples and outcomes. Returns their number."""
        ...

    def sizes(self) -> list[TableSize]:
        """The largest table first."""
        ...

    def disks(self) -> list[DiskRoom]:
        """The disks that hold the store, in the order of their names."""
        ...

    def prunable(self, before: datetime) -> list[Prunable]:
        """The batches of invocations before a time, oldest run first. Without those of bisections, which are compared
        round by round, and those of invocations with a single batch, whose removal would free nothing."""
        ...

    def prunable_bytes(self, before: datetime) -> int:
        """An estimate of the space that these batches take on disk."""
        ...

    def prune(self, prunable: Prunable, before: datetime, at: datetime, kept_of: KeptOf) -> int:
        """Remove the batches of a run, and keep what `kept_of` returns. `at`: the time of the removal, as
        in exports. Returns the number of removed values. After a kill, the rest can be removed."""
        ...

    def pruned_partitions(self, before: datetime) -> list[str]:
        """Parts of the store in which removed batches still take space, once `prunable` has none before that time."""
        ...

    def reclaim(self, partition: str) -> None:
        """Free the space of removed batches in a partition."""
        ...

    def forget_kept(self) -> None:
        """Call it after results were stored again, whose checksums are those from before."""
        ...

    def forget_lost_parts(self) -> None: ...
    def close(self) -> None: ...


class BackupStore(Protocol):
    """All rows, for a backup and back."""

    def engine(self) -> str: ...
    def applied_migrations(self) -> dict[int, str]:
        """The schema: the SHA-256 of each migration, by its number."""
        ...

    def tables_to_back_up(self) -> list[str]:
        """Those whose rows are not computed from others. The last one may be read after the store was still: what is
        stored there meanwhile does not count."""
        ...

    def still(self) -> AbstractContextManager[None]:
        """Nothing is written meanwhile. The thread must not write either."""
        ...

    def table_rows(self, table: str) -> "AbstractContextManager[RecordBatchReader]":
        """Each row once, as it counts."""
        ...

    def begin_restore(self, backup: str, migrations: Mapping[int, str]) -> bool:
        """Prepare an empty store, or one that the same `backup` (a SHA-256) was being restored into, for rows of a
        schema. Returns whether the rows must be put in. Raises StoreError, with nothing changed, if the store has
        anything else or the schema is unknown."""
        ...

    def put_back(self, table: str, content: "Table") -> None:
        """Store rows again. Repeating it changes nothing."""
        ...

    def end_restore(self, backup: str) -> None:
        """Bring what was put back to this release's schema. Only then the store opens."""
        ...

    def close(self) -> None: ...


class RunStore(Protocol):
    """Runs and their progress."""

    def add_run(self, run: Run) -> None: ...
    def add_event(self, event: RunEvent) -> None: ...
    def add_events(self, events: Sequence[RunEvent]) -> None:
        """The same for an event each of several runs, in one insert."""
        ...

    def run(self, run_id: str) -> Run | None: ...
    def run_ids(self) -> set[str]:
        """The ids of all stored runs."""
        ...

    def run_keys(self, limit: int, before: datetime | None = None) -> list[RunKey]:
        """Newest first. More than `limit` if the last ones were created at the same time."""
        ...

    def runs_named(self, run_ids: Sequence[str]) -> list[Run]:
        """Those that can be read, in this order."""
        ...

    def events(self, run_id: str) -> list[RunEvent]:
        """In order."""
        ...

    def events_by_run(self, run_ids: Sequence[str]) -> dict[str, list[RunEvent]]:
        """The same for several runs; those without events are missing."""
        ...

    def open_runs(self) -> list[str]:
        """Ids of the runs that have not ended, oldest first."""
        ...

    def open_run_rows(self) -> list[OpenRunRow]:
        """The same runs, with the fields that a queue needs."""
        ...

    def run_durations(self, limit: int) -> list[RunDurationRow]:
        """Of the runs that finished last, the newest first."""
        ...

    def last_begun(self) -> dict[str, datetime]:
        """When the last run of each spec began, by the spec's name."""
        ...

    def find_runs(self, words: Sequence[str], limit: int) -> list[RunNameRow]:
        """Those with all words, in any case, in their id or the name of their spec; newest first."""
        ...

    def run_states(self) -> list[RunStateRow]: ...
    def progress(self, run_ids: list[str]) -> dict[str, RunProgress]: ...


class ResultStore(Protocol):
    """Results, and the hosts that they were measured on."""

    def add_invocation(self, run: Run, invocation: Invocation, host: HostFacts | None = None) -> None:
        """`host`: the machine of the invocation, by default the run's."""
        ...

    def add_invocations(self, run: Run, invocations: Sequence[Invocation], host: HostFacts | None = None) -> None:
        """The same for several invocations on one host, in one insert for each table."""
        ...

    def add_attempt(self, attempt: JobAttempt, pool: str) -> None:
        """`pool`: the pool of its job."""
        ...

    def attempts(self, run_id: str, job_id: str = "") -> list[JobAttempt]:
        """The attempts of a job, or of the whole run, by job, then number."""
        ...

    def nodes(self, pool: str) -> dict[str, HostFacts]:
        """The last recorded facts by node, for nodes with a job in the week before the pool's newest job."""
        ...

    def invocations(self, run_id: str, job_id: str = "") -> set[InvocationKey]:
        """The invocations of a job, or of the whole run."""
        ...

    def hopeless(self, run_id: str, job_id: str = "") -> dict[InvocationKey, list[str]]:
        """The references that need not be tried again on a case, by the invocations that showed it."""
        ...

    def stored_by_job(self, run_id: str, before: datetime | None = None) -> dict[str, int]:
        """The number of stored invocations by job, over all attempts; of those that began `before` a time, or of all.
        Jobs without any are missing."""
        ...


class FleetStore(Protocol):
    """The machines, and which of them are set aside."""

    def fleet(self) -> FleetRows:
        """All nodes with a job lately, by one query for each subject, whatever their number. Kept until a result, an
        attempt at a job, a run that failed with its jobs or a change of `set_asides` is stored."""
        ...

    def add_set_aside(self, change: SetAside) -> None:
        """From then on, invocations of the node since the given time count nowhere; those of a returned node count
        again."""
        ...

    def had_job(self, pool: str, node: str) -> bool:
        """Whether a job was ever announced there."""
        ...

    def set_asides(self) -> list[SetAside]:
        """The newest change of each node that was ever set aside, by pool and node."""
        ...


class ScheduleStore(Protocol):
    """Schedules."""

    def add_schedule(self, schedule: Schedule) -> None: ...
    def schedules(self) -> list[Schedule]:
        """The newest version of each schedule, by name. Includes removed schedules."""
        ...

    def schedules_open_until(self) -> dict[str, datetime]:
        """When the newest run of each schedule last changed, by the schedule's name."""
        ...


class CommitStore(Protocol):
    """Commits of watched repositories, and of libraries that their specs follow."""

    def add_commit(self, handled: HandledCommit) -> None: ...
    def commits(self, repository: str, limit: int, before: datetime | None = None) -> list[HandledCommit]:
        """Commits with runs or a note, each once, last handled first. An empty `repository` means all. More than
        `limit` if the last ones were handled at the same time."""
        ...

    def repositories(self) -> list[str]:
        """Names of the repositories with such commits, sorted."""
        ...

    def heads(self, repository: str) -> dict[str, BranchHead]:
        """How far each branch was processed."""
        ...

    def add_followed(self, followed: FollowedCommit) -> None: ...
    def followed(self, repository: str) -> list[FollowedCommit]:
        """The newest commit of each following."""
        ...


class BisectionStore(Protocol):
    """Bisections."""

    def add_bisection(self, bisection: Bisection) -> None: ...
    def bisection(self, bisection_id: str) -> Bisection | None: ...
    def bisections(self, limit: int, before: datetime | None = None) -> list[Bisection]:
        """Newest first. More than `limit` if the last ones were requested at the same time."""
        ...

    def open_bisections(self) -> list[str]:
        """Ids of bisections that have not ended and were not cancelled since their last request, oldest first."""
        ...

    def add_bisection_event(self, event: BisectionEvent) -> None: ...
    def bisection_events(self, bisection_id: str) -> list[BisectionEvent]:
        """In order."""
        ...

    def add_line(self, line: Line) -> None: ...
    def line(self, bisection_id: str) -> Line | None:
        """The commit range. None if its commits are not known yet."""
        ...


class AlertStore(Protocol):
    """Alerts, as sequences of events."""

    def add_alert_event(self, event: AlertEvent) -> None: ...
    def alert_events(self, alert_id: str) -> list[AlertEvent]:
        """In order. Empty if the alert does not exist."""
        ...

    def events_of_alerts(self, alert_ids: Collection[str]) -> list[AlertEvent]:
        """The events of several alerts, by alert, then in order."""
        ...

    def alert_rows(self) -> list[AlertRow]:
        """All alerts, last raised first."""
        ...

    def alerts_beginning_with(self, prefix: str) -> list[str]:
        """Ids, sorted."""
        ...


class ScreeningStore(Protocol):
    """Screenings, and the runs that need one."""

    def add_screening(self, screening: Screening) -> None: ...
    def screening(self, run_id: str) -> Screening | None:
        """The newest screening of a run."""
        ...

    def screenings(self, limit: int, before: datetime | None = None) -> list[Screening]:
        """The newest screening of each run, newest first. More than `limit` if the last ones have the same time."""
        ...

    def screenings_of(self, upgrade_keys: Collection[str]) -> list[Screening]:
        """The newest screening of each run that measured one of these upgrades, oldest first."""
        ...

    def waiting_screenings(self) -> list[Screening]:
        """Screenings that wait for a confirmation run, which may have ended, oldest first."""
        ...

    def unjudged_runs(self) -> list[EndedRunRow]:
        """Runs that may raise alerts, finished or failed, and were not screened since. First ended first."""
        ...

    def watched_specs(self) -> list[WatchedSpecRow]:
        """By name."""
        ...

    def runs_of_spec(self, spec_name: str, limit: int, before: datetime | None = None) -> list[Run]:
        """Newest first. `before` limits when they were created."""
        ...


class NotificationStore(Protocol):
    """Notifications, and the attempts to send them."""

    def add_notifications(self, notifications: Sequence[Notification]) -> None:
        """Stores all of them, or none."""
        ...

    def notifications(self, limit: int, before: datetime | None = None) -> list[Notification]:
        """Newest first. More than `limit` if the last ones have the same time."""
        ...

    def notified(self, notification_ids: Collection[str]) -> set[str]:
        """The given ids that have a notification."""
        ...

    def unnotified_events(self, since: datetime) -> list[tuple[str, int]]:
        """The alert and number of each event since then for which no channel has a notification."""
        ...

    def open_notifications(self, most_tries: int) -> list[Notification]:
        """Notifications that were not sent and have fewer than `most_tries` attempts, oldest first."""
        ...

    def add_sending(self, sending: Sending) -> None: ...
    def sendings(self, notification_ids: Collection[str], since: datetime | None = None) -> list[Sending]:
        """The attempts to send these notifications, and all attempts since `since`, in order."""
        ...


class TokenStore(Protocol):
    """Access tokens."""

    def add_token(self, token: AccessToken, secret_sha256: str) -> None:
        """A new token, or one that is revoked from now on, which nothing undoes."""
        ...

    def token(self, token_id: str) -> StoredToken | None:
        """As it is now: another process may have revoked it."""
        ...

    def tokens(self) -> list[AccessToken]:
        """All tokens, also revoked ones, newest first."""
        ...


class AuditStore(Protocol):
    """The audit trail."""

    def add_audit_entry(self, entry: AuditEntry) -> None: ...
    def audit(self, limit: int, before: datetime | None = None) -> list[AuditEntry]:
        """Newest first. More than `limit` if the last ones have the same time."""
        ...


class SampleStore(Protocol):
    """Samples and outcomes."""

    def host_kinds(self, run_id: str | None = None) -> list[HostKind]:
        """All host kinds, or those of one run, most recently measured first."""
        ...

    def evidence(self) -> Evidence:
        """Which results are stored now."""
        ...

    def kept(
        self,
        keys: Collection[Key],
        token_of: Callable[[Evidence, Key], Token],
        compute: Callable[[list[Key]], Mapping[Key, Value]],
    ) -> dict[Key, Value]:
        """A value for each key, computed only if its token changed. A key names everything else that its value depends
        on, and what the value is: named tuples of two classes are equal if their fields are. The token must change with
        all results that the value is computed from."""
        ...

    def kept_value(
        self, key: Hashable, token_of: Callable[[Evidence], Token], compute: Callable[[], Value]
    ) -> Value: ...

    def kept_until_stored(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """As `kept_value`, for what is read from other tables than results: until anything is stored."""
        ...

    def subjects(self) -> list[Subject]: ...
    def libraries(self) -> set[str]:
        """The libraries of `subjects`."""
        ...

    def metrics(self) -> set[str]:
        """Names of the metrics with samples."""
        ...

    def samples(self, selection: Selection) -> list[SampleRow]: ...
    def samples_by_metric(self, selection: Selection, metrics: Collection[Metric]) -> dict[Metric, list[SampleRow]]:
        """All samples of the selection's runs in each of the metrics, by one query. The selection names runs; its own
        metric is not used."""
        ...

    def measured_subjects(self, selection: Selection) -> list[MeasuredSubjectRow]:
        """The subjects and the cases of their samples, without values, by library, then version."""
        ...

    def measured_cases(self, selection: Selection) -> list[MeasuredCaseRow]:
        """The cases of the samples, without values."""
        ...

    def appearances(self, selection: Selection) -> list[AppearanceRow]:
        """The appearances in all runs, not only the newest, without values."""
        ...

    def qualifying_runs(self, selection: Selection) -> set[str]:
        """Runs that measured a kit next to its copy: the newest three of each library and case."""
        ...

    def levels(self, selection: Selection, case_ids: Collection[str]) -> list[LevelRow]:
        """For each cell of these cases, the levels of its newest run with a sentinel, or of its newest run if none has
        a sentinel. Sorted by case, library, then version."""
        ...

    def harness_versions(self, run_ids: Collection[str]) -> dict[str, int]:
        """The harness version of each run's plan."""
        ...

    def components(self, run_ids: Collection[str]) -> dict[str, dict[str, str]]:
        """The versions of the components below the runs' libraries (domain/components.py), by kit id and component."""
        ...

    def sentinels(self, selection: Selection) -> list[SampleRow]:
        """The sentinel's samples in the selection's runs, on its host kind."""
        ...

    def negotiated(self, run_ids: Collection[str]) -> list[NegotiatedRow]:
        """The negotiated parameters of each run, case and subject, from any one invocation."""
        ...

    def timers(self, run_id: str) -> dict[str, Timer]:
        """The timers of the run's newest invocation, by the subject's reference."""
        ...

    def mean_load(self, run_id: str) -> MeanLoad:
        """The load by other programs during a run, averaged over the invocations that recorded it."""
        ...

    def outcomes(self, selection: Selection) -> list[OutcomeRow]: ...
    def disturbed(self, selection: Selection) -> list[OutcomeRow]:
        """Invocations of each cell's newest run that have the CPU time but not this metric, because their batches were
        disturbed. They are not failures, so `outcomes` does not include them."""
        ...

    def withdrawn(self, selection: Selection) -> list[OutcomeRow]:
        """Invocations of each cell's newest run whose number of this metric is false, and not shown for that. Neither
        are they failures."""
        ...

    def set_aside(self, selection: Selection) -> list[OutcomeRow]:
        """Invocations of nodes that are set aside, of each cell's newest such run. Neither are they failures."""
        ...

    def withdrawn_metrics(self) -> set[str]:
        """Those of which some number is withdrawn."""
        ...

    def export(self, selection: Selection) -> "AbstractContextManager[RecordBatchReader]":
        """Counted samples with their batch values and the columns EXPORT_COLUMNS, by library, host, case, version, run,
        job and invocation. They are read in batches of a bounded size, by any thread. Leaving the context stops the
        query. Reading raises StoreError."""
        ...


class ProfileStore(Protocol):
    """Counts by function."""

    def profiles(
        self, subjects: Collection[str], instrument: Instrument, case_id: str = "", run_id: str = ""
    ) -> list[ProfileRow]:
        """The instrument's newest profile of each case, subject (Subject.name) and part; of one case or of all, and of
        one run or of all, runs aside included."""
        ...


class Store(
    Upkeep,
    BackupStore,
    RunStore,
    ResultStore,
    FleetStore,
    ScheduleStore,
    CommitStore,
    BisectionStore,
    AlertStore,
    ScreeningStore,
    NotificationStore,
    TokenStore,
    AuditStore,
    SampleStore,
    ProfileStore,
    Protocol,
):
    """All ports together. Implementations are safe to call from several threads."""
