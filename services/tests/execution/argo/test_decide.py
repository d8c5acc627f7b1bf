"""The life of a run on a cluster, and everything that can come in between: what is done, and what is reported."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from kexbench.domain.plans import Job
from kexbench.domain.runs import RunEvent, RunReason, RunState
from kexbench.execution.argo import names, words
from kexbench.execution.argo.cluster import Phase, PodView, TaskView, WorkflowView
from kexbench.execution.argo.decide import Action, BuildKits, Record, RunView, Seen, StartRun, Stop, SubmitJobs, decide
from kexbench.execution.argo.workflows import WantedKit
from tests.builders import NOON
from tests.execution.argo.cases import a_cluster_run

RUN = a_cluster_run()
JOBS = RUN.plan.jobs
ON_AMD, ON_ARM = (tuple(job for job in JOBS if job.pool == pool) for pool in RUN.plan.pools)
ALL = {job.job_id: job.count for job in JOBS}
KITS = tuple(WantedKit(f"fake@{version}", "x86_64") for version in ("1.0", "1.1"))
BUILT: dict[WantedKit, str | None] = dict.fromkeys(KITS, "0123456789abcdef")
MISSING: dict[WantedKit, str | None] = {**BUILT, KITS[1]: None}
KITS_WORKFLOW = "kexbench-kits-20260101-120000-0a0b0c0d-1"
AMD_WORKFLOW, ARM_WORKFLOW = (f"kexbench-run-20260101-120000-0a0b0c0d-1-{number}" for number in (0, 1))
QUEUED, BUILDING, RUNNING, CANCELLING = (state for state in RunState if state.is_open)


class Event(tuple[RunState, str]):
    """State and detail of an event, which carries its reason with it."""

    record: Record

    @classmethod
    def of(cls, state: RunState, detail: str, reason: RunReason | None = None, *about: str) -> "Event":
        event = cls((state, detail))
        event.record = Record(state, detail, reason, about)
        return event


SUBMITTED = Event.of(RUNNING, "jobs submitted: 2 to pool amd-epyc, 2 to pool arm.n1", RunReason.SUBMITTED)
BUILDS = Event.of(BUILDING, "building 1 kit: fake@1.1 for x86_64", RunReason.BUILDS_KITS, "fake@1.1 for x86_64")
GOES_ON = Event.of(RUNNING, words.GOES_ON, RunReason.GOES_ON)
NO_NODE = Event.of(RUNNING, "pool arm.n1 has no ready node", RunReason.TROUBLED, "no node arm.n1")
STARTED: list[tuple[RunState, str]] = [(QUEUED, ""), (RUNNING, ""), SUBMITTED]
PENDING_AFTER_S = 900
LATER = NOON + timedelta(seconds=PENDING_AFTER_S + 60)
IMAGE = ("ImagePullBackOff", 'Back-off pulling image "registry.example/kexbench/runner:1": not found')
NO_FIT = ("Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.")


@dataclass
class World:
    """What is seen of the run; quiet unless a test says otherwise."""

    kits: Mapping[WantedKit, str | None] = field(default_factory=lambda: BUILT)
    workflows: tuple[WorkflowView, ...] = ()
    pending: tuple[PodView, ...] = ()
    nodes: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {"amd-epyc": ("amd-epyc-1", "amd-epyc-2"), "arm.n1": ("arm.n1-1",)}
    )
    busy: frozenset[str] = frozenset()
    stored: Mapping[str, int] = field(default_factory=dict)
    waits: bool = False
    superseded_by: str | None = None
    disrupted: tuple[PodView, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    unlabelled: frozenset[str] = frozenset()

    def decide(self, events: list[tuple[RunState, str]], *, late: bool = False) -> tuple[Action, ...]:
        run_events = [
            RunEvent(run_id=RUN.run_id, at=NOON + timedelta(seconds=second), **vars(record))
            for second, record in enumerate(
                each.record if isinstance(each, Event) else Record(*each) for each in events
            )
        ]
        given_way = (self.waits, self.superseded_by, self.disrupted, self.unlabelled)
        known = (self.kits, self.workflows, self.pending, self.nodes, self.busy, self.stored, self.left_out)
        seen = Seen(*known, *given_way)
        return decide(RunView.of(RUN, run_events), seen, LATER if late else NOON, PENDING_AFTER_S)

    def recorded(self, events: list[tuple[RunState, str]], *, late: bool = False) -> Event:
        """The only thing that is recorded."""
        (record,) = (action for action in self.decide(events, late=late) if isinstance(action, Record))
        return Event.of(record.state, record.detail, record.reason, *record.about)


def test_a_run_whose_kits_are_there_waits_for_its_turn_and_says_so_once() -> None:
    world = World(waits=True)
    words_of_it = world.recorded([(QUEUED, "")])
    assert words_of_it == (BUILDING, words.WAITS_ITS_TURN)
    assert world.decide([(QUEUED, ""), words_of_it]) == ()
    assert World().decide([(QUEUED, ""), words_of_it]) == (StartRun(),)
    assert World(kits=MISSING).decide([(QUEUED, ""), words_of_it])[0] == BuildKits((KITS[1],))


def test_a_superseded_run_is_cancelled_while_it_waits_and_let_be_once_it_was_begun() -> None:
    world = World(superseded_by="newer", kits=MISSING)
    assert world.recorded([(QUEUED, "")]) == (CANCELLING, "superseded by run newer")
    assert world.recorded([(QUEUED, ""), (BUILDING, "")]) == (CANCELLING, "superseded by run newer")
    assert not any(isinstance(action, Stop) for action in World(superseded_by="newer").decide(STARTED[:2]))


def workflow(name: str, phase: Phase, *tasks: TaskView, message: str = "") -> WorkflowView:
    return WorkflowView(name, names.labels_of(RUN.run_id, 1), phase, NOON, message, tasks=tasks)


def of_jobs(phase: Phase, message: str = "", *, retries: int = 0) -> tuple[WorkflowView, ...]:
    """Both workflows of the run, all their jobs in one phase."""
    return tuple(
        workflow(name, phase, *(TaskView(job.job_id, phase, message, f"{job.pool}-1", retries=retries) for job in jobs))
        for name, jobs in ((AMD_WORKFLOW, ON_AMD), (ARM_WORKFLOW, ON_ARM))
    )


def waiting(pool: str, trouble: tuple[str, str], name: str = "pod-1") -> PodView:
    labels = {**names.labels_of(RUN.run_id, 1), names.POOL: pool}
    return PodView(name, labels, NOON, reason=trouble[0], message=trouble[1])


# The life of a run


def test_kits_that_are_missing_are_built_and_no_others() -> None:
    assert World(kits=MISSING).decide([(QUEUED, "")]) == (
        BuildKits((KITS[1],)),
        BUILDS.record,
    )


def test_while_kits_are_built_nothing_is_done() -> None:
    world = World(kits=MISSING, workflows=(workflow(KITS_WORKFLOW, Phase.RUNNING),))
    assert world.decide([(QUEUED, ""), BUILDS]) == ()


def test_a_dispatcher_that_was_killed_before_it_could_say_that_kits_are_built_says_it() -> None:
    world = World(kits=MISSING, workflows=(workflow(KITS_WORKFLOW, Phase.RUNNING),))
    assert world.decide([(QUEUED, "")]) == (BUILDS.record,)


@pytest.mark.parametrize("state", [QUEUED, BUILDING])
def test_a_run_whose_kits_are_all_there_is_started(state: RunState) -> None:
    assert World().decide([(QUEUED, ""), (state, "")]) == (StartRun(),)


def test_a_run_that_started_has_its_jobs_submitted() -> None:
    assert World().decide(STARTED[:2]) == (SubmitJobs(JOBS), SUBMITTED.record)


def test_jobs_that_were_submitted_are_not_submitted_again() -> None:
    assert World(workflows=of_jobs(Phase.RUNNING)).decide(STARTED) == ()


def test_a_dispatcher_that_was_killed_while_it_submitted_submits_all_again_under_the_same_names() -> None:
    assert World(workflows=of_jobs(Phase.RUNNING)[:1]).decide(STARTED[:2]) == (SubmitJobs(JOBS), SUBMITTED.record)


def test_a_run_whose_invocations_are_all_stored_and_whose_workflows_ended_is_finished() -> None:
    assert World(workflows=of_jobs(Phase.RUNNING), stored=ALL).decide(STARTED) == ()
    assert World(workflows=of_jobs(Phase.SUCCEEDED), stored=ALL).recorded(STARTED) == (RunState.FINISHED, "")


def test_a_run_that_is_resumed_submits_only_jobs_that_lack_invocations() -> None:
    events = [*STARTED, (RunState.FAILED, "node lost"), (QUEUED, "resumed"), (RUNNING, "")]
    first, *rest = JOBS
    stored = {**ALL, first.job_id: first.count - 1, rest[-1].job_id: 0}
    assert World(stored=stored).decide(events) == (
        SubmitJobs((first, rest[-1])),
        Record(RUNNING, "jobs submitted: 1 to pool amd-epyc, 1 to pool arm.n1", RunReason.SUBMITTED),
    )


def test_a_run_that_is_resumed_with_nothing_left_is_finished() -> None:
    events = [*STARTED, (RunState.FAILED, ""), (QUEUED, ""), (RUNNING, "")]
    assert World(stored=ALL).decide(events) == (Record(RunState.FINISHED, ""),)


def test_a_run_that_is_cancelled_has_its_workflows_stopped_and_waits_for_their_end() -> None:
    events = [*STARTED, (CANCELLING, "")]
    running = of_jobs(Phase.RUNNING)
    assert World(workflows=running).decide(events) == (Stop(AMD_WORKFLOW), Stop(ARM_WORKFLOW))
    stopping = tuple(replace(workflow, stopping=True) for workflow in running)
    assert World(workflows=stopping).decide(events) == ()
    assert World(workflows=of_jobs(Phase.FAILED), stored={JOBS[0].job_id: 3}).recorded(events) == (
        RunState.CANCELLED,
        "cancelled. 3 of 24 invocations are stored; resume the run to measure the rest",
    )


def test_a_run_that_is_cancelled_while_its_kits_are_built_stops_building() -> None:
    world = World(kits=MISSING, workflows=(workflow(KITS_WORKFLOW, Phase.RUNNING),))
    assert world.decide([(QUEUED, ""), (BUILDING, ""), (CANCELLING, "")]) == (Stop(KITS_WORKFLOW),)


def test_an_event_that_was_on_its_way_does_not_undo_a_cancelling() -> None:
    events = [(QUEUED, ""), (RUNNING, ""), (CANCELLING, ""), SUBMITTED]
    assert World(workflows=of_jobs(Phase.RUNNING)).decide(events) == (Stop(AMD_WORKFLOW), Stop(ARM_WORKFLOW))


def test_a_workflow_that_argo_never_looked_at_holds_up_no_cancelling() -> None:
    unseen = tuple(replace(workflow, stopping=True) for workflow in of_jobs(Phase.UNSEEN))
    assert World(workflows=unseen).recorded([*STARTED, (CANCELLING, "")])[0] is RunState.CANCELLED


@pytest.mark.parametrize("end", [RunState.FINISHED, RunState.CANCELLED, RunState.FAILED])
def test_nothing_is_done_about_a_run_that_ended(end: RunState) -> None:
    assert World(workflows=of_jobs(Phase.RUNNING), kits=MISSING).decide([*STARTED, (end, "")]) == ()


def test_a_run_that_another_machine_measures_is_not_touched() -> None:
    event = RunEvent(run_id=RUN.run_id, at=NOON, state=RUNNING)
    with pytest.raises(ValueError, match="never queued"):
        RunView.of(RUN, [event])


# What can come in between


def test_a_kit_that_can_not_be_built_ends_the_run_with_what_its_pod_said() -> None:
    task = TaskView("fake@1.1", Phase.FAILED, "main: Error (exit code 2): fake@1.1: no such version\n", "amd-epyc-1")
    world = World(kits=MISSING, workflows=(workflow(KITS_WORKFLOW, Phase.FAILED, task),))
    assert world.recorded([(QUEUED, ""), (BUILDING, "")]) == (
        RunState.FAILED,
        (
            "1 kit could not be built: fake@1.1 for x86_64: main: Error (exit code 2): fake@1.1: no such version. "
            f"Check the pods of workflow {KITS_WORKFLOW}, fix the source in the catalogue, and resume the run"
        ),
    )


@pytest.mark.parametrize(
    ("message", "unbuilt"),
    [
        ("build: Error (exit code 6): fake@1.1: compile failed: no such header", ("fake@1.1",)),
        ("build: Error (exit code 2): fake@1.1: fetch failed: exit code 6 of the network", ()),
        ("wait: Error (exit code 6)", ()),
    ],
)
def test_a_kit_whose_sources_do_not_build_is_distinguished_from_one_that_something_was_missing_for(
    message: str, unbuilt: tuple[str, ...]
) -> None:
    task = TaskView("fake@1.1", Phase.FAILED, message, "amd-epyc-1")
    world = World(kits=MISSING, workflows=(workflow(KITS_WORKFLOW, Phase.FAILED, task),))
    (action,) = world.decide([(QUEUED, ""), BUILDS])
    assert isinstance(action, Record)
    assert (action.state, action.about) == (RunState.FAILED, unbuilt)
    assert action.reason is (RunReason.UNBUILDABLE if unbuilt else RunReason.KITS_FAILED)


def test_a_build_that_ended_well_without_its_kit_ends_the_run() -> None:
    world = World(kits=MISSING, workflows=(workflow(KITS_WORKFLOW, Phase.SUCCEEDED),))
    state, detail = world.recorded([(QUEUED, ""), (BUILDING, "")])
    assert (state, detail[:48]) == (RunState.FAILED, "1 kit could not be built: fake@1.1 for x86_64. C")


def test_a_workflow_of_kits_that_was_deleted_by_hand_ends_the_run() -> None:
    assert World(kits=MISSING).recorded([(QUEUED, ""), BUILDS]) == (
        RunState.FAILED,
        (
            f"workflow {KITS_WORKFLOW} was deleted before it built 1 kit (fake@1.1 for x86_64). "
            "Resume the run to build them"
        ),
    )


def test_workflows_that_were_deleted_by_hand_end_the_run_with_what_is_stored() -> None:
    state, detail = World(stored={JOBS[0].job_id: 2}).recorded(STARTED)
    assert state is RunState.FAILED
    assert detail.startswith("the workflow of 4 jobs (")
    assert detail.endswith(
        " and 1 more) was deleted. 2 of 24 invocations are stored; resume the run to measure the rest"
    )


def test_workflows_that_are_gone_after_everything_was_stored_are_not_missed() -> None:
    assert World(stored=ALL).recorded(STARTED) == (RunState.FINISHED, "")


def test_one_workflow_deleted_by_hand_is_reported_while_the_others_go_on() -> None:
    world = World(workflows=of_jobs(Phase.RUNNING)[1:])
    assert world.recorded(STARTED) == (RUNNING, words.lost(ON_AMD))
    assert world.decide([*STARTED, world.recorded(STARTED)]) == ()


def test_a_missing_image_is_reported_at_once_and_ends_the_run_after_a_while() -> None:
    world = World(
        workflows=of_jobs(Phase.PENDING),
        pending=(waiting("amd-epyc", IMAGE), waiting("amd-epyc", IMAGE, "pod-2"), waiting("arm.n1", IMAGE, "pod-3")),
    )
    event = world.recorded(STARTED)
    assert event[0] is RUNNING
    assert event[1].split("; ")[0] == (
        '2 pods of pool amd-epyc cannot start: ImagePullBackOff: Back-off pulling image "registry.example/kexbench/'
        'runner:1": not found. Push the image, or correct its name and let the nodes pull it'
    )
    actions = world.decide([*STARTED, event], late=True)
    assert actions[:2] == (Stop(AMD_WORKFLOW), Stop(ARM_WORKFLOW))
    ended, why = world.recorded([*STARTED, event], late=True)
    assert ended is RunState.FAILED
    assert why.startswith("gave up after 15 minutes of waiting: 2 pods of pool amd-epyc")


def test_a_missing_image_of_the_builder_ends_the_run_as_well() -> None:
    world = World(
        kits=MISSING,
        workflows=(workflow(KITS_WORKFLOW, Phase.PENDING),),
        pending=(waiting("amd-epyc", ("ErrImagePull", "not found")),),
    )
    events: list[tuple[RunState, str]] = [(QUEUED, ""), BUILDS]
    events.append(world.recorded(events))
    assert world.recorded(events, late=True)[0] is RunState.FAILED
    assert Stop(KITS_WORKFLOW) in world.decide(events, late=True)


def test_two_names_of_one_trouble_are_reported_once_each() -> None:
    pull, back_off = (waiting("amd-epyc", (reason, "not found")) for reason in ("ErrImagePull", "ImagePullBackOff"))
    running = of_jobs(Phase.PENDING)
    first = World(workflows=running, pending=(pull,)).recorded(STARTED)
    second = World(workflows=running, pending=(back_off,)).recorded([*STARTED, first])
    assert World(workflows=running, pending=(pull,)).decide([*STARTED, first, second]) == ()


def test_a_pool_without_nodes_is_reported_and_ends_the_run_after_a_while() -> None:
    world = World(
        workflows=of_jobs(Phase.PENDING)[1:],
        pending=(waiting("arm.n1", NO_FIT),),
        nodes={"amd-epyc": ("amd-epyc-1",), "arm.n1": ()},
        stored={job.job_id: job.count for job in ON_AMD},
    )
    expected = "pool arm.n1 has no ready node: add a node with the pool's labels, or check why its nodes are not ready"
    event = world.recorded(STARTED)
    assert event == (RUNNING, expected)
    assert world.recorded([*STARTED, event], late=True) == (
        RunState.FAILED,
        (
            f"gave up after 15 minutes of waiting: {expected}. "
            "12 of 24 invocations are stored; then resume the run to measure the rest"
        ),
    )


def test_a_pool_that_the_cluster_has_no_more_ends_the_run() -> None:
    world = World(nodes={"amd-epyc": ("amd-epyc-1",)})
    for events in ([(QUEUED, "")], STARTED[:2]):
        assert world.recorded(events) == (
            RunState.FAILED,
            (
                "there is no pool arm.n1 on this cluster any more: "
                "restore the pool and resume the run, or name another pool in the spec"
            ),
        )


def test_a_pod_that_fits_no_node_is_reported_and_ends_the_run_after_a_while() -> None:
    world = World(workflows=of_jobs(Phase.PENDING), pending=(waiting("amd-epyc", NO_FIT),))
    event = world.recorded(STARTED)
    state, detail = event
    assert (state, detail) == (
        RUNNING,
        (
            "1 pod of pool amd-epyc cannot start: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu. "
            "Check that the pool's nodes have its labels, CPUs and memory, and only taints it tolerates"
        ),
    )
    assert world.recorded([*STARTED, event], late=True)[0] is RunState.FAILED


def test_a_pod_that_waits_for_other_pods_of_kexbench_waits_as_long_as_it_takes() -> None:
    world = World(
        workflows=of_jobs(Phase.PENDING), pending=(waiting("amd-epyc", NO_FIT),), busy=frozenset(["amd-epyc-2"])
    )
    assert world.decide(STARTED, late=True) == ()
    idle = replace(world, busy=frozenset(["arm.n1-1"]))
    assert idle.recorded(STARTED, late=True)[0] is RUNNING, "between two turns it is reported, and not given up"
    again = [*STARTED, idle.recorded(STARTED)]
    assert world.recorded(again, late=True) == (RUNNING, words.GOES_ON)
    assert idle.recorded([*again, GOES_ON], late=True)[0] is RUNNING


def test_a_pod_that_waits_too_long_ends_no_run_of_which_others_wait_for_their_turn() -> None:
    pods = (waiting("amd-epyc", NO_FIT), waiting("arm.n1", IMAGE, "pod-2"))
    world = World(workflows=of_jobs(Phase.PENDING), pending=pods, busy=frozenset(["amd-epyc-1"]))
    assert world.decide([*STARTED, world.recorded(STARTED)], late=True) == ()


def test_a_pod_that_waits_too_long_ends_no_run_of_which_others_measure() -> None:
    amd, arm = of_jobs(Phase.RUNNING)[0], of_jobs(Phase.PENDING)[1]
    world = World(workflows=(amd, arm), pending=(waiting("arm.n1", IMAGE),))
    assert world.decide([*STARTED, world.recorded(STARTED)], late=True) == ()


def test_a_pod_that_is_just_being_started_is_no_news() -> None:
    assert World(workflows=of_jobs(Phase.PENDING), pending=(waiting("amd-epyc", ("", "")),)).decide(STARTED) == ()


def test_a_pod_that_is_being_started_for_too_long_is_reported_and_ends_the_run_after_a_while() -> None:
    world = World(workflows=of_jobs(Phase.PENDING), pending=(waiting("amd-epyc", ("", "")),))
    event = world.recorded(STARTED, late=True)
    state, detail = event
    assert (state, detail) == (
        RUNNING,
        "1 pod of pool amd-epyc cannot start: no reason given. Check pod pod-1",
    )
    assert world.recorded([*STARTED, event], late=True)[0] is RunState.FAILED


def test_a_pod_that_is_new_is_not_given_up_for_what_an_earlier_one_waited_for() -> None:
    world = World(workflows=of_jobs(Phase.PENDING), pending=(waiting("amd-epyc", IMAGE),))
    new = replace(world, pending=(replace(world.pending[0], created_at=LATER),))
    assert new.decide([*STARTED, world.recorded(STARTED)], late=True) == ()


def test_a_pod_without_its_image_does_not_wait_for_its_turn_whoever_is_on_the_nodes() -> None:
    world = World(
        workflows=of_jobs(Phase.PENDING), pending=(waiting("amd-epyc", IMAGE),), busy=frozenset(["amd-epyc-1"])
    )
    assert world.recorded([*STARTED, world.recorded(STARTED)], late=True)[0] is RunState.FAILED


def test_trouble_that_is_gone_is_not_said_to_be_over_before_something_runs() -> None:
    noted = [*STARTED, NO_NODE]
    assert World(workflows=of_jobs(Phase.PENDING)).decide(noted) == ()


def test_a_run_that_goes_on_after_waiting_says_so_once() -> None:
    noted = [*STARTED, NO_NODE]
    world = World(workflows=of_jobs(Phase.RUNNING))
    assert world.recorded(noted) == (RUNNING, words.GOES_ON)
    assert world.decide([*noted, GOES_ON]) == ()


def test_a_controller_that_is_away_is_reported_and_waited_for() -> None:
    world = World(workflows=of_jobs(Phase.UNSEEN))
    assert world.decide(STARTED) == ()
    state, detail = world.recorded(STARTED, late=True)
    assert state is RUNNING
    assert detail.startswith(f"Argo's workflow controller has not processed workflow {AMD_WORKFLOW} yet")


def test_a_job_that_lost_its_node_is_reported_while_it_is_tried_again() -> None:
    lost = of_jobs(Phase.RUNNING, "pod deleted", retries=1)[0]
    world = World(workflows=(replace(lost, tasks=lost.tasks[:1]),), stored=dict(ALL, **_none(ON_AMD)))
    state, detail = world.recorded(STARTED)
    assert state is RUNNING
    why = "its pod was deleted, or its node is gone: pod deleted"
    assert f"{ON_AMD[0].job_id} was lost ({why}) and is retried (1 of 2)" in detail
    both = replace(world, workflows=(lost,)).recorded(STARTED)[1]
    assert f"{ON_AMD[0].job_id}, {ON_AMD[1].job_id} were lost ({why}) and are retried" in both


@pytest.mark.parametrize(
    ("message", "meaning"),
    [
        ("main: Error (exit code 143)", "its pod was asked to stop"),
        ("main: Error (exit code 3)", "its pod was asked to stop"),
        ("main: OOMKilled (exit code 137)", "it was killed, possibly for lack of memory"),
    ],
)
def test_a_lost_pod_is_reported_with_what_its_number_means(message: str, meaning: str) -> None:
    lost = of_jobs(Phase.RUNNING, message, retries=1)[0]
    world = World(workflows=(replace(lost, tasks=lost.tasks[:1]),), stored=dict(ALL, **_none(ON_AMD)))
    assert f"was lost ({meaning}: {message}) and is retried" in world.recorded(STARTED)[1]


def _lost_and_back(phase: Phase, message: str = "pod deleted", retries: int = 1) -> tuple[WorkflowView, ...]:
    """The first job's pod was lost; the retry and all other jobs are in one phase."""
    amd, arm = of_jobs(phase)
    first = replace(amd.tasks[0], message=message, retries=retries)
    return replace(amd, tasks=(first, *amd.tasks[1:])), arm


LOST_ONCE = (
    f"{ON_AMD[0].job_id} was lost (its pod was deleted, or its node is gone: pod deleted) and was retried (1 of 2)"
)


def test_a_pod_that_was_lost_while_nobody_looked_is_reported_before_the_run_finishes() -> None:
    world = World(workflows=_lost_and_back(Phase.SUCCEEDED), stored=ALL)
    lost = Record(RUNNING, LOST_ONCE, RunReason.TROUBLED, (f"lost {ON_AMD[0].job_id}:1",))
    assert world.decide(STARTED) == (lost, Record(RunState.FINISHED, ""))
    event = Event.of(lost.state, lost.detail, lost.reason, *lost.about)
    assert world.decide([*STARTED, event]) == (Record(RunState.FINISHED, ""),), (
        "a dispatcher that was killed in between"
    )


def test_a_pod_that_was_lost_while_nobody_looked_is_reported_once_while_other_jobs_run() -> None:
    amd, arm = _lost_and_back(Phase.RUNNING)
    ended = replace(amd.tasks[0], phase=Phase.SUCCEEDED)
    world = World(workflows=(replace(amd, tasks=(ended, *amd.tasks[1:])), arm))
    event = world.recorded(STARTED)
    assert event == (RUNNING, LOST_ONCE)
    assert world.recorded([*STARTED, event]) == (RUNNING, words.GOES_ON)
    assert world.decide([*STARTED, event, GOES_ON]) == ()


def test_a_pod_whose_loss_was_seen_is_not_reported_again_when_its_retry_has_ended() -> None:
    event = World(workflows=_lost_and_back(Phase.RUNNING)).recorded(STARTED)
    assert event[1].endswith("and is retried (1 of 2)")
    assert World(workflows=_lost_and_back(Phase.SUCCEEDED), stored=ALL).decide([*STARTED, event]) == (
        Record(RunState.FINISHED, ""),
    )
    again = World(workflows=_lost_and_back(Phase.SUCCEEDED, retries=2), stored=ALL).decide([*STARTED, event])
    assert [(action.state, action.about) for action in again if isinstance(action, Record)] == [
        (RUNNING, (f"lost {ON_AMD[0].job_id}:2",)),
        (RunState.FINISHED, ()),
    ]


def test_a_lost_pod_of_a_run_that_was_cancelled_meanwhile_is_reported() -> None:
    world = World(workflows=_lost_and_back(Phase.SUCCEEDED), stored=ALL)
    lost, cancelled = world.decide([*STARTED, (CANCELLING, "")])
    assert isinstance(lost, Record)
    assert (lost.state, lost.detail) == (CANCELLING, LOST_ONCE)
    assert isinstance(cancelled, Record)
    assert cancelled.state is RunState.CANCELLED


def test_a_lost_pod_that_built_a_kit_is_reported_before_the_run_starts() -> None:
    task = TaskView("fake@1.1", Phase.SUCCEEDED, "pod deleted", "amd-epyc-1", retries=1)
    world = World(workflows=(workflow(KITS_WORKFLOW, Phase.SUCCEEDED, task),))
    lost, started = world.decide([(QUEUED, ""), BUILDS])
    assert isinstance(lost, Record)
    assert (lost.state, lost.about, started) == (BUILDING, ("lost fake@1.1:1",), StartRun())


@pytest.mark.parametrize(("kits", "then"), [(BUILT, StartRun()), (MISSING, BUILDS.record)])
def test_a_lost_pod_that_built_a_kit_queues_no_run_again_if_nobody_said_that_it_builds(
    kits: Mapping[WantedKit, str | None], then: Action
) -> None:
    task = TaskView("fake@1.1", Phase.RUNNING, "pod deleted", "amd-epyc-1", retries=1)
    world = World(kits=kits, workflows=(workflow(KITS_WORKFLOW, Phase.RUNNING, task),))
    lost, other = world.decide([(QUEUED, "")])
    assert isinstance(lost, Record)
    assert (lost.state, lost.about, other) == (BUILDING, ("lost fake@1.1:1",), then)


def test_a_lost_pod_is_reported_once_and_the_run_goes_on_when_its_retry_runs() -> None:
    lost = World(workflows=_lost_and_back(Phase.RUNNING))
    events = [*STARTED, lost.recorded(STARTED)]
    amd, arm = _lost_and_back(Phase.RUNNING)
    pending = replace(amd, tasks=(replace(amd.tasks[0], phase=Phase.PENDING), *amd.tasks[1:]))
    assert World(workflows=(pending, arm)).decide(events) == ()
    assert lost.recorded(events) == (RUNNING, words.GOES_ON)
    assert lost.decide([*events, GOES_ON]) == ()
    away = replace(lost, nodes={"amd-epyc": ("amd-epyc-1",), "arm.n1": ()})
    assert away.recorded([*events, GOES_ON])[1].startswith("node arm.n1-1 is not ready")


def test_a_pod_that_kubernetes_ends_is_reported_with_its_reason() -> None:
    why = "EvictionByEvictionAPI: Eviction API: evicting"
    pods = tuple(PodView(f"pod-{number}", {}, NOON, "node-1", is_pending=False, disruption=why) for number in (1, 2))
    world = World(workflows=of_jobs(Phase.RUNNING), disrupted=pods)
    event = world.recorded(STARTED)
    state, detail = event
    assert (state, detail) == (RUNNING, f"Kubernetes is stopping pod pod-1 and 1 more pod on node node-1: {why}")
    assert world.decide([*STARTED, event]) == ()


def test_of_many_nodes_that_do_not_answer_some_are_named_and_all_are_counted() -> None:
    tasks = tuple(TaskView(f"job-{number}", Phase.RUNNING, "", f"node-{number}") for number in range(9))
    away = World(workflows=(workflow(AMD_WORKFLOW, Phase.RUNNING, *tasks),))
    (sentence,) = [detail for detail in away.recorded(STARTED)[1].split("; ") if "not ready" in detail]
    assert sentence.startswith(
        "9 nodes (node-0, node-1, node-2 and 6 more) are not ready, or cordoned, while 9 tasks run on them. "
    )


def test_a_node_that_does_not_answer_while_jobs_run_on_it_is_reported_until_it_does() -> None:
    away = World(workflows=of_jobs(Phase.RUNNING), nodes={"amd-epyc": ("amd-epyc-2",), "arm.n1": ("arm.n1-1",)})
    event = away.recorded(STARTED)
    _state, detail = event
    assert detail.startswith(f"node amd-epyc-1 is not ready, or cordoned, while {ON_AMD[0].job_id}, {ON_AMD[1].job_id}")
    back = World(workflows=of_jobs(Phase.RUNNING))
    assert back.recorded([*STARTED, event]) == (RUNNING, words.GOES_ON)


def test_a_ready_node_that_lost_its_pools_labels_is_not_said_to_be_away() -> None:
    nodes = {"amd-epyc": ("amd-epyc-2",), "arm.n1": ()}
    world = World(workflows=of_jobs(Phase.RUNNING), nodes=nodes, unlabelled=frozenset({"amd-epyc-1"}))
    event = world.recorded(STARTED)
    amd, arm = event[1].split("; ")
    assert amd == (
        f"node amd-epyc-1 has no labels of a pool of the run any more, while {ON_AMD[0].job_id}, {ON_AMD[1].job_id} "
        "still run there: give the labels back, or let the tasks end"
    )
    assert arm.startswith("node arm.n1-1 is not ready, or cordoned")
    assert world.decide([*STARTED, event]) == ()


def test_jobs_of_a_pool_that_was_removed_are_not_said_to_be_on_a_node_that_is_not_ready() -> None:
    world = World(workflows=of_jobs(Phase.RUNNING), nodes={"amd-epyc": ("amd-epyc-1",)})
    event = world.recorded(STARTED)
    running = ", ".join(job.job_id for job in ON_ARM)
    assert event == (
        RUNNING,
        (
            f"there is no pool arm.n1 on this cluster any more, but {running} still run on its nodes: "
            "restore the pool, or let them end"
        ),
    )
    assert world.decide([*STARTED, event]) == ()


def test_a_pod_of_a_pool_that_was_removed_does_not_wait_for_a_node_with_the_pools_labels() -> None:
    world = World(
        workflows=of_jobs(Phase.PENDING)[1:],
        pending=(waiting("arm.n1", NO_FIT),),
        nodes={"amd-epyc": ("amd-epyc-1",)},
        stored={job.job_id: job.count for job in ON_AMD},
    )
    event = world.recorded(STARTED)
    assert event[1].startswith("there is no pool arm.n1 on this cluster any more")
    assert "labels" not in event[1]
    assert world.recorded([*STARTED, event], late=True)[0] is RunState.FAILED


def test_a_job_that_lost_its_node_every_time_ends_the_run_with_the_node() -> None:
    world = World(workflows=of_jobs(Phase.ERROR, "pod deleted", retries=2), stored=dict(ALL, **_none(ON_AMD)))
    ids = ", ".join(job.job_id for job in sorted(ON_AMD, key=lambda job: job.job_id))
    assert world.recorded(STARTED) == (
        RunState.FAILED,
        (
            f"2 jobs ({ids}) on amd-epyc-1: pod deleted: its pod was stopped, 3 times: find out who drains nodes or "
            "deletes pods. 12 of 24 invocations are stored; resume the run to measure the rest"
        ),
    )


@pytest.mark.parametrize(
    ("message", "remedy"),
    [
        ("main: Error (exit code 2): no such kit", "see the log of its pod"),
        (
            "main: Error (exit code 4): CPUs 0-3 are shared",
            "static CPU manager on the nodes, or set isolation: best-effort",
        ),
        ("fetch: Error (exit code 5): 403", "see the log of the API"),
        ("main: OOMKilled (exit code 137)", "give the pool more"),
        ("Pod was active on the node longer than the specified deadline", "raise maxDuration"),
        ("The node was low on resource: memory.", "its node was lost or drained"),
        ("something new", "something new. "),
    ],
)
def test_jobs_that_ended_without_all_invocations_end_the_run_with_what_to_do(message: str, remedy: str) -> None:
    state, detail = World(workflows=of_jobs(Phase.FAILED, message)).recorded(STARTED)
    assert state is RunState.FAILED
    assert message.rstrip(".") in detail
    assert remedy in detail
    assert detail.endswith("0 of 24 invocations are stored; resume the run to measure the rest")


def test_jobs_that_ended_well_without_all_invocations_leave_the_run_incomplete() -> None:
    state, detail = World(workflows=of_jobs(Phase.SUCCEEDED), stored=dict(ALL, **_none(ON_ARM))).recorded(STARTED)
    assert state is RunState.INCOMPLETE
    assert "2 jobs ended before all was measured" in detail
    assert "their time was up (maxDuration)" in detail


def test_jobs_that_left_out_only_what_is_hopeless_finish_the_run() -> None:
    left_out = {job.job_id: 2 for job in JOBS}
    stored = {job.job_id: job.count - 2 for job in JOBS}
    world = World(workflows=of_jobs(Phase.SUCCEEDED), stored=stored, left_out=left_out)
    assert world.recorded(STARTED) == (RunState.FINISHED, "")
    late = replace(world, stored={**stored, ON_ARM[0].job_id: 0})
    state, detail = late.recorded(STARTED)
    assert state is RunState.INCOMPLETE
    assert detail.startswith(f"1 job ended before all was measured ({ON_ARM[0].job_id}): their time was up")


def test_a_job_that_delivered_everything_and_ended_badly_is_reported_and_no_failure() -> None:
    message = "main: Error (exit code 4): CPUs 0-3 are shared"
    state, detail = World(workflows=of_jobs(Phase.FAILED, message), stored=ALL).recorded(STARTED)
    assert state is RunState.FINISHED
    assert detail.startswith("all results are stored, but 4 jobs (")


def _none(jobs: tuple[Job, ...]) -> dict[str, int]:
    return {job.job_id: 0 for job in jobs}
