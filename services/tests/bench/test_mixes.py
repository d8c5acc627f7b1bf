"""Predictions of a web server's mixes: added up by shares, beside what the mix itself cost."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from bench import mixes, report
from bench.machine import QUICK, BenchError
from bench.mixes import CASES, MIXES, SUBJECT, Predicted, compare_mixes, predictions
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Server
from kexbench.domain.numbers import signed_words
from kexbench.domain.samples import Invocation, OutcomeKind, Sample
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.order import Turn
from tests.builders import a_kit, a_run, an_invocation, an_outcome

US = 1000
RUN = a_run()


def costs(of_mixes: float, invocations: int = 6) -> dict[str, dict[str, float]]:
    """A part costs 100 µs times its place, and a mix so many times the sum of its parts."""
    alone: dict[str, float] = {case.case_id: 100 * US * (1 + place) for place, case in enumerate(CASES)}
    for mix in MIXES:
        added_up = sum(
            percent / 100 * alone[part.case_id] for part, percent in zip(mix.parts, mix.percents, strict=True)
        )
        alone[mix.case.case_id] = added_up * of_mixes
    return {
        case_id: {f"bench/{number}": cost * (1 + number / 1000) for number in range(invocations)}
        for case_id, cost in alone.items()
    }


def test_a_mix_and_its_parts_are_the_same_connections() -> None:
    for mix in MIXES:
        assert sum(mix.percents) == 100
        assert {part.server for part in (*mix.parts, mix.case)} == {mix.case.server}
        assert mix.case.case_id not in {part.case_id for part in mix.parts}
        if mix.case.ecdsa_case:
            assert mix.percents[1] == mix.case.ecdsa_percent
            assert mix.case.ecdsa_case == mix.parts[1]
            assert mix.case.model_copy(update={"ecdsa_percent": 0}) == mix.parts[0]
        else:
            assert mix.percents[1] == mix.case.resumed_percent
            assert mix.case.model_copy(update={"resumed_percent": 100}) == mix.parts[1]


@pytest.mark.parametrize(("of_mixes", "within"), [(0.95, True), (1.1, True), (1.25, False)])
def test_a_prediction_is_the_sum_of_the_parts_by_their_shares(of_mixes: float, *, within: bool) -> None:
    results = list(predictions(costs(of_mixes)))
    assert [result.mix for result in results] == list(MIXES)
    assert {result.is_within_goal for result in results} == {within}
    for result in results:
        assert result.measured.centre - result.added_up.centre == pytest.approx(-result.difference.centre)
        low, high = result.difference.bounds()
        assert low < result.difference.centre < high
    text = report.mixes_table(results)
    assert text.startswith(f"{len(MIXES) * within} of {len(MIXES)} predictions are within 15%.")
    assert text.count(f"{signed_words(of_mixes - 1)} [") == len(MIXES)


class StandInMachine:
    """Has a kit with a web server, and measures nothing."""

    cpus = log = None

    @property
    def installation(self) -> "StandInMachine":
        return self

    def servers(self) -> "StandInMachine":
        return self

    def add(self, *given: object) -> Path:
        return Path("nginx")

    def kit(self, reference: str) -> JobInputKit:
        return JobInputKit(folder=Path("kit"), manifest=a_kit(reference, version="3.5.5"))

    def job_input(self, cases: tuple[Case, ...], kits: Mapping[str, JobInputKit], batches: int) -> None:
        assert [kit.servers for kit in kits.values()] == [{Server.NGINX: Path("nginx")}]


def test_every_case_is_measured_in_every_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, turns = costs(1.0, QUICK.mixes), []

    def measured(job_input: object, turn: Turn, *given: object) -> Invocation:
        turns.append((turn.case_id, turn.invocation))
        cost = wanted[turn.case_id][f"bench/{turn.invocation}"]
        sample = Sample(subject=SUBJECT, metric=mixes._METRIC, values=(cost,), level=cost)
        return an_invocation(RUN).model_copy(update={"case_id": turn.case_id, "samples": (sample,)})

    monkeypatch.setattr(mixes, "measure_invocation", measured)
    results = [each for each in compare_mixes(StandInMachine(), QUICK) if isinstance(each, Predicted)]  # type: ignore[arg-type]
    assert results == list(predictions(wanted))
    assert turns == [(case.case_id, number) for number in range(QUICK.mixes) for case in CASES]


def test_a_mix_that_nginx_does_not_serve_is_no_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = an_invocation(RUN, outcomes=[an_outcome(SUBJECT, OutcomeKind.ERROR, "no share")])
    monkeypatch.setattr(mixes, "measure_invocation", lambda *given: failed)
    with pytest.raises(BenchError, match="error: no share"):
        list(compare_mixes(StandInMachine(), QUICK))  # type: ignore[arg-type]
