"""The doctor reads made-up machines and judges them; what it sees running is injected."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kexbench.runner.doctor.check import Check
from kexbench.runner.doctor.examine import Examination, examine, judge
from kexbench.runner.doctor.machine import Machine, parse_cpus, read_machine
from kexbench.runner.doctor.watching import Busyness, Spin, Watched, busy_between

CPU = "sys/devices/system/cpu"
QUIET = Watched(Busyness(0.01, 0.0, 0.0), Spin(1, 0.999, 250), 250.0, "yes")
BARE_METAL = {
    f"{CPU}/online": "0-3\n",
    f"{CPU}/isolated": "3\n",
    f"{CPU}/nohz_full": "3\n",
    f"{CPU}/cpu3/topology/thread_siblings_list": "3\n",
    f"{CPU}/cpu3/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu3/cpufreq/scaling_cur_freq": "2600100\n",
    f"{CPU}/cpu3/cpufreq/base_frequency": "2600000\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm \n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu tsc\ncpu MHz\t\t: 800.0\n\nprocessor\t: 3\nflags\t\t: fpu tsc\n",
    "proc/stat": "cpu  10 0 10 900 0 0 0 0 0 0\n",
    "proc/loadavg": "0.05 0.03 0.01 1/200 4000\n",
    "proc/self/cgroup": "0::/user.slice\n",
    "proc/self/personality": "00000000\n",
    "proc/sys/kernel/randomize_va_space": "2\n",
    "proc/sys/kernel/perf_event_paranoid": "2\n",
}
"""A machine set apart for measuring; CPU 3 measures."""
ALLOWED = {0, 1, 2, 3}

MakeTree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> MakeTree:
    """The files of the machine above with some changed, or taken away by None."""

    def make(changes: Mapping[str, str | None] = {}) -> Path:
        for path, text in {**BARE_METAL, **changes}.items():
            if text is not None:
                (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / path).write_text(text)
        return tmp_path

    return make


def check(name: str, machine: Machine, watched: Watched = QUIET) -> Check:
    return next(check for check in judge(machine, watched) if check.name == name)


def a_machine(**facts: object) -> Machine:
    known = Machine(measuring_cpu=3, allowed=frozenset(ALLOWED), online=frozenset(ALLOWED), hypervisor="none")
    return replace(known, **facts)  # type: ignore[arg-type] # facts are named as the fields are


def test_a_machine_set_apart_for_measuring_is_good_throughout(tree: MakeTree) -> None:
    checks = judge(read_machine(tree(), ALLOWED), QUIET)
    assert {check.name: check.verdict for check in checks} == dict.fromkeys([check.name for check in checks], "good")
    assert len(checks) == 15


def test_a_machine_that_tells_nothing_is_unknown_and_never_guessed(tmp_path: Path) -> None:
    nothing = Watched(None, QUIET.spin, 250.0, "ENOSYS")
    checks = judge(read_machine(tmp_path, ALLOWED), nothing)
    told = {check.name for check in checks if check.verdict != "unknown"}
    assert told == {"CPUs", "isolation", "interruptions", "CPU clock", "huge pages"}


def test_every_check_gives_one_sentence_that_fits_three_lines(tree: MakeTree, tmp_path: Path) -> None:
    machines = [read_machine(tree(), ALLOWED), read_machine(tmp_path / "empty", ALLOWED), read_machine(tree(), {2})]
    for machine in machines:
        for each in judge(machine, QUIET):
            assert ". " not in each.advice
            assert len(each.advice) <= 3 * 70
            assert len(each.name) + len(each.found) <= 70


def test_the_examination_watches_the_cpu_that_measures_and_reads_the_tree(tree: MakeTree) -> None:
    watched: list[int | None] = []

    def observe(cpu: int | None) -> Watched:
        watched.append(cpu)
        return QUIET

    found = examine(tree({"proc/loadavg": "123.4 0 0"}), observe)
    assert watched == [found.measuring_cpu]
    assert "load 123.4" in next(check.found for check in found.checks if check.name == "other programs")


def test_verdicts_are_counted() -> None:
    found = Examination(1, (Check("a", "warning", "", ""), Check("b", "good", "", ""), Check("c", "warning", "", "")))
    assert (found.count("warning"), found.count("good"), found.count("unknown")) == (2, 1, 0)


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
        ({"proc/cpuinfo": "processor\t: 3\nflags\t\t: fpu hypervisor\n"}, "unnamed", "unknown"),
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


@pytest.mark.parametrize(
    ("share", "since_boot", "hypervisor", "verdict"),
    [
        (0.03, True, "KVM", "warning"),
        (0.0, True, "KVM", "good"),
        (0.0, False, "KVM", "unknown"),
        (0.0, False, "none", "good"),
        (0.0, None, "none", "unknown"),
    ],
)
def test_stolen_time_is_a_warning_and_none_at_all_is_doubted_in_virtual_machines(
    share: float, since_boot: bool | None, hypervisor: str, verdict: str
) -> None:
    watched = replace(QUIET, busyness=Busyness(0, 0, share))
    found = check("stolen time", a_machine(stolen_since_boot=since_boot, hypervisor=hypervisor), watched)
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("busyness", "load", "verdict"),
    [
        (Busyness(0.02, 0.01, 0), 0.3, "good"),
        (Busyness(0.02, 0.2, 0), 0.3, "warning"),
        (Busyness(0.5, 0.01, 0), 0.3, "warning"),
        (Busyness(0.02, 0.01, 0), 3.0, "warning"),
        (None, 0.3, "unknown"),
        (Busyness(0.02, 0.01, 0), None, "unknown"),
    ],
)
def test_other_programs_are_a_warning(busyness: Busyness | None, load: float | None, verdict: str) -> None:
    found = check("other programs", a_machine(load_1m=load), replace(QUIET, busyness=busyness))
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("switches", "share", "verdict"), [(1, 0.99, "good"), (30, 0.99, "warning"), (1, 0.6, "warning")]
)
def test_a_busy_loop_that_is_interrupted_is_a_warning(switches: int, share: float, verdict: str) -> None:
    watched = replace(QUIET, spin=Spin(switches, share, 250))
    assert check("interruptions", a_machine(), watched).verdict == verdict


@pytest.mark.parametrize(
    ("source", "available", "verdict", "words"),
    [
        ("tsc", ("tsc",), "good", "own counter"),
        ("arch_sys_counter", (), "good", "own counter"),
        ("kvm-clock", ("kvm-clock", "tsc"), "warning", "echo tsc"),
        ("hpet", ("hpet", "acpi_pm"), "warning", "dmesg"),
        (None, (), "unknown", "wall times"),
    ],
)
def test_the_clock_source_is_judged(source: str | None, available: tuple[str, ...], verdict: str, words: str) -> None:
    found = check("clock source", a_machine(clock_source=source, clock_sources=available))
    assert found.verdict == verdict
    assert words in found.advice


@pytest.mark.parametrize(
    ("cost_ns", "step_ns", "verdict", "words"),
    [
        (300.0, 300, "good", "do not count"),
        (10_000.0, 10_000, "warning", "0.4%"),
        (300.0, 10_000_000, "warning", "too coarsely"),
    ],
)
def test_a_dear_or_coarse_cpu_clock_is_a_warning(cost_ns: float, step_ns: int, verdict: str, words: str) -> None:
    watched = replace(QUIET, cpu_clock_cost_ns=cost_ns, spin=Spin(0, 1.0, step_ns))
    found = check("CPU clock", a_machine(), watched)
    assert found.verdict == verdict
    assert words in found.advice


@pytest.mark.parametrize(
    ("seen", "paranoid", "verdict", "words"),
    [
        ("yes", 2, "good", "can be counted"),
        ("EACCES", 3, "warning", "sysctl kernel.perf_event_paranoid=2"),
        ("EACCES", 2, "warning", "allow perf_event_open"),
        ("EPERM", None, "warning", "allow perf_event_open"),
        ("ENOENT", 2, "unknown", "no driver"),
        ("silent", 2, "unknown", "no driver"),
        ("ENOSYS", None, "unknown", "no driver"),
    ],
)
def test_missing_counters_are_explained(seen: str, paranoid: int | None, verdict: str, words: str) -> None:
    found = check("instruction counters", a_machine(perf_event_paranoid=paranoid), replace(QUIET, counters=seen))
    assert found.verdict == verdict
    assert words in found.advice


@pytest.mark.parametrize(
    ("files", "verdict", "words"),
    [
        ({}, "good", "averaged out"),
        ({"proc/sys/kernel/randomize_va_space": "0"}, "warning", "sysctl"),
        ({"proc/sys/kernel/randomize_va_space": "1"}, "warning", "sysctl"),
        ({"proc/self/personality": "00040000"}, "warning", "setarch"),
        ({"proc/sys/kernel/randomize_va_space": None}, "unknown", "layout"),
    ],
)
def test_addresses_that_are_not_random_are_a_warning(
    files: dict[str, str | None], verdict: str, words: str, tree: MakeTree
) -> None:
    found = check("random addresses", read_machine(tree(files), ALLOWED))
    assert found.verdict == verdict
    assert words in found.advice


@pytest.mark.parametrize(
    ("text", "verdict"), [("[always] madvise never", "warning"), ("always madvise [never]", "good"), (None, "good")]
)
def test_huge_pages_for_everybody_are_a_warning(text: str | None, verdict: str, tree: MakeTree) -> None:
    machine = read_machine(tree({"sys/kernel/mm/transparent_hugepage/enabled": text}), ALLOWED)
    assert check("huge pages", machine).verdict == verdict


BEFORE = "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 50 0 50 400 0 0 0 0 0 0\ncpu1 50 0 50 400 0 0 0 0 0 0\nintr 5\n"


def test_busy_time_is_that_of_others_between_two_readings() -> None:
    """Of 200 ticks 40 were busy, 10 of them our own, 10 stolen; on CPU 1 20 of 100 were busy."""
    after = "cpu  130 0 110 940 5 0 0 15 0 0\ncpu0 70 0 50 475 5 0 0 5 0 0\ncpu1 60 0 60 465 5 0 0 10 0 0\n"
    own_s = 10 / os.sysconf("SC_CLK_TCK")
    found = busy_between(BEFORE, after, own_s, 1)
    assert found is not None
    assert found.of_all == pytest.approx(30 / 200)
    assert found.of_measuring == pytest.approx(20 / 100)
    assert found.stolen == pytest.approx(15 / 200)


def test_without_a_cpu_of_its_own_all_cpus_count() -> None:
    after = "cpu  120 0 100 880 0 0 0 0 0 0\n"
    found = busy_between(BEFORE, after, 0.0, None)
    assert found is not None
    assert found.of_measuring == found.of_all == pytest.approx(0.2)


@pytest.mark.parametrize("after", ["", BEFORE, "cpu  1 2\n"], ids=["unreadable", "no time passed", "too few fields"])
def test_without_two_readings_busy_time_is_unknown(after: str) -> None:
    assert busy_between(BEFORE, after, 0.0, 1) is None
