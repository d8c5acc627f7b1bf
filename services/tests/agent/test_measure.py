"""A pod measures its job with the real runner, and whatever happens what was measured is stored once."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kexbench.agent import measure as measuring
from kexbench.agent.isolation import Found
from kexbench.agent.measure import REMEDY, NotIsolated, RunnerFailed, measure
from kexbench.analysis.rounds import values_of
from kexbench.api.models import StoredInvocation
from kexbench.client import Refused, Unreachable
from kexbench.domain.plans import Isolation
from kexbench.domain.runs import Run
from kexbench.domain.samples import Invocation, Metric
from kexbench.files import write_whole
from kexbench.runner.order import turns
from kexbench.runner.results import read_results
from kexbench.store.port import InvocationKey, SampleRow, Selection
from tests.agent.conftest import EXCLUSIVE, SHARED, Pod, Service

pytestmark = pytest.mark.thorough
CONFINED = Found(Isolation.EXCLUSIVE, "the pod has exclusive CPUs 1")
AMONG_OTHERS = Found(Isolation.BEST_EFFORT, "the pod requested 1 of 2 CPUs and may run on 2: they are shared")


@pytest.fixture
def confined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods have CPUs for themselves."""
    monkeypatch.setattr(measuring, "read_isolation", lambda asked: CONFINED)


@pytest.fixture
def among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods share their CPUs."""
    monkeypatch.setattr(measuring, "read_isolation", lambda asked: AMONG_OTHERS)


def fetched(service: Service, run: Run, *, name: str = "pod-1", attempt: int = 1) -> Pod:
    pod = service.pod(run, name=name, attempt=attempt)
    pod.fetch()
    return pod


def measured(pod: Pod) -> bool:
    return measure(pod.settings, pod.api, pod.say)


def samples(service: Service, run: Run) -> list[SampleRow]:
    return service.store.samples(Selection(Metric.CPU_NS, run_id=run.run_id))


def keys(run: Run, attempt: int) -> set[InvocationKey]:
    """Of all that the first job yields."""
    job = run.plan.jobs[0]
    return {InvocationKey(job.job_id, attempt, case, number) for case in job.case_ids for number in job.numbers}


def attempts(service: Service, run: Run) -> list[tuple[int, str]]:
    return [(attempt.attempt, attempt.pod) for attempt in service.store.attempts(run.run_id)]


@pytest.mark.usefixtures("confined")
def test_a_job_is_measured_and_every_invocation_stored_once(service: Service) -> None:
    run = service.started()
    pod = fetched(service, run)
    assert measured(pod)
    assert service.store.invocations(run.run_id) == keys(run, 1)
    rows = samples(service, run)
    assert Counter((row.case.case_id, row.subject.source) for row in rows) == {
        (case.case_id, source): 1 for case in run.plan.cases for source in ("1.0", "1.1")
    }
    assert pod.said[-3:] == [
        CONFINED.reason,
        f"attempt 1 of job {pod.settings.job_id} on {pod.settings.node_name}",
        "uploading 2 invocations",
    ]


@pytest.mark.usefixtures("confined")
def test_what_is_announced_is_where_and_on_what_it_was_measured(service: Service) -> None:
    run = service.started()
    pod = fetched(service, run)
    measured(pod)
    (attempt,) = service.store.attempts(run.run_id)
    assert (attempt.pod, attempt.pod_uid, attempt.node) == ("pod-1", "uid-of-pod-1", "node-of-pod-1")
    assert attempt.isolation is Isolation.EXCLUSIVE
    assert {found.host_id for found in read_results(pod.settings.work / "results.ndjson")} == {attempt.host.host_id}


@pytest.mark.usefixtures("confined")
def test_the_next_free_number_is_announced_where_other_pods_have_the_first_ones(service: Service) -> None:
    run = service.started()
    found = [measuring.announce(pod.settings, pod.api, CONFINED).attempt for pod in _three_pods(service, run)]
    assert found == [1, 2, 3]
    assert attempts(service, run) == [(1, "pod-1"), (2, "pod-2"), (3, "pod-3")]


def _three_pods(service: Service, run: Run) -> list[Pod]:
    return [service.pod(run, name=f"pod-{number}") for number in (1, 2, 3)]


@pytest.mark.usefixtures("confined")
def test_announcing_again_changes_nothing(service: Service) -> None:
    run = service.started()
    first, second = service.pod(run), service.pod(run, name="pod-2")
    for pod in (first, second, second, first):
        measuring.announce(pod.settings, pod.api, CONFINED)
    assert attempts(service, run) == [(1, "pod-1"), (2, "pod-2")]


def slower(invocation: Invocation) -> Invocation:
    """As a node measures that is half as fast: the fake backend takes the same time everywhere."""
    doubled = tuple(
        sample.model_copy(
            update={
                "values": tuple(2 * value for value in sample.values),
                "level": None if sample.level is None else 2 * sample.level,
            }
        )
        for sample in invocation.samples
    )
    return invocation.model_copy(update={"samples": doubled})


@pytest.mark.usefixtures("confined")
def test_measured_again_by_another_pod_of_the_same_number_it_is_another_attempt_and_the_first_one_counts(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = service.started()
    first = fetched(service, run)
    measured(first)
    known = samples(service, run)
    monkeypatch.setattr(measuring, "stored_of", lambda *_: [])  # the first one had delivered nothing when it asked
    monkeypatch.setattr(measuring, "read_results", lambda path: [slower(one) for one in read_results(path)])
    second = fetched(service, run, name="pod-2")
    assert measured(second)
    assert attempts(service, run) == [(1, "pod-1"), (2, "pod-2")]
    assert service.store.invocations(run.run_id) == keys(run, 1) | keys(run, 2)
    assert sorted(tuple(values_of(row.values)) for row in samples(service, run)) == sorted(
        tuple(values_of(row.values)) for row in known
    )


@pytest.mark.usefixtures("confined")
def test_of_an_attempt_that_ended_early_what_it_has_counts_and_the_next_one_gives_the_rest(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = service.started()
    first = fetched(service, run)
    monkeypatch.setattr(measuring, "read_results", lambda path: read_results(path)[:1])
    measured(first)
    (early,) = service.store.invocations(run.run_id)
    assert len(samples(service, run)) == 2
    monkeypatch.setattr(measuring, "read_results", lambda path: [slower(one) for one in read_results(path)])
    second = fetched(service, run, name="pod-2")
    assert measured(second)
    assert second.said[-2:] == ["1 invocation measured before", "uploading 1 invocation"]
    assert service.store.invocations(run.run_id) == {early} | {
        key for key in keys(run, 2) if key.case_id != early.case_id
    }
    once = {
        (result.case_id, sample.subject): sample.cost * (1 if result.case_id == early.case_id else 2)
        for result in read_results(first.settings.work / "results.ndjson")
        for sample in result.samples
        if sample.metric is Metric.CPU_NS
    }
    rows = {(row.case.case_id, f"fake@{row.subject.source}"): row.level for row in samples(service, run)}
    assert rows == pytest.approx(once)


SIX = EXCLUSIVE.replace("invocations: 2", "invocations: 6")


@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize("delivered", [0, 1, 5, 6])
def test_a_resumed_job_measures_what_is_missing_in_the_order_of_the_plan_and_nothing_twice(
    service: Service, monkeypatch: pytest.MonkeyPatch, delivered: int
) -> None:
    run = service.started(SIX)
    job = run.plan.jobs[0]
    planned = [(turn.case_id, turn.invocation) for turn in turns(job, f"{run.run_id}/{job.job_id}")]
    assert len(planned) == 6
    first = fetched(service, run)
    monkeypatch.setattr(measuring, "read_results", lambda path: read_results(path)[:delivered])
    measured(first)
    monkeypatch.undo()
    monkeypatch.setattr(measuring, "read_isolation", lambda asked: CONFINED)
    for number, name in enumerate(("pod-2", "pod-3"), start=2):
        pod = fetched(service, run, name=name)
        assert measured(pod)
        again = [(one.case_id, one.invocation) for one in read_results(pod.settings.work / "results.ndjson")]
        assert again == (planned[delivered:] if number == 2 else [])
    stored = service.store.invocations(run.run_id)
    assert {(key.case_id, key.invocation): key.attempt for key in stored} == {
        turn: 1 if place < delivered else 2 for place, turn in enumerate(planned)
    }
    assert len(stored) == job.count
    assert service.store.stored_by_job(run.run_id) == {job.job_id: job.count}


@pytest.mark.usefixtures("confined")
def test_a_resumed_job_does_not_try_again_what_is_unsupported_as_a_local_one_does_not(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = service.started(EXCLUSIVE.replace("fake: [1.0, 1.1]", "fake: ['1.0', '2.0+unsupported=1']"))
    first = fetched(service, run)
    monkeypatch.setattr(measuring, "read_results", lambda path: read_results(path)[:2])
    measured(first)
    monkeypatch.undo()
    monkeypatch.setattr(measuring, "read_isolation", lambda asked: CONFINED)
    tried = read_results(first.settings.work / "results.ndjson")
    assert sum(len(one.outcomes) for one in tried[:2]) == len(run.plan.cases)
    second = fetched(service, run, name="pod-2")
    measured(second)
    again = read_results(second.settings.work / "results.ndjson")
    assert [one.outcomes for one in again] == [()] * len(again)
    assert [(one.case_id, one.invocation) for one in again] == [(one.case_id, one.invocation) for one in tried[2:]]


@pytest.mark.usefixtures("confined")
def test_what_the_api_has_is_not_sent_again_and_what_it_lacks_is(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = service.started()
    pod = fetched(service, run)
    monkeypatch.setattr(measuring, "read_results", lambda path: read_results(path)[:1])
    measured(pod)
    monkeypatch.undo()
    (attempt,) = service.store.attempts(run.run_id)
    sent: list[str] = []

    def counted(_: str, invocations: Sequence[Invocation]) -> Iterator[int]:
        sent.extend(each.case_id for each in invocations)
        yield len(sent)

    (stored,) = service.store.invocations(run.run_id)
    monkeypatch.setattr(pod.api, "add_invocations", counted)
    measuring.upload(pod.settings, pod.api, attempt, pod.say)
    assert sent == [case.case_id for case in run.plan.cases if case.case_id != stored.case_id]


@pytest.mark.usefixtures("among_others")
def test_a_job_that_wants_cpus_for_itself_and_has_none_measures_nothing_and_says_why(service: Service) -> None:
    run = service.started()
    pod = fetched(service, run)
    with pytest.raises(NotIsolated) as caught:
        measured(pod)
    assert str(caught.value) == f"{AMONG_OTHERS.reason}; {REMEDY}"
    assert "isolation: best-effort" in REMEDY
    assert service.store.invocations(run.run_id) == set()
    assert not (pod.settings.work / "results.ndjson").exists()
    (attempt,) = service.store.attempts(run.run_id)
    assert attempt.isolation is Isolation.BEST_EFFORT


@pytest.mark.usefixtures("among_others")
def test_a_job_that_does_with_shared_cpus_is_measured_on_them_and_its_attempt_says_so(service: Service) -> None:
    run = service.started(SHARED)
    assert measured(fetched(service, run))
    assert service.store.invocations(run.run_id) == keys(run, 1)
    assert len(samples(service, run)) == 4
    (attempt,) = service.store.attempts(run.run_id)
    assert attempt.isolation is Isolation.BEST_EFFORT


@pytest.mark.usefixtures("confined")
def test_a_runner_that_fails_is_reported_after_what_there_is_was_uploaded(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = service.started()
    pod = fetched(service, run)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RunnerFailed, match="the runner failed with exit status 1"):
        measured(pod)
    assert pod.said[-1] == "uploading 0 invocations"


@pytest.mark.usefixtures("confined")
def test_a_pod_that_may_not_announce_measures_nothing(service: Service) -> None:
    run = service.started()
    pod = fetched(service, run)
    elsewhere = pod.settings.model_copy(update={"pod_uid": "another"})
    with pytest.raises(Refused, match="the token is of pod pod-1"):
        measure(elsewhere, pod.api, pod.say)
    assert not (pod.settings.work / "results.ndjson").exists()


@pytest.mark.usefixtures("confined")
def test_sigterm_before_the_runner_listens_ends_it_with_nothing(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = service.started()
    pod = fetched(service, run)
    before = signal.getsignal(signal.SIGTERM)

    def terminated(path: Path, content: bytes) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        write_whole(path, content)

    monkeypatch.setattr(measuring, "write_whole", terminated)
    assert not measured(pod)
    assert service.store.invocations(run.run_id) == set()
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.thorough
@pytest.mark.usefixtures("confined")
def test_sigterm_while_results_are_uploaded_loses_none(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    run = service.started()
    pod = fetched(service, run)

    def terminated(path: Path) -> list[Invocation]:
        os.kill(os.getpid(), signal.SIGTERM)
        return read_results(path)

    monkeypatch.setattr(measuring, "read_results", terminated)
    assert measured(pod)
    assert service.store.invocations(run.run_id) == keys(run, 1)


LONG = SHARED.replace("invocations: 2", "invocations: 1000")


@pytest.mark.thorough
def test_sigterm_ends_a_pod_after_the_invocation_under_way_and_what_there_is_is_uploaded(service: Service) -> None:
    run = service.started(LONG)
    pod = fetched(service, run)
    environment = {f"KEXBENCH_{name.upper()}": str(value) for name, value in pod.settings.model_dump().items()}
    agent = subprocess.Popen(
        [sys.executable, "-m", "kexbench.agent", "measure"], env={**os.environ, **environment}, stdout=subprocess.PIPE
    )
    assert agent.stdout is not None
    with agent:
        agent.stdout.readline()  # the first invocation is done
        agent.send_signal(signal.SIGTERM)
        agent.stdout.read()
    assert agent.returncode == 3
    results = read_results(pod.settings.work / "results.ndjson")
    assert 1 <= len(results) < run.plan.jobs[0].count
    assert service.store.invocations(run.run_id) == {
        InvocationKey(one.job_id, one.attempt, one.case_id, one.invocation) for one in results
    }


@pytest.mark.usefixtures("confined")
def test_what_cannot_be_uploaded_stays_on_the_disk(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    run = service.started()
    pod = fetched(service, run)

    def away(pod: Pod, api: object) -> list[StoredInvocation]:
        monkeypatch.setattr(measuring, "stored_of", unreachable)
        return []

    def unreachable(pod: Pod, api: object) -> list[StoredInvocation]:
        raise Unreachable("nobody answers")

    monkeypatch.setattr(measuring, "stored_of", away)
    with pytest.raises(Unreachable, match="nobody answers"):
        measured(pod)
    assert len(read_results(pod.settings.work / "results.ndjson")) == 2
    assert service.store.invocations(run.run_id) == set()
