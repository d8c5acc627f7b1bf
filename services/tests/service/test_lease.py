"""Which of several processes writes, by a lease, and when it stops."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from kexbench.queue.troubles import Troubles
from kexbench.service.replicas import LEASE_S, MARGIN_S, Replica
from kexbench.store.lock import StoreLock
from kexbench.store.port import Schema, Store, StoreAway
from tests.execution.leases import FileLeases


class Schemas:
    """A store that only says which schema it has."""

    def __init__(self) -> None:
        self.now: Schema = "same"

    def schema(self) -> Schema:
        return self.now


class Stage:
    """Processes by their names, on machines whose clocks may differ."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now_s = 1_000.0
        self.store = Schemas()
        self.opened: list[str] = []
        self.troubles = Troubles()
        self.clocks_differ_s: dict[str, float] = {}

    def replica(self, name: str, open_store: Callable[[], None] | None = None) -> Replica:
        return Replica(
            FileLeases(self.folder / "leases.json", lambda: self.now_s + self.clocks_differ_s.get(name, 0)),
            "api",
            f"{name} http://{name}:8350",
            cast(Store, self.store),
            open_store or (lambda: self.opened.append(name)),
            StoreLock(self.folder / "store.lock"),
            self.troubles,
            clock=lambda: self.now_s,
        )

    def away(self, *, is_away: bool = True) -> None:
        mark = self.folder / "away"
        mark.touch() if is_away else mark.unlink()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def look(*replicas: Replica, times: int = 2) -> None:
    """Twice, since the schema is read after the first look. Waits until the store is open."""
    for _ in range(times):
        for replica in replicas:
            replica.once()
            opening = cast(Any, replica)._opening
            if opening:
                opening.join()


def test_the_first_writes_and_the_others_know_where_it_is(stage: Stage) -> None:
    one, other = stage.replica("one"), stage.replica("other")
    look(one, other)
    assert (one.leads(), other.leads(), other.may_write()) == (True, False, False)
    assert (one.writer_url(), other.writer_url()) == (None, "http://one:8350")
    assert stage.opened == ["one"]


def test_who_ends_lets_another_write_at_once(stage: Stage) -> None:
    one, other = stage.replica("one"), stage.replica("other")
    look(one, other)
    one.end()
    assert not one.may_write()
    look(other)
    assert other.leads()


def test_a_writer_without_kubernetes_stops_before_another_begins(stage: Stage) -> None:
    one, other = stage.replica("one"), stage.replica("other")
    look(one, other)
    stage.away()
    stage.now_s += LEASE_S - MARGIN_S - 0.1
    one.once()
    assert one.leads()
    stage.now_s += 0.2
    assert not one.may_write()
    stage.away(is_away=False)
    look(other)
    assert not other.leads(), "the lease has not ended"
    stage.now_s += MARGIN_S
    look(other)
    assert other.leads()
    look(one)
    assert (one.leads(), one.writer_url()) == (False, "http://other:8350")


def test_a_writer_opens_the_store_again_after_it_could_not_renew_its_lease(stage: Stage) -> None:
    """Another may have written meanwhile, or left something unfinished."""
    one = stage.replica("one")
    look(one)
    stage.now_s += 100
    assert not one.leads()
    look(one)
    assert one.leads()
    assert stage.opened == ["one", "one"]


def test_a_clock_that_is_ahead_takes_no_lease(stage: Stage) -> None:
    stage.clocks_differ_s["ahead"] = 3600
    one, ahead = stage.replica("one"), stage.replica("ahead")
    for _ in range(20):
        stage.now_s += 2
        look(one, ahead)
        assert (one.leads(), ahead.leads()) == (True, False)


def test_an_older_release_than_the_store_does_not_write_and_does_not_answer(stage: Stage) -> None:
    stage.store.now = "newer"
    one = stage.replica("one")
    look(one)
    assert (one.may_write(), one.answers()) == (False, False)


def test_only_the_writer_brings_a_store_to_its_schema(stage: Stage) -> None:
    stage.store.now = "older"

    def migrate() -> None:
        stage.store.now = "same"

    one, other = stage.replica("one", migrate), stage.replica("other")
    other.once()
    assert not other.answers()
    look(one)
    look(other)
    assert (one.answers(), other.answers(), stage.opened) == (True, True, [])


def test_a_store_that_cannot_be_opened_is_tried_again(stage: Stage) -> None:
    outcomes = [StoreAway("the ClickHouse server does not answer"), None]

    def open_store() -> None:
        if error := outcomes.pop(0):
            raise error

    one = stage.replica("one", open_store)
    look(one)
    assert not one.leads()
    assert [trouble.part for trouble in stage.troubles.now()] == ["opening the store"]
    look(one, times=1)
    assert one.leads()
    assert stage.troubles.now() == []


def test_nobody_writes_beside_a_process_that_knows_of_no_others(stage: Stage) -> None:
    alone = StoreLock(stage.folder / "store.lock")
    assert alone.acquire()
    one = stage.replica("one")
    look(one)
    assert not one.may_write()
    assert "end it" in stage.troubles.now()[0].reason
    alone.release()
    look(one)
    assert one.leads()
    assert stage.troubles.now() == []
