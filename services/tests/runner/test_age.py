"""A context that ages: what a worker is asked, what its answer is worth, and what an invocation has of it."""

from pathlib import Path
from typing import Any

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import ContextUse
from kexbench.domain.metrics import AGED, Metric
from kexbench.domain.samples import Invocation, OutcomeKind
from kexbench.runner.age import age_request, age_samples, check_age, ends, growth, longest_seconds
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn
from kexbench.runner.participant import Dropped
from kexbench.runner.records import Age
from tests.runner.conftest import ECDHE, QUIET, UNPINNED, MakeJobInput, a_batch

FAKE = "fake@1.0+noise=0"


def an_age(points: int = 10, **changes: Any) -> Age:
    """A hundred connections to each point, of 1,000 ns each, and 24 bytes that each leaves behind."""
    fields: dict[str, Any] = {
        "type": "age",
        "id": "x",
        "connections": [100 * (point + 1) for point in range(points)],
        "thread_cpu_ns": [110_000] * points,
        "cpu_ns": [100_000] * points,
        "others_ns": [0] * points,
        "heap_bytes": [50_000 + 2400 * (point + 1) for point in range(points)],
        "heap_blocks": [100 + 100 * (point + 1) for point in range(points)],
        "resident_bytes": [8_000_000] * points,
    }
    return Age.model_validate({**fields, **changes})


def values(time: Age, heap: Age) -> dict[Metric, float]:
    return {sample.metric: sample.values[0] for sample in age_samples(FAKE, time, heap)}


def test_the_samples_of_an_age_are_its_ends_and_what_each_connection_leaves_behind() -> None:
    rising = an_age(cpu_ns=[900_000, *[100_000] * 7, 120_000, 130_000])
    assert values(rising, an_age()) == {
        Metric.YOUNG_CPU_NS: 1000,
        Metric.OLD_CPU_NS: 1250,
        Metric.YOUNG_HEAP_BYTES: 52_400,
        Metric.OLD_HEAP_BYTES: 74_000,
        Metric.GROWTH_BYTES: 24,
    }


def test_a_library_whose_memory_nobody_counts_has_no_samples_of_memory() -> None:
    assert values(an_age(), an_age(heap_bytes=None, heap_blocks=None)).keys() == {
        Metric.YOUNG_CPU_NS,
        Metric.OLD_CPU_NS,
    }


def test_growth_is_that_of_the_second_half_and_never_below_nothing() -> None:
    connections = range(100, 1100, 100)
    assert growth(connections, [0, 9000, 9900, 9950, *[10_000] * 6]) == 0
    assert growth(connections, [*range(10_000, 0, -1000)]) == 0
    assert growth(connections, [0, 0, 0, 0, 0, 1600, 3200, 4800, 6400, 8000]) == pytest.approx(16)
    assert growth([100, 200], [5, 9]) == 0


def test_the_ends_of_two_points_are_these() -> None:
    assert ends([3, 4]) == (3, 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cpu_ns": [1, 2]}, "of 10 points it has"),
        ({"heap_bytes": [1]}, "of 10 points it has"),
        ({"connections": [100] * 10}, "do not rise"),
        ({"connections": []}, "at least 1 item"),
    ],
)
def test_a_record_whose_points_do_not_fit_is_no_record(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        an_age(**changes)


def test_an_age_has_three_times_the_usual_time_and_what_takes_hours_is_refused() -> None:
    batch = a_batch(handshakes=10, thread_cpu_ns=10 * 100_000)
    assert longest_seconds(1_000_000, batch) == pytest.approx(310)
    assert longest_seconds(10_000_000, batch) == pytest.approx(3010)
    with pytest.raises(Dropped, match=r"take 2\.8 hours: lower measure\.age") as refused:
        longest_seconds(10_000_000, a_batch(handshakes=1, thread_cpu_ns=1_000_000))
    assert refused.value.kind is OutcomeKind.UNSUPPORTED
    assert age_request(ECDHE, 1_000_000, 310.0).endswith("connections=1000000 points=100 max_ns=310000000000")


def test_an_age_that_did_not_end_in_time_is_dropped_with_a_remedy() -> None:
    check_age(an_age(), 1000, 310.0)
    with pytest.raises(Dropped, match=r"1,000 of 2,000 connections .* in 310 s: use an idle machine, or lower") as late:
        check_age(an_age(), 2000, 310.0)
    assert late.value.kind is OutcomeKind.HUNG


def aged(
    make_job_input: MakeJobInput, folder: Path, *references: str, case: Case = ECDHE, age: int = 1000
) -> Invocation:
    job_input = make_job_input(*references, cases=(case,))
    measure = job_input.measure.model_copy(update={"age": age})
    job_input = job_input.model_copy(update={"measure": measure})
    return measure_invocation(job_input, Turn(case.case_id, references, 0), UNPINNED, folder / "log", lambda: QUIET)


def costs(invocation: Invocation, reference: str) -> dict[Metric, float]:
    return {
        sample.metric: sample.values[0]
        for sample in invocation.samples
        if sample.subject == reference and sample.metric in AGED
    }


def test_a_planted_slope_and_a_planted_leak_are_found_beside_a_subject_without(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    slow, leaks = "fake@1.1+noise=0+age_ns=100000", "fake@1.2+noise=0+leak_bytes=16"
    invocation = aged(make_job_input, tmp_path, FAKE, slow, leaks)
    assert invocation.outcomes == ()
    found = {reference: costs(invocation, reference) for reference in (FAKE, slow, leaks)}
    assert found[FAKE].keys() == AGED.keys()
    assert found[FAKE][Metric.YOUNG_CPU_NS] == found[FAKE][Metric.OLD_CPU_NS] == found[leaks][Metric.OLD_CPU_NS]
    assert found[FAKE][Metric.GROWTH_BYTES] == found[slow][Metric.GROWTH_BYTES] == 0
    assert found[FAKE][Metric.YOUNG_HEAP_BYTES] == found[FAKE][Metric.OLD_HEAP_BYTES]
    # 100 ns more for each connection, of which the middles of the ends are 795 apart; glibc sets 24 bytes aside for 16.
    assert found[slow][Metric.OLD_CPU_NS] - found[slow][Metric.YOUNG_CPU_NS] == pytest.approx(79_500)
    assert found[leaks][Metric.GROWTH_BYTES] == pytest.approx(24)


def test_no_context_ages_without_being_asked_nor_one_of_several_threads_or_one_that_is_replaced(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    assert costs(aged(make_job_input, tmp_path, FAKE, age=0), FAKE) == {}
    for replaced in ({"threads": 2}, {"context": ContextUse.CONNECTION}, {"reload_every": 10}):
        assert costs(aged(make_job_input, tmp_path, FAKE, case=ECDHE.model_copy(update=replaced)), FAKE) == {}


def test_a_worker_that_crashes_while_it_ages_keeps_what_was_measured_before(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    crashing = "fake@1.1+noise=0+crash_after=500"
    invocation = aged(make_job_input, tmp_path, FAKE, crashing)
    assert [(outcome.subject, outcome.kind) for outcome in invocation.outcomes] == [(crashing, OutcomeKind.CRASHED)]
    assert costs(invocation, FAKE).keys() == AGED.keys()
    assert costs(invocation, crashing) == {}
    kept = {sample.metric for sample in invocation.samples if sample.subject == crashing}
    assert {Metric.CPU_NS, Metric.SERVER_BYTES} <= kept
    assert crashing in invocation.negotiated


def test_an_age_that_would_take_hours_is_refused_and_its_subject_measured_on(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    slow = "fake@1.1+noise=0+client_ns=2000000"
    invocation = aged(make_job_input, tmp_path, slow, age=10_000_000)
    assert [(outcome.subject, outcome.kind) for outcome in invocation.outcomes] == [(slow, OutcomeKind.UNSUPPORTED)]
    assert Metric.CPU_NS in {sample.metric for sample in invocation.samples}
    assert invocation.hopeless == ()
