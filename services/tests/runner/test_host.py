"""Host facts are read from the machine, or from the files of others; CPUs are split between workers and the runner."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

import pytest

from kexbench.domain.hosts import HostFacts, kind_of
from kexbench.runner.cpus import Cpus, split_cpus
from kexbench.runner.host import LoadMeter, read_host_facts
from kexbench.runner.tree import CPU, Tree
from tests.runner import cpuinfo


def facts_of(files: Mapping[str, str], folder: Path) -> HostFacts:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return read_host_facts(Tree(folder))


def test_facts_of_this_machine_are_plausible_and_stable() -> None:
    facts = read_host_facts()
    assert facts.cpu_model
    assert facts.kernel == platform.release()
    assert facts.cpus >= 1
    assert facts.host_id == read_host_facts().host_id


@pytest.mark.parametrize(
    ("files", "model", "family", "stepping", "virtualisation"),
    [
        (cpuinfo.GRAVITON2, "Neoverse-N1", "0x41/0xd0c", "r3p1", "Amazon EC2"),
        (cpuinfo.GRAVITON2_METAL, "Neoverse-N1", "0x41/0xd0c", "r3p1", "none"),
        (cpuinfo.GRAVITON3, "Neoverse-V1", "0x41/0xd40", "r1p1", "Amazon EC2"),
        (cpuinfo.GRAVITON4, "Neoverse-V2", "0x41/0xd4f", "r0p1", "Amazon EC2"),
        (cpuinfo.ALTRA, "Neoverse-N1", "0x41/0xd0c", "r3p1", "none"),
        (cpuinfo.ALTRA_OF_GOOGLE, "Neoverse-N1", "0x41/0xd0c", "r3p1", "Google"),
        (cpuinfo.COBALT, "Azure Cobalt 100", "0x6d/0xd49", "r0p0", "Microsoft Corporation"),
        (cpuinfo.APPLE_M1, "Apple M1 Firestorm", "0x61/0x023", "r1p1", "none"),
        (cpuinfo.QEMU_WITH_DEVICE_TREE, "Arm core 0x00/0x051", "0x00/0x051", "r0p0", "kvm"),
        ({"proc/cpuinfo": cpuinfo.arm("0x41", "0x1", "0xd40", 1)}, "Neoverse-V1", "0x41/0xd40", "r1p1", None),
        (cpuinfo.EPYC, "AMD EPYC 9R14", "25/17", "1", "none"),
        (cpuinfo.EPYC_OF_AMAZON, "AMD EPYC 9R14", "25/17", "1", "Amazon EC2"),
    ],
    ids=[
        *("Graviton 2", "Graviton 2, metal", "Graviton 3", "Graviton 4", "Altra", "Altra at Google", "Cobalt", "M1"),
        *("QEMU", "firmware hidden", "EPYC", "EPYC at Amazon"),
    ],
)
def test_cores_and_hypervisors_of_several_makers_are_named(
    files: Mapping[str, str],
    model: str,
    family: str,
    stepping: str,
    virtualisation: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    facts = facts_of(files, tmp_path)
    assert (facts.cpu_model, facts.cpu_family, facts.cpu_stepping) == (model, family, stepping)
    assert facts.virtualisation == virtualisation


def test_machines_that_differ_in_their_cores_or_settings_are_of_different_kinds(tmp_path: Path) -> None:
    settings = {f"{CPU}/smt/active": "0\n", f"{CPU}/cpufreq/boost": "0\n"}
    different = {
        "Graviton 2": cpuinfo.GRAVITON2,
        "Graviton 2, metal": cpuinfo.GRAVITON2_METAL,
        "Graviton 3": cpuinfo.GRAVITON3,
        "another revision": cpuinfo.GRAVITON3 | {"proc/cpuinfo": cpuinfo.arm("0x41", "0x1", "0xd40", 0)},
        "EPYC": cpuinfo.EPYC,
        "another microcode": cpuinfo.EPYC | {"proc/cpuinfo": cpuinfo.x86(microcode="0xa101158")},
        "another stepping": cpuinfo.EPYC | {"proc/cpuinfo": cpuinfo.x86(stepping=2)},
        "known settings": cpuinfo.EPYC | settings,
        "SMT on": cpuinfo.EPYC | settings | {f"{CPU}/smt/active": "1\n"},
        "turbo on": cpuinfo.EPYC | settings | {f"{CPU}/cpufreq/boost": "1\n"},
        "EPYC at Amazon": cpuinfo.EPYC_OF_AMAZON,
    }
    kinds = {name: kind_of(facts_of(files, tmp_path / name)) for name, files in different.items()}
    assert len(set(kinds.values())) == len(different)
    assert kinds["SMT on"] == (
        "AMD EPYC 9R14, microcode 0xa101154, turbo off, SMT on, bare metal, family 25/17, stepping 1"
    )


@pytest.mark.parametrize("allowed", [{0, 1}, {1}])
def test_the_governor_is_that_of_the_cpu_that_measures(
    allowed: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: allowed)
    governors = {0: "powersave", 1: "performance"}
    files = {f"{CPU}/cpu{cpu}/cpufreq/scaling_governor": f"{name}\n" for cpu, name in governors.items()}
    assert facts_of(cpuinfo.EPYC | files, tmp_path).governor == "performance"


def test_shares_of_a_busy_while_lie_between_nothing_and_all() -> None:
    meter = LoadMeter()
    sum(range(3_000_000))
    load = meter.read()
    assert load.busy_share is None or 0 < load.busy_share <= 1
    assert load.steal_share is None or 0 <= load.steal_share <= 1


def test_what_is_stolen_from_the_cpu_that_measures_is_counted_however_many_others_there_are(tmp_path: Path) -> None:
    def passes(stolen: int, idle: int, fields: str = "") -> None:
        (tmp_path / "proc").mkdir(exist_ok=True)
        (tmp_path / "proc/stat").write_text(
            f"cpu  0 0 0 100000 0 0 0 {stolen}\ncpu2 0 0 0 50000 0 0 0 0\n"
            f"cpu3 {fields or f'60 0 0 {idle} 0 0 0 {stolen} 5 0'}\n"
        )

    passes(0, 0)
    meter = LoadMeter((), Tree(tmp_path), measuring=3)
    passes(25, 75)
    assert meter.read().steal_share == 0.25
    passes(25, 175)
    assert meter.read().steal_share == 0
    assert meter.read().steal_share is None, "no time has passed"
    passes(0, 0, fields="60 0 0 0")
    assert meter.read().steal_share is None, "the kernel does not tell"


def test_how_busy_the_other_thread_of_the_measuring_core_was_is_known_for_each_while(tmp_path: Path) -> None:
    def passes(busy: int, idle: int) -> None:
        (tmp_path / "proc").mkdir(exist_ok=True)
        (tmp_path / "proc/stat").write_text(
            f"cpu  0 0 0 0 0 0 0 0\ncpu3 9 0 0 9 0 0 0 0\ncpu7 {busy} 0 0 {idle} 0 0 0 0\n"
        )

    passes(0, 0)
    meter = LoadMeter((7,), Tree(tmp_path))
    passes(25, 75)
    assert meter.read().sibling_busy_share == 0.25
    passes(25, 175)
    assert meter.read().sibling_busy_share == 0
    assert meter.read().sibling_busy_share is None, "no time has passed"
    assert LoadMeter((), Tree(tmp_path)).read().sibling_busy_share is None


def test_the_runner_keeps_off_the_measuring_core_where_it_can() -> None:
    assert split_cpus({0, 1, 2, 3}, {3, 1}) == Cpus(3, (0, 1, 2), (1,))
    assert split_cpus({0, 1, 2, 3}, {3, 1}).runners == (0, 2)
    assert split_cpus({1, 3}, {3, 1}).runners == (1,)
    assert split_cpus({0, 3}, {3, 1}) == Cpus(3, (0,), (1,))
    assert split_cpus({0, 3}).runners == (0,)


def test_a_second_thread_has_a_core_of_its_own_where_it_can() -> None:
    cpus = Cpus(3, (0, 1, 2), (2,))
    assert cpus.pin(2) == ("--cpus", "1,3")
    assert cpus.pin(3) == ("--cpus", "0,1,3")
    assert cpus.pin(4) == ("--cpus", "0,1,2,3")


def test_the_workers_have_a_cpu_of_their_own_where_there_are_two() -> None:
    assert split_cpus({0, 1, 5}) == Cpus(5, (0, 1))
    assert split_cpus({3}) == Cpus(None)


def test_threads_take_the_runners_cpu_last() -> None:
    cpus = Cpus(5, (0, 1))
    assert cpus.pin(1) == ("--cpus", "5")
    assert cpus.pin(2) == ("--cpus", "1,5")
    assert cpus.pin(8) == ("--cpus", "0,1,5")
    assert Cpus(None).pin(2) == ()
