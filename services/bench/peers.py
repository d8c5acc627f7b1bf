"""The same handshakes made by others: the plainest OpenSSL loop, and GnuTLS's own benchmark."""

import os
import re
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from kexbench.analysis.estimates import RatioEstimate, compare
from kexbench.domain.cases import Case
from kexbench.runner.party import Party

from bench.lab import BATCH_NS, Lab

_TLS_1_3 = "TLS_AES_128_GCM_SHA256"
_SECTION = re.compile(r"\((?P<protocol>TLS1\.[23])\)-\((?P<kx>[^)]+)\)(?:-\((?P<sign>[^)]+)\))?-\((?P<cipher>[^)]+)\)")
_TIME = re.compile(r"avg\. handshake time: (?P<value>[\d.]+) (?P<unit>ms|µs)")
_RATE = re.compile(r"(?P<value>[\d.]+) transactions/sec")


@dataclass(frozen=True)
class Peer:
    """A case measured by the worker and by somebody else. Costs in nanoseconds of CPU time a handshake."""

    case: Case
    name: str
    ours_ns: float
    """All of the thread's CPU time, objects and proof included."""
    ours_turns_ns: float
    """The turns alone: what kexbench reports."""
    theirs_ns: float
    ratio: RatioEstimate | None
    """ours_ns / theirs_ns where both were interleaved."""
    note: str = ""


class PlainLoop:
    """The compiled plain_openssl as a live process, pinned like a worker."""

    def __init__(self, program: Path, case: Case, certificate: Path, key: Path, cpu: int | None) -> None:
        tls_1_3 = case.protocol == "TLSv1.3"
        cipher = _TLS_1_3 if tls_1_3 else _suite(case)
        groups = [name for name in (case.group, case.curve) if name != "-"] or ["P-256"]
        arguments = [cipher, ":".join(dict.fromkeys(groups)), _signature(case), str(certificate), str(key)]
        self._process = subprocess.Popen(
            [program, case.protocol, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"OPENSSL_CONF": "/dev/null"},
        )
        if cpu is not None:
            os.sched_setaffinity(self._process.pid, {cpu})

    def batch(self, min_ns: int) -> float:
        """CPU nanoseconds a handshake, over at least so much wall time. Raises RuntimeError when it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{min_ns}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().split()
        if len(answer) != 2:
            raise RuntimeError("plain_openssl ended: its standard error says why")
        return int(answer[1]) / int(answer[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def compare_with_plain_loop(lab: Lab, program: Path, case: Case, invocations: int, batches: int) -> Peer:
    """Worker and plain loop take turns of five milliseconds, in fresh processes each invocation."""
    subject = "openssl@system"
    setting = lab.setting(case, {subject: lab.kit(subject)}, batches)
    files = setting.files
    folder = setting.ticket.material_folder
    ours: dict[str, float] = {}
    theirs: dict[str, float] = {}
    turns: list[float] = []
    for invocation in range(invocations):
        plain = PlainLoop(program, case, folder / files.certificate, folder / files.key, lab.cpus.measuring)
        with plain, Party(setting, subject) as party:
            mine, others = [], []
            for number in range(batches + 2):
                batch = party.batch(BATCH_NS)
                other = plain.batch(BATCH_NS)
                if number < 2:
                    continue
                mine.append(batch.thread_cpu_ns / batch.handshakes)
                turns.append(((batch.client_cpu_ns or 0) + (batch.server_cpu_ns or 0)) / batch.handshakes)
                others.append(other)
        ours[str(invocation)] = statistics.median(mine)
        theirs[str(invocation)] = statistics.median(others)
    return Peer(
        case=case,
        name="plain OpenSSL loop",
        ours_ns=statistics.median(ours.values()),
        ours_turns_ns=statistics.median(turns),
        theirs_ns=statistics.median(theirs.values()),
        ratio=compare(ours, theirs),
    )


@dataclass(frozen=True)
class GnutlsFigure:
    """One section of `gnutls-cli --benchmark-tls-kx`."""

    protocol: str
    key_exchange: str
    signature: str
    handshake_ns: float
    """Its own average of wall time around a handshake, times the share of the CPU it had meanwhile."""
    transaction_ns: float
    """CPU time for a whole transaction, objects included."""


def run_gnutls_benchmark(cpu: int | None) -> Iterator[GnutlsFigure]:
    """Every section as it is finished. Its clocks are wall clocks, so the share of the CPU that the process had is
    read from the kernel beside it."""
    command = ["stdbuf", "-oL", "gnutls-cli", "--benchmark-tls-kx"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        if cpu is not None:
            os.sched_setaffinity(process.pid, {cpu})
        section, rate, before = None, 0.0, _clocks(process.pid)
        for line in process.stdout:
            if found := _SECTION.search(line):
                section, before = found, _clocks(process.pid)
            elif found := _RATE.search(line):
                rate = float(found["value"])
                after = _clocks(process.pid)
                share = (after[0] - before[0]) / (after[1] - before[1])
            elif section and rate and (found := _TIME.search(line)):
                handshake_ns = float(found["value"]) * (1e6 if found["unit"] == "ms" else 1e3)
                yield GnutlsFigure(
                    protocol=section["protocol"],
                    key_exchange=section["kx"],
                    signature=section["sign"] or "",
                    handshake_ns=handshake_ns * share,
                    transaction_ns=1e9 / rate * share,
                )


def _clocks(pid: int) -> tuple[float, float]:
    """(CPU nanoseconds that the process had, now)."""
    return float(Path(f"/proc/{pid}/schedstat").read_text().split()[0]), float(time.monotonic_ns())


def _suite(case: Case) -> str:
    exchange = "" if case.key_exchange == "RSA" else f"{case.key_exchange}-"
    return f"{exchange}AES128-GCM-SHA256"


def _signature(case: Case) -> str:
    if case.rsa_bits:
        return "rsa_pss_rsae_sha256" if case.protocol == "TLSv1.3" else "RSA+SHA256"
    return "ecdsa_secp256r1_sha256"
