"""What a store tells of screenings, and of what is still to be judged or watched over."""

from datetime import datetime, timedelta

import pytest

from kexbench.domain.runs import Run, RunState, Trigger
from kexbench.domain.screenings import UpgradeOutcome, upgrade_key
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.store.port import Store
from tests.builders import NOON, SPEC, a_run, a_screening, an_event

HOSTILE = "it's {so:String} 'x' \\ \n «Z» ; DROP TABLE screenings; --"
RULE = f"{SPEC}alerts: {{ relevant: 1% }}\n"


def ended(
    store: Store,
    run_id: str,
    *states: RunState,
    spec: str = RULE,
    name: str = "example",
    minutes: float = 0,
    trigger: Trigger = Trigger.API,
) -> Run:
    """A run that came to these states, a second apart."""
    run = a_run(
        run_id, spec=spec.replace("name: example", f"name: {name}"), created_at=NOON + timedelta(minutes=minutes)
    )
    run = run.model_copy(update={"trigger": trigger})
    store.add_run(run)
    for seconds, state in enumerate(states or (RunState.FINISHED,), start=1):
        store.add_event(an_event(run, state, seconds=seconds))
    return run


def seconds(number: float) -> datetime:
    return NOON + timedelta(seconds=number)


def test_an_empty_store_knows_no_screening_and_nothing_to_judge(store: Store) -> None:
    assert (store.screening("x"), store.screenings(5), store.screenings_of(["x"]), store.screenings_of([])) == (
        None,
        [],
        [],
        [],
    )
    assert (store.waiting_screenings(), store.unjudged_runs(), store.watched_specs(), store.runs_of_spec("x", 5)) == (
        [],
        [],
        [],
        [],
    )


def test_a_screening_comes_back_as_it_was_and_the_newest_of_a_run_counts(store: Store) -> None:
    end = UpgradeEnd(subject=HOSTILE, version="1", source=HOSTILE, build_profile_label="", label=HOSTILE)
    first = a_screening()
    upgrade = first.upgrades[0].model_copy(update={"before": end, "outcome": "confirming"})
    first = first.model_copy(update={"upgrades": (upgrade,)})
    newest = a_screening(minutes=5)
    for screening in (newest, first, newest):
        store.add_screening(screening)
    store.add_screening(a_screening("two", minutes=1))
    assert store.screening("one") == newest
    assert store.screenings(5) == [newest, a_screening("two", minutes=1)]
    assert store.screenings(5, newest.at) == [a_screening("two", minutes=1)], "no page knows an older one of it"


def test_screenings_are_read_page_by_page_newest_first_without_gaps(store: Store) -> None:
    for number in range(7):
        screening = a_screening(f"run {number}")
        store.add_screening(screening.model_copy(update={"at": NOON + timedelta(milliseconds=number // 3)}))
    seen: list[str] = []
    page = store.screenings(2)
    while page:
        seen += [one.run_id for one in page]
        page = store.screenings(2, page[-1].at)
    assert seen == [f"run {number}" for number in reversed(range(7))]


def test_runs_that_finished_or_failed_are_to_be_judged_until_they_are_and_again_once_they_end_again(
    store: Store,
) -> None:
    run = ended(store, "one", RunState.RUNNING, RunState.FINISHED)
    ended(store, "two", RunState.FAILED)
    ended(store, "cancelled", RunState.CANCELLED)
    ended(store, "runs", RunState.RUNNING)
    assert [(row.run_id, row.spec_name, row.ended_at) for row in store.unjudged_runs()] == [
        ("two", "example", seconds(1)),
        ("one", "example", seconds(2)),
    ]
    store.add_screening(a_screening("two").model_copy(update={"ended_at": seconds(1)}))
    store.add_screening(a_screening("one").model_copy(update={"ended_at": seconds(2)}))
    assert store.unjudged_runs() == []
    store.add_event(an_event(run, RunState.QUEUED, seconds=3))
    assert store.unjudged_runs() == []
    store.add_event(an_event(run, RunState.FINISHED, seconds=4))
    assert [(row.run_id, row.ended_at) for row in store.unjudged_runs()] == [("one", seconds(4))]


@pytest.mark.parametrize("trigger", list(Trigger))
def test_runs_without_a_rule_and_those_that_raise_nothing_are_never_to_be_judged(
    store: Store, trigger: Trigger
) -> None:
    known = (Trigger.BISECTION, Trigger.BACKFILL, Trigger.CONFIRMATION, Trigger.EXPLANATION)
    quiet = (Trigger.PULL_REQUEST, *known)
    ended(store, "no rule", spec=SPEC, trigger=trigger)
    ended(store, "rule", trigger=trigger)
    assert [row.run_id for row in store.unjudged_runs()] == ([] if trigger in quiet else ["rule"])


def test_screenings_wait_while_a_confirming_run_may_end_or_be_resumed(store: Store) -> None:
    outcomes: tuple[UpgradeOutcome, ...] = ("confirming", "confirmed", "not confirmed", "cannot confirm", "quiet")
    for minutes, outcome in enumerate(outcomes):
        known = a_screening(outcome, minutes=minutes)
        upgrade = known.upgrades[0].model_copy(update={"outcome": outcome})
        store.add_screening(known.model_copy(update={"upgrades": (upgrade,)}))
    assert [one.run_id for one in store.waiting_screenings()] == ["confirming", "cannot confirm"]
    store.add_screening(a_screening("confirming", minutes=9))
    assert [one.run_id for one in store.waiting_screenings()] == ["cannot confirm"]


def test_screenings_of_an_upgrade_are_found_by_its_subjects(store: Store) -> None:
    one, two = a_screening("one"), a_screening("two", minutes=1)
    other = two.upgrades[0].model_copy(update={"after": two.upgrades[0].before.model_copy(update={"subject": HOSTILE})})
    two = two.model_copy(update={"upgrades": (*two.upgrades, other)})
    for screening in (two, one):
        store.add_screening(screening)
    key = upgrade_key("fake", "fake@1.0~1.0~0", "fake@1.1~1.1~0")
    assert store.screenings_of([key]) == [one, two]
    assert store.screenings_of([other.key, "x"]) == [two]


def test_a_spec_is_watched_as_its_newest_run_of_its_own_says(store: Store) -> None:
    ended(store, "old", RunState.RUNNING, RunState.FINISHED)
    ended(store, "newer", RunState.FAILED, minutes=1)
    ended(store, "not its own", minutes=2, trigger=Trigger.BACKFILL)
    ended(store, "fresh", RunState.QUEUED, name="fresh")
    ended(store, "had a rule", name="given-up")
    ended(store, "has none", name="given-up", spec=SPEC, minutes=1)
    given = [(row.spec_name, row.newest_run, row.since, row.finished_at) for row in store.watched_specs()]
    assert given == [("example", "newer", NOON, seconds(2)), ("fresh", "fresh", NOON, None)]


def test_the_runs_of_a_spec_are_listed_newest_first(store: Store) -> None:
    runs = [ended(store, f"run {number}", minutes=number) for number in range(4)]
    ended(store, "other", name="other", minutes=9)
    assert store.runs_of_spec("example", 3) == runs[:0:-1]
