"""Advice on what runs beside the measuring, on clocks and on memory; busy time between two readings."""

import os
from dataclasses import replace

import pytest

from kexbench.domain.plans import BATCH_NS
from kexbench.runner.doctor.machine import read_machine
from kexbench.runner.doctor.path_probe import PathProbe, probe
from kexbench.runner.doctor.watching import Busyness, Spin, busy_between
from kexbench.runner.path_proof import PathProof
from tests.runner.doctor.machines import ALLOWED, QUIET, MakeTree, a_machine, a_proof, check


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
        (300.0, 300, "good", "negligible"),
        (10_000.0, 10_000, "warning", "1.0%"),
        (300.0, 10_000_000, "warning", "too coarse"),
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
        ({}, "good", "average out"),
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


def test_advice_names_the_length_that_batches_have() -> None:
    found = check("interruptions", a_machine(), QUIET)
    assert (found.verdict, found.advice) == ("good", f"A batch of {BATCH_NS / 1e6:g} ms is rarely disturbed.")


@pytest.mark.parametrize(
    ("tried", "verdict", "found", "advice"),
    [
        (
            PathProbe(None, None, 60_000),
            "good",
            "can be emulated; 99% of timers are at most 0.06 ms late",
            "an outcome",
        ),
        (PathProbe(None, None, 2_000_000), "warning", "99% of timers are at most 2.00 ms late", "use two CPUs"),
        (PathProbe("opening /dev/net/tun", "ENOENT", 60_000), "unknown", "refused: opening", "--device /dev/net/tun"),
        (
            PathProbe("starting a process", None, None),
            "unknown",
            "refused: starting a process",
            "are not measured here",
        ),
        (PathProbe(None, None, None), "unknown", "not readable", "unknown"),
    ],
)
def test_paths_can_be_emulated_or_what_refuses_them_is_named(
    tried: PathProbe, verdict: str, found: str, advice: str
) -> None:
    paths = check("paths", a_machine(), replace(QUIET, path=tried))
    assert paths.verdict == verdict
    assert found in paths.found
    assert advice in paths.advice


def test_the_probe_of_paths_leaves_nothing_and_measures_its_timers() -> None:
    found = probe()
    assert found.late_ns is not None
    assert found.late_ns >= 0
    assert (found.refused is None) == (found.error is None)


@pytest.mark.parametrize(
    ("changes", "verdict", "found"),
    [
        ({}, "good", "20.04 of 20 ms, 2% of 2% lost, 9.99 of 10 Mbit/s"),
        ({"delay_p50_ns": 10_160_000}, "warning", "20.32 of 20 ms, 2% of 2% lost, 9.99 of 10 Mbit/s"),
        ({"server_lost_packets": 36}, "warning", "20.04 of 20 ms, 3.8% of 2% lost, 9.99 of 10 Mbit/s"),
        ({"carried_bit_s": 9_800_000}, "warning", "20.04 of 20 ms, 2% of 2% lost, 9.8 of 10 Mbit/s"),
        ({"delay_p50_ns": None}, "warning", "2% of 2% lost, 9.99 of 10 Mbit/s"),
    ],
)
def test_an_emulated_path_is_what_was_asked_within_its_limits(
    changes: dict[str, int | None], verdict: str, found: str
) -> None:
    """Of 1,100 packets, 22 are lost on average, with a standard deviation of 4.6."""
    shown = check("emulated path", a_machine(), replace(QUIET, proof=PathProof(a_proof(**changes))))
    assert (shown.verdict, shown.found) == (verdict, found)


def test_a_path_that_no_kit_carries_says_why_and_how_to_get_one() -> None:
    without = check("emulated path", a_machine(), replace(QUIET, proof=None))
    assert (without.verdict, without.found) == ("unknown", "not tried")
    assert "kexbench kits add openssl@system" in without.advice
    fault = check("emulated path", a_machine(), replace(QUIET, proof=PathProof(None, "7 of 100 connections failed")))
    assert (fault.verdict, fault.advice) == ("warning", "7 of 100 connections failed.")
