"""What an upgrade changes for a user who waits, in sentences."""

from typing import Any

import pytest

from kexbench.analysis.flights import Change, Step
from kexbench.answers.paths_words import path_words
from kexbench.answers.waits_words import (
    cause_words,
    changed_waits,
    raised_waits,
    wait_words,
    waits_sentence,
)
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.waits import Wait

LARGE = "the server's first flight grew from 13.7 kB to 14.8 kB and the window is 14.5 kB"


def a_wait(more: int | None, **changes: Any) -> Wait:
    fields: dict[str, Any] = {
        "case_id": "one",
        "title": "TLS 1.3",
        "path": "continent",
        "path_words": "continent (30.916 ms)",
        "host_kind": HostKind("local", "CPU 1"),
        "basis": "measured",
        "round_trips_before": 1,
        "round_trips_after": 1 + (more or 0),
        "more": more,
        "handshake_before_ns": Estimate.whole(62e6),
        "handshake_after_ns": Estimate.whole(93e6),
        "cause": LARGE if more else None,
        "sentence": "",
    }
    return Wait(**fields | changes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(Step("server flight", 0, 13_700, 14_480), Step("server flight", 1, 14_800, 14_480)), LARGE),
        (
            Change(Step("server flight", 1, 14_490, 14_480), Step("server flight", 0, 14_470, 14_480)),
            "the server's first flight shrank from 14,490 B to 14,470 B and the window is 14,480 B",
        ),
        (
            Change(Step("limit", 1, 7000, 3600), Step("server flight", 0, 7000, 12_000)),
            "the server's first flight is 7.0 kB and the window grew from 3.6 kB to 12.0 kB",
        ),
        (Change(None, Step("hello retry", 1)), "the server requests another key share"),
        (Change(Step("second exchange", 1), None), "the handshake no longer waits for the server's Finished"),
    ],
)
def test_a_cause_names_both_sizes_and_what_may_be_under_way(change: Change, words: str) -> None:
    assert cause_words([change]) == words


@pytest.mark.parametrize(
    ("more", "basis", "cause", "words"),
    [
        (1, "measured", LARGE, f"one round trip more, since {LARGE}"),
        (-2, "measured", None, "2 round trips less, which the sizes of the flights do not explain"),
        (1, "predicted", LARGE, f"one round trip more (predicted), since {LARGE}"),
        (0, "measured", None, "as many round trips as before"),
        (None, "measured", None, "round trips differ between invocations"),
        (None, None, None, "round trips are neither counted nor predicted"),
    ],
)
def test_a_case_says_how_many_more_and_why(more: int | None, basis: str | None, cause: str | None, words: str) -> None:
    assert wait_words(more, basis, cause) == words


def test_an_upgrade_says_its_largest_change_or_that_nothing_changed() -> None:
    same, other = a_wait(0, case_id="two", path="world"), a_wait(0, case_id="three")
    assert waits_sentence([]) == ""
    assert waits_sentence([a_wait(None)]) == ""
    assert waits_sentence([same, other]) == "The same round trips over 2 paths."
    assert waits_sentence([same, a_wait(None)]) == "The same round trips over 1 path in 1 of 2 cases."
    found = [a_wait(1), same, a_wait(1, case_id="three"), a_wait(-1, case_id="four")]
    assert changed_waits(found) == (
        f"one round trip more over continent (30.916 ms) for TLS 1.3, since {LARGE}; more in 2 of 4 cases over paths; "
        f"one round trip less over continent (30.916 ms) for TLS 1.3, since {LARGE}; less in 1 of 4 cases over paths"
    )


def test_an_alert_is_of_what_was_measured_and_is_more() -> None:
    assert raised_waits([a_wait(1, basis="predicted"), a_wait(-1)]) == ""
    assert raised_waits([a_wait(1)]).startswith(f"one round trip more from this version on, since {LARGE}: 1 → 2 round")


def test_a_path_is_named_by_its_preset_or_its_numbers() -> None:
    assert path_words("continent") == "continent (30.916 ms)"
    assert path_words("50ms-loss-1") == "a path of 50 ms with 1% loss"
