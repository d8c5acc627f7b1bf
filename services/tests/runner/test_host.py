"""Host facts are read from the machine; CPUs are split between workers and the runner."""

import platform

from kexbench.runner.cpus import Cpus, split_cpus
from kexbench.runner.host import LoadMeter, read_host_facts


def test_facts_of_this_machine_are_plausible_and_stable() -> None:
    facts = read_host_facts()
    assert facts.cpu_model
    assert facts.kernel == platform.release()
    assert facts.cpus >= 1
    assert facts.host_id == read_host_facts().host_id


def test_a_different_microcode_is_a_different_host() -> None:
    facts = read_host_facts()
    assert facts.host_id != facts.model_copy(update={"microcode": "0xfff"}).host_id


def test_shares_of_a_busy_while_lie_between_nothing_and_all() -> None:
    meter = LoadMeter()
    sum(range(3_000_000))
    load = meter.read()
    assert load.busy_share is None or 0 < load.busy_share <= 1
    assert load.steal_share is None or 0 <= load.steal_share <= 1


def test_the_workers_have_a_cpu_of_their_own_where_there_are_two() -> None:
    assert split_cpus({0, 1, 5}) == Cpus(5, (0, 1))
    assert split_cpus({3}) == Cpus(None)


def test_threads_take_the_runners_cpu_last() -> None:
    cpus = Cpus(5, (0, 1))
    assert cpus.pin(1) == ("--cpus", "5")
    assert cpus.pin(2) == ("--cpus", "1,5")
    assert cpus.pin(8) == ("--cpus", "0,1,5")
    assert Cpus(None).pin(2) == ()
