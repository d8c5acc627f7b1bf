"""Which time of a schedule is to begin a run now."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.schedules import Schedule
from kexbench.planning.schedule import due

ADDED = datetime(2026, 1, 1, 12, tzinfo=UTC)
NIGHTLY = Schedule(name="nightly", cron="0 3 * * *", spec_text="", changed_at=ADDED, changed_by="somebody")


def at(day: int, hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 1, day, hour, minute, second, tzinfo=UTC)


def test_a_time_is_due_from_its_very_second_on_until_something_was_begun_for_it() -> None:
    assert due(NIGHTLY, None, at(2, 2, 59, 59)) is None
    assert due(NIGHTLY, None, at(2, 3)) == at(2, 3)
    assert due(NIGHTLY, None, at(2, 3, 0, 30)) == at(2, 3)
    assert due(NIGHTLY, at(2, 3, 0, 30), at(2, 3, 1)) is None


def test_times_before_the_schedule_was_added_or_changed_do_not_count() -> None:
    assert due(NIGHTLY, None, at(1, 23)) is None
    assert due(NIGHTLY.model_copy(update={"changed_at": at(2, 4)}), at(1, 3), at(2, 5)) is None


def test_of_several_missed_times_the_last_one_is_due() -> None:
    assert due(NIGHTLY, None, at(20, 12)) == at(20, 3)
    assert due(NIGHTLY, at(20, 12), at(20, 12, 1)) is None


def test_times_while_a_run_was_open_are_not_caught_up() -> None:
    hourly = NIGHTLY.model_copy(update={"cron": "0 * * * *"})
    assert due(hourly, at(2, 5, 30), at(2, 5, 40)) is None
    assert due(hourly, at(2, 5, 30), at(2, 6)) == at(2, 6)


def test_a_removed_schedule_and_one_that_has_no_time_yet_have_nothing_due() -> None:
    assert due(NIGHTLY.model_copy(update={"removed": True}), None, at(5, 5)) is None
    assert due(NIGHTLY.model_copy(update={"cron": "0 3 29 2 *"}), None, at(5, 5)) is None


@given(
    st.sampled_from(["* * * * *", "*/7 3 * * *", "0 3 * * 1", "0 0 1 1 *"]),
    st.integers(0, 10**7),
    st.integers(0, 10**7),
)
def test_whatever_is_due_has_come_and_is_begun_once(cron: str, open_s: int, now_s: int) -> None:
    schedule = NIGHTLY.model_copy(update={"cron": cron})
    last_open, now = ADDED + timedelta(seconds=open_s), ADDED + timedelta(seconds=now_s)
    found = due(schedule, last_open, now)
    if found is not None:
        assert max(ADDED, last_open) < found <= now
        assert due(schedule, now, now) is None
        assert due(schedule, last_open, found) == found
