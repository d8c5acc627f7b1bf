"""Advice on the processor: the available CPUs, who shares them, and how fast they run."""

from kexbench.runner.doctor.check import About, Check
from kexbench.runner.doctor.machine import Machine

NEEDED_CPUS = 2
OFF_BASE = 0.05
_CPU = "/sys/devices/system/cpu"


def cpus(machine: Machine) -> Check:
    about, found = About("CPUs"), f"{len(machine.allowed)} usable"
    if machine.measuring_cpu is None:
        return about.warning(found, "Runner and workers disturb each other on a single CPU: give kexbench two.")
    if machine.quota_cpus is not None and machine.quota_cpus < NEEDED_CPUS:
        return about.warning(
            f"{found}, limited to the time of {machine.quota_cpus:g} CPUs",
            "The control group stops programs that exceed their limit: raise it to two CPUs or more.",
        )
    return about.good(found, f"The workers use CPU {machine.measuring_cpu}, and the runner stays off it.")


def isolation(machine: Machine) -> Check:
    about, cpu, first = About("isolation"), machine.measuring_cpu, min(machine.allowed)
    if cpu is None:
        return about.unknown("one CPU", "A single CPU cannot be kept free from other programs.")
    if cpu in machine.isolated:
        if machine.tickless is None or cpu in machine.tickless:
            return about.good(f"CPU {cpu} isolated", "Other programs stay off it.")
        return about.good(
            f"CPU {cpu} isolated", f"Other programs stay off it. To keep the timer off too, boot with nohz_full={cpu}."
        )
    last = max(machine.isolated, default=-1)
    if last > first:
        return about.warning(
            f"CPU {last} isolated, but CPU {cpu} measures",
            f"To measure on an isolated CPU, start it as: taskset --cpu-list {first},{last} kexbench run SPEC",
        )
    if machine.allowed < machine.online:
        return about.unknown(
            f"confined to {len(machine.allowed)} of {len(machine.online)} CPUs",
            "It is unknown whether others may use them too. On Kubernetes, the static CPU manager keeps others off.",
        )
    parameters = f"isolcpus={cpu}" + ("" if machine.tickless is None else f" nohz_full={cpu}")
    return about.warning(
        f"CPU {cpu} is open to all programs",
        f"On a dedicated machine, boot with {parameters} and start it as: "
        f"taskset --cpu-list {first},{cpu} kexbench run SPEC",
    )


def smt(machine: Machine) -> Check:
    about, cpu = About("SMT"), max(machine.allowed)
    if machine.siblings is None:
        return about.unknown("not readable", "Find out whether this processor runs several threads on a core.")
    if others := sorted(machine.siblings - {cpu}):
        return about.warning(
            f"CPU {cpu} shares its core with CPU {', '.join(map(str, others))}",
            f"Programs there slow it down. While measuring: echo 0 | sudo tee {_CPU}/cpu{others[0]}/online",
        )
    if machine.hypervisor == "none":
        return about.good(f"CPU {cpu} has its core to itself", "No other CPU shares its resources.")
    return about.unknown(
        "no sibling shown", "The host may use the other thread of the core, which is invisible here: ask the provider."
    )


def governor(machine: Machine) -> Check:
    about = About("frequency governor")
    if machine.governor is None:
        return about.unknown("not readable", _no_frequency_control(machine))
    if machine.governor == "performance":
        return about.good(machine.governor, "The CPU does not slow down between turns.")
    return about.warning(
        machine.governor,
        f"The CPU slows down between turns: echo performance | sudo tee {_CPU}/cpu*/cpufreq/scaling_governor",
    )


def turbo(machine: Machine) -> Check:
    about = About("turbo")
    if machine.turbo is None:
        return about.unknown("not readable", _no_frequency_control(machine))
    if not machine.turbo:
        return about.good("off", "The speed does not depend on heat or on the other cores.")
    off = 0 if (machine.turbo_switch or "").endswith("boost") else 1
    return about.warning(
        "on", f"The speed varies with heat and with the other cores' work: echo {off} | sudo tee {machine.turbo_switch}"
    )


def _no_frequency_control(machine: Machine) -> str:
    if machine.hypervisor == "none":
        return "The kernel does not control the frequency here: check the firmware's power settings."
    return "The host controls the frequency and does not report it."


def frequency(machine: Machine) -> Check:
    about, now, base = About("frequency"), machine.frequency_khz, machine.base_frequency_khz
    if not now or not base:
        found = f"{now / 1e6:.2f} GHz, base unknown" if now else "not readable"
        return about.unknown(found, "Turbo and throttling cannot be detected unless both are known.")
    found = f"{now / 1e6:.2f} GHz, base {base / 1e6:.2f}"
    if now < base * (1 - OFF_BASE):
        return about.warning(
            found, "Even a busy CPU stays below its base frequency: check for power saving, a battery or heat."
        )
    if now > base * (1 + OFF_BASE):
        return about.warning(
            found, "Above its base frequency the speed depends on heat and on the other cores: turn turbo off."
        )
    return about.good(found, "A busy CPU runs at its base frequency.")


def virtual_machine(machine: Machine) -> Check:
    about = About("virtual machine")
    if machine.hypervisor is None:
        return about.unknown("not readable", "If this is one, other load on its host is invisible here.")
    if machine.hypervisor == "none":
        return about.good("no", "All load on this hardware is visible here.")
    return about.unknown(
        "yes" if machine.hypervisor == "hypervisor" else f"yes, {machine.hypervisor}",
        "Other load on its host is invisible here: compare a version with itself to learn the resolution.",
    )
