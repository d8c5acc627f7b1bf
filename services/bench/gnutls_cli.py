"""GnuTLS's own benchmark beside the worker."""

import math
import os
import re
import statistics
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.lab import BATCH_NS, Lab, Scale, turns_ns
from bench.peers import Peer
from kexbench.analysis.estimates import RatioEstimate, trimmed_interval, verdict
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.runner.invocation import WARM_UP_BATCHES
from kexbench.runner.party import Party

SUBJECT = "gnutls@system"
_SECTION = re.compile(r"\(TLS1\.[23]\).*")
_DEVIATION = re.compile(r"standard deviation: (?P<value>[\d.]+) (?P<unit>ms|µs)")
SECTION_NS = 5e9
"""It spends five seconds on each."""
_TIME = re.compile(r"avg\. handshake time: (?P<value>[\d.]+) (?P<unit>ms|µs)")


def _rsa(protocol: str, exchange: str, group: str = "-") -> Case:
    fields = {"protocol": Protocol(protocol), "key_exchange": KeyExchange(exchange), "rsa_bits": 3072, "group": group}
    return Case.model_validate(fields)


def _elliptic(exchange: str, group: str, curve: str = "-") -> Case:
    fields = {"protocol": Protocol.TLS_1_3, "key_exchange": KeyExchange(exchange), "curve": curve, "group": group}
    return Case.model_validate(fields)


CASES = {
    "(TLS1.3)-(ECDHE-SECP256R1)-(RSA-PSS-RSAE-SHA256)-(AES-128-GCM)": _rsa("TLSv1.3", "ECDHE-RSA", "P-256"),
    "(TLS1.3)-(ECDHE-X25519)-(RSA-PSS-RSAE-SHA256)-(AES-128-GCM)": _rsa("TLSv1.3", "ECDHE-RSA", "X25519"),
    "(TLS1.3)-(ECDHE-SECP256R1)-(ECDSA-SECP256R1-SHA256)-(AES-128-GCM)": _elliptic("ECDHE-ECDSA", "P-256", "P-256"),
    "(TLS1.3)-(ECDHE-X25519)-(ECDSA-SECP256R1-SHA256)-(AES-128-GCM)": _elliptic("ECDHE-ECDSA", "X25519", "P-256"),
    "(TLS1.3)-(ECDHE-X25519)-(EdDSA-Ed25519)-(AES-128-GCM)": _elliptic("ECDHE-Ed25519", "X25519"),
    "(TLS1.2)-(RSA)-(AES-128-GCM)": _rsa("TLSv1.2", "RSA"),
}
"""Its sections that are cases of ours, with the key sizes that it prints."""


def compare_with_gnutls_cli(lab: Lab, scale: Scale) -> Iterator[Peer]:
    """Ours before and after, theirs in between."""
    before = {case: _measure(lab, case, scale) for case in CASES.values()}
    theirs = {section.name: section for section in run_gnutls_benchmark(lab.cpus.measuring)}
    for name, case in CASES.items():
        ours = [*before[case], *_measure(lab, case, scale)]
        if name in theirs:
            yield Peer(
                case=case,
                name="gnutls-cli",
                ours_ns=statistics.median(ours),
                ours_turns_ns=None,
                theirs_ns=theirs[name].handshake_ns,
                ratio=_ratio(ours, theirs[name]),
            )


@dataclass(frozen=True)
class Section:
    """A key exchange as it was measured by the other program, with its own standard deviation over handshakes."""

    name: str
    handshake_ns: float
    deviation_ns: float
    handshakes: float


def _ratio(ours: list[float], theirs: Section) -> RatioEstimate:
    """Ours to theirs: the trimmed mean of our invocations' logs, its interval widened by what their handshakes scatter.
    What the machine did in the minutes between is not in it."""
    centre, low, high = trimmed_interval(np.log(ours) - math.log(theirs.handshake_ns))
    scatter = 1.96 * theirs.deviation_ns / theirs.handshake_ns / math.sqrt(theirs.handshakes)
    reach = math.hypot((high - low) / 2, scatter)
    ratio, low, high = (math.exp(value) for value in (centre, centre - reach, centre + reach))
    return RatioEstimate(ratio, low, high, paired=False, verdict=verdict(ratio, low, high))


def run_gnutls_benchmark(cpu: int | None) -> Iterator[Section]:
    """Each section with its average time of a handshake, which it takes by its process's CPU clock.
    Raises FileNotFoundError."""
    with subprocess.Popen(["gnutls-cli", "--benchmark-tls-kx"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        if cpu is not None:
            os.sched_setaffinity(process.pid, {cpu})
        name, handshake_ns = "", 0.0
        for line in process.stdout:
            if found := _SECTION.search(line):
                name = found[0].strip()
            elif found := _TIME.search(line):
                handshake_ns = _nanoseconds(found)
            elif found := _DEVIATION.search(line):
                yield Section(name, handshake_ns, _nanoseconds(found), SECTION_NS / handshake_ns)


def _nanoseconds(found: re.Match[str]) -> float:
    return float(found["value"]) * (1e6 if found["unit"] == "ms" else 1e3)


def _measure(lab: Lab, case: Case, scale: Scale) -> list[float]:
    """CPU nanoseconds of a handshake's turns: the median of each invocation."""
    medians = []
    for _ in range(max(3, scale.invocations // 4)):
        with Party(lab.setting(case, {SUBJECT: lab.kit(SUBJECT)}, scale.batches), SUBJECT) as party:
            batches = [party.batch(BATCH_NS) for _ in range(WARM_UP_BATCHES + scale.batches)][WARM_UP_BATCHES:]
            undisturbed = [batch for batch in batches if not batch.involuntary_switches] or batches
            medians.append(statistics.median(map(turns_ns, undisturbed)))
    return medians
