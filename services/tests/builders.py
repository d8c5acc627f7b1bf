"""Builders of domain values with fixed contents: a plan from a spec's text, a run of it, its invocations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from kexbench.domain.alerts import AlertAction, AlertCell, AlertEvent, AlertKind, Cause, Finding
from kexbench.domain.bisections import Bisection, BisectionEvent, BisectionEventKind, Line, LineCommit
from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import Check, Commit, HandledCommit, Reason
from kexbench.domain.hosts import HostFacts, HostLoad
from kexbench.domain.instruments import CountedSide, Instrument
from kexbench.domain.intervals import Ratio
from kexbench.domain.kits import BuildProfile, KitManifest, Package, SubjectRef
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.material import MaterialFiles
from kexbench.domain.notifications import Happening, Link, Notification, Sending, SendingState
from kexbench.domain.plans import Plan
from kexbench.domain.probes import DEFAULTS, DefaultHandshake, Feature, KitProbe, tried
from kexbench.domain.profiles import CallCost, FunctionCost, Profile
from kexbench.domain.runs import Run, RunEvent, RunReason, RunState, Trigger
from kexbench.domain.samples import ABSENT, Invocation, Metric, Negotiated, Outcome, OutcomeKind, Sample, Timer
from kexbench.domain.screenings import HostMoved, ScreenedUpgrade, Screening
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Catalogue
from kexbench.runner.job_input import JobInput, JobInputKit
from kexbench.store.port import RunStore

BENCH_SPECS = Path(__file__).parents[2] / "bench-specs"
EXAMPLES = BENCH_SPECS / "schema" / "examples"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CATALOGUE = """\
apiVersion: kexbench.dev/v1
kind: Catalogue
libraries:
  openssl:
    - source: system
    - { source: debian/bookworm, version: "3.0" }
    - { source: debian/trixie, version: "3.5.4" }
"""
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: example, description: Two versions of a made-up library. }
subjects:
  - fake: [1.0, 1.1]
matrix:
  protocol: [TLSv1.2]
  keyExchange: [RSA, ECDHE-ECDSA]
measure: { invocations: 6, batches: 4, maxDuration: 20m }
"""
REFERENCE = """\
reference:
  title: published figures
  tables:
    - title: all
      baseline: tlsv1.2_rsa_rsa-2048_aes-128-gcm
      rows:
        - { caseId: tlsv1.2_rsa_rsa-2048_aes-128-gcm, rate: 900 }
        - { caseId: tlsv1.2_ecdhe-ecdsa_ecdsa-p-256_p-256_aes-128-gcm, rate: 600 }
"""
RSA, ECDSA = "tlsv1.2_rsa_rsa-2048_aes-128-gcm", "tlsv1.2_ecdhe-ecdsa_ecdsa-p-256_p-256_aes-128-gcm"
"""The two cases of SPEC."""
QUIET = HostLoad(load_average_1m=0.25, steal_share=0.0, busy_share=0.5)
HOST = HostFacts(
    cpu_model="Example CPU 9000",
    architecture="x86_64",
    cpus=2,
    kernel="6.1.0",
    memory_bytes=8_000_000_000,
)


def a_catalogue() -> Catalogue:
    return read_catalogue(CATALOGUE, "libraries.yaml")


def a_plan(text: str = SPEC) -> Plan:
    return make_plan(text, "spec.yaml", a_catalogue())


def a_kit(
    reference: str,
    *,
    version: str | None = None,
    flags: str = "none",
    architecture: str = HOST.architecture,
    commit: LibraryCommit | None = None,
    packages: Iterable[Package] = (),
) -> KitManifest:
    """A manifest that nobody built. Without `version`, that of a fake subject's source."""
    ref = SubjectRef.parse(reference)
    return KitManifest.sealed(
        library=ref.library,
        version=version or ref.source.partition("+")[0],
        source=ref.source,
        build_profile=BuildProfile(
            provider="fake", compiler="none", flags=flags, libc="glibc", architecture=architecture
        ),
        worker=("bin/worker",),
        environment={"LC_ALL": "C"},
        worker_compiler="cc 14.2.0",
        worker_flags="-O2",
        worker_source_sha256="2" * 64,
        files={"bin/worker": "3" * 64},
        commit=commit,
        packages=tuple(packages),
    )


def a_probe(*, without: Mapping[str, str] | None = None, group: str = "X25519", client_bytes: float = 400) -> KitProbe:
    """Of a kit that supports everything `without` some features, by their labels with the reason each."""
    missing = without or {}
    features = []
    for dimension, case in tried(fips=False):
        feature = Feature(
            case_id=case.case_id, result="supported", dimension=dimension, value=str(getattr(case, dimension))
        )
        if reason := missing.get(feature.label):
            feature = feature.model_copy(update={"result": OutcomeKind.UNSUPPORTED, "reason": reason})
        features.append(feature)
    defaults = tuple(
        DefaultHandshake(
            case_id=case.case_id,
            result="supported",
            negotiated=Negotiated(
                protocol="TLSv1.3",
                cipher="AES-128-GCM",
                group=group,
                signature="rsa_pss_rsae_sha256" if case.rsa_bits else "ecdsa_secp256r1_sha256",
                peer_key="RSA" if case.rsa_bits else "EC",
                peer_key_bits=case.rsa_bits or 256,
                resumed=False,
                client_key="-",
                chain_length=1,
                ocsp_bytes=0,
                early_data_bytes=0,
                hello_retry=0,
            ),
            client_bytes=client_bytes,
            server_bytes=1600,
            round_trips=1,
            setup_cpu_ns=2_000_000,
        )
        for case in DEFAULTS
    )
    return KitProbe(library="fake", version="1.0", features=tuple(features), defaults=defaults)


def a_run(
    run_id: str = "20260101-120000-0a0b0c0d",
    *,
    spec: str = SPEC,
    created_at: datetime = NOON,
    kits: Mapping[str, KitManifest] | None = None,
    host: HostFacts | None = HOST,
) -> Run:
    """A run of a spec; `kits` replaces the manifests of some subjects."""
    plan = a_plan(spec)
    made = {subject.reference: a_kit(subject.reference) for subject in plan.subjects if subject.library == "fake"}
    files = MaterialFiles(key=f"{'4' * 64}.pem", certificate=f"{'5' * 64}.pem", dh_parameters="-")
    return Run(
        run_id=run_id,
        created_at=created_at,
        trigger=Trigger.API,
        spec_text=spec,
        plan=plan,
        kits={**made, **(kits or {})},
        host=host,
        material={case.case_id: files for case in plan.cases},
    )


def an_event(
    run: Run,
    state: RunState = RunState.RUNNING,
    *,
    seconds: float = 1,
    detail: str = "",
    reason: RunReason | None = None,
) -> RunEvent:
    """A change of state so many seconds after the run was made."""
    at = run.created_at + timedelta(seconds=seconds)
    return RunEvent(run_id=run.run_id, at=at, state=state, detail=detail, reason=reason)


def an_outcome(reference: str, kind: OutcomeKind = OutcomeKind.UNSUPPORTED, reason: str = "no such group") -> Outcome:
    return Outcome(subject=reference, kind=kind, reason=reason)


def a_profile(side: CountedSide, instrument: Instrument = Instrument.INSTRUCTIONS, /, **amounts: float) -> Profile:
    """The turn of the side calls each function once."""
    turn = (f"{side}_turn", "worker")
    return Profile(
        instrument=instrument,
        side=side,
        handshakes=20,
        amount=sum(amounts.values()),
        functions=tuple(
            FunctionCost(name=name, library="libcrypto", amount=own, calls=1) for name, own in amounts.items()
        ),
        calls=tuple(CallCost(caller=turn, callee=(name, "libcrypto"), inclusive=own) for name, own in amounts.items()),
    )


def an_invocation(
    run: Run,
    number: int = 0,
    *,
    cpu_ns: Mapping[str, float | Sequence[float]] | None = None,
    outcomes: Iterable[Outcome] = (),
    case_id: str = RSA,
    attempt: int = 1,
    preempted_batches: int = 0,
    without_sides: Iterable[str] = (),
    timers: Mapping[str, Timer] | None = None,
    host: HostFacts = HOST,
    load: HostLoad = QUIET,
    profiles: Mapping[str, tuple[Profile, ...]] | None = None,
) -> Invocation:
    """One invocation; `cpu_ns` are the batch values of each subject, a quarter of it the client's.
    Those `without_sides` have the sum alone, as where other programs ran in between. With preempted batches there are
    levels, which results of earlier releases lack."""
    job = next(job for job in run.plan.jobs if number in job.numbers)
    case = run.plan.case(case_id)
    named = {subject: value if isinstance(value, Sequence) else (value,) for subject, value in (cpu_ns or {}).items()}
    return Invocation(
        run_id=run.run_id,
        job_id=job.job_id,
        attempt=attempt,
        case_id=case_id,
        invocation=number,
        host_id=host.host_id,
        host_load=load,
        started_at=(run.created_at + timedelta(minutes=1, seconds=number)).isoformat(timespec="milliseconds"),
        preempted_batches=preempted_batches,
        negotiated={
            subject: Negotiated(
                protocol=case.protocol,
                cipher=case.cipher,
                group=case.group,
                signature="-",
                peer_key="RSA" if case.rsa_bits else "EC",
                peer_key_bits=case.rsa_bits or 256,
                resumed=False,
                client_key="-",
                chain_length=1,
                ocsp_bytes=0,
                early_data_bytes=0,
                hello_retry=0,
            )
            for subject in named
        },
        timers=dict(timers or {}),
        profiles=dict(profiles or {}),
        samples=tuple(
            Sample(
                subject=subject,
                metric=metric,
                values=tuple(ABSENT if math.isnan(value) else round(value * share) for value in values),
                level=_middle(values) * share if preempted_batches else None,
            )
            for subject, values in named.items()
            for metric, share in ((Metric.CPU_NS, 1), (Metric.CLIENT_CPU_NS, 0.25), (Metric.SERVER_CPU_NS, 0.75))
            if metric is Metric.CPU_NS or subject not in without_sides
        ),
        outcomes=tuple(outcomes),
    )


def all_invocations(run: Run) -> list[Invocation]:
    """Those of its plan."""
    return [
        an_invocation(run, number, cpu_ns={"fake@1.0": [1]}, case_id=case_id).model_copy(update={"job_id": job.job_id})
        for job in run.plan.jobs
        for case_id in job.case_ids
        for number in job.numbers
    ]


def _middle(values: Sequence[float]) -> float:
    return median(value for value in values if not math.isnan(value))


def a_commit(title: str = "a change", *, repository: str = "benchmarks", branch: str = "main") -> Commit:
    """Its hash follows from its title."""
    return Commit(
        repository=repository,
        branch=branch,
        commit=content_hash(title, length=40),
        title=title,
        author="Ada Example",
        committed_at=NOON,
    )


def a_handled_commit(
    title: str = "a change",
    *,
    repository: str = "benchmarks",
    branch: str = "main",
    minutes: float = 0,
    checks: tuple[Check, ...] = (Check(path="bench-specs/quick.yaml", reason=Reason.SPEC, faults=("quick:1:1: no",)),),
    note: str = "",
) -> HandledCommit:
    """One that was handled so many minutes after noon."""
    commit = a_commit(title, repository=repository, branch=branch)
    return HandledCommit(commit=commit, handled_at=NOON + timedelta(minutes=minutes), checks=checks, note=note)


def a_bisection(bisection_id: str = "b" * 20, *, minutes: float = 0) -> Bisection:
    """One that was asked for so many minutes after noon."""
    return Bisection(
        bisection_id=bisection_id,
        asked_at=NOON + timedelta(minutes=minutes),
        asked_by="alice",
        library="fake",
        address="https://example.org/fake.git",
        good="v1",
        bad="main",
        cases=a_plan().cases,
        pool="local",
        invocations=6,
    )


def a_bisection_event(
    kind: BisectionEventKind = BisectionEventKind.ASKED, *, of: str = "b" * 20, minutes: float = 0, detail: str = ""
) -> BisectionEvent:
    return BisectionEvent(bisection_id=of, at=NOON + timedelta(minutes=minutes), kind=kind, detail=detail)


def a_line(bisection_id: str = "b" * 20, commits: int = 3) -> Line:
    found = (
        LineCommit(hash=f"{number:040x}", author="Ada <ada@example.org>", date="2026-01-01", subject=f"Change {number}")
        for number in range(commits)
    )
    return Line(bisection_id=bisection_id, commits=tuple(found))


def a_cause(after: str = "1.1", *, kind: AlertKind = AlertKind.UPGRADE, metric: Metric = Metric.CPU_NS) -> Cause:
    """Of an upgrade from 1.0; or of what is stale, for that reason."""
    if kind is AlertKind.STALE:
        return Cause(kind=kind, library=None, before="", after=after)
    return Cause(kind=kind, library="fake", metric=metric, before="1.0", after=after)


def a_finding(run_id: str = "confirming", *, case_id: str = RSA, ratio: float = 1.05) -> Finding:
    cell = AlertCell(
        spec_name="example",
        case_id=case_id,
        title="RSA, RSA-2048",
        pool="local",
        cpu_model=HOST.cpu,
        move=Ratio(ratio=ratio, low=ratio - 0.01, high=ratio + 0.01),
        side="server",
    )
    return Finding(
        spec_names=("example",),
        sentence=f"fake 1.1 costs {ratio - 1:.0%} more than 1.0",
        cells=(cell,),
        run_ids=(run_id,),
        notify=("crypto-team",),
    )


def an_alert_event(
    action: AlertAction = AlertAction.RAISED,
    number: int = 0,
    *,
    cause: Cause | None = None,
    minutes: float | None = None,
    author: str = "alice",
    **said: Any,
) -> AlertEvent:
    """What happened to the alert of a cause so many minutes after noon, by its number where nothing is said."""
    cause = cause or a_cause()
    if action in (AlertAction.RAISED, AlertAction.GREW):
        said.setdefault("finding", a_finding())
    if action in (AlertAction.IGNORED, AlertAction.WRONG, AlertAction.NOTED):
        said.setdefault("note", "because")
    return AlertEvent(
        alert_id=cause.alert_id,
        number=number,
        at=NOON + timedelta(minutes=number if minutes is None else minutes),
        author=author,
        action=action,
        cause=cause if action is AlertAction.RAISED else None,
        **said,
    )


def a_screening(run_id: str = "one", *, minutes: float = 0) -> Screening:
    """Of a run whose only upgrade is confirmed, so many minutes after noon."""
    before, after = (
        UpgradeEnd(
            subject=f"fake@{version}~{version}~0",
            version=version,
            source=version,
            build_profile_label="made up",
            label=f"fake {version}",
        )
        for version in ("1.0", "1.1")
    )
    upgrade = ScreenedUpgrade(
        library="fake",
        before=before,
        after=after,
        compared=2,
        more=1,
        less=0,
        unresolved=1,
        suspected=(f"local/{RSA}",),
        confirmation_run="once-1",
        outcome="confirmed",
    )
    moved = HostMoved(
        pool="local",
        cpu_model=HOST.cpu,
        move=Ratio(ratio=1.02, low=1.01, high=1.03),
        cases=3,
        since_run="zero",
        since=NOON - timedelta(days=1),
    )
    return Screening(
        run_id=run_id,
        spec_name="example",
        at=NOON + timedelta(minutes=minutes),
        ended_at=NOON,
        upgrades=(upgrade,),
        host_moves=(moved,),
    )


def a_notification(number: int = 0, *, channel: str = "crypto-team", minutes: float | None = None) -> Notification:
    """Of the alert's event of this number."""
    alert_id = a_cause().alert_id
    return Notification(
        notification_id=Notification.id_of(alert_id, number, channel),
        channel=channel,
        happening=Happening.RAISED,
        alert_id=alert_id,
        number=number,
        created_at=NOON + timedelta(minutes=number if minutes is None else minutes),
        title=f"thing {number}",
        text=f"what happened: {number}",
        markdown=f"what happened: `{number}`",
        links=(Link(text="Open the alert", path=f"/alerts/{alert_id}"),),
    )


def a_sending(
    *notifications: Notification, state: SendingState = SendingState.SENT, minutes: float = 0, said: str = ""
) -> Sending:
    """At sending these together, so many minutes after noon."""
    ids = tuple(one.notification_id for one in notifications)
    return Sending(
        message_id=Sending.id_of(ids),
        channel=notifications[0].channel,
        notification_ids=ids,
        at=NOON + timedelta(minutes=minutes),
        state=state,
        said=said,
    )


def a_job_input(run: Run, job: int = 0) -> JobInput:
    folder = Path("/var/lib/kexbench")
    return JobInput(
        run_id=run.run_id,
        attempt=1,
        host_id=HOST.host_id,
        seed=f"{run.run_id}/{run.plan.jobs[job].job_id}",
        job=run.plan.jobs[job],
        measure=run.plan.measure,
        cases=run.plan.cases,
        kits={
            reference: JobInputKit(folder=folder / "kits" / kit.folder_name, manifest=kit)
            for reference, kit in run.kits.items()
        },
        material_folder=folder / "material",
        material=run.material,
        results=folder / "runs" / run.run_id / "results" / "job.ndjson",
    )


def newest_runs(store: RunStore, limit: int, before: datetime | None = None) -> list[Run]:
    return store.runs_named([key.run_id for key in store.run_keys(limit, before)])
