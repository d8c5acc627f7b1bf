"""What is read of the processor, and the advice on it."""

import pytest

from kexbench.runner.doctor.machine import read_machine
from kexbench.runner.tree import parse_cpus
from tests.runner.doctor.machines import ALLOWED, CPU, MakeTree, a_machine, check


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0-2,5\n", {0, 1, 2, 5}), ("7", {7}), ("", set()), ("(null)\n", set())],
)
def test_the_kernels_lists_of_cpus_are_read(text: str, cpus: set[int]) -> None:
    assert parse_cpus(text) == cpus


def test_one_cpu_is_too_few(tree: MakeTree) -> None:
    found = check("CPUs", read_machine(tree(), {3}))
    assert (found.verdict, found.found) == ("warning", "1 usable")


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"sys/fs/cgroup/user.slice/cpu.max": "150000 100000\n"}, 1.5),
        ({"sys/fs/cgroup/user.slice/cpu.max": "max 100000\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        ({"sys/fs/cgroup/user.slice/cpu.max": "max 100000\n"}, None),
        ({"proc/self/cgroup": "4:cpu,cpuacct:/docker/1\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1"}, None),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/docker/1\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "120000\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            1.2,
        ),
        ({"proc/self/cgroup": "0::/../../elsewhere\n", "sys/fs/cgroup/cpu.max": "100000 100000\n"}, 1.0),
    ],
    ids=["own", "of a group above", "none", "none, first version", "first version", "outside of the namespace"],
)
def test_an_allowance_of_cpu_time_is_found_in_the_control_groups(
    files: dict[str, str], quota: float | None, tree: MakeTree
) -> None:
    machine = read_machine(tree(files), ALLOWED)
    assert machine.quota_cpus == quota
    assert check("CPUs", machine).verdict == ("good" if quota is None else "warning")


def test_an_isolated_cpu_that_does_not_measure_is_named_with_the_remedy(tree: MakeTree) -> None:
    found = check("isolation", read_machine(tree(), {0, 1, 2}))
    assert (found.verdict, found.found) == ("warning", "CPU 3 isolated, but CPU 2 measures")
    assert "taskset --cpu-list 0,3" in found.advice


def test_an_isolated_partition_isolates_all_its_cpus(tree: MakeTree) -> None:
    machine = read_machine(
        tree({f"{CPU}/isolated": "\n", "sys/fs/cgroup/user.slice/cpuset.cpus.partition": "isolated\n"}), {0, 2}
    )
    assert check("isolation", machine).verdict == "good"


@pytest.mark.parametrize(
    ("facts", "verdict", "words"),
    [
        ({"tickless": frozenset()}, "warning", "boot with isolcpus=3 nohz_full=3 and"),
        ({"tickless": None}, "warning", "boot with isolcpus=3 and"),
        ({"isolated": frozenset({3}), "tickless": frozenset()}, "good", "nohz_full=3"),
        ({"allowed": frozenset({2, 3})}, "unknown", "static CPU manager"),
        ({"measuring_cpu": None, "allowed": frozenset({3})}, "unknown", "single CPU"),
    ],
)
def test_isolation_is_judged(facts: dict[str, object], verdict: str, words: str) -> None:
    found = check("isolation", a_machine(**facts))
    assert found.verdict == verdict
    assert words in found.advice


@pytest.mark.parametrize(
    ("siblings", "hypervisor", "verdict"),
    [("3", "none", "good"), ("1,3", "none", "warning"), ("1,3", "KVM", "warning"), ("3", "KVM", "unknown")],
)
def test_a_shared_core_is_a_warning_and_unseen_ones_are_unknown(siblings: str, hypervisor: str, verdict: str) -> None:
    found = check("SMT", a_machine(siblings=parse_cpus(siblings), hypervisor=hypervisor))
    assert found.verdict == verdict
    assert ("cpu1/online" in found.advice) == (verdict == "warning")


def test_the_other_thread_of_the_measuring_core_is_read_from_the_machine(tree: MakeTree) -> None:
    machine = read_machine(tree({f"{CPU}/cpu3/topology/thread_siblings_list": "1,3"}), ALLOWED)
    assert check("SMT", machine).verdict == "warning"


@pytest.mark.parametrize("governor", ["powersave", "schedutil", "ondemand"])
def test_a_governor_that_slows_down_is_a_warning(governor: str, tree: MakeTree) -> None:
    machine = read_machine(tree({f"{CPU}/cpu3/cpufreq/scaling_governor": governor}), ALLOWED)
    assert check("frequency governor", machine).verdict == "warning"


@pytest.mark.parametrize(
    ("files", "verdict", "command"),
    [
        ({f"{CPU}/intel_pstate/no_turbo": "0"}, "warning", f"echo 1 | sudo tee /{CPU}/intel_pstate/no_turbo"),
        ({f"{CPU}/cpufreq/boost": "1"}, "warning", f"echo 0 | sudo tee /{CPU}/cpufreq/boost"),
        ({f"{CPU}/cpufreq/boost": "0"}, "good", ""),
        ({f"{CPU}/intel_pstate/no_turbo": None}, "unknown", ""),
    ],
)
def test_turbo_is_read_from_either_driver(
    files: dict[str, str | None], verdict: str, command: str, tree: MakeTree
) -> None:
    found = check("turbo", read_machine(tree(files), ALLOWED))
    assert found.verdict == verdict
    assert command in found.advice


@pytest.mark.parametrize(
    ("files", "verdict", "words"),
    [
        ({"scaling_cur_freq": "1200000"}, "warning", "1.20 GHz, base 2.60"),
        ({"scaling_cur_freq": "3400000"}, "warning", "3.40 GHz, base 2.60"),
        ({"scaling_cur_freq": "2550000"}, "good", "2.55 GHz, base 2.60"),
        ({"base_frequency": None}, "unknown", "2.60 GHz, base unknown"),
        ({"scaling_cur_freq": None}, "unknown", "not readable"),
    ],
)
def test_a_busy_cpus_frequency_is_compared_with_its_base(
    files: dict[str, str | None], verdict: str, words: str, tree: MakeTree
) -> None:
    machine = read_machine(tree({f"{CPU}/cpu3/cpufreq/{name}": text for name, text in files.items()}), ALLOWED)
    found = check("frequency", machine)
    assert (found.verdict, found.found) == (verdict, words)


@pytest.mark.parametrize(
    ("files", "khz"),
    [
        ({f"{CPU}/cpu3/acpi_cppc/nominal_freq": "2450\n"}, 2_450_000),
        ({f"{CPU}/cpu3/acpi_cppc/nominal_freq": "0\n"}, None),
        ({"proc/cpuinfo": "processor\t: 3\nmodel name\t: Xeon(R) CPU E5 @ 2.30GHz\ncpu MHz\t: 2299.9\n"}, 2_300_000),
    ],
)
def test_the_base_frequency_is_also_known_to_firmware_and_the_models_name(
    files: dict[str, str], khz: int | None, tree: MakeTree
) -> None:
    machine = read_machine(tree({f"{CPU}/cpu3/cpufreq/base_frequency": None, **files}), ALLOWED)
    assert machine.base_frequency_khz == khz


@pytest.mark.parametrize(
    ("files", "hypervisor", "verdict"),
    [
        ({}, "none", "good"),
        ({"proc/cpuinfo": "processor\t: 3\nflags\t\t: fpu hypervisor\n"}, "hypervisor", "unknown"),
        (
            {
                "proc/cpuinfo": "processor\t: 3\nflags\t\t: fpu hypervisor\n",
                "sys/class/dmi/id/sys_vendor": "Amazon EC2\n",
            },
            "Amazon EC2",
            "unknown",
        ),
        ({"sys/hypervisor/type": "xen\n"}, "xen", "unknown"),
        ({"proc/cpuinfo": "processor\t: 3\nFeatures\t: fp asimd\n"}, None, "unknown"),
    ],
)
def test_a_hypervisor_is_recognised(
    files: dict[str, str], hypervisor: str | None, verdict: str, tree: MakeTree
) -> None:
    machine = read_machine(tree(files), ALLOWED)
    assert machine.hypervisor == hypervisor
    assert check("virtual machine", machine).verdict == verdict
