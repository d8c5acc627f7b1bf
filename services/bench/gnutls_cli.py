"""GnuTLS's own benchmark beside the worker: it is stopped and goes on, and in between the worker has its turn on the
same core, so that the machine's slow phases fall on both. Each reads its own CPU clock, which stands still
meanwhile."""

import math
import os
import pty
import re
import select
import shutil
import signal
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.gnutls_certificates import setting_with
from bench.lab import BenchError, Lab, Scale
from bench.peers import Peer
from kexbench.analysis.estimates import RatioEstimate, trimmed_interval
from kexbench.analysis.rounds import Vector
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.runner.party import Party, Setting

PROGRAM = "gnutls-cli"
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


@dataclass(frozen=True)
class Section:
    """A key exchange as the other program measured it: the average, by its process's CPU clock."""

    name: str
    handshake_ns: float


def compare_with_gnutls_cli(lab: Lab, scale: Scale) -> Iterator[Peer]:
    """With the certificate that the other program shows, and with the one that this project measures with. One ratio
    a round and section; the interval is over rounds. Raises BenchError."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise BenchError(f"{PROGRAM} is not installed: make packages-bench")
    found: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    with TemporaryDirectory() as folder:
        for _ in range(scale.peer_rounds):
            for section, ours_ns in _round(lab, Path(program), Path(folder)):
                found[section.name].append((section.handshake_ns, *ours_ns))
    for name, costs in found.items():
        case = CASES[name]
        assert case, "only what is compared is measured"
        theirs, *ours = np.array(costs).T
        for certificate, our in zip(("its certificate", "our certificate"), ours, strict=True):
            yield Peer(
                case=case,
                name=f"gnutls-cli, {certificate}",
                ours_ns=statistics.median(our),
                ours_outside=None,
                theirs_ns=statistics.median(theirs),
                ratio=_ratio(np.log(our) - np.log(theirs)),
            )


def _ratio(logs: Vector) -> RatioEstimate:
    centre, low, high = (math.exp(value) for value in trimmed_interval(logs))
    return RatioEstimate(centre, low, high, paired=True)


def _round(lab: Lab, program: Path, folder: Path) -> Iterator[tuple[Section, tuple[float, ...]]]:
    """Each compared section, and our CPU nanoseconds a handshake with its certificate and with ours."""
    with _running(program, lab.cpus.measuring) as theirs:
        for expected, case in CASES.items():
            ours_ns = _beside(_settings(lab, case, program, folder), theirs) if case else ()
            section = theirs.next_section()
            if section is None or section.name != expected:
                raise BenchError(f"gnutls-cli measured {section and section.name}, where {expected} was expected")
            if ours_ns:
                yield section, ours_ns


def _settings(lab: Lab, case: Case, program: Path, folder: Path) -> tuple[Setting, Setting]:
    ours = lab.setting(case, {SUBJECT: lab.kit(SUBJECT)}, batches=1)
    return setting_with(lab, case, SUBJECT, program, folder), ours


def _beside(settings: Sequence[Setting], theirs: "_Transcript") -> tuple[float, ...]:
    """CPU nanoseconds of a handshake's turns in each setting, which take turns until the other program's section
    ends. The first of each batch counts too: nothing is left out of what the other program measures either."""
    cpu_ns = [0] * len(settings)
    handshakes = [0] * len(settings)
    with ExitStack() as stack:
        parties = [stack.enter_context(Party(setting, SUBJECT)) for setting in settings]
        for number, party in cycle(enumerate(parties)):
            if theirs.is_over_after(TURN_NS / 1e9):
                break
            with theirs.stopped():
                batch = party.batch(TURN_NS)
            cpu_ns[number] += (batch.cpu_ns or 0) + (batch.first_ns or 0)
            handshakes[number] += batch.handshakes + 1
    if 0 in handshakes:
        raise BenchError(f"{settings[0].case.case_id}: the other program's section ended before a batch of ours")
    return tuple(cost / count for cost, count in zip(cpu_ns, handshakes, strict=True))


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
def _running(program: Path, cpu: int | None) -> Iterator[_Transcript]:
    """GnuTLS's benchmark as a live process on the measuring CPU; leaving ends it."""
    ours, its = pty.openpty()
    try:
        with subprocess.Popen([program, "--benchmark-tls-kx"], stdin=subprocess.DEVNULL, stdout=its) as process:
            os.close(its)
            if cpu is not None:
                os.sched_setaffinity(process.pid, {cpu})
            try:
                yield _Transcript(process.pid, ours)
            finally:
                process.terminate()
    finally:
        os.close(ours)
