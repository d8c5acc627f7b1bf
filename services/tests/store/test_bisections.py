"""What a store tells of bisections: what was asked, the commits that are searched, and which are open."""

from datetime import timedelta

from kexbench.domain.bisections import BisectionEventKind, LineCommit
from kexbench.domain.runs import RunReason, RunState
from kexbench.store.port import Store
from tests.builders import NOON, a_bisection, a_bisection_event, a_line, a_run, an_event


def test_an_empty_store_knows_no_bisection(store: Store) -> None:
    assert (store.bisections(5), store.open_bisections(), store.bisection("x")) == ([], [], None)
    assert (store.bisection_events("x"), store.line("x")) == ([], None)


def test_a_bisection_its_line_and_its_events_come_back_as_they_were_however_often_they_are_written(
    store: Store,
) -> None:
    bisection = a_bisection().model_copy(update={"good": "v1'; DROP TABLE bisections; --\\", "asked_by": "Zoë «Z»"})
    commit = LineCommit(hash="a" * 40, author="Zoë", date="2026-01-01", subject="{limit:UInt32} 'x' \\")
    line = a_line().model_copy(update={"commits": (commit, *a_line().commits)})
    event = a_bisection_event(detail="it's {so}").model_copy(update={"builds": 12})
    for _ in range(3):
        store.add_bisection(bisection)
        store.add_bisection_event(event)
        store.add_line(line)
        assert store.bisections(5) == [bisection] == [store.bisection(bisection.bisection_id)]
        assert store.bisection_events(bisection.bisection_id) == [event]
        assert store.line(bisection.bisection_id) == line


def test_a_bisection_is_open_until_it_is_cancelled_or_has_an_answer_and_again_once_it_is_resumed(store: Store) -> None:
    kinds = BisectionEventKind
    for minutes, name in enumerate(("later", "first")):
        store.add_bisection_event(a_bisection_event(of=name, minutes=-minutes))
    assert store.open_bisections() == ["first", "later"]
    for minutes, (kind, is_open) in enumerate(
        [
            (kinds.WAITS, True),
            (kinds.CANCELLED, False),
            (kinds.RESUMED, True),
            (kinds.ENDED, False),
            (kinds.ASKED, True),
        ],
        start=1,
    ):
        store.add_bisection_event(a_bisection_event(kind, of="first", minutes=minutes))
        assert ("first" in store.open_bisections()) is is_open
    assert [event.kind for event in store.bisection_events("first")][-2:] == [kinds.ENDED, kinds.ASKED]


def test_bisections_are_read_page_by_page_newest_first_without_gaps(store: Store) -> None:
    for number in range(7):
        bisection = a_bisection(f"{number:020}")
        store.add_bisection(bisection.model_copy(update={"asked_at": NOON + timedelta(milliseconds=number // 3)}))
    seen: list[str] = []
    page = store.bisections(2)
    while page:
        assert len(page) >= 1
        seen += [one.bisection_id for one in page]
        page = store.bisections(2, page[-1].asked_at)
    assert seen == [f"{number:020}" for number in reversed(range(7))]


def test_an_event_of_a_run_tells_which_kits_did_not_build(store: Store) -> None:
    run = a_run()
    failed = an_event(run, RunState.FAILED).model_copy(
        update={"reason": RunReason.UNBUILDABLE, "about": ("fake@1.1", "fake@1.2")}
    )
    for event in (an_event(run, RunState.QUEUED, seconds=0), failed):
        store.add_event(event)
    assert [event.unbuilt for event in store.events(run.run_id)] == [(), ("fake@1.1", "fake@1.2")]
