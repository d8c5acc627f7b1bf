"""The loop between the API and a cluster, with both in memory; the clock is the cluster's."""

import json
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Event

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.client import ApiError
from kexbench.dispatcher import INTERVAL_S, LONGEST_WAIT_S, Dispatcher, QueuePosition
from kexbench.dispatcher.health import STALE_S, Health
from kexbench.dispatcher.loop import EXPECTED
from kexbench.domain.bisections import WantedLine
from kexbench.domain.runs import Run, RunReason, RunState
from kexbench.execution.argo import names, words
from kexbench.execution.argo.cluster import ClusterError, Phase, PodView, TaskView
from kexbench.execution.argo.pods import JobSettings
from kexbench.execution.argo.workflows import WantedKit
from kexbench.planning.job_pods import JobPods
from kexbench.queue.troubles import Troubles
from tests.execution.argo.cases import POOLS, SETTINGS, a_cluster_run
from tests.execution.argo.fake_cluster import FakeCluster
from tests.execution.argo.fake_control import FakeControl

RUN = a_cluster_run()
KITS = (WantedKit("fake@1.0", "x86_64"), WantedKit("fake@1.0", "aarch64"))


class Stage:
    """A run, an API and a cluster, and two dispatchers that want to act."""

    def __init__(self, run: Run = RUN) -> None:
        self.run = run
        self.healths: dict[str, Health] = {}
        self.cluster = FakeCluster()
        self.cluster.nodes = {f"{name}-1": pool.node_selector for name, pool in POOLS.items()}
        self.control = FakeControl(lambda: self.cluster.now)
        self.control.kits = dict.fromkeys(KITS, "0123456789abcdef")
        self.control.queue(run)
        self.dispatcher, self.other = (self.a_dispatcher(identity) for identity in ("one", "other"))

    def a_dispatcher(self, identity: str, settings: JobSettings = SETTINGS) -> Dispatcher:
        pools = tuple(POOLS.values())
        troubles = Troubles(self.clock, EXPECTED)
        health = self.healths[identity] = Health(troubles, self.seconds)
        return Dispatcher(self.control, self.cluster, pools, settings, identity, self.clock, health, troubles)

    def clock(self) -> datetime:
        return self.cluster.now

    def seconds(self) -> float:
        return self.cluster.now.timestamp()

    def state(self) -> RunState:
        return self.control.view(self.run.run_id).state

    @property
    def details(self) -> list[str]:
        return [event.detail for event in self.control.events[self.run.run_id]]

    def pass_s(self, seconds: float) -> None:
        self.cluster.now += timedelta(seconds=seconds)

    def tick(self, times: int = 1) -> bool:
        """Lets the dispatcher look, a few seconds apart."""
        answered = True
        for _ in range(times):
            self.pass_s(INTERVAL_S)
            answered = self.dispatcher.once()
        return answered

    def open_workflows(self) -> list[str]:
        return [name for name, view in self.cluster.found.items() if not view.phase.has_ended]

    def end(self, name: str, *, well: bool) -> None:
        """A workflow's pods deliver all they should, or nothing."""
        if well and names.JOB in json.dumps(self._manifest(name)):
            counts = {job.job_id: job.count for job in self.run.plan.jobs}
            stored = self.control.stored[self.run.run_id]
            stored.update({job: counts[job] for job in self.cluster.submitted_tasks(name)})
        elif well:
            self.control.kits = dict.fromkeys(KITS, "0123456789abcdef")
        self.cluster.turn(name, Phase.SUCCEEDED if well else Phase.FAILED, "" if well else "main: Error (exit code 1)")

    def _manifest(self, name: str) -> object:
        return next(manifest for manifest in self.cluster.submitted if manifest["metadata"]["name"] == name)

    def submissions(self) -> Counter[tuple[str, str, str]]:
        """How often each task of each series was submitted, by the series, the kind of workflow and what it is of."""
        return Counter(
            (
                manifest["metadata"]["labels"][names.SERIES],
                task["template"],
                task["arguments"]["parameters"][0]["value"],
            )
            for manifest in self.cluster.submitted
            for task in manifest["spec"]["templates"][0]["dag"]["tasks"]
        )


def test_a_run_goes_from_queued_to_finished() -> None:
    stage = Stage()
    stage.control.kits = {KITS[0]: None, KITS[1]: "0123456789abcdef"}
    stage.tick()
    assert stage.state() is RunState.BUILDING
    (kits,) = stage.open_workflows()
    assert stage.cluster.submitted_tasks(kits) == ("fake@1.0",)
    stage.end(kits, well=True)
    stage.tick(2)
    assert stage.state() is RunState.RUNNING
    assert len(stage.open_workflows()) == 2
    for name in stage.open_workflows():
        stage.end(name, well=True)
    stage.tick()
    assert stage.state() is RunState.FINISHED
    assert stage.details == [
        "",
        "building 1 kit: fake@1.0 for x86_64",
        "",
        "jobs submitted: 2 to pool amd-epyc, 2 to pool arm.n1",
        "",
    ]


def test_a_run_has_as_many_pods_at_once_as_its_pool_has_nodes() -> None:
    stage = Stage()
    stage.cluster.nodes |= {f"amd-{number}": POOLS["amd-epyc"].node_selector for number in range(30)}
    stage.tick(2)
    assert [manifest["spec"]["parallelism"] for manifest in stage.cluster.submitted] == [31, 8]


def test_only_who_holds_the_lease_acts_and_another_goes_on_when_it_is_gone() -> None:
    stage = Stage()
    stage.control.kits = {KITS[0]: None}
    stage.tick()
    (kits,) = stage.open_workflows()
    stage.end(kits, well=True)
    stage.control.answers_left = 0
    assert stage.other.once(), "who has no lease asks for nothing"
    stage.control.answers_left = None
    assert stage.open_workflows() == []
    stage.pass_s(31)
    assert stage.other.once()
    assert len(stage.open_workflows()) == 2
    stage.dispatcher.once()
    assert set(stage.submissions().values()) == {1}


def test_one_that_stands_by_says_so_and_its_rounds_do_not_hide_those_of_the_other() -> None:
    stage = Stage()
    one, other = stage.healths["one"], stage.healths["other"]
    stage.tick()
    other.end_round(answered=stage.other.once())
    one.end_round(answered=True)
    assert (one.acts(), other.acts()) == (True, False)
    assert [health.answer("/healthz")[2] for health in (one, other)] == [b"OK: acts", b"OK: stands by"]
    texts = [health.answer("/metrics")[2].decode() for health in (one, other)]
    assert ["kexbench_dispatcher_acts 1.0" in text for text in texts] == [True, False]
    assert 'kexbench_dispatcher_rounds_total{result="answered"} 1.0' in texts[0]
    assert 'kexbench_dispatcher_rounds_total{result="answered"} 0.0' in texts[1]
    stage.pass_s(31)
    assert not one.acts(), "it has not renewed its lease"
    assert stage.other.once()
    assert other.acts()


def test_a_dispatcher_that_lost_its_lease_while_it_looked_does_nothing_any_more() -> None:
    stage = Stage()
    ask = stage.control.known_kits

    def take_long(run_id: str) -> object:
        stage.pass_s(31)
        stage.cluster.hold_lease("kexbench-dispatcher", "other")
        return ask(run_id)

    stage.control.known_kits = take_long  # type: ignore[method-assign,assignment]
    assert stage.dispatcher.once()
    assert stage.state() is RunState.QUEUED


@pytest.mark.parametrize("answers", range(9))
def test_an_api_that_goes_away_at_any_time_is_waited_for_and_nothing_is_done_twice(answers: int) -> None:
    stage = Stage()
    stage.control.answers_left = answers
    stage.tick(3)
    stage.control.answers_left = None
    stage.tick(3)
    assert stage.state() is RunState.RUNNING
    assert stage.control.events[stage.run.run_id][-1].reason is RunReason.SUBMITTED
    assert Counter(stage.submissions().values()) == {1: 4}


def test_a_run_that_can_not_be_looked_after_holds_up_no_other() -> None:
    stage = Stage(a_cluster_run("20260101-120000-ffffffff"))
    stage.control.queue(RUN)
    stage.control.kits = {WantedKit("fake@1.0", "x86_64"): None}
    stage.control.stored.pop(stage.run.run_id)
    known = stage.control.stored_invocations

    def refuse(run_id: str) -> object:
        if run_id == stage.run.run_id:
            stage.control.answers_left = 0
        try:
            return known(run_id)
        finally:
            stage.control.answers_left = None

    stage.control.stored_invocations = refuse  # type: ignore[method-assign,assignment]
    assert not stage.tick()
    assert stage.state() is RunState.QUEUED
    assert stage.control.view(RUN.run_id).state is RunState.BUILDING


def test_it_waits_longer_while_others_are_away_and_as_before_when_they_are_back() -> None:
    stage, waits = Stage(), list[float]()

    class Ending(Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout is not None
            waits.append(timeout)
            stage.cluster.away = len(waits) < 6
            if len(waits) == 8:
                self.set()
            return self.is_set()

    stage.cluster.away = True
    stage.dispatcher.run(Ending())
    assert waits == [10, 20, 40, LONGEST_WAIT_S, LONGEST_WAIT_S, LONGEST_WAIT_S, INTERVAL_S, INTERVAL_S]


def test_it_does_not_begin_once_it_is_to_end() -> None:
    stage, ending = Stage(), Event()
    ending.set()
    stage.dispatcher.run(ending)
    assert stage.state() is RunState.QUEUED


@pytest.mark.parametrize("away", [False, True])
def test_one_that_ends_lets_another_go_on_at_once_unless_kubernetes_is_away(away: bool) -> None:
    stage = Stage()
    stage.control.kits = {KITS[0]: None}

    class Ending(Event):
        def wait(self, timeout: float | None = None) -> bool:
            stage.cluster.away = away
            self.set()
            return True

    stage.dispatcher.run(Ending())
    stage.cluster.away = False
    (kits,) = stage.open_workflows()
    stage.end(kits, well=True)
    assert stage.other.once()
    assert bool(stage.open_workflows()) is not away


def test_every_schedule_has_a_cron_workflow_as_long_as_it_is_there() -> None:
    stage = Stage()
    stage.control.times = {"nightly": "0 3 * * *", "hourly": "0 * * * *"}
    stage.tick(2)
    nightly, hourly = (f"kexbench-schedule-{name}" for name in ("nightly", "hourly"))
    assert sorted(stage.cluster.crons) == [hourly, nightly]
    stage.control.times = {"nightly": "30 4 * * *"}
    stage.tick()
    assert list(stage.cluster.crons) == [nightly]
    assert stage.cluster.crons[nightly]["spec"]["schedules"] == ["30 4 * * *"]


def test_a_cron_workflow_that_somebody_deletes_is_there_again() -> None:
    stage = Stage()
    stage.control.times = {"nightly": "0 3 * * *"}
    stage.tick()
    stage.cluster.crons.clear()
    stage.tick()
    assert list(stage.cluster.crons) == ["kexbench-schedule-nightly"]


def test_schedules_that_can_not_be_kept_hold_up_no_run_and_runs_no_schedules() -> None:
    stage = Stage()
    stage.control.times = {"nightly": "0 3 * * *"}

    def refuse(*_: object) -> object:
        raise ClusterError("applying cron workflow nightly: forbidden")

    apply, stage.cluster.apply_cron = stage.cluster.apply_cron, refuse  # type: ignore[method-assign,assignment]
    assert not stage.tick(2)
    assert stage.state() is RunState.RUNNING
    stage.cluster.apply_cron = apply  # type: ignore[method-assign]
    stage.cluster.workflows = refuse  # type: ignore[method-assign,assignment]
    assert not stage.tick()
    assert list(stage.cluster.crons) == ["kexbench-schedule-nightly"]


def test_a_dispatcher_that_lost_its_lease_while_it_looked_keeps_no_schedules() -> None:
    stage = Stage()
    stage.control.times = {"nightly": "0 3 * * *"}
    ask = stage.control.schedules

    def take_long() -> object:
        stage.pass_s(31)
        stage.cluster.hold_lease("kexbench-dispatcher", "other")
        return ask()

    stage.control.schedules = take_long  # type: ignore[method-assign,assignment]
    assert stage.dispatcher.once()
    assert stage.cluster.crons == {}


def test_a_run_waits_for_the_nodes_of_one_before_it_says_so_once_and_begins_when_it_has_ended() -> None:
    stage = Stage()
    stage.tick(2)
    stage.control.queue(a_cluster_run("second"))
    stage.tick(3)
    events = [(event.state, event.detail) for event in stage.control.events["second"]]
    waits = (RunState.BUILDING, words.WAITS_ITS_TURN)
    assert events == [(RunState.QUEUED, ""), waits]
    for name in stage.open_workflows():
        stage.end(name, well=True)
    stage.tick(2)
    assert stage.state() is RunState.FINISHED
    assert stage.control.view("second").state is RunState.RUNNING


def _fail(stage: Stage) -> None:
    for name in stage.open_workflows():
        stage.end(name, well=False)


def _finish(stage: Stage) -> None:
    for name in stage.open_workflows():
        stage.end(name, well=True)


def _cancel_unseen(stage: Stage) -> None:
    """Its workflows are stopped before Argo has processed them."""
    _cancel(stage)
    stage.tick()


def test_a_run_whose_jobs_left_out_only_what_is_hopeless_is_finished() -> None:
    stage = Stage()
    stage.tick()
    stage.control.hopeless = {job.job_id: job.count for job in RUN.plan.jobs}
    first, *rest = stage.open_workflows()
    stage.cluster.turn(first, Phase.SUCCEEDED)
    stage.tick()
    assert (stage.state(), stage.control.asked["left_out"]) == (RunState.RUNNING, 0)
    for name in rest:
        stage.cluster.turn(name, Phase.SUCCEEDED)
    stage.tick()
    assert (stage.state(), stage.control.asked["left_out"]) == (RunState.FINISHED, 1)


@pytest.mark.parametrize(
    ("end", "state"),
    [(_finish, RunState.FINISHED), (_fail, RunState.FAILED), (_cancel_unseen, RunState.CANCELLED)],
)
def test_the_round_that_sees_the_end_of_a_run_submits_the_jobs_of_the_next_one(
    end: Callable[[Stage], None], state: RunState
) -> None:
    stage = Stage()
    stage.tick(2)
    stage.control.queue(a_cluster_run("second"))
    stage.tick()
    end(stage)
    stage.tick()
    assert stage.state() is state
    submitted = stage.control.view("second")
    assert (submitted.state, submitted.newest.reason) == (RunState.RUNNING, RunReason.SUBMITTED)
    assert sorted(name for name in stage.cluster.found if "second" in name) == [
        "kexbench-run-second-1-0",
        "kexbench-run-second-1-1",
    ]


def test_a_run_is_started_and_submitted_in_one_round() -> None:
    stage = Stage()
    stage.tick()
    assert stage.details == ["", "", "jobs submitted: 2 to pool amd-epyc, 2 to pool arm.n1"]
    assert len(stage.open_workflows()) == 2


def test_a_run_that_is_cancelled_while_it_is_looked_at_is_not_submitted() -> None:
    stage = Stage()
    ask = stage.control.stored_invocations

    def meanwhile(run_id: str) -> object:
        stage.control.become(run_id, RunState.CANCELLING)
        stage.control.stored_invocations = ask  # type: ignore[method-assign]
        return ask(run_id)

    stage.control.stored_invocations = meanwhile  # type: ignore[method-assign,assignment]
    stage.tick()
    assert stage.cluster.submitted == []
    assert stage.state() is RunState.CANCELLED


def test_runs_begin_in_the_order_of_the_queue() -> None:
    stage = Stage()
    stage.control.queue(a_cluster_run("urgent"))
    stage.control.positions = lambda: (QueuePosition("urgent"), QueuePosition(RUN.run_id))  # type: ignore[method-assign]
    stage.tick()
    assert stage.control.view("urgent").state is RunState.RUNNING
    assert stage.details[-1] == words.WAITS_ITS_TURN


def test_a_run_that_a_newer_one_supersedes_is_cancelled_before_it_begins() -> None:
    stage = Stage()
    stage.control.positions = lambda: (QueuePosition(RUN.run_id, superseded_by="newer"),)  # type: ignore[method-assign]
    stage.tick(2)
    assert stage.state() is RunState.CANCELLED
    assert "superseded by run newer" in stage.details
    assert stage.cluster.submitted == []


WANTED = WantedLine(
    bisection_id="b" * 20,
    series=2,
    good="fake@git:https://example.org/fake.git#v1",
    bad="fake@git:https://example.org/fake.git#main",
    pool="amd-epyc",
)
LINE = f"kexbench-line-{WANTED.bisection_id}-2"


def test_the_commits_of_a_bisection_are_found_in_one_pod_that_can_build_and_asked_for_once() -> None:
    stage = Stage()
    stage.control.wanted_line = WANTED
    stage.tick(3)
    (manifest,) = [one for one in stage.cluster.submitted if one["metadata"]["name"] == LINE]
    (template,) = [one for one in manifest["spec"]["templates"] if "container" in one]
    assert template["container"]["image"] == SETTINGS.builder_image
    assert template["container"]["command"][-1] == "line"
    environment = {one["name"]: one.get("value") for one in template["container"]["env"]}
    assert environment["KEXBENCH_BISECTION_ID"] == WANTED.bisection_id
    assert (environment["KEXBENCH_GOOD"], environment["KEXBENCH_BAD"]) == (WANTED.good, WANTED.bad)
    assert template["metadata"]["labels"][names.RUN] == WANTED.bisection_id
    assert stage.control.troubles == []


def test_commits_that_are_not_found_are_given_up_with_what_the_pod_said() -> None:
    stage = Stage()
    stage.control.wanted_line = WANTED
    stage.tick()
    task = TaskView(WANTED.bad, Phase.FAILED, "main: Error (exit code 2): there is no branch main")
    stage.cluster.found[LINE] = replace(stage.cluster.found[LINE], phase=Phase.FAILED, tasks=(task,))
    stage.tick(2)
    (trouble,) = stage.control.troubles
    assert trouble == (
        "its commits could not be found: main: Error (exit code 2): there is no branch main. "
        f"Check the pod of workflow {LINE}, and resume the bisection"
    )


def test_a_bisection_whose_pool_is_gone_is_given_up_in_words() -> None:
    stage = Stage()
    stage.control.wanted_line = WANTED.model_copy(update={"pool": "gone"})
    stage.tick()
    assert stage.control.troubles[0].startswith("there is no pool gone on this cluster any more")


def test_bisections_that_can_not_be_kept_hold_up_no_run() -> None:
    stage = Stage()
    stage.control.wanted_line = WANTED

    def refuse(*_: object) -> object:
        raise ApiError("the API: no")

    stage.control.advance_bisections = refuse  # type: ignore[method-assign,assignment]
    assert not stage.tick(2)
    assert stage.state() is RunState.RUNNING


def test_alerts_are_seen_to_each_time_and_hold_up_nothing_when_they_cannot_be() -> None:
    stage = Stage()
    stage.tick(2)
    assert stage.control.alerts_advanced == 2

    def refuse() -> None:
        raise ApiError("the API: no")

    stage.control.advance_alerts = refuse  # type: ignore[method-assign]
    assert not stage.tick(2)
    assert stage.state() is RunState.RUNNING


Move = Callable[[Stage], object]


def _a_workflow(stage: Stage, act: Callable[[str], None]) -> None:
    for name in stage.open_workflows()[:1]:
        act(name)


def _delete_what_was_submitted(stage: Stage) -> None:
    """Somebody deletes workflows, but not in the moment between their submission and the event that tells of it."""
    view = stage.control.view(stage.run.run_id)
    if view.has_had(RunReason.SUBMITTED) or view.newest.state is RunState.BUILDING:
        for name in list(stage.cluster.found)[:1]:
            del stage.cluster.found[name]


def _cancel(stage: Stage) -> None:
    if stage.state().is_open:
        stage.control.become(stage.run.run_id, RunState.CANCELLING)


def _resume(stage: Stage) -> None:
    if not stage.state().is_open:
        stage.control.become(stage.run.run_id, RunState.QUEUED, "resumed")


def _trouble(stage: Stage, reason: str = "ErrImagePull") -> None:
    series = stage.control.view(stage.run.run_id).series
    labels = {**names.labels_of(stage.run.run_id, series), names.POOL: "amd-epyc"}
    stage.cluster.add_pod("pod", labels, (reason, "not found"))


def _let_another_run_have(node: str, stage: Stage) -> None:
    other = PodView("other", names.labels_of("20260101-120000-ffffffff", 1), stage.cluster.now, node, is_pending=False)
    stage.cluster.found_pods[other.name] = other


def _run_a_workflow(name: str, stage: Stage) -> None:
    stage.cluster.turn(name, Phase.RUNNING)


MOVES: dict[str, Move] = {
    "look": lambda stage: stage.tick(),
    "another looks": lambda stage: stage.other.once(),
    "time passes": lambda stage: stage.pass_s(1000),
    "the cluster is away": lambda stage: setattr(stage.cluster, "away", True),
    "the cluster is back": lambda stage: setattr(stage.cluster, "away", False),
    "the API goes away at once": lambda stage: setattr(stage.control, "answers_left", 0),
    "the API goes away in between": lambda stage: setattr(stage.control, "answers_left", 3),
    "the API goes away before it hears of it": lambda stage: setattr(stage.control, "answers_left", 4),
    "the API is back": lambda stage: setattr(stage.control, "answers_left", None),
    "a workflow runs": lambda stage: _a_workflow(stage, lambda name: _run_a_workflow(name, stage)),
    "a workflow ends well": lambda stage: _a_workflow(stage, lambda name: stage.end(name, well=True)),
    "a workflow fails": lambda stage: _a_workflow(stage, lambda name: stage.end(name, well=False)),
    "a workflow is deleted": _delete_what_was_submitted,
    "a kit is missing": lambda stage: stage.control.kits.update({KITS[0]: None}),
    "a pod can't start": _trouble,
    "no node takes a pod": lambda stage: _trouble(stage, "Unschedulable"),
    "another run's pod is on the node": lambda stage: _let_another_run_have("amd-epyc-1", stage),
    "no pod is on the node": lambda stage: stage.cluster.found_pods.pop("other", None),
    "nodes are gone": lambda stage: stage.cluster.nodes.clear(),
    "somebody cancels": _cancel,
    "somebody resumes": _resume,
}


@given(
    moves=st.lists(st.sampled_from(sorted(MOVES)), max_size=40), well=st.lists(st.booleans(), min_size=8, max_size=8)
)
def test_whatever_happens_every_job_is_submitted_at_most_once_a_series_and_the_run_ends(
    moves: list[str], well: list[bool]
) -> None:
    stage = Stage()
    for move in moves:
        MOVES[move](stage)
    # From here on nothing goes wrong any more but jobs and builds.
    stage.cluster.away, stage.control.answers_left = False, None
    stage.cluster.found_pods.clear()
    for ends_well in well:
        stage.pass_s(31)
        stage.tick(2)
        for name in stage.open_workflows():
            stage.end(name, well=ends_well and not stage.cluster.found[name].stopping)
    stage.tick(2)
    assert not stage.state().is_open
    assert set(stage.submissions().values()) <= {1}


def test_a_workflow_that_ends_in_a_stop_is_of_a_run_that_is_cancelled() -> None:
    stage = Stage()
    stage.tick(2)
    _cancel(stage)
    stage.tick()
    assert all(view.stopping for view in stage.cluster.found.values())
    for name, view in stage.cluster.found.items():
        stage.cluster.found[name] = replace(view, phase=Phase.FAILED)
    stage.tick()
    assert stage.state() is RunState.CANCELLED


def test_what_is_wrong_is_logged_when_it_begins_and_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage()
    with caplog.at_level(logging.INFO):
        stage.tick(2)
        stage.cluster.away = True
        assert not any(stage.tick() for _ in range(20))
        stage.cluster.away = False
        assert stage.tick()
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert warnings == [
        "polling: listing workflows: connection refused; remedy: is the API server up?",
        "polling: works again",
    ]
    assert not any(record.exc_info for record in caplog.records)


def test_a_dispatcher_lives_while_others_are_away_and_not_when_it_hangs(capfd: pytest.CaptureFixture[str]) -> None:
    stage = Stage()
    health = stage.healths["one"]
    stage.cluster.away = True
    waits: list[float] = []

    class Ending(Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout is not None
            waits.append(timeout)
            stage.pass_s(timeout)
            if len(waits) == 40:
                stage.cluster.away = False
                self.set()
            return self.is_set()

    ending = Ending()
    stage.dispatcher.run(ending)
    assert sum(waits) > STALE_S, "others were away for longer than it may hang"
    assert health.lives
    stage.pass_s(STALE_S)
    assert not health.lives
    with health.served(0) as port, httpx2.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        assert client.get("/healthz").status_code == 503
        health.end_round(answered=True)
        assert client.get("/healthz").status_code == 200
        text = client.get("/metrics").text
        assert client.get("/else").status_code == 404
    assert "GET" not in capfd.readouterr().err, "probes come every few seconds and are not logged"
    assert 'kexbench_dispatcher_rounds_total{result="failed"} 40.0' in text
    assert 'kexbench_dispatcher_rounds_total{result="answered"} 1.0' in text
    assert "kexbench_dispatcher_troubles 1.0" in text
    assert "kexbench_dispatcher_round_seconds_count 40.0" in text


def test_the_requests_of_a_round_are_counted_by_whom_they_went_to() -> None:
    stage = Stage()

    def requests() -> dict[str, float]:
        text = stage.healths["one"].answer("/metrics")[2].decode()
        return {
            to: float(text.partition(f'kexbench_dispatcher_requests_total{{to="{to}"}} ')[2].split()[0])
            for to in ("api", "kubernetes")
        }

    stage.dispatcher.once()
    first = requests()
    assert first["api"] >= 5, "the queue, the open runs, the schedules, bisections and alerts"
    assert first["kubernetes"] >= 3, "the lease, and the pods and workflows of the run"
    stage.dispatcher.once()
    assert requests()["kubernetes"] > first["kubernetes"]


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ({}, "node amd-epyc-1 has no labels of a pool of the run any more"),
        (None, "node amd-epyc-1 is not ready, or cordoned"),
    ],
    ids=["without its labels", "gone"],
)
def test_the_reason_why_a_node_with_jobs_is_in_no_pool_is_the_true_one(
    labels: dict[str, str] | None, says: str
) -> None:
    stage = Stage()
    stage.tick(2)
    for workflow in stage.open_workflows():
        stage.cluster.turn(workflow, Phase.RUNNING, node="amd-epyc-1")
    stage.tick()
    assert stage.control.view(RUN.run_id).newest.reason is RunReason.SUBMITTED
    del stage.cluster.nodes["amd-epyc-1"]
    if labels is not None:
        stage.cluster.nodes["amd-epyc-1"] = labels
    stage.tick()
    event = stage.control.view(RUN.run_id).newest
    assert (event.state, event.reason) == (RunState.RUNNING, RunReason.TROUBLED)
    assert event.detail.startswith(says)


@pytest.mark.parametrize(("pending_seconds", "state"), [(60, RunState.FAILED), (3600, RunState.RUNNING)])
def test_a_pod_may_wait_for_as_long_as_the_site_says(pending_seconds: int, state: RunState) -> None:
    stage = Stage()
    settings = replace(SETTINGS, site=JobPods.model_validate({"pendingSeconds": pending_seconds}))
    stage.dispatcher = stage.a_dispatcher("one", settings)
    stage.tick(2)
    labels = {**names.labels_of(RUN.run_id, 1), names.POOL: RUN.plan.pools[0]}
    stage.cluster.add_pod("waits", labels, ("ErrImagePull", "manifest unknown"))
    stage.tick(30)
    assert stage.state() is state


def _with_waiting(number: int) -> Stage:
    """A run that is measured, and others that wait for its nodes and know it."""
    stage = Stage()
    stage.tick(2)
    for each in range(number):
        stage.control.queue(a_cluster_run(f"20260101-130000-{each:08x}"))
    stage.tick(2)
    assert stage.state() is RunState.RUNNING
    waiting = [run_id for run_id in stage.control.runs if run_id != RUN.run_id]
    assert {stage.control.view(run_id).newest.reason for run_id in waiting} == {RunReason.WAITS_FOR_RUN}
    return stage


def test_a_round_with_five_hundred_waiting_runs_takes_as_many_requests_as_one_with_two() -> None:
    """Of the API and of Kubernetes. The nodes are those of a run that is measured."""
    answered = []
    for number in (2, 500):
        stage = _with_waiting(number)
        before = {run_id: len(events) for run_id, events in stage.control.events.items()}
        stage.control.asked.clear()
        stage.cluster.asked.clear()
        stage.tick()
        answered.append((dict(stage.control.asked), dict(stage.cluster.asked)))
        assert {run_id: len(events) for run_id, events in stage.control.events.items()} == before
    assert answered[0] == answered[1]
    assert answered[1][0]["open_runs"] == answered[1][0]["positions"] == 1
    assert "known_kits" not in answered[1][0]
    assert sum(answered[1][0].values()) <= 8


def test_only_the_waiting_run_that_is_next_has_its_plan_read_when_the_nodes_are_free() -> None:
    stage = _with_waiting(3)
    before = [len(events) for events in stage.control.events.values()]
    for name in stage.open_workflows():
        stage.end(name, well=True)
    stage.control.asked.clear()
    stage.tick()
    states = [stage.control.view(run_id).newest.reason for run_id in stage.control.runs]
    assert states == [None, RunReason.SUBMITTED, RunReason.WAITS_FOR_RUN, RunReason.WAITS_FOR_RUN]
    assert [len(events) for events in stage.control.events.values()][2:] == before[2:]
    assert stage.state() is RunState.FINISHED
    assert stage.control.asked["run"] == 1 + 1  # of the one that ended, which ApiControl keeps, and the one that began


def test_new_runs_have_their_kits_asked_for_but_no_plan_while_another_run_has_the_nodes() -> None:
    stage = Stage()
    stage.tick(2)
    for each in range(5):
        stage.control.queue(a_cluster_run(f"20260101-130000-{each:08x}"))
    stage.control.asked.clear()
    stage.tick()
    assert stage.control.asked["known_kits"] == 5
    assert stage.control.asked["run"] <= 1


def test_a_waiting_run_that_is_superseded_or_loses_its_pool_is_ended_though_nothing_was_read_of_it() -> None:
    stage = _with_waiting(2)
    first, second = [run_id for run_id in stage.control.runs if run_id != RUN.run_id]
    places = (QueuePosition(RUN.run_id), QueuePosition(first, superseded_by=second), QueuePosition(second))
    stage.control.positions = lambda: places  # type: ignore[method-assign]
    stage.tick(2)
    assert [stage.control.view(run_id).state for run_id in (first, second)] == [RunState.CANCELLED, RunState.BUILDING]
    stage.dispatcher = Dispatcher(stage.control, stage.cluster, (POOLS["amd-epyc"],), SETTINGS, "one", stage.clock)
    stage.tick()
    assert stage.control.events[second][-1].reason is RunReason.NO_POOL


def _in(pools: tuple[str, ...], run_id: str) -> Run:
    run = a_cluster_run(run_id)
    jobs = tuple(job for job in run.plan.jobs if job.pool in pools)
    return run.model_copy(update={"plan": run.plan.model_copy(update={"pools": pools, "jobs": jobs})})


@pytest.mark.parametrize("stored", [True, False])
def test_a_resumed_run_that_waits_holds_no_node_of_a_pool_in_which_all_is_stored(stored: bool) -> None:
    stage = Stage(_in(("amd-epyc",), RUN.run_id))
    stage.tick(2)
    both, small = a_cluster_run("20260101-130000-00000000"), _in(("arm.n1",), "20260101-140000-00000000")
    stage.control.queue(both)
    if stored:
        arm = [job for job in both.plan.jobs if job.pool == "arm.n1"]
        stage.control.stored[both.run_id] = {job.job_id: job.count for job in arm}
    stage.tick(2)
    assert stage.control.view(both.run_id).newest.reason is RunReason.WAITS_FOR_RUN
    stage.control.queue(small)
    stage.tick(3)
    assert stage.control.view(both.run_id).newest.reason is RunReason.WAITS_FOR_RUN
    begun = RunReason.SUBMITTED if stored else RunReason.WAITS_FOR_RUN
    assert stage.control.view(small.run_id).newest.reason is begun


def test_a_plan_that_cannot_be_read_holds_up_no_other_run_and_is_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stage = _with_waiting(1)
    (waiting,) = [run_id for run_id in stage.control.runs if run_id != RUN.run_id]
    last = _in(("arm.n1",), "20260101-140000-00000000")
    stage.cluster.nodes |= {f"arm-{number}": POOLS["arm.n1"].node_selector for number in range(9)}
    read = stage.control.run

    def refuse(run_id: str) -> Run:
        if run_id == waiting:
            raise ApiError("the API: no")
        return read(run_id)

    stage.control.run = refuse  # type: ignore[method-assign]
    stage.control.queue(last)
    stage.tick(4)
    assert stage.control.view(last.run_id).newest.reason is RunReason.SUBMITTED
    warned = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [message for message in warned if waiting in message] == [f"reading the jobs of run {waiting}: the API: no"]


def test_jobs_avoid_the_nodes_that_are_set_aside() -> None:
    stage = Stage()
    pool = next(iter(POOLS))
    stage.control.nodes_aside = {pool: ("bad-1", "bad-2")}
    stage.tick(3)
    placed = [json.dumps(manifest) for manifest in stage.cluster.submitted]
    avoiding = [text for text in placed if '"key": "metadata.name"' in text]
    assert avoiding
    assert all('"values": ["bad-1"]' in text and '"values": ["bad-2"]' in text for text in avoiding)
    assert all('"operator": "NotIn"' in text for text in avoiding)


@pytest.mark.parametrize(("aside", "reason"), [((), RunReason.SUBMITTED), (("amd-9",), RunReason.WAITS_FOR_RUN)])
def test_a_node_that_is_set_aside_is_free_for_no_run(aside: tuple[str, ...], reason: RunReason) -> None:
    """The run before has one job fewer than the pool has nodes."""
    stage = Stage(_in(("amd-epyc",), RUN.run_id))
    jobs = len(stage.control.runs[RUN.run_id].plan.jobs)
    pool = POOLS["amd-epyc"]
    stage.cluster.nodes = {f"amd-{number}": pool.node_selector for number in range(9 - jobs, 10)}
    stage.control.nodes_aside = {pool.name: aside}
    stage.tick(2)
    assert stage.state() is RunState.RUNNING
    following = _in(("amd-epyc",), "20260101-130000-00000000")
    stage.control.queue(following)
    stage.tick(2)
    assert stage.control.view(following.run_id).newest.reason is reason
