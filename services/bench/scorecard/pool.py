"""Invocations of one kit with itself and with burns of known share, measured in the way of every run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.detection import no_load, whole
from bench.machine import Machine
from kexbench.analysis.pairs import batches_of
from kexbench.analysis.rounds import Batches, Vector, log_ratio
from kexbench.domain.cases import Case
from kexbench.domain.kits import Library
from kexbench.domain.plans import BATCHES
from kexbench.domain.samples import Invocation, Metric
from kexbench.domain.upgrades import Side
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.order import Turn

PLAIN, AGAIN = "plain", "again"
STEPS_PPM = (10_000, 20_000, 30_000)
STEPS = tuple(ppm / 1e6 for ppm in STEPS_PPM)
METRICS: dict[Side, Metric] = {
    "both": Metric.CPU_NS,
    "client": Metric.CLIENT_CPU_NS,
    "server": Metric.SERVER_CPU_NS,
}


def _case(protocol: str, key: Mapping[str, object], group: str) -> Case:
    return Case.model_validate({"protocol": protocol, "group": group, **key})


_ECDSA = {"key_exchange": "ECDHE-ECDSA", "curve": "P-256"}
_RSA = {"key_exchange": "ECDHE-RSA", "rsa_bits": 2048}
CASES: dict[Library, tuple[Case, ...]] = {
    "openssl": tuple(
        _case(protocol, key, group)
        for group in ("X25519", "P-256")
        for protocol in ("TLSv1.2", "TLSv1.3")
        for key in (_ECDSA, _RSA)
    ),
    "gnutls": tuple(_case("TLSv1.3", key, "X25519") for key in (_ECDSA, _RSA)),
}
"""OpenSSL's cases are a matrix: protocol, certificate and group vary independently."""
QUICK_CASES: dict[Library, tuple[Case, ...]] = {"openssl": CASES["openssl"][:4]}


@dataclass(frozen=True)
class Pool:
    """The invocations of one case: their batches by subject and side, in the order of time. Every invocation holds the
    kit twice and each of its burns once."""

    library: Library
    case: Case
    batches: Mapping[str, Mapping[Side, Batches]]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.batches[PLAIN]["both"])

    @property
    def label(self) -> str:
        return f"{self.library} {self.case.label}"

    def nightly(self, subject: str) -> Vector:
        """The cost of each invocation relative to the plain kit, which is the sentinel here, in the order of time."""
        own, sentinel = self.batches[subject]["both"], self.batches[PLAIN]["both"]
        return np.exp([log_ratio(values, sentinel[key]) for key, values in own.items()])


def burned(step: float) -> str:
    """The subject whose cost is larger by `step`."""
    return f"burn-{round(step * 1e6)}"


def measure_pools(
    machine: Machine, cases: Mapping[Library, Sequence[Case]], invocations: int
) -> Iterator[int | tuple[Pool, ...]]:
    """Yields the number of finished invocations of each case, then the pools. Cases alternate, so that all see the same
    state of the machine. Raises BenchError and KitError."""
    places = [(library, case) for library, several in cases.items() for case in several]
    kits = {library: _kits(machine, f"{library}@system") for library in cases}
    job_inputs = {library: machine.job_input(several, kits[library], BATCHES) for library, several in cases.items()}
    done: dict[tuple[Library, Case], list[Invocation]] = {place: [] for place in places}
    for number in range(invocations):
        for library, case in places:
            turn = Turn(case.case_id, tuple(kits[library]), number)
            done[library, case].append(
                whole(measure_invocation(job_inputs[library], turn, machine.cpus, machine.log, no_load))
            )
        yield number + 1
    yield tuple(_pool(library, case, done[library, case]) for library, case in places)


def _kits(machine: Machine, source: str) -> dict[str, JobInputKit]:
    """All kits use the same files: other files lie in other pages of memory, which alone makes a difference."""
    plain = machine.kit(f"{source}+burn=0")
    burns = {burned(ppm / 1e6): machine.kit(f"{source}+burn={ppm}").manifest for ppm in STEPS_PPM}
    return {PLAIN: plain, AGAIN: plain} | {
        subject: JobInputKit(folder=plain.folder, manifest=manifest) for subject, manifest in burns.items()
    }


def _pool(library: Library, case: Case, done: Sequence[Invocation]) -> Pool:
    subjects = (PLAIN, AGAIN, *map(burned, STEPS))
    return Pool(
        library,
        case,
        {
            subject: {side: batches_of(done, case.case_id, subject, metric) for side, metric in METRICS.items()}
            for subject in subjects
        },
    )
