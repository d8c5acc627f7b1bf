"""Numbers and names as people read them."""

from io import StringIO

from rich.console import Console

from kexbench.answers.queued import QueueEntry, QueueView
from kexbench.cli.queue import detail_lines, queue_table
from kexbench.cli.words import by_library, rate_text
from kexbench.domain.intervals import Estimate
from kexbench.domain.numbers import duration_words, listed, percent, size_words
from kexbench.domain.runs import RunState, Trigger
from tests.builders import NOON


def test_a_cost_is_read_as_a_rate_with_the_half_width_of_its_interval() -> None:
    assert rate_text(Estimate(value=500_000, low=495_000, high=505_000, invocations=10)) == "2,000 ±1.0%"
    assert rate_text(Estimate(value=500_000, low=None, high=None, invocations=3)) == "2,000"


def test_a_change_always_has_its_sign() -> None:
    assert [percent(ratio) for ratio in (1.021, 0.5, 1)] == ["+2.1%", "−50.0%", "+0.0%"]


def test_a_size_has_no_sign_and_its_interval_is_in_order() -> None:
    assert size_words(1.031, 1.02, 1.042) == "3.1% [2.0%, 4.2%]"
    assert size_words(0.65, 0.645, 0.655) == "35.0% [34.5%, 35.5%]"


def test_the_last_of_several_names_follows_an_and() -> None:
    assert [listed(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_a_duration_is_read_in_seconds_until_it_is_minutes() -> None:
    assert [duration_words(seconds) for seconds in (45.4, 99, 720)] == ["45 s", "99 s", "12 min"]


def test_versions_are_gathered_by_library_in_the_order_they_came() -> None:
    assert by_library(["openssl 3.5.7", "gnutls 3.8.9", "openssl 3.0.19", "gnutls 3.8.9"]) == (
        "openssl 3.5.7, 3.0.19; gnutls 3.8.9"
    )


def test_the_queue_says_what_a_run_waits_for() -> None:
    entry = QueueEntry(
        run_id="r",
        spec_name="nightly",
        trigger=Trigger.SCHEDULE,
        priority=4,
        state=RunState.BUILDING,
        detail="waits for its turn: runs before it in the queue have the nodes",
        queued_at=NOON,
        spec_begun_at=None,
        pools=["epyc"],
        invocations_planned=10,
        invocations_measured=0,
        invocations_stored=0,
        left_s=60,
        wait_s=None,
        superseded_by=None,
    )
    console = Console(file=StringIO(), width=160)
    view = QueueView(runs=[entry])
    console.print(queue_table(view, NOON))
    assert isinstance(console.file, StringIO)
    printed = console.file.getvalue()
    assert detail_lines(view) == ["r: waits for its turn: runs before it in the queue have the nodes"]
    assert "being prepared" in printed
    assert "started" not in printed
