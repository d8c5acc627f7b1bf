"""Invocations of one kit beside itself and beside burns of known share, measured anew through the path of every run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.detection import no_load, whole
from bench.lab import Lab
from kexbench.analysis.pairs import batches_of
from kexbench.analysis.rounds import Batches, Vector, by_round, interquartile_mean
from kexbench.domain.cases import Case
from kexbench.domain.kits import Library
from kexbench.domain.plans import BATCHES
from kexbench.domain.samples import Invocation, Metric
from kexbench.domain.upgrades import Side
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn
from kexbench.runner.ticket import TicketKit

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
"""OpenSSL's are a matrix: protocol, certificate and group vary apart from each other."""
QUICK_CASES: dict[Library, tuple[Case, ...]] = {"openssl": CASES["openssl"][:4]}


@dataclass(frozen=True)
class Pool:
    """The invocations of one case: by subject and side the batches of each, in the order of time. Every invocation
    holds the kit twice and each of its burns once."""

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
        """What each invocation costs relative to the plain kit, which is the sentinel here, in the order of time."""
        own, sentinel = self.batches[subject]["both"], self.batches[PLAIN]["both"]
        return np.exp([interquartile_mean(by_round(values, sentinel[key])) for key, values in own.items()])


def burned(step: float) -> str:
    """The subject that costs so much more."""
    return f"burn-{round(step * 1e6)}"


def measure_pools(
    lab: Lab, cases: Mapping[Library, Sequence[Case]], invocations: int
) -> Iterator[int | tuple[Pool, ...]]:
    """Yields the number of invocations done of each case, then the pools. Cases take turns, so that all of them see as
    much of what the machine does. Raises BenchError and KitError."""
    places = [(library, case) for library, several in cases.items() for case in several]
    kits = {library: _kits(lab, f"{library}@system") for library in cases}
    tickets = {library: lab.ticket(several, kits[library], BATCHES) for library, several in cases.items()}
    done: dict[tuple[Library, Case], list[Invocation]] = {place: [] for place in places}
    for number in range(invocations):
        for library, case in places:
            turn = Turn(case.case_id, tuple(kits[library]), number)
            done[library, case].append(whole(measure_invocation(tickets[library], turn, lab.cpus, lab.log, no_load)))
        yield number + 1
    yield tuple(_pool(library, case, done[library, case]) for library, case in places)


def _kits(lab: Lab, source: str) -> dict[str, TicketKit]:
    """All from the same files: others lie in other pages of memory, which alone makes a difference."""
    plain = lab.kit(f"{source}+burn=0")
    burns = {burned(ppm / 1e6): lab.kit(f"{source}+burn={ppm}").manifest for ppm in STEPS_PPM}
    return {PLAIN: plain, AGAIN: plain} | {
        subject: TicketKit(folder=plain.folder, manifest=manifest) for subject, manifest in burns.items()
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
