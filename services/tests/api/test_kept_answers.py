"""Nothing is computed twice: an answer that was given costs no query, whatever else is stored, and one delivery costs
the answers that it changes no more than its own case. Counted, not timed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bench.furnishing import furnish
from bench.large_store import Extent, invocations_of, make_large_store, run_of
from bench.questions import Asked, Question, questions
from kexbench.analysis.compared import compared
from kexbench.answers import upgrade
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import sign_role_token
from kexbench.domain.plans import Plan
from kexbench.domain.runs import RunEvent, RunState
from kexbench.queue.supplies import LocalSupplies
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import StoreError
from tests.api.conftest import SECRET, ClientOf
from tests.api.test_upgrades import ONE, THREE, TWO, VERSIONS, measured
from tests.builders import ECDSA, RSA, an_invocation, newest_runs

SMALL = Extent(runs=1, groups=1, versions=3, hosts=1, batches=4)
READ_EACH_TIME = {
    "store": 1,  # its size changes by itself
    "open_runs": 1,
    "open_run": 1,
    "job_order": 1,
    "stored_invocations": 2,
    "stored_by_job": 1,
    "repository_heads": 1,
    "followed": 2,
}
"""Answers that are read from the store each time, and how many statements that takes at most: they are for one caller,
or change without anything stored."""


@dataclass
class Statements:
    """What a store was asked."""

    sql: list[str] = field(default_factory=list)

    def during(self, ask: Callable[[], object]) -> list[str]:
        self.sql.clear()
        ask()
        return list(self.sql)


@pytest.fixture
def statements(empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> Statements:
    return spied(empty_store, monkeypatch)


def spied(store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> Statements:
    noted = Statements()
    for name in ("_query", "_query_arrow", "_batches"):
        asked = getattr(store, name)

        def noting(sql: str, *given: Any, asked: Callable[..., Any] = asked, **named: Any) -> Any:
            noted.sql.append(sql)
            return asked(sql, *given, **named)

        monkeypatch.setattr(store, name, noting)
    return noted


def no_plan(*_: object, **__: object) -> Plan:
    raise StoreError("nothing is planned here")


@pytest.fixture
def everything(tmp_path: Path) -> Iterator[ClickHouseStore]:
    """A store with something to answer every question."""
    store = make_large_store(tmp_path / "store", SMALL)
    furnish(store, SMALL)
    yield store
    store.close()


@pytest.mark.long
def test_no_answer_is_read_twice_and_none_is_computed_anew_because_of_something_else(
    everything: ClickHouseStore, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, said = Asked(SMALL, run_of(SMALL, 0, 0)), spied(everything, monkeypatch)
    token = {"Authorization": f"Bearer {sign_role_token('x', 'dispatcher', SECRET, now=datetime.now(UTC))}"}
    with client_of(create_app(everything, LocalGatekeeper(SECRET), None, LocalSupplies(no_plan))) as client:

        def get(question: Question) -> httpx2.Response:
            headers = token if question.needs_token else {}
            answer = client.get(question.path, params=question.parameters, headers=headers)
            assert answer.status_code == 200, (question, answer.text)
            return answer

        for question in questions(asked):
            get(question)
        for question in questions(asked):
            get(question)  # the first time, something may have been stored meanwhile: summaries
            again = said.during(lambda question=question: get(question))  # type: ignore[misc]
            assert len(again) <= READ_EACH_TIME.get(question.name, 0), (question.name, again)
        for question in questions(asked):
            before = get(question).content
            everything.add_event(RunEvent(run_id=asked.run.run_id, at=asked.run.created_at, state=RunState.FINISHED))
            fresh = said.during(lambda question=question: get(question))  # type: ignore[misc]
            assert not [sql for sql in fresh if "FROM samples" in sql or "FROM summaries" in sql], question.name
            if question.name not in ("health", "store"):
                assert get(question).content == before, question.name


def test_a_delivery_is_read_on_its_own_host_kind_alone(
    tmp_path: Path, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many machines measured the case, as many statements read samples."""

    def reading(hosts: int) -> dict[str, int]:
        extent = replace(SMALL, hosts=hosts)
        run = run_of(extent, hosts - 1, 0)
        store = make_large_store(tmp_path / f"{hosts} hosts", extent)
        try:
            said = spied(store, monkeypatch)
            asked = [each for each in questions(Asked(extent, run)) if each.name in ("compare", "cpus", "series")]
            with client_of(create_app(store, LocalGatekeeper(SECRET), None)) as client:

                def ask(question: Question) -> None:
                    assert client.get(question.path, params=question.parameters).status_code == 200

                list(map(ask, asked))
                store.add_invocation(run, next(invocations_of(run)).model_copy(update={"invocation": 1000}))
                after = {each.name: said.during(partial(ask, each)) for each in asked}
            return {name: len([sql for sql in said_sql if "FROM samples" in sql]) for name, said_sql in after.items()}
        finally:
            store.close()

    counts = reading(hosts=1)
    assert min(counts.values()) > 0
    assert reading(hosts=3) == counts


def test_what_needs_a_token_is_never_sent_to_others(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    """Kept answers are sent before anything is checked."""
    token = {"Authorization": f"Bearer {sign_role_token('x', 'dispatcher', SECRET, now=datetime.now(UTC))}"}
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, LocalSupplies(no_plan))) as client:
        for question in questions(Asked(SMALL, run_of(SMALL, 0, 0))):
            if question.needs_token:
                client.get(question.path, params=question.parameters, headers=token)
                assert client.get(question.path, params=question.parameters).status_code == 401, question.name


@dataclass
class Counts:
    cells: list[str] = field(default_factory=list)
    """The case of each cell that was compared."""
    stories: int = 0


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    counted = Counts()
    story_of = upgrade.story_of

    def counting_cells(cell: Any) -> Any:
        counted.cells.append(cell.case.case_id)
        return compared(cell)

    def counting_stories(*given: Any) -> Any:
        counted.stories += 1
        return story_of(*given)

    monkeypatch.setattr("kexbench.answers.judging.compared", counting_cells)
    monkeypatch.setattr(upgrade, "story_of", counting_stories)
    return counted


def test_a_feed_tells_each_upgrade_once_and_builds_no_report(
    empty_store: ClickHouseStore, client_of: ClientOf, counts: Counts, statements: Statements
) -> None:
    """However many upgrades it has, their samples are read by one statement. After a delivery, those of its case."""
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 0.9}, spec=VERSIONS)
    (run,) = newest_runs(empty_store, 1)
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None)) as client:

        def poll() -> str:
            answer = client.get("/feed.atom")
            assert answer.text.count("<entry>") == 2
            return answer.text

        first = statements.during(poll)
        assert sorted(counts.cells) == sorted([RSA, ECDSA] * 2)
        assert counts.stories == 2
        assert len([sql for sql in first if "FROM samples" in sql]) == 1
        assert not [sql for sql in first if "FROM outcomes" in sql], "a report has them"

        empty_store.add_event(RunEvent(run_id=run.run_id, at=run.created_at, state=RunState.FINISHED))
        counts.cells.clear()
        feed = poll()
        assert (counts.cells, counts.stories) == ([], 2)

        costs = {ONE: [1e6] * 4, TWO: [2e6] * 4, THREE: [1e6] * 4}
        more = an_invocation(run, case_id=RSA, cpu_ns=costs).model_copy(update={"invocation": 1000})
        empty_store.add_invocation(run, more)
        poll()
        assert counts.cells == [RSA] * 2
        assert counts.stories == 4
        assert feed
