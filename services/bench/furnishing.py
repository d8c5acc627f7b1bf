"""What a large store has besides costs of versions: other runs, and what people, watchers and analysts left."""

from collections.abc import Iterator
from datetime import timedelta
from typing import get_args

from bench.large_store import FIRST_RUN, Extent, invocations_of, run_of_spec, runs_of, sources_of
from kexbench.domain.alerts import AlertAction, AlertCell, AlertEvent, AlertKind, Cause, Finding
from kexbench.domain.articles import ARTICLES
from kexbench.domain.bisections import Bisection, BisectionEvent, BisectionEventKind, Line, LineCommit
from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import Check, Commit, HandledCommit, Reason
from kexbench.domain.instruments import CountedSide, Instrument
from kexbench.domain.intervals import Ratio
from kexbench.domain.notifications import Happening, Notification, Sending, SendingState
from kexbench.domain.profiles import CallCost, FunctionCost, Profile
from kexbench.domain.runs import Run, RunEvent, RunState
from kexbench.domain.samples import Invocation
from kexbench.domain.schedules import Schedule
from kexbench.domain.screenings import ScreenedUpgrade, Screening
from kexbench.domain.upgrades import SIDES_OF, UpgradeEnd
from kexbench.store.port import Store

REPOSITORY = "benchmarks"
BISECTION = "b" * 20
_OF_EACH = 60
"""Commits, alerts, screenings and notifications: more than a page shows."""
_FUNCTIONS = 200
_SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: {name}, description: {name}. }}
subjects:
  - openssl: [{sources}]
matrix:
  protocol: [TLSv1.3]
  keyExchange: [ECDHE-ECDSA]
  curve: [P-256]
  group: [{groups}]
  cipher: [AES-128-GCM]
{matrix}
measure: {{ invocations: 6, batches: {batches}, maxDuration: 1000h{measure} }}
"""


def furnish(store: Store, extent: Extent) -> None:
    """A service also has curves over threads, A/A runs, counted instructions, the runs of an article, commits, alerts,
    screenings, notifications, a bisection and a schedule."""
    for run in (threads_run(extent), _aa_run(extent), *_article_runs(extent)):
        _measure(store, run, invocations_of(run))
    counted = counted_run(extent)
    _measure(store, counted, _profiled(counted))
    runs = runs_of(extent)
    for number in range(_OF_EACH):
        run = runs[number % len(runs)]
        store.add_commit(_commit(number, run))
        _add_alert(store, number, run)
        store.add_screening(_screening(number, run))
    store.add_bisection(_bisection(runs[0]))
    store.add_line(_line())
    store.add_bisection_event(
        BisectionEvent(bisection_id=BISECTION, at=FIRST_RUN, kind=BisectionEventKind.ASKED, detail="asked")
    )
    store.add_schedule(
        Schedule(name="large", cron="0 3 * * 1", spec_text=runs[0].spec_text, changed_at=FIRST_RUN, changed_by="alice")
    )


def threads_run(extent: Extent) -> Run:
    return _run(extent, "threads", _newest(extent), 1, matrix="  threads: [1, 2, 4]")


def counted_run(extent: Extent) -> Run:
    return _run(extent, "counted", _newest(extent)[:2], 2, measure=", instrument: instructions")


def _aa_run(extent: Extent) -> Run:
    source = sources_of(extent)[-1]
    relinks = [f"{source}+relink={number}" for number in range(1, 4)]
    return _run(extent, "qualify", [source, *relinks, f"{relinks[0]}+copy=2"], 3)


def _article_runs(extent: Extent) -> list[Run]:
    """Four of the first article's spec. Pages show the newest one."""
    return [_run(extent, ARTICLES[0].spec_name, _newest(extent), 4 + number) for number in range(4)]


def _newest(extent: Extent) -> list[str]:
    return sources_of(extent)[-3:]


def _run(extent: Extent, name: str, sources: list[str], hours: int, matrix: str = "", measure: str = "") -> Run:
    """On the last host, before its own first run."""
    spec = _SPEC.format(
        name=name,
        sources=", ".join(sources),
        groups="X25519, P-256",
        matrix=matrix,
        measure=measure,
        batches=extent.batches,
    )
    return run_of_spec(spec, extent, extent.hosts - 1, FIRST_RUN - timedelta(hours=hours))


def _measure(store: Store, run: Run, invocations: Iterator[Invocation]) -> None:
    store.add_run(run)
    for state, minutes in ((RunState.RUNNING, 0), (RunState.FINISHED, 30)):
        store.add_event(RunEvent(run_id=run.run_id, at=run.created_at + timedelta(minutes=minutes), state=state))
    store.add_invocations(run, list(invocations))


def _profiled(run: Run) -> Iterator[Invocation]:
    """With the functions of each side in the first invocation of each case."""
    metrics = tuple(SIDES_OF[Instrument.INSTRUCTIONS].values())
    seen: set[str] = set()
    for each in invocations_of(run, metrics):
        subjects = {sample.subject for sample in each.samples} if each.case_id not in seen else set()
        seen.add(each.case_id)
        profiles = {subject: tuple(map(_profile, get_args(CountedSide))) for subject in subjects}
        yield each.model_copy(update={"profiles": profiles})


def _profile(side: CountedSide) -> Profile:
    costs = {f"function_{number}": 1000.0 * (number + 1) for number in range(_FUNCTIONS)}
    return Profile(
        side=side,
        handshakes=20,
        amount=sum(costs.values()),
        functions=tuple(
            FunctionCost(name=name, library="libcrypto", amount=cost, calls=1) for name, cost in costs.items()
        ),
        calls=tuple(
            CallCost(caller=(f"{side}_turn", "worker"), callee=(name, "libcrypto"), inclusive=cost)
            for name, cost in costs.items()
        ),
    )


def _commit(number: int, run: Run) -> HandledCommit:
    at = FIRST_RUN + timedelta(minutes=number)
    commit = Commit(
        repository=REPOSITORY,
        branch="main",
        commit=content_hash(number, length=40),
        title=f"Change {number}",
        author="Ada Example",
        committed_at=at,
    )
    check = Check(path="bench-specs/large.yaml", reason=Reason.SPEC, run_id=run.run_id)
    return HandledCommit(commit=commit, handled_at=at, checks=(check,))


def _add_alert(store: Store, number: int, run: Run) -> None:
    assert run.host is not None
    case, at = run.plan.cases[number % len(run.plan.cases)], FIRST_RUN + timedelta(minutes=number)
    cause = Cause(kind=AlertKind.UPGRADE, library="openssl", before=f"2.{number}", after=f"2.{number + 1}")
    move = Ratio(ratio=1.05, low=1.04, high=1.06)
    cell = AlertCell(
        spec_name="large",
        case_id=case.case_id,
        title=case.label,
        pool=run.plan.pools[0],
        cpu_model=run.host.cpu,
        move=move,
        side="server",
    )
    sentence = f"OpenSSL 2.{number + 1} costs 5% more than 2.{number}"
    finding = Finding(spec_names=("large",), sentence=sentence, cells=(cell,), run_ids=(run.run_id,), notify=("team",))
    events = (
        AlertEvent(
            alert_id=cause.alert_id,
            number=0,
            at=at,
            author="kexbench",
            action=AlertAction.RAISED,
            cause=cause,
            finding=finding,
        ),
        AlertEvent(
            alert_id=cause.alert_id,
            number=1,
            at=at + timedelta(seconds=1),
            author="alice",
            action=AlertAction.ACKNOWLEDGED,
        ),
    )
    for event in events:
        store.add_alert_event(event)
    notification = Notification(
        notification_id=Notification.id_of(cause.alert_id, 0, "team"),
        channel="team",
        happening=Happening.RAISED,
        alert_id=cause.alert_id,
        number=0,
        created_at=at,
        title=sentence,
        text=sentence,
        markdown=sentence,
        links=(),
    )
    store.add_notifications([notification])
    ids = (notification.notification_id,)
    store.add_sending(
        Sending(
            message_id=Sending.id_of(ids),
            channel="team",
            notification_ids=ids,
            at=at,
            state=SendingState.SENT,
            said="",
        )
    )


def alert_id(number: int) -> str:
    return Cause(kind=AlertKind.UPGRADE, library="openssl", before=f"2.{number}", after=f"2.{number + 1}").alert_id


def _screening(number: int, run: Run) -> Screening:
    before, after = (
        UpgradeEnd(
            subject=f"openssl@2.{number + newer}~debian~0",
            version=f"2.{number + newer}",
            source="debian",
            build_profile_label="gcc",
            label=f"OpenSSL 2.{number + newer}",
        )
        for newer in (0, 1)
    )
    upgrade = ScreenedUpgrade(
        library="openssl",
        before=before,
        after=after,
        compared=30,
        more=1,
        less=0,
        unresolved=29,
        suspected=(),
        confirmation_run=None,
        outcome="quiet",
    )
    at = run.created_at + timedelta(hours=11)
    return Screening(
        run_id=run.run_id,
        spec_name="large",
        at=at,
        ended_at=at - timedelta(hours=1),
        upgrades=(upgrade,),
        host_moves=(),
    )


def _bisection(run: Run) -> Bisection:
    return Bisection(
        bisection_id=BISECTION,
        asked_at=FIRST_RUN,
        asked_by="alice",
        library="openssl",
        address="https://example.org/openssl.git",
        good="v1",
        bad="main",
        cases=run.plan.cases[:2],
        pool="local",
        invocations=6,
    )


def _line() -> Line:
    found = (
        LineCommit(hash=f"{number:040x}", author="Ada <ada@example.org>", date="2026-01-01", subject=f"Change {number}")
        for number in range(100)
    )
    return Line(bisection_id=BISECTION, commits=tuple(found))
