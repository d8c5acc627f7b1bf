"""Compares the worker with a minimal OpenSSL loop that makes the same handshakes."""

import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from bench.machine import BenchError, Machine, pin, turns_ns
from kexbench.analysis.estimates import compare
from kexbench.analysis.rounds import medians
from kexbench.domain.cases import Case, Resumption
from kexbench.domain.intervals import Ratio
from kexbench.domain.plans import BATCH_NS, WARM_UP_BATCHES
from kexbench.runner.participant import Participant, Setting
from kexbench.runner.records import Batch

_TLS_1_3 = "TLS_AES_128_GCM_SHA256"


@dataclass(frozen=True)
class Peer:
    """A case measured by the worker and by another program. Costs are CPU time per handshake in nanoseconds."""

    case: Case
    name: str
    ours_ns: float
    """All CPU time of the thread, including objects and the check of the negotiated parameters."""
    ours_outside: float | None
    """The share of ours_ns outside turns: the median over batches of each one's share, because the machine's speed
    changes between batches. None if only turns are compared."""
    theirs_ns: float
    ratio: Ratio | None
    """ours_ns / theirs_ns if both were interleaved."""


@dataclass(frozen=True)
class PlainBatch:
    """A batch of the plain loop. Times are CPU time in nanoseconds."""

    handshakes: int
    thread_cpu_ns: int
    turns_ns: int


class PlainLoop:
    """The compiled plain_openssl as a live process, pinned like a worker."""

    def __init__(self, program: Path, case: Case, setting: Setting, *, chainless: bool) -> None:
        """Start it with the setting's material, pinned to its measuring CPU."""
        arguments = ["chainless"] if chainless else []
        arguments += ["ticket"] if case.resumption is Resumption.TICKET else []
        self._process = subprocess.Popen(
            [program, *plain_words(setting), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"OPENSSL_CONF": "/dev/null"},
        )
        pin(self._process.pid, setting.cpus.measuring)

    def batch(self, min_ns: int) -> PlainBatch:
        """Make a batch of at least `min_ns` of wall time. Raises BenchError if the process ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{min_ns}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().split()
        if len(answer) != 3:
            raise BenchError("plain_openssl ended: see its standard error")
        return PlainBatch(*map(int, answer))

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


def plain_words(setting: Setting) -> list[str]:
    """Protocol, cipher, groups, signature, certificate and key of the setting's case, as the plain programs take
    them."""
    case, folder, files = setting.case, setting.job_input.material_folder, setting.files
    cipher = _TLS_1_3 if case.protocol == "TLSv1.3" else _suite(case)
    groups = [name for name in (case.group, case.curve) if name != "-"] or ["P-256"]
    material = (str(folder / files.certificate), str(folder / files.key))
    return [case.protocol, cipher, ":".join(dict.fromkeys(groups)), _signature(case), *material]


def compare_with_plain_loop(
    machine: Machine, program: Path, case: Case, invocations: int, batches: int, *, chainless: bool
) -> Peer:
    """Interleave worker and plain loop in turns of two milliseconds, in fresh processes for each invocation.
    `chainless`: like the worker, the loop neither builds nor verifies chains."""
    subject = "openssl@system"
    setting = machine.setting(case, {subject: machine.kit(subject)}, batches)
    ours: dict[str, list[float]] = {}
    theirs: dict[str, list[float]] = {}
    outside: list[float] = []
    for invocation in range(invocations):
        plain = PlainLoop(program, case, setting, chainless=chainless)
        with plain, Participant(setting, subject) as participant:
            our_costs = ours[str(invocation)] = []
            their_costs = theirs[str(invocation)] = []
            for number in range(WARM_UP_BATCHES + batches):
                batch, other = one_each(participant, plain, theirs_first=number % 2 == 1)
                if number < WARM_UP_BATCHES:
                    continue
                our_costs.append(batch.thread_cpu_ns / batch.handshakes)
                outside.append(1 - turns_ns(batch) / our_costs[-1])
                their_costs.append(other.thread_cpu_ns / other.handshakes)
    return Peer(
        case=case,
        name="plain OpenSSL loop, chainless" if chainless else "plain OpenSSL loop",
        ours_ns=float(np.median(medians(ours))),
        ours_outside=statistics.median(outside),
        theirs_ns=float(np.median(medians(theirs))),
        ratio=compare(ours, theirs),
    )


def one_each(participant: Participant, plain: PlainLoop, *, theirs_first: bool) -> tuple[Batch, PlainBatch]:
    """A batch of ours and one of theirs, in either order: the first one's use of the caches affects the second."""
    if theirs_first:
        other = plain.batch(BATCH_NS)
        return participant.batch(BATCH_NS), other
    return participant.batch(BATCH_NS), plain.batch(BATCH_NS)


def _suite(case: Case) -> str:
    exchange = "" if case.key_exchange == "RSA" else f"{case.key_exchange}-"
    return f"{exchange}AES128-GCM-SHA256"


def _signature(case: Case) -> str:
    if case.rsa_bits:
        return "rsa_pss_rsae_sha256" if case.protocol == "TLSv1.3" else "RSA+SHA256"
    return "ecdsa_secp256r1_sha256"
