"""What an upgrade changes for a user who waits over paths: round trips with their cause, from rows of a real store."""

from typing import Any

import httpx2

from kexbench.store.clickhouse import ClickHouseStore
from tests.api.test_paths import LARGE, NEW, OLD, SMALL, measured
from tests.builders import a_run, an_invocation

TITLE = "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519"
WINDOW = "the server's first flight grew from 1.5 kB to 15.8 kB and the window is 14.5 kB"


def waits(client: httpx2.Client, before: str = OLD, after: str = NEW) -> dict[str, Any]:
    answer = client.get("/compare", params={"base": before, "other": after}).raise_for_status().json()
    found: dict[str, Any] = answer["upgrade"]["waits"]
    return found


def test_a_round_trip_more_has_its_cause_and_times(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "50ms", {OLD: SMALL, NEW: LARGE}, waits={NEW: 2}, invocations=6)
    found = waits(client)
    assert found["sentence"] == f"One round trip more over a path of 50 ms for {TITLE}, since {WINDOW}."
    (wait,) = found["cases"]
    assert (wait["basis"], wait["round_trips_before"], wait["round_trips_after"], wait["more"]) == ("measured", 1, 2, 1)
    assert (wait["path"], wait["path_words"], wait["title"]) == ("50ms", "a path of 50 ms", TITLE)
    assert wait["cause"] == WINDOW
    assert wait["sentence"] == f"one round trip more, since {WINDOW}"
    assert [round(wait[end]["value"] / 1e6) for end in ("handshake_before_ns", "handshake_after_ns")] == [100, 150]
    assert wait["handshake_after_ns"]["low"] < wait["handshake_after_ns"]["high"]


def test_no_path_has_no_sentence_and_no_cases(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_invocations(run, [an_invocation(run, number, cpu_ns={OLD: 1e6, NEW: 1e6}) for number in range(3)])
    assert waits(client) == {"sentence": "", "cases": []}
