"""Compares the worker with GnuTLS's own benchmark, which is stopped for each of the worker's turns. Both use the same
core, so slow phases of the machine affect both. Each reads its own CPU clock, which does not advance while it is
stopped."""

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
from bench.machine import BenchError, Machine, Scale, pin
from bench.peers import Peer
from kexbench.analysis.estimates import trimmed_interval
from kexbench.analysis.rounds import Vector
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.intervals import Ratio
from kexbench.runner.participant import Participant, Setting

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
"""The program's first sections in order, with the key sizes that it prints. It prints a section's name when the section
ends. None: the section is not compared."""


@dataclass(frozen=True)
class Section:
    """A key exchange as measured by the other program: the average CPU time of its process."""

    name: str
    handshake_ns: float


def compare_with_gnutls_cli(machine: Machine, scale: Scale) -> Iterator[Peer]:
    """Compare with the other program's certificate and with ours. Each round yields one ratio for each section, and the
    interval is over rounds. Raises BenchError."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise BenchError(f"{PROGRAM} is not installed: make packages-bench")
    costs_by_section: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    with TemporaryDirectory() as folder:
        for _ in range(scale.peer_rounds):
            for section, ours_ns in _round(machine, Path(program), Path(folder)):
                costs_by_section[section.name].append((section.handshake_ns, *ours_ns))
    for name, costs in costs_by_section.items():
        case = CASES[name]
        assert case, "only compared sections are measured"
        theirs, *ours = np.array(costs).T
        for certificate, cost_ns in zip(("its certificate", "our certificate"), ours, strict=True):
            yield Peer(
                case=case,
                name=f"gnutls-cli, {certificate}",
                ours_ns=statistics.median(cost_ns),
                ours_outside=None,
                theirs_ns=statistics.median(theirs),
                ratio=_ratio(np.log(cost_ns) - np.log(theirs)),
            )


def _ratio(logs: Vector) -> Ratio:
    return Ratio.of_logs(*trimmed_interval(logs))


def _round(machine: Machine, program: Path, folder: Path) -> Iterator[tuple[Section, tuple[float, ...]]]:
    """Each compared section, and our CPU time per handshake in ns, with its certificate and with ours."""
    with _running(program, machine.cpus.measuring) as theirs:
        for expected, case in CASES.items():
            ours_ns = _interleaved(_settings(machine, case, program, folder), theirs) if case else ()
            section = theirs.next_section()
            if section is None or section.name != expected:
                raise BenchError(f"expected gnutls-cli to measure {expected}, got {section and section.name}")
            if ours_ns:
                yield section, ours_ns


def _settings(machine: Machine, case: Case, program: Path, folder: Path) -> tuple[Setting, Setting]:
    ours = machine.setting(case, {SUBJECT: machine.kit(SUBJECT)}, batches=1)
    return setting_with(machine, case, SUBJECT, program, folder), ours


def _interleaved(settings: Sequence[Setting], theirs: "_Transcript") -> tuple[float, ...]:
    """CPU time of a handshake's turns in ns in each setting. The settings alternate until the other program's section
    ends. The first handshake of each batch counts too, because the other program also counts all handshakes."""
    cpu_ns = [0] * len(settings)
    handshakes = [0] * len(settings)
    with ExitStack() as stack:
        participants = [stack.enter_context(Participant(setting, SUBJECT)) for setting in settings]
        for number, participant in cycle(enumerate(participants)):
            if theirs.is_over_after(TURN_NS / 1e9):
                break
            with theirs.stopped():
                batch = participant.batch(TURN_NS)
            cpu_ns[number] += (batch.cpu_ns or 0) + (batch.first_ns or 0)
            handshakes[number] += batch.handshakes + 1
    if 0 in handshakes:
        raise BenchError(f"{settings[0].case.case_id}: gnutls-cli's section ended before the worker's first batch")
    return tuple(cost / count for cost, count in zip(cpu_ns, handshakes, strict=True))


class _Transcript:
    """The running program and its output. It writes to a terminal, so each line arrives at once."""

    def __init__(self, process: int, terminal: int) -> None:
        self._process = process
        self._terminal = terminal
        self._unread = b""
        self._ended = False

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the program inside the context."""
        os.kill(self._process, signal.SIGSTOP)
        os.waitid(os.P_PID, self._process, os.WSTOPPED)
        try:
            yield
        finally:
            os.kill(self._process, signal.SIGCONT)

    def is_over_after(self, seconds: float) -> bool:
        """Let the program run. Returns whether the current section has ended, which it shows by printing its name."""
        deadline = time.monotonic() + seconds
        while (remaining_s := deadline - time.monotonic()) > 0 and not self._ended:
            if select.select([self._terminal], [], [], remaining_s)[0]:
                self._read()
        return self._ended or _SECTION.search(self._unread.decode(errors="replace")) is not None

    def next_section(self) -> Section | None:
        """Wait for the current section to end. None if the program ended."""
        name = ""
        while (line := self._line()) is not None:
            if match := _SECTION.search(line):
                name = line[match.start() :].strip()
            elif match := _TIME.search(line):
                return Section(name, float(match["value"]) * (1e6 if match["unit"] == "ms" else 1e3))
        return None

    def _line(self) -> str | None:
        while b"\n" not in self._unread:
            if not self._read():
                return None
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode(errors="replace")

    def _read(self) -> bool:
        """Wait for output and keep it. False if the program has ended."""
        try:
            output = os.read(self._terminal, 4096)
        except OSError:  # raised when the other end of the terminal is closed
            output = b""
        self._unread += output
        self._ended = not output
        return not self._ended


@contextmanager
def _running(program: Path, cpu: int | None) -> Iterator[_Transcript]:
    """GnuTLS's benchmark as a live process on the measuring CPU. It ends with the context."""
    ours, child_end = pty.openpty()
    try:
        with subprocess.Popen([program, "--benchmark-tls-kx"], stdin=subprocess.DEVNULL, stdout=child_end) as process:
            os.close(child_end)
            pin(process.pid, cpu)
            try:
                yield _Transcript(process.pid, ours)
            finally:
                process.terminate()
    finally:
        os.close(ours)
