"""Advice on other programs, on the clocks, on kernel settings for all processes, and on emulated paths."""

from math import sqrt

from kexbench.domain.hosts import LITTLE_STEAL
from kexbench.domain.plans import BATCH_NS
from kexbench.runner.doctor.check import About, Check
from kexbench.runner.doctor.machine import Machine
from kexbench.runner.doctor.watching import Watched
from kexbench.runner.path_proof import PROVED
from kexbench.runner.path_remedies import REMEDIES
from kexbench.runner.records import PathConnections

BUSY_MEASURING, BUSY_ALL, BUSY_LOAD = 0.05, 0.1, 0.5
"""Thresholds for a warning about other programs: shares of CPU time, and running programs for each CPU."""
SPIN_SWITCHES, SPIN_SHARE = 5, 0.95
LATE_NS = 500_000
"""How late timers may be where paths are emulated: more is much of the round trip within a region."""
CLOCK_SHARE, CLOCK_STEP = 0.001, 0.01
"""Limits as shares of a batch: the cost of two readings of the CPU clock, and a step of that clock."""


def stolen(machine: Machine, watched: Watched) -> Check:
    about, busyness = About("stolen time"), watched.busyness
    if busyness is None or machine.stolen_since_boot is None:
        return about.unknown("not readable", "Stolen time may be part of the measured CPU times.")
    if busyness.stolen > LITTLE_STEAL:
        return about.warning(
            f"{busyness.stolen:.1%}",
            "The hypervisor gives CPU time to others: measure at another time or on a dedicated host.",
        )
    if machine.hypervisor != "none" and not machine.stolen_since_boot:
        return about.unknown(
            "none since boot",
            "Either nothing is stolen, or the hypervisor does not report it and it is part of the measured CPU times.",
        )
    return about.good(f"{busyness.stolen:.1%}", "The hypervisor took no CPU time during the test.")


def others(machine: Machine, watched: Watched) -> Check:
    about, busyness, cpu = About("other programs"), watched.busyness, max(machine.allowed)
    if busyness is None or machine.load_1m is None:
        return about.unknown("not readable", "Make sure that nothing else runs while you measure.")
    found = f"{busyness.of_measuring:.0%} of CPU {cpu}, {busyness.of_all:.0%} of all, load {machine.load_1m:.1f}"
    if busyness.of_measuring > BUSY_MEASURING or busyness.of_all > BUSY_ALL:
        return about.warning(
            found,
            "Stop other programs, which take time, caches and turbo from the measurement: top shows them.",
        )
    if machine.load_1m > BUSY_LOAD * max(1, len(machine.online)):
        return about.warning(found, "Idle now, but busy within the last minute: wait, or find the program.")
    return about.good(found, "Almost nothing else ran during the test.")


def interruptions(machine: Machine, watched: Watched) -> Check:
    about, spin, cpu = About("interruptions"), watched.spin, max(machine.allowed)
    found = f"{spin.switches} in 0.2 s, a busy loop got {spin.cpu_share:.0%} of CPU {cpu}"
    if spin.switches >= SPIN_SWITCHES or spin.cpu_share < SPIN_SHARE:
        return about.warning(
            found, "Disturbed batches are repeated, and kept if that fails: stop other programs, or isolate the CPU."
        )
    return about.good(found, f"A batch of {BATCH_NS / 1e6:g} ms is rarely disturbed.")


def clock_source(machine: Machine) -> Check:
    about, source = About("clock source"), machine.clock_source
    if source is None:
        return about.unknown("not readable", "A slow wall clock would affect wall times, not CPU times.")
    if source in ("tsc", "arch_sys_counter"):
        return about.good(source, "The wall clock is the processor's own counter.")
    if "tsc" in machine.clock_sources:
        return about.warning(
            source,
            "The processor's own counter is available and steadier: echo tsc | "
            "sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource",
        )
    return about.warning(
        source,
        "The kernel distrusts the processor's counter, which separates client and server time here: "
        "sudo dmesg | grep -i tsc shows why.",
    )


def cpu_clock(watched: Watched) -> Check:
    about, cost, step = About("CPU clock"), watched.cpu_clock_cost_ns, watched.spin.clock_step_ns
    found = f"{cost:.0f} ns a reading"
    if step > BATCH_NS * CLOCK_STEP:
        return about.warning(
            f"{found}, steps of {step / 1e6:.2g} ms",
            f"The CPU clock is too coarse for batches of {BATCH_NS / 1e6:g} ms: "
            "measure outside of this sandbox or emulator.",
        )
    if 2 * cost > BATCH_NS * CLOCK_SHARE:
        return about.warning(
            found,
            f"Two readings a batch add {2 * cost / BATCH_NS:.1%} to every cost, "
            "so changes look slightly smaller than they are.",
        )
    return about.good(found, f"Two readings are negligible in a batch of {BATCH_NS / 1e6:g} ms.")


def counters(machine: Machine, watched: Watched) -> Check:
    about, seen, paranoid = About("instruction counters"), watched.counters, machine.perf_event_paranoid
    if seen == "yes":
        return about.good("available", "Instructions can be counted in addition to time.")
    if seen in ("EACCES", "EPERM"):
        if paranoid is not None and paranoid > 2:
            return about.warning(
                f"forbidden, paranoid level {paranoid}",
                "The kernel denies them to ordinary users: sudo sysctl kernel.perf_event_paranoid=2",
            )
        return about.warning(
            f"forbidden, {seen}", "A container or a security module denies them: allow perf_event_open."
        )
    found = {"silent": "open, but count nothing", "ENOENT": "none offered", "EOPNOTSUPP": "none offered"}
    where = "the kernel has no driver for them" if machine.hypervisor == "none" else "most virtual machines have none"
    return about.unknown(found.get(seen, seen), f"Times do not need them, but instructions are unknown: {where}.")


def addresses(machine: Machine) -> Check:
    about, level = About("random addresses"), machine.address_randomisation
    if machine.fixed_addresses:
        return about.warning(
            "off in this session",
            "All invocations share one layout, whose effect looks like a change: leave setarch or the debugger.",
        )
    if level is None:
        return about.unknown("not readable", "Without them, the effect of one memory layout is in all invocations.")
    if level < 2:
        return about.warning(
            "partly on" if level == 1 else "off",
            "All invocations share one layout, which can look like a change: sudo sysctl kernel.randomize_va_space=2",
        )
    return about.good("on", "Each invocation has its own memory layout, so layout effects average out.")


def huge_pages(machine: Machine) -> Check:
    about, setting = About("huge pages"), machine.huge_pages
    if setting == "always":
        return about.warning(
            setting,
            "It is random whether a process gets huge pages: "
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        )
    return about.good(setting or "none", "The workers do not request any, so all have ordinary pages.")


def paths(watched: Watched) -> Check:
    about, probe = About("paths"), watched.path
    if probe.refused is not None:
        remedy = REMEDIES.get(probe.refused, "all others are")
        error = f" ({probe.error})" if probe.error else ""
        return about.unknown(f"refused: {probe.refused}{error}", f"Cases with a path are not measured here: {remedy}.")
    if probe.late_ns is None:
        return about.unknown("not readable", "Whether delays are exact is unknown.")
    found = f"can be emulated; 99% of timers are at most {probe.late_ns / 1e6:,.2f} ms late"
    if probe.late_ns > LATE_NS:
        return about.warning(found, "Packets of emulated paths will be late: stop other programs, or use two CPUs.")
    return about.good(found, "A path whose packets are late all the same is an outcome, not a number.")


def emulator(watched: Watched) -> Check:
    """Its proof of itself: connections over a short path, and what the path did beside what was asked."""
    about, proof = About("emulated path"), watched.proof
    if watched.path.refused is not None or proof is None:
        return about.unknown(
            "not tried",
            f"A kit connects over {PROVED.words} and says what the path did: kexbench kits add openssl@system.",
        )
    if proof.record is None:
        return about.warning("not carried", f"{proof.fault}.")
    record = proof.record
    delay_ms = None if record.delay_p50_ns is None else 2 * record.delay_p50_ns / 1e6
    rate_mbit = None if record.carried_bit_s is None else record.carried_bit_s / 1e6
    found = PROVED.beside(delay_ms, 100 * record.lost_share, rate_mbit)
    if is_as_asked(record):
        return about.good(
            found, f"Of {record.connections} connections; each result has its own: kexbench paths --json."
        )
    return about.warning(found, "Paths do not do what is asked: stop other programs, or use two CPUs.")


def is_as_asked(record: PathConnections) -> bool:
    """Whether the proven path had its delay within 50 µs and 1%, its rate within 1%, and its losses within four
    standard deviations of their binomial distribution, which chance leaves once in 16,000 times."""
    delay_ns, share = PROVED.round_trip_ns / 2, PROVED.loss_ppm / 1e6
    spread = sqrt(record.packets * share * (1 - share))
    return (
        record.delay_p50_ns is not None
        and abs(record.delay_p50_ns - delay_ns) <= 50_000 + 0.01 * delay_ns
        and record.carried_bit_s is not None
        and abs(record.carried_bit_s / PROVED.rate_bit_s - 1) <= 0.01
        and abs(record.lost_packets - record.packets * share) <= 4 * spread
    )
