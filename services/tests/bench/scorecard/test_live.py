"""What a service says of an upgrade, waited for and counted."""

from collections.abc import Iterator
from datetime import UTC, datetime

import httpx2
import pytest

from bench.machine import BenchError
from bench.scorecard.live import CATALOGUE, SPEC, sentence, table
from bench.scorecard.service import POLL_S, Lived, settled
from kexbench.domain.screenings import ScreenedUpgrade, Screening, UpgradeOutcome
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.plan import make_plan
from kexbench.planning.rules import read_rule

NOW = datetime(2026, 1, 2, tzinfo=UTC)
REQUEST = httpx2.Request("GET", "http://localhost/runs/1/screening")
MISSING = httpx2.Response(404, request=REQUEST)


def end(commit: str) -> UpgradeEnd:
    return UpgradeEnd(
        subject=f"openssl@1.1.1w~{commit}", version="1.1.1w", source=commit, build_profile_label="", label=commit
    )


def upgrade(outcome: UpgradeOutcome, more: int = 0, compared: int = 8) -> ScreenedUpgrade:
    return ScreenedUpgrade(
        library="openssl",
        before=end("a"),
        after=end("b"),
        compared=compared,
        more=more,
        less=0,
        unresolved=0,
        suspected=("local/case",) if more else (),
        confirmation_run="once-1" if more else None,
        outcome=outcome,
    )


def screened(*upgrades: ScreenedUpgrade) -> httpx2.Response:
    found = Screening(run_id="1", spec_name="twins", at=NOW, ended_at=NOW, upgrades=upgrades, host_moves=())
    return httpx2.Response(200, text=found.model_dump_json(), request=REQUEST)


def asked(*answers: httpx2.Response) -> tuple[ScreenedUpgrade, list[float]]:
    """What is settled by these answers one after the other, and for how long it was waited between them."""
    coming: Iterator[httpx2.Response] = iter(answers)
    waited: list[float] = []
    return settled(lambda: next(coming), 10, waited.append), waited


def test_a_screening_is_waited_for_and_so_is_its_confirmation() -> None:
    found, waited = asked(MISSING, screened(upgrade("confirming", 1)), screened(upgrade("not confirmed", 1)))
    assert found.outcome == "not confirmed"
    assert waited == [POLL_S] * 2


def test_a_service_that_is_busy_is_asked_again() -> None:
    refusals = [httpx2.ReadTimeout("busy"), httpx2.ConnectError("not yet")]

    def ask() -> httpx2.Response:
        if refusals:
            raise refusals.pop()
        return screened(upgrade("quiet"))

    assert settled(ask, 10, lambda _: None).outcome == "quiet"
    assert refusals == []


def test_what_nobody_suspects_is_settled_at_once() -> None:
    found, waited = asked(screened(upgrade("quiet")))
    assert (found.outcome, waited) == ("quiet", [])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (screened(), "compared nothing"),
        (screened(upgrade("quiet", compared=0)), "compared nothing"),
        (screened(upgrade("cannot confirm", 1)), "could not be confirmed"),
        (httpx2.Response(500, text="broken", request=REQUEST), "broken"),
    ],
)
def test_what_measured_nothing_is_no_proof(answer: httpx2.Response, words: str) -> None:
    with pytest.raises(BenchError, match=words):
        asked(answer)


def test_it_is_not_waited_for_for_ever() -> None:
    with pytest.raises(BenchError, match="no screening within 10 s"):
        asked(*[MISSING] * 10)


def test_false_alerts_are_counted() -> None:
    found = [Lived(upgrade("quiet"), 5.0), Lived(upgrade("not confirmed", 2), 7.0), Lived(upgrade("confirmed", 1), 9.4)]
    suspected, alerted = (row.cells[1].text for row in table(found).rows)
    assert suspected.startswith("2 of 3")
    assert alerted.startswith("1 of 3")
    assert sentence(found).startswith("Of 3 upgrades between builds of one source (24 cells), 1 raised alerts.")


def test_the_spec_is_one_that_is_watched_over() -> None:
    ends = {"before": "a" * 40, "after": "b" * 40}
    text = SPEC.format(name="twins", confirmed=30, repository="/src", **ends)
    assert read_rule(text, "twins.yaml").confirm_invocations == 30
    commits = {"first": "a" * 40, "twin": "b" * 40, "slower": "c" * 40}
    catalogue = read_catalogue(CATALOGUE.format(repository="/src", **commits), "libraries.yaml")
    plan = make_plan(text, "twins.yaml", catalogue)
    assert len(plan.cases) == 8
    assert len(plan.subjects) == 2
