"""The times of a schedule: what is taken, and what people read where they are none."""

import pytest

from kexbench.planning.documents import DocumentError
from kexbench.planning.schedule import read_schedule
from tests.builders import SPEC, a_plan


def scheduled(times: str) -> str:
    return f"{SPEC}schedule: {times}\n"


def fault_of(times: str) -> str:
    with pytest.raises(DocumentError) as caught:
        read_schedule(scheduled(times), "spec.yaml")
    (fault,) = str(caught.value).splitlines()
    assert fault.startswith("spec.yaml:10:11: schedule: ")
    return fault.partition("schedule: ")[2]


@pytest.mark.parametrize(
    "times",
    [
        "0 3 * * *",
        "* * * * *",
        "*/5 0-6,22-23 1,15 */2 1-5",
        "59 23 31 12 6",
        "0 0 29 2 *",
        "07 7 7 7 */7",
        "5/15 * * * 0",
    ],
)
def test_five_fields_of_numbers_ranges_lists_and_steps_are_times(times: str) -> None:
    assert read_schedule(scheduled(f'"{times}"'), "spec.yaml") == times


def test_spaces_more_or_less_are_the_same_times() -> None:
    assert read_schedule(scheduled('" 0  3 * *   * "'), "spec.yaml") == "0 3 * * *"


@pytest.mark.parametrize(
    "times",
    [
        *("3 * * *", "0 0 3 * * *", "daily", "'@daily'", "''", "[0, 3]", "{ hour: 3 }", "0 3 * * MON", "0 3 * JAN *"),
        *("0 3 L * *", "0 3 * * 1#2", "0 3 ? * *", "'*/100 * * * *'", "0 3 * * *;", "'0\\t3 * * *'", "1-2-3 * * * *"),
        *("1, 3 * * *", "/5 3 * * *", "'*-3 3 * * *'", "'* * * *'"),
    ],
)
def test_what_argo_or_crontab_has_no_such_form_of_is_reported_with_the_form(times: str) -> None:
    assert fault_of(times) == (
        'must be minute, hour, day of the month, month and day of the week, in numbers and UTC, such as "0 3 * * *"'
    )


def test_times_that_begin_with_a_star_and_no_quote_are_to_be_quoted() -> None:
    with pytest.raises(DocumentError, match=r"spec\.yaml:10:12: not YAML: .*: quote values that begin with \*$"):
        read_schedule(scheduled("*/5 * * * *"), "spec.yaml")


@pytest.mark.parametrize(
    ("times", "says"),
    [
        ("60 3 * * *", "'60' is not a valid minute: a minute is 0 to 59"),
        ("0 24 * * *", "'24' is not a valid hour: an hour is 0 to 23"),
        ("0 3 0 * *", "'0' is not a valid day of month: a day of the month is 1 to 31"),
        ("0 3 32 * *", "'32' is not a valid day of month: a day of the month is 1 to 31"),
        ("0 3 31 2,4 *", "'31' is not a valid day of month: a day of the month is 1 to 31, and must exist"),
        ("0 3 * 13 *", "'13' is not a valid month: a month is 1 to 12"),
        ("0 3 * * 8", "'8' is not a valid day of week: a day of the week is 0 to 6, and Sunday is 0"),
        ("0 3 * * 7", "'7' is not a valid day of week: a day of the week is 0 to 6, and Sunday is 0"),
        ("0 3 * * 1-07", "'1-07' is not a valid day of week: a day of the week is 0 to 6, and Sunday is 0"),
        ("5-1 3 * * *", "'5-1' is not a valid minute: a minute is 0 to 59; a range ascends (1-5)"),
        ("0 */0 * * *", "'*/0' is not a valid hour: an hour is 0 to 23; a range ascends (1-5), a step is 1 or"),
    ],
)
def test_a_field_that_is_no_time_is_named_with_what_it_may_be(times: str, says: str) -> None:
    assert fault_of(times).startswith(says)


def test_a_schedule_without_times_is_reported_with_where_they_belong_and_what_else_there_is() -> None:
    with pytest.raises(DocumentError) as caught:
        read_schedule(SPEC, "spec.yaml")
    assert str(caught.value) == (
        'spec.yaml:1:1: schedule: is required here: add times in UTC, such as schedule: "0 3 * * *", '
        "or queue a single run with kexbench submit"
    )


def test_a_spec_with_other_faults_has_them_reported() -> None:
    with pytest.raises(DocumentError, match=r"measure\.batches: must be a whole number"):
        read_schedule(scheduled("0 3 * * *").replace("batches: 4", "batches: many"), "spec.yaml")


def test_when_a_spec_is_measured_changes_nothing_in_its_plan() -> None:
    assert a_plan(scheduled("0 3 * * *")) == a_plan(scheduled("30 4 * * 1")) == a_plan(SPEC)
