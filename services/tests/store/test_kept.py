"""Kept values: computed once while the results that they come from are the same, and anew as soon as they differ."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kexbench.domain.runs import Run, RunState, Trigger
from kexbench.store import kept
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.evidence import Evidence
from tests.builders import ECDSA, HOST, RSA, a_run, an_event, an_invocation
from tests.store.test_contract import CPU, ONE, TWO, dies_after, started
from tests.stores import raw


class Counting:
    """Levels of some samples, with the number of times that they were read."""

    def __init__(self, store: ClickHouseStore, token_of: Callable[[Evidence], Any], case_id: str = "") -> None:
        self.store, self.token_of = store, token_of
        self.selection = replace(CPU, case_ids=(case_id,) if case_id else ())
        self.times = 0

    def __call__(self) -> list[float]:
        return self.store.kept_value(("levels", self.selection), self.token_of, self._read)

    def _read(self) -> list[float]:
        self.times += 1
        return sorted(row.level for row in self.store.samples(self.selection))


def filled(store: ClickHouseStore) -> Run:
    run = started(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1, TWO: 2}))
    return run


def test_a_value_is_computed_anew_only_if_its_results_changed(store: ClickHouseStore) -> None:
    run = filled(store)
    of_case = Counting(store, lambda evidence: evidence.of_case(RSA), RSA)
    of_all = Counting(store, Evidence.of_all)
    assert (of_case(), of_all()) == ([1, 2], [1, 2])
    store.add_event(an_event(run, RunState.FINISHED))
    store.add_run(a_run("waiting"))
    assert (of_case(), of_all()) == ([1, 2], [1, 2])
    assert (of_case.times, of_all.times) == (1, 1)
    store.add_invocation(run, an_invocation(run, case_id=ECDSA, cpu_ns={ONE: 3}))
    assert (of_case(), of_all()) == ([1, 2], [1, 2, 3])
    assert (of_case.times, of_all.times) == (1, 2)
    store.add_invocation(run, an_invocation(run, 1, cpu_ns={ONE: 4}))
    assert (of_case(), of_all()) == ([1, 2, 4], [1, 2, 3, 4])


def test_the_results_of_a_subject_include_those_beside_it(store: ClickHouseStore) -> None:
    """A comparison may go through any subject of the same run and case."""
    run = filled(store)
    (one,) = [subject.name for subject in store.subjects() if subject.version == "1.0"]
    before = store.evidence()
    store.add_invocation(run, an_invocation(run, 1, cpu_ns={TWO: 4}))
    store.add_invocation(run, an_invocation(run, case_id=ECDSA, cpu_ns={TWO: 4}))
    after = store.evidence()
    assert before.of_subjects([one], case_id=RSA) != after.of_subjects([one], case_id=RSA)
    assert before.of_subjects([one], case_id=ECDSA) == after.of_subjects([one], case_id=ECDSA)


def test_large_values_leave_sooner_than_small_ones(store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they are: a value without a length is as large as what it holds."""
    monkeypatch.setattr(kept, "MOST_BYTES", 100_000)
    times: Counter[str] = Counter()

    def read(key: str, numbers: int) -> None:
        def compute() -> SimpleNamespace:
            times[key] += 1
            return SimpleNamespace(values=[float(n) for n in range(numbers)])

        store.kept_value(key, Evidence.of_all, compute)

    for _ in range(2):
        for number in range(20):
            read(f"small {number}", 20)
    assert set(times.values()) == {1}
    for _ in range(2):
        for number in range(20):
            read(f"large {number}", 2000)
    assert times["large 0"] == 2


def test_an_attempt_that_arrives_late_changes_what_is_kept(store: ClickHouseStore) -> None:
    run = started(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 2}, attempt=2))
    levels = Counting(store, lambda evidence: evidence.of_run(run.run_id))
    assert levels() == [2]
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1}, attempt=1))
    assert levels() == [1]


def test_a_repeated_delivery_with_other_numbers_changes_what_is_kept(store: ClickHouseStore) -> None:
    run = filled(store)
    levels = Counting(store, Evidence.of_all)
    assert levels() == [1, 2]
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 5, TWO: 6}))
    assert levels() == [5, 6]


def test_half_a_delivery_changes_nothing_until_it_is_repeated(store: ClickHouseStore) -> None:
    run = filled(store)
    levels = Counting(store, Evidence.of_all)
    assert levels() == [1, 2]
    more = an_invocation(run, 1, cpu_ns={ONE: 3})
    dies_after(2, store, run, more)
    assert levels() == [1, 2]
    store.add_invocation(run, more)
    assert levels() == [1, 2, 3]


def test_a_delivery_while_a_value_is_computed_is_in_the_next_one(store: ClickHouseStore) -> None:
    run = filled(store)

    def computed() -> int:
        number = len(store.samples(CPU))
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: 1}))
        return number

    numbers = [store.kept_value("number", Evidence.of_all, computed) for _ in range(3)]
    assert numbers == [2, 3, 4]


@pytest.mark.parametrize("restored", [False, True])
def test_nothing_is_kept_of_results_that_are_stored_again(store: ClickHouseStore, restored: bool) -> None:
    """Their checksums are those from before, so they alone would not show that rows had been missing."""
    run = filled(store)
    levels = Counting(store, Evidence.of_all)
    raw(store).command("TRUNCATE TABLE samples")
    assert levels() == []
    if restored:
        store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1, TWO: 2}))
        store.forget_kept()
        assert levels() == [1, 2]
    else:
        store.summarise()
        assert levels() == []
        assert levels.times == 2


def test_runs_that_no_overview_shows_do_not_decide_the_first_host_kind(store: ClickHouseStore) -> None:
    run = filled(store)
    other = HOST.model_copy(update={"cpu_model": "Other CPU"})
    bisecting = a_run("bisecting", host=other).model_copy(update={"trigger": Trigger.BISECTION})
    started(store, bisecting)
    store.add_invocation(bisecting, an_invocation(bisecting, cpu_ns={ONE: 1}))
    kinds = [kind.cpu_model for kind in store.host_kinds()]
    assert kinds == [HOST.cpu_model, "Other CPU"]
    assert [kind.cpu_model for kind in store.host_kinds("bisecting")] == ["Other CPU"]
    assert (store.libraries(), store.metrics()) == ({"fake"}, {"cpu_ns", "client_cpu_ns", "server_cpu_ns"})
    assert store.evidence().case_ids(run.run_id) == [RSA]
