"""What the store knows of the queue: open runs with their facts, and when specs and schedules had their last turn."""

from datetime import timedelta

from kexbench.domain.commits import Commit
from kexbench.domain.runs import Run, RunState, Trigger
from kexbench.store.port import RunDurationRow, Store
from tests.builders import NOON, SPEC, a_run, an_event


def queued(
    store: Store, run_id: str, *, minutes: int = 0, trigger: Trigger = Trigger.API, name: str = "example"
) -> Run:
    run = a_run(
        run_id, spec=SPEC.replace("name: example", f"name: {name}"), created_at=NOON + timedelta(minutes=minutes)
    )
    run = run.model_copy(update={"trigger": trigger})
    store.add_event(an_event(run, RunState.QUEUED, seconds=0))
    store.add_run(run.announced())
    return run


def test_open_runs_are_listed_with_what_their_turn_depends_on(store: Store) -> None:
    later = queued(store, "later", minutes=5, trigger=Trigger.SCHEDULE, name="nightly")
    first = queued(store, "first")
    ended = queued(store, "ended")
    store.add_event(an_event(ended, RunState.FAILED))
    one, two = store.open_run_rows()
    assert (one.run_id, one.spec_name, one.trigger, one.pools) == ("first", "example", Trigger.API, ("local",))
    assert (one.estimated_s, one.invocations) == (first.plan.estimated_s, first.plan.invocations)
    assert (one.queued_at, one.event) == (NOON, an_event(first, RunState.QUEUED, seconds=0))
    assert (two.run_id, two.trigger, two.queued_at) == ("later", Trigger.SCHEDULE, later.created_at)


def test_a_run_of_a_commit_is_listed_with_the_line_that_it_is_of(store: Store) -> None:
    at = {"repository": "benchmarks", "branch": "main", "commit": "a" * 40, "title": "", "author": "ada"}
    commit = Commit.model_validate({**at, "committed_at": NOON})
    run = a_run().announced().model_copy(update={"commit": commit, "spec_path": "bench-specs/a.yaml"})
    store.add_event(an_event(run, RunState.QUEUED, seconds=0))
    store.add_run(run)
    queued(store, "of no commit")
    assert [row.line for row in store.open_run_rows()] == ["benchmarks main bench-specs/a.yaml", ""]


def test_a_run_that_is_started_is_listed_once_with_its_newest_event(store: Store) -> None:
    run = queued(store, "run")
    store.add_event(an_event(run, RunState.RUNNING, seconds=9, detail="all is well"))
    store.add_run(run)
    (row,) = store.open_run_rows()
    assert (row.queued_at, row.event.state, row.event.detail) == (NOON, RunState.RUNNING, "all is well")


def test_a_run_that_is_queued_again_is_as_old_as_that(store: Store) -> None:
    run = queued(store, "run")
    store.add_event(an_event(run, RunState.FAILED, seconds=9))
    store.add_event(an_event(run, RunState.QUEUED, seconds=20))
    assert store.open_run_rows()[0].queued_at == NOON + timedelta(seconds=20)


def test_a_run_that_never_was_queued_is_as_old_as_its_first_event(store: Store) -> None:
    run = a_run()
    store.add_run(run)
    store.add_event(an_event(run, RunState.RUNNING, seconds=7))
    assert store.open_run_rows()[0].queued_at == NOON + timedelta(seconds=7)


def test_a_spec_began_last_when_its_last_run_first_ran(store: Store) -> None:
    assert store.last_begun() == {}
    for minutes in (0, 10):
        run = queued(store, f"run-{minutes}", minutes=minutes)
        for seconds in (3, 8):
            store.add_event(an_event(run, RunState.RUNNING, seconds=seconds, detail=str(seconds)))
    queued(store, "waits", minutes=20, name="other")
    assert store.last_begun() == {"example": NOON + timedelta(minutes=10, seconds=3)}


def test_a_schedule_was_open_until_something_changed_last_about_its_newest_run(store: Store) -> None:
    assert store.schedules_open_until() == {}
    old, new = (
        queued(store, name, minutes=minutes, trigger=Trigger.SCHEDULE) for name, minutes in (("old", 0), ("new", 60))
    )
    queued(store, "asked for", minutes=90)
    store.add_event(an_event(new, RunState.FINISHED, seconds=30))
    store.add_event(an_event(old, RunState.FINISHED, seconds=9_000))
    assert store.schedules_open_until() == {"example": new.created_at + timedelta(seconds=30)}


def test_runs_that_nothing_interrupted_tell_how_long_they_took_the_last_one_first(store: Store) -> None:
    for run_id, seconds in {"first": 70, "last": 99.5}.items():
        run = queued(store, run_id, name=run_id)
        store.add_event(an_event(run, RunState.BUILDING, seconds=1))
        store.add_event(an_event(run, RunState.RUNNING, seconds=10))
        store.add_event(an_event(run, RunState.RUNNING, seconds=20, detail="a pod was lost"))
        store.add_event(an_event(run, RunState.FINISHED, seconds=seconds))
        store.add_run(run)
    for state in (RunState.FAILED, RunState.CANCELLED, RunState.INCOMPLETE):
        run = queued(store, f"{state} at first")
        for seconds, event in enumerate((RunState.RUNNING, state, RunState.QUEUED, RunState.RUNNING)):
            store.add_event(an_event(run, event, seconds=seconds))
        store.add_event(an_event(run, RunState.FINISHED, seconds=200))
    stopped = queued(store, "the service was off")
    for seconds, event in enumerate((RunState.RUNNING, RunState.QUEUED, RunState.RUNNING)):
        store.add_event(an_event(stopped, event, seconds=1 + 50 * seconds))
    store.add_event(an_event(stopped, RunState.FINISHED, seconds=300))
    store.add_run(stopped)
    for state in (RunState.RUNNING, RunState.FAILED):
        store.add_event(an_event(queued(store, f"{state} now"), state, seconds=200))
    estimated_s = a_run().plan.estimated_s
    durations = [RunDurationRow("last", estimated_s, 89.5), RunDurationRow("first", estimated_s, 60)]
    assert (store.run_durations(9), store.run_durations(1)) == (durations, durations[:1])
