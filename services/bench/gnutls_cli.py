"""GnuTLS's own benchmark beside the worker."""

import os
import re
import statistics
import subprocess
from collections.abc import Iterator

from bench.lab import BATCH_NS, Lab, Scale
from bench.peers import Peer
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.runner.party import Party

SUBJECT = "gnutls@system"
_SECTION = re.compile(r"\(TLS1\.[23]\).*")
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
    theirs = dict(run_gnutls_benchmark(lab.cpus.measuring))
    for section, case in CASES.items():
        turns_ns = (before[case] + _measure(lab, case, scale)) / 2
        if section in theirs:
            yield Peer(
                case=case,
                name="gnutls-cli",
                ours_ns=turns_ns,
                ours_turns_ns=None,
                theirs_ns=theirs[section],
                ratio=None,
            )


def run_gnutls_benchmark(cpu: int | None) -> Iterator[tuple[str, float]]:
    """Each section with its average time of a handshake in nanoseconds, which it takes by its process's CPU clock.
    Raises FileNotFoundError."""
    with subprocess.Popen(["gnutls-cli", "--benchmark-tls-kx"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        if cpu is not None:
            os.sched_setaffinity(process.pid, {cpu})
        section = ""
        for line in process.stdout:
            if found := _SECTION.search(line):
                section = found[0].strip()
            elif found := _TIME.search(line):
                yield section, float(found["value"]) * (1e6 if found["unit"] == "ms" else 1e3)


def _measure(lab: Lab, case: Case, scale: Scale) -> float:
    """CPU nanoseconds of a handshake's turns, the median over batches."""
    turns = []
    for _ in range(max(3, scale.invocations // 4)):
        with Party(lab.setting(case, {SUBJECT: lab.kit(SUBJECT)}, scale.batches), SUBJECT) as party:
            for number in range(2 + scale.batches):
                batch = party.batch(BATCH_NS)
                if number >= 2 and not batch.involuntary_switches:
                    turns.append(((batch.client_cpu_ns or 0) + (batch.server_cpu_ns or 0)) / batch.handshakes)
    return statistics.median(turns)
