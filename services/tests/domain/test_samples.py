"""Invocations and moments: whole, finite and at a time that the store can hold, or not at all."""

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kexbench.domain.hosts import HostFacts
from kexbench.domain.runs import RunEvent
from kexbench.domain.samples import OTHERS_MEASURED_SINCE, Invocation, Metric, Sample, disturbed_reason
from tests.builders import HOST, a_run, an_event, an_invocation
from tests.golden import GOLDEN, assert_texts

INVOCATION = an_invocation(a_run(), cpu_ns={"fake@1.0": [1, 2]})
OTHERS: dict[str, Any] = {
    "turbo": True,
    "smt": False,
    "cpus": 3,
    "memory_bytes": 1,
    "cpu_flags": ("aes",),
}


def test_the_reason_for_missing_numbers_reads_as_agreed() -> None:
    assert_texts(
        GOLDEN / "reasons.txt",
        {
            "other programs disturbed the invocation": disturbed_reason(OTHERS_MEASURED_SINCE),
            "threads were interrupted, by whom was not measured": disturbed_reason(OTHERS_MEASURED_SINCE - 1),
        },
    )


@given(st.lists(st.floats(0, allow_nan=False, allow_infinity=False), min_size=1))
def test_values_come_back_from_json_unchanged(values: list[float]) -> None:
    sample = Sample(subject="fake@1.0", metric=Metric.CPU_NS, values=tuple(values))
    assert Sample.model_validate_json(sample.model_dump_json()) == sample


@pytest.mark.parametrize("values", [(), (-1,), (float("nan"),), (float("inf"),), (1, float("-inf"))])
def test_what_was_not_measured_is_no_value(values: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError, match="values"):
        Sample(subject="fake@1.0", metric=Metric.CPU_NS, values=values)


@pytest.mark.parametrize(
    "text",
    ["", "now", "2026-01-01T12:00:00", "2026-01-01T12:00:00+01:00", "1999-12-31T23:59:59Z", "2200-01-02T00:00:00Z"],
)
def test_an_invocation_starts_at_a_moment_in_utc(text: str) -> None:
    with pytest.raises(ValidationError, match="started_at"):
        Invocation.model_validate(INVOCATION.model_dump() | {"started_at": text})


@given(st.datetimes(datetime(2000, 1, 1), datetime(2199, 12, 31)))  # noqa: DTZ001 (hypothesis wants naive bounds)
def test_what_a_clock_says_in_utc_is_a_moment(clock: datetime) -> None:
    for text in (clock.replace(tzinfo=UTC).isoformat(), clock.isoformat() + "Z"):
        changed = Invocation.model_validate(INVOCATION.model_dump() | {"started_at": text})
        assert changed.started_at == text


def test_an_event_without_an_offset_has_no_moment() -> None:
    event = an_event(a_run()).model_dump()
    with pytest.raises(ValidationError, match="timezone"):
        RunEvent.model_validate(event | {"at": "2026-01-01T12:00:00"})
    elsewhere = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert RunEvent.model_validate(event | {"at": elsewhere}).at == datetime(2026, 1, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("field", HostFacts.model_fields)
def test_hosts_that_differ_in_any_fact_are_different(field: str) -> None:
    changed = HOST.model_copy(update={field: OTHERS.get(field, "other")})
    assert changed != HOST
    assert changed.host_id != HOST.host_id
    assert HOST.model_copy().host_id == HOST.host_id


def test_a_batch_without_a_value_is_null_in_json_and_keeps_its_place() -> None:
    text = '{"subject":"fake@1.0","metric":"server_cpu_ns","values":[1.0,null,3.0],"level":2.0}'
    sample = Sample.model_validate_json(text)
    assert [math.isnan(value) for value in sample.values] == [False, True, False]
    assert sample.model_dump_json() == text


@pytest.mark.parametrize("values", ["[null]", "[null, null]", "[NaN, 1]", "[Infinity]", "[1, -2]", "[1e999]"])
def test_what_is_no_value_is_refused_in_json_too(values: str) -> None:
    with pytest.raises(ValidationError, match="values"):
        Sample.model_validate_json(f'{{"subject":"fake@1.0","metric":"server_cpu_ns","values":{values}}}')
