"""GnuTLS's own benchmark beside the worker: it is stopped and goes on, and in between the worker has its turn on the
same core, so that the machine's slow phases fall on both. Each reads its own CPU clock, which stands still
meanwhile."""

import math
import os
import pty
import re
import select
import signal
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from bench.lab import Lab, Scale
from bench.peers import Peer
from kexbench.analysis.estimates import RatioEstimate, trimmed_interval, verdict
from kexbench.analysis.rounds import Vector
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.runner.party import Party

SUBJECT = "gnutls@system"
TURN_NS = 50_000_000
_SECTION = re.compile(r"\((?:TLS|VKO)[^ ]*\)")
_TIME = re.compile(r"avg\. handshake time: (?P<value>[\d.]+) (?P<unit>ms|µs)")


def _rsa(protocol: str, exchange: str, group: str = "-") -> Case:
    fields = {"protocol": Protocol(protocol), "key_exchange": KeyExchange(exchange), "rsa_bits": 3072, "group": group}
    return Case.model_validate(fields)


def _elliptic(exchange: str, group: str, curve: str = "-") -> Case:
    fields = {"protocol": Protocol.TLS_1_3, "key_exchange": KeyExchange(exchange), "curve": curve, "group": group}
    return Case.model_validate(fields)


CASES: dict[str, Case | None] = {
    "(TLS1.3)-(DHE-FFDHE3072)-(RSA-PSS-RSAE-SHA256)-(AES-128-GCM)": None,
    "(TLS1.3)-(ECDHE-SECP256R1)-(RSA-PSS-SHA256)-(AES-128-GCM)": None,
    "(TLS1.3)-(ECDHE-SECP256R1)-(RSA-PSS-RSAE-SHA256)-(AES-128-GCM)": _rsa("TLSv1.3", "ECDHE-RSA", "P-256"),
    "(TLS1.3)-(ECDHE-X25519)-(RSA-PSS-RSAE-SHA256)-(AES-128-GCM)": _rsa("TLSv1.3", "ECDHE-RSA", "X25519"),
    "(TLS1.3)-(ECDHE-SECP256R1)-(ECDSA-SECP256R1-SHA256)-(AES-128-GCM)": _elliptic("ECDHE-ECDSA", "P-256", "P-256"),
    "(TLS1.3)-(ECDHE-X25519)-(ECDSA-SECP256R1-SHA256)-(AES-128-GCM)": _elliptic("ECDHE-ECDSA", "X25519", "P-256"),
    "(TLS1.3)-(ECDHE-X25519)-(EdDSA-Ed25519)-(AES-128-GCM)": _elliptic("ECDHE-Ed25519", "X25519"),
    "(TLS1.2)-(RSA)-(AES-128-GCM)": _rsa("TLSv1.2", "RSA"),
}
"""Its first sections in their order, which it names when each is over, with the key sizes that it prints. None: this
section is not compared."""


def compare_with_gnutls_cli(lab: Lab, scale: Scale) -> Iterator[Peer]:
    """One ratio a round and section; the interval is over rounds. Raises FileNotFoundError."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for _ in range(scale.peer_rounds):
        for name, ours_ns, theirs_ns in _round(lab):
            found[name].append((ours_ns, theirs_ns))
    for name, pairs in found.items():
        case = CASES[name]
        assert case, "only what is compared is measured"
        ours, theirs = np.array(pairs).T
        yield Peer(
            case=case,
            name="gnutls-cli",
            ours_ns=statistics.median(ours),
            ours_turns_ns=None,
            theirs_ns=statistics.median(theirs),
            ratio=_ratio(np.log(ours) - np.log(theirs)),
        )


def _ratio(logs: Vector) -> RatioEstimate:
    centre, low, high = (math.exp(value) for value in trimmed_interval(logs))
    return RatioEstimate(centre, low, high, paired=True, verdict=verdict(centre, low, high))


def _round(lab: Lab) -> Iterator[tuple[str, float, float]]:
    """Of each compared section its name, our CPU nanoseconds a handshake and theirs."""
    with _running(lab.cpus.measuring) as theirs:
        for expected, case in CASES.items():
            ours_ns = _beside(lab, case, theirs) if case else None
            section = theirs.next_section()
            if section is None or section.name != expected:
                raise RuntimeError(f"gnutls-cli measured {section and section.name}, where {expected} was expected")
            if ours_ns is not None:
                yield expected, ours_ns, section.handshake_ns


def _beside(lab: Lab, case: Case, theirs: "_Transcript") -> float:
    """CPU nanoseconds of a handshake's turns, over all batches until the other program's section ends. The first of
    each batch counts too: nothing is left out of what the other program measures either."""
    cpu_ns = handshakes = 0
    with Party(lab.setting(case, {SUBJECT: lab.kit(SUBJECT)}, batches=1), SUBJECT) as party:
        while not theirs.is_over_after(TURN_NS / 1e9):
            with theirs.stopped():
                batch = party.batch(TURN_NS)
            cpu_ns += (batch.cpu_ns or 0) + (batch.first_ns or 0)
            handshakes += batch.handshakes + 1
    if handshakes == 0:
        raise RuntimeError(f"{case.case_id}: the other program's section ended before a batch of ours")
    return cpu_ns / handshakes


@dataclass(frozen=True)
class Section:
    """A key exchange as the other program measured it: the average, by its process's CPU clock."""

    name: str
    handshake_ns: float


class _Transcript:
    """The program, and what it says, line by line as it says it, since it speaks to a terminal."""

    def __init__(self, process: int, terminal: int) -> None:
        self._process = process
        self._terminal = terminal
        self._unread = b""
        self._ended = False

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """While it does nothing."""
        os.kill(self._process, signal.SIGSTOP)
        os.waitid(os.P_PID, self._process, os.WSTOPPED)
        try:
            yield
        finally:
            os.kill(self._process, signal.SIGCONT)

    def is_over_after(self, seconds: float) -> bool:
        """Let it run for so long; whether the section under way has ended by then, which it says by naming it."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._ended:
            if select.select([self._terminal], [], [], left)[0]:
                self._read()
        return self._ended or _SECTION.search(self._unread.decode(errors="replace")) is not None

    def next_section(self) -> Section | None:
        """Wait for the section under way to end; None when the program ended."""
        name = ""
        while (line := self._line()) is not None:
            if found := _SECTION.search(line):
                name = line[found.start() :].strip()
            elif found := _TIME.search(line):
                return Section(name, float(found["value"]) * (1e6 if found["unit"] == "ms" else 1e3))
        return None

    def _line(self) -> str | None:
        while b"\n" not in self._unread:
            if not self._read():
                return None
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode(errors="replace")

    def _read(self) -> bool:
        """Wait for more and keep it; false when the program has ended."""
        try:
            read = os.read(self._terminal, 4096)
        except OSError:  # how a terminal says that nobody is at its other end
            read = b""
        self._unread += read
        self._ended = not read
        return not self._ended


@contextmanager
def _running(cpu: int | None) -> Iterator[_Transcript]:
    """GnuTLS's benchmark as a live process on the measuring CPU; leaving ends it. Raises FileNotFoundError."""
    ours, its = pty.openpty()
    try:
        with subprocess.Popen(["gnutls-cli", "--benchmark-tls-kx"], stdin=subprocess.DEVNULL, stdout=its) as process:
            os.close(its)
            if cpu is not None:
                os.sched_setaffinity(process.pid, {cpu})
            try:
                yield _Transcript(process.pid, ours)
            finally:
                process.terminate()
    finally:
        os.close(ours)
