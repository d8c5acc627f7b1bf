"""Batches in which the thread was preempted are repeated while retries last, and counted."""

from contextlib import ExitStack
from typing import cast

import pytest

from kexbench.runner.invocation import _Workers
from kexbench.runner.records import Record
from kexbench.runner.worker import Worker
from tests.runner.conftest import RSA, MakeTicket, a_batch

SUBJECT = "fake@1.0+noise=0"


class ScriptedWorker:
    """Answers each token with a batch that saw so many involuntary switches."""

    def __init__(self, switches: list[int]) -> None:
        self._switches = switches

    def ask(self, request: str, timeout_s: float) -> Record:
        return a_batch(involuntary_switches=self._switches.pop(0))


@pytest.mark.parametrize(
    ("switches", "kept", "discarded", "preempted"),
    [
        ([0, 0, 0], 3, 0, 0),
        ([1, 0, 0, 0], 3, 1, 0),
        # three batches and one subject leave one retry in all
        ([1, 2, 0, 1], 3, 1, 2),
    ],
)
def test_a_preempted_batch_is_repeated_until_the_retries_are_used_up(
    switches: list[int], kept: int, discarded: int, preempted: int, make_ticket: MakeTicket
) -> None:
    with ExitStack() as stack:
        workers = _Workers(make_ticket(SUBJECT, batches=3), RSA, 1, stack)
        workers.live[SUBJECT] = cast(Worker, ScriptedWorker(switches))
        for _ in range(3):
            workers.run_batch(SUBJECT, keep=True)
    assert len(workers.kept[SUBJECT]) == kept
    assert (workers.discarded, workers.preempted) == (discarded, preempted)


def test_a_preempted_warm_up_is_neither_repeated_nor_counted(make_ticket: MakeTicket) -> None:
    with ExitStack() as stack:
        workers = _Workers(make_ticket(SUBJECT), RSA, 1, stack)
        workers.live[SUBJECT] = cast(Worker, ScriptedWorker([5]))
        workers.run_batch(SUBJECT, keep=False)
    assert (workers.kept, workers.discarded, workers.preempted) == ({}, 0, 0)
