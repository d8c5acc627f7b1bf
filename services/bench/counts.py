"""Whether counted instructions repeat while other programs keep all CPUs busy, and what a count costs."""

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.machine import Machine, all_cpus, children_cpu_s
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.instruments import CountedSide
from kexbench.runner.counting import count

SUBJECTS = ("openssl@debian/bullseye", "openssl@debian/trixie", "gnutls@debian/trixie")
CASES = (
    Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.RSA, rsa_bits=2048),
    Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519"),
)
SIDE: CountedSide = "server"


@dataclass(frozen=True)
class Repeated:
    """Counts of one side, one after the other, beside a load."""

    subject: str
    version: str
    case: Case
    instructions: tuple[float, ...]
    cpu_s: float
    """Of all counts."""
    wall_s: float
    load: float
    """The load average of the last minute, at the end."""

    @property
    def spread(self) -> float:
        """The largest count by the smallest, less one."""
        return max(self.instructions) / min(self.instructions) - 1


def repeat_counts(machine: Machine, counts: int) -> Iterator[str | Repeated]:
    """Yields each step, and the results. Raises KitError and Dropped."""
    with _busy():
        for subject in SUBJECTS:
            kit = machine.kit(subject)
            for case in CASES:
                yield f"{subject}, {case.label}"
                setting = machine.setting(case, {subject: kit}, 1)
                began_s, cpu_before_s = time.monotonic(), children_cpu_s()
                with all_cpus(machine.cpus):
                    counted = tuple(count(setting, subject, SIDE)[0].amount for _ in range(counts))
                yield Repeated(
                    subject=subject,
                    version=kit.manifest.version,
                    case=case,
                    instructions=counted,
                    cpu_s=children_cpu_s() - cpu_before_s,
                    wall_s=time.monotonic() - began_s,
                    load=os.getloadavg()[0],
                )


@contextmanager
def _busy() -> Iterator[None]:
    """A process burns each CPU, so that a count shares all of them."""
    burners = [multiprocessing.Process(target=_burn, args=(cpu,), daemon=True) for cpu in range(os.cpu_count() or 1)]
    for burner in burners:
        burner.start()
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.join()


def _burn(cpu: int) -> None:
    os.sched_setaffinity(0, {cpu})
    while True:
        pass
