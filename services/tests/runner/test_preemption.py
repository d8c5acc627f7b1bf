"""Batches that other programs disturbed are repeated while retries last, and counted."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest

from kexbench.domain.samples import Metric
from kexbench.domain.spreads import spread_of
from kexbench.runner.invocation import _Participants, _samples, samples_of, varied_samples
from kexbench.runner.participant import Participant, Setting
from kexbench.runner.records import Batch
from tests.runner.conftest import RSA, UNPINNED, MakeJobInput, a_batch

SUBJECT = "fake@1.0+noise=0"
DISTURBING_NS = 15
"""Over a hundredth of the CPU time of `a_batch`."""


class ScriptedParticipant:
    """Answers each token with a batch, some of which are disturbed."""

    def __init__(self, disturbed: list[int]) -> None:
        self._disturbed = disturbed

    def batch(self, min_ns: int) -> Batch:
        return a_batch(involuntary_switches=1, others_ns=self._disturbed.pop(0) * DISTURBING_NS)


def parties_of(make_job_input: MakeJobInput, disturbed: list[int], stack: ExitStack) -> _Participants:
    participants = _Participants(Setting(make_job_input(SUBJECT, batches=3), RSA, UNPINNED, Path("log")), 1, stack)
    participants.live[SUBJECT] = cast(Participant, ScriptedParticipant(disturbed))
    return participants


@pytest.mark.parametrize(
    ("disturbed", "kept", "discarded", "preempted"),
    [
        ([0, 0, 0], 3, 0, 0),
        ([1, 0, 0, 0], 3, 1, 0),
        # three batches and one subject leave one retry in all
        ([1, 2, 0, 1], 3, 1, 2),
    ],
)
def test_a_disturbed_batch_is_repeated_until_the_retries_are_used_up(
    disturbed: list[int], kept: int, discarded: int, preempted: int, make_job_input: MakeJobInput
) -> None:
    with ExitStack() as stack:
        participants = parties_of(make_job_input, disturbed, stack)
        for _ in range(3):
            participants.run_batch(SUBJECT, keep=True)
        assert {len(sample.values) for sample in participants.samples()} == {kept}
    assert (participants.discarded, participants.preempted) == (discarded, preempted)


def test_switches_alone_disturb_nothing(make_job_input: MakeJobInput) -> None:
    """As threads of the case that share CPUs make them, and threads of the kernel that run for microseconds."""
    batches = [a_batch(involuntary_switches=40, others_ns=others_ns) for others_ns in (0, 0, DISTURBING_NS - 1)]
    assert [batch.disturbed for batch in batches] == [False, False, False]
    with ExitStack() as stack:
        participants = parties_of(make_job_input, [0, 0, 0], stack)
        for _ in range(3):
            participants.run_batch(SUBJECT, keep=True)
        sides = [sample.values for sample in participants.samples() if sample.metric is Metric.SERVER_CPU_NS]
    assert sides == [(200, 200, 200)]
    assert (participants.discarded, participants.preempted) == (0, 0)


def test_a_disturbed_warm_up_is_neither_repeated_nor_counted(make_job_input: MakeJobInput) -> None:
    with ExitStack() as stack:
        participants = parties_of(make_job_input, [5], stack)
        participants.run_batch(SUBJECT, keep=False)
        assert participants.samples() == ()
    assert (participants.discarded, participants.preempted) == (0, 0)


def test_of_a_disturbed_batch_the_cpu_time_alone_is_a_number() -> None:
    batches = [a_batch(others_ns=times * DISTURBING_NS) for times in (0, 2, 0, 0)]
    samples = {sample.metric: sample for sample in samples_of(SUBJECT, batches)}
    assert samples[Metric.CPU_NS].values == (300, 300, 300, 300)
    for metric, value in ((Metric.CLIENT_CPU_NS, 100), (Metric.SERVER_CPU_NS, 200), (Metric.WALL_NS, 325)):
        written = json.loads(samples[metric].model_dump_json())["values"]
        assert written == [value, None, value, value], metric
    assert samples[Metric.CLIENT_BYTES].values == (10, 10, 10, 10)


def test_a_thread_alone_from_which_others_took_time_is_no_number() -> None:
    alone = {"alone_handshakes": 4, "alone_elapsed_ns": 2000, "alone_others_ns": 20}
    clean, disturbed = a_batch(**alone), a_batch(**alone | {"alone_elapsed_ns": 3999, "alone_others_ns": 1999})
    samples = {sample.metric: sample for sample in samples_of(SUBJECT, [clean, disturbed, clean, clean])}
    written = json.loads(samples[Metric.ALONE_NS].model_dump_json())
    assert (written["values"], written["level"]) == ([500, None, 500, 500], 500)
    assert samples[Metric.SERVER_CPU_NS].values == (200, 200, 200, 200)
    of_few = {sample.metric for sample in samples_of(SUBJECT, [clean, disturbed, disturbed])}
    assert (Metric.SERVER_CPU_NS in of_few, Metric.ALONE_NS in of_few) == (True, False)


@pytest.mark.parametrize("server_cpu_ns", [100, 900])
def test_the_cpu_time_of_a_disturbed_batch_is_shared_out_as_in_the_others(server_cpu_ns: int) -> None:
    """Its own ticks hold the time of others, in its turns or between them."""
    spoilt = a_batch(others_ns=DISTURBING_NS, server_cpu_ns=server_cpu_ns)
    samples = {sample.metric: sample for sample in samples_of(SUBJECT, [a_batch(), spoilt, a_batch(), a_batch()])}
    assert samples[Metric.CPU_NS].values == (300, 300, 300, 300)
    assert samples[Metric.CPU_NS].cost == 300


@pytest.mark.parametrize(("disturbed", "split"), [([1, 1, 0, 0, 0], True), ([1, 1, 1, 0, 0], False), ([0, 0], True)])
def test_with_too_few_batches_that_were_not_disturbed_there_is_no_split(disturbed: list[int], split: bool) -> None:
    batches = [a_batch(others_ns=number * DISTURBING_NS) for number in disturbed]
    metrics = {sample.metric for sample in samples_of(SUBJECT, batches)}
    assert Metric.CPU_NS in metrics
    assert (Metric.SERVER_CPU_NS in metrics) is (Metric.WALL_NS in metrics) is split


def test_a_level_holds_what_few_handshakes_pay() -> None:
    """Every eighth batch pays for what all handshakes use; a batch that pays ends sooner."""
    dear = a_batch(handshakes=3, client_cpu_ns=300, server_cpu_ns=1200)
    samples = {sample.metric: sample for sample in samples_of(SUBJECT, [*[a_batch()] * 7, dear])}
    assert samples[Metric.CPU_NS].cost == pytest.approx((7 * 1200 + 1500) / 31)
    assert samples[Metric.SERVER_CPU_NS].cost == pytest.approx((7 * 800 + 1200) / 31)
    assert samples[Metric.CLIENT_CPU_NS].cost == 100
    assert (samples[Metric.CLIENT_BYTES].level, samples[Metric.CLIENT_BYTES].cost) == (None, 10)


def test_the_level_of_a_side_leaves_out_batches_that_do_not_know_it() -> None:
    spoilt = a_batch(others_ns=30, thread_cpu_ns=2100)
    samples = {sample.metric: sample for sample in samples_of(SUBJECT, [a_batch(), a_batch(), spoilt, a_batch()])}
    assert samples[Metric.SERVER_CPU_NS].cost == 200
    assert samples[Metric.CPU_NS].cost == (3 * 1200 + 1800) / 16


def test_only_undisturbed_batches_of_several_threads_say_how_much_throughput_varies() -> None:
    elapsed = (1000, 1010, 990, 1000, 1030)
    batches = [a_batch(elapsed_ns=each) for each in elapsed] + [a_batch(elapsed_ns=4000, others_ns=DISTURBING_NS)]
    (sample,) = varied_samples("x", batches)
    assert (sample.subject, sample.metric, sample.level) == ("x", Metric.THROUGHPUT_SPREAD_PPM, None)
    assert sample.values == pytest.approx((1e6 * spread_of(elapsed),))
    assert varied_samples("x", batches[1:]) == [], "four undisturbed batches are too few"
    together = {sample.metric for sample in _samples("x", batches, RSA.model_copy(update={"threads": 2}))}
    assert together - {sample.metric for sample in _samples("x", batches, RSA)} == {Metric.THROUGHPUT_SPREAD_PPM}


def test_the_share_of_a_batch_counts_and_not_its_length() -> None:
    longer = [a_batch(elapsed_ns=1000 * times, handshakes=4 * times) for times in (1, 2, 3, 4, 5)]
    assert [sample.values for sample in varied_samples("x", longer)] == [(0.0,)]
