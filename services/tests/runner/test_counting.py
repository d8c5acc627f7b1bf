"""Instructions of a real worker, counted by the real callgrind."""

from pathlib import Path

import pytest

from kexbench.analysis.why import explain
from kexbench.domain.instruments import Instrument
from kexbench.domain.profiles import SMALLEST_SHARE, Profile
from kexbench.domain.samples import Invocation, Metric, Outcome, OutcomeKind
from kexbench.runner.callgrind import Counts
from kexbench.runner.counting import count, count_invocation
from kexbench.runner.invocation import CutShort
from kexbench.runner.job import measure_job
from kexbench.runner.order import Turn
from kexbench.runner.participant import Dropped, Setting
from kexbench.runner.results import read_results
from tests.runner.conftest import ECDHE, QUIET, UNPINNED, MakeJobInput
from tests.runner.real import values

QUIET_FAKE = "fake@1.0+noise=0"


def setting_of(make_job_input: MakeJobInput, reference: str, tmp_path: Path) -> Setting:
    return Setting(make_job_input(reference, cases=(ECDHE,)), ECDHE, UNPINNED, tmp_path / "worker.log")


def counted(
    make_job_input: MakeJobInput,
    reference: str,
    tmp_path: Path,
    *,
    examines: bool = True,
    instrument: Instrument = Instrument.INSTRUCTIONS,
) -> Invocation:
    turn = Turn(ECDHE.case_id, (reference,), 0, examines=examines)
    job_input = make_job_input(reference, cases=(ECDHE,), instrument=instrument)
    return count_invocation(job_input, turn, UNPINNED, tmp_path / "worker.log", lambda: QUIET)


def names_of(profile: Profile) -> set[str]:
    return {cost.name for cost in profile.functions}


def test_two_counts_of_one_kit_are_the_same_and_the_sides_are_apart(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    first, second = (counted(make_job_input, QUIET_FAKE, tmp_path) for _ in range(2))
    client, server, objects = first.profiles[QUIET_FAKE]
    assert client.amount > 1000
    assert explain(client, second.profiles[QUIET_FAKE][0]).has_changed is False
    assert explain(client, second.profiles[QUIET_FAKE][0]).path == ()
    assert {"client_turn", "step"} <= names_of(client)
    assert "server_turn" not in names_of(client)
    assert "server_turn" in names_of(server)
    assert "client_turn" not in names_of(server)
    assert {"make_objects", "free_objects", "open_side", "close_side"} <= names_of(objects)
    assert not {"client_turn", "server_turn"} & names_of(objects)
    assert values(first, QUIET_FAKE, Metric.OBJECTS_COUNTED_INSTRUCTIONS) == (objects.amount,)
    (both,) = values(first, QUIET_FAKE, Metric.COUNTED_INSTRUCTIONS)
    assert both == client.amount + server.amount
    assert values(first, QUIET_FAKE, Metric.CLIENT_COUNTED_INSTRUCTIONS) == (client.amount,)
    assert abs(both / values(second, QUIET_FAKE, Metric.COUNTED_INSTRUCTIONS)[0] - 1) < SMALLEST_SHARE
    assert first.negotiated[QUIET_FAKE].group == "X25519"
    assert first.timers == {}, "times under Valgrind mean nothing"


def test_a_job_is_counted_where_its_instrument_is_instructions_and_only_the_first_invocation_has_a_profile(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    job_input = make_job_input(QUIET_FAKE, cases=(ECDHE,), instrument=Instrument.INSTRUCTIONS)
    list(measure_job(job_input, UNPINNED, tmp_path / "worker.log", lambda: QUIET, lambda: False))
    first, second = read_results(job_input.results)
    assert (set(first.profiles), second.profiles) == ({QUIET_FAKE}, {})
    for invocation in (first, second):
        assert {sample.metric for sample in invocation.samples} == {
            Metric.COUNTED_INSTRUCTIONS,
            Metric.CLIENT_COUNTED_INSTRUCTIONS,
            Metric.SERVER_COUNTED_INSTRUCTIONS,
            Metric.OBJECTS_COUNTED_INSTRUCTIONS,
        }


def test_what_a_kit_refuses_is_an_outcome(make_job_input: MakeJobInput, tmp_path: Path) -> None:
    reference = "fake@1.0+unsupported=1"
    invocation = counted(make_job_input, reference, tmp_path)
    assert (invocation.samples, invocation.profiles, invocation.negotiated) == ((), {}, {})
    (outcome,) = invocation.outcomes
    assert (outcome.kind, outcome.reason) == (
        OutcomeKind.UNSUPPORTED,
        "the fake library was told to support nothing",
    )


def test_without_valgrind_the_outcome_says_what_to_install(
    make_job_input: MakeJobInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = setting_of(make_job_input, "fake@1.0", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Dropped) as refusal:
        count(setting, "fake@1.0", "client")
    assert refusal.value.outcome("fake@1.0") == Outcome(
        subject="fake@1.0",
        kind=OutcomeKind.UNSUPPORTED,
        reason="valgrind is not installed: install it, such as with apt install valgrind",
    )


def test_several_threads_are_not_counted(make_job_input: MakeJobInput, tmp_path: Path) -> None:
    setting = setting_of(make_job_input, "fake@1.0", tmp_path)
    threaded = Setting(setting.job_input, ECDHE.model_copy(update={"threads": 2}), setting.cpus, setting.log)
    with pytest.raises(Dropped, match="one thread"):
        count(threaded, "fake@1.0", "client")


def test_a_worker_that_is_ended_from_outside_says_nothing_of_its_library(
    make_job_input: MakeJobInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> None:
        raise Dropped(OutcomeKind.CRASHED, "the worker was ended by signal 15", signal=15)

    monkeypatch.setattr("kexbench.runner.counting.count", ended)
    with pytest.raises(CutShort, match="ended by signal 15"):
        counted(make_job_input, "fake@1.0", tmp_path)


def test_a_worker_without_functions_for_its_turns_is_no_count_of_nothing(
    make_job_input: MakeJobInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kexbench.runner.counting.read_counts", lambda _: Counts())
    with pytest.raises(Dropped, match="add the kit again"):
        count(setting_of(make_job_input, "fake@1.0", tmp_path), "fake@1.0", "client")


def test_allocations_are_counted_by_function_and_what_is_held_and_kept_apart(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    first, second = (counted(make_job_input, QUIET_FAKE, tmp_path, instrument=Instrument.ALLOCATIONS) for _ in range(2))
    profiles = {profile.side: profile for profile in first.profiles[QUIET_FAKE]}
    assert [profile.amount for profile in second.profiles[QUIET_FAKE]] == [each.amount for each in profiles.values()]
    assert list(profiles) == ["client", "server", "objects", "client_held", "server_held", "kept"]
    (making,) = profiles["objects"].functions
    assert (making.name, making.calls) == ("open_side", 2)
    assert making.amount == profiles["objects"].amount > 0
    assert {(call.caller[0], call.callee[0]) for call in profiles["objects"].calls} == {
        ("objects", "make_objects"),
        ("make_objects", "open_side"),
    }
    assert profiles["server_held"].amount == profiles["client_held"].amount == making.amount / 2
    assert profiles["client"].amount == profiles["server"].amount == profiles["kept"].amount == 0
    assert values(first, QUIET_FAKE, Metric.OBJECTS_ALLOCATED_BYTES) == (making.amount,)
    assert values(first, QUIET_FAKE, Metric.KEPT_BYTES) == (0,)
    assert values(first, QUIET_FAKE, Metric.ALLOCATED_BYTES) == (0,)
    assert not any(sample.metric is Metric.COUNTED_INSTRUCTIONS for sample in first.samples)


def test_atomic_operations_are_counted_by_function_and_those_that_threads_share_are_the_same_each_time(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    first, second = (counted(make_job_input, QUIET_FAKE, tmp_path, instrument=Instrument.ATOMICS) for _ in range(2))
    profiles = {profile.side: profile for profile in first.profiles[QUIET_FAKE]}
    assert list(profiles) == ["client", "server", "objects", "busiest"]
    assert [profile.amount for profile in first.profiles[QUIET_FAKE]] == [
        profile.amount for profile in second.profiles[QUIET_FAKE]
    ]
    (shared,) = values(first, QUIET_FAKE, Metric.SHARED_ATOMIC_OPERATIONS)
    (every,) = values(first, QUIET_FAKE, Metric.ATOMIC_OPERATIONS)
    (busiest,) = values(first, QUIET_FAKE, Metric.BUSIEST_ATOMIC_OPERATIONS)
    assert 0 < busiest <= shared < every
    assert busiest == sum(cost.amount for cost in profiles["busiest"].functions)
