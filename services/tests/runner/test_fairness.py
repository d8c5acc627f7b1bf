"""Who is asked when, as the workers see it: nobody is favoured, and the same job input asks in the same order."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kexbench.domain.plans import WARM_UP_BATCHES
from kexbench.domain.samples import Invocation
from kexbench.runner import job
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.job_input import JobInput
from kexbench.runner.order import Turn
from kexbench.runner.worker import Worker
from tests.runner.conftest import QUIET, UNPINNED, MakeJobInput

BASE, SECOND, THIRD = "fake@1.0+noise=0", "fake@1.1+noise=0", "fake@1.2+noise=0"
BLOCKS = ((BASE, SECOND, THIRD), (BASE, THIRD))
BATCHES, INVOCATIONS = 4, 3


@dataclass
class Heard:
    """What the workers of one invocation were asked to run, by version, in order."""

    turn: Turn
    tokens: list[str] = field(default_factory=list)

    @property
    def versions(self) -> list[str]:
        """Of the subjects that the block names."""
        return [reference.removeprefix("fake@").partition("+")[0] for reference in self.turn.block]

    @property
    def rounds(self) -> list[list[str]]:
        size = len(self.turn.block)
        return [self.tokens[start : start + size] for start in range(0, len(self.tokens), size)]


@pytest.fixture
def job_input(make_job_input: MakeJobInput) -> JobInput:
    """Two cases, and two blocks that share a subject."""
    one = make_job_input(*BLOCKS[0], invocations=INVOCATIONS, batches=BATCHES)
    return one.model_copy(update={"job": one.job.model_copy(update={"blocks": BLOCKS})})


def heard(job_input: JobInput, folder: Path) -> list[Heard]:
    """Measure the whole job and listen."""
    folder.mkdir()
    found: list[Heard] = []
    send = Worker.send

    def measure(job_input: JobInput, turn: Turn, *more: object) -> Invocation:
        found.append(Heard(turn))
        return measure_invocation(job_input, turn, *more)  # type: ignore[arg-type]

    def listening(worker: Worker, request: str) -> None:
        if request.startswith("run "):
            assert f"run id={found[-1].turn.case_id} " in request
            found[-1].tokens.append(worker.hello.version)
        send(worker, request)

    fresh = job_input.model_copy(update={"results": folder / "results.ndjson"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "send", listening)
        patch.setattr(job, "measure_invocation", measure)
        list(job.measure_job(fresh, UNPINNED, folder / "worker.log", lambda: QUIET, lambda: False))
    return found


def test_in_every_round_of_every_block_each_subject_has_one_turn(job_input: JobInput, tmp_path: Path) -> None:
    found = heard(job_input, tmp_path / "job")
    assert len(found) == 2 * len(BLOCKS) * INVOCATIONS
    for invocation in found:
        assert len(invocation.rounds) == WARM_UP_BATCHES + BATCHES
        for turns in invocation.rounds:
            assert sorted(turns) == sorted(invocation.versions)


def test_every_case_meets_every_block_equally_often(job_input: JobInput, tmp_path: Path) -> None:
    met = Counter((one.turn.case_id, one.turn.block) for one in heard(job_input, tmp_path / "job"))
    assert met == {(case.case_id, block): INVOCATIONS for case in job_input.cases for block in BLOCKS}


def test_the_same_ticket_asks_in_the_same_order_and_another_seed_in_another(
    job_input: JobInput, tmp_path: Path
) -> None:
    first, again = heard(job_input, tmp_path / "first"), heard(job_input, tmp_path / "again")
    other = heard(job_input.model_copy(update={"seed": "other"}), tmp_path / "other")
    assert first == again
    assert [one.turn for one in first] != [one.turn for one in other]
    by_turn = {(one.turn.case_id, one.turn.invocation): one.tokens for one in other}
    assert any(one.tokens != by_turn[one.turn.case_id, one.turn.invocation] for one in first)


def test_every_invocation_has_orders_of_its_own_and_all_orders_occur(job_input: JobInput, tmp_path: Path) -> None:
    found = [one for one in heard(job_input, tmp_path / "job") if len(one.turn.block) == 3]
    assert len({tuple(one.tokens) for one in found}) == len(found)
    assert len({tuple(turns) for one in found for turns in one.rounds}) == 6
