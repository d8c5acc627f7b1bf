"""The same handshakes made by the plainest OpenSSL loop there is."""

import os
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from bench.lab import BenchError, Lab, turns_ns
from kexbench.analysis.estimates import RatioEstimate, compare
from kexbench.analysis.rounds import medians
from kexbench.domain.cases import Case, Resumption
from kexbench.domain.plans import BATCH_NS
from kexbench.runner.invocation import WARM_UP_BATCHES
from kexbench.runner.party import Party, Setting
from kexbench.runner.records import Batch

_TLS_1_3 = "TLS_AES_128_GCM_SHA256"


@dataclass(frozen=True)
class Peer:
    """A case measured by the worker and by somebody else. Costs in nanoseconds of CPU time a handshake."""

    case: Case
    name: str
    ours_ns: float
    """All of the thread's CPU time, objects and proof included."""
    ours_outside: float | None
    """The share of ours_ns that is in no turn, None where turns alone are compared: the median over batches, each
    against its own time, since a machine changes its speed between them."""
    theirs_ns: float
    ratio: RatioEstimate | None
    """ours_ns / theirs_ns where both were interleaved."""


@dataclass(frozen=True)
class PlainBatch:
    """What the plain loop made at a stretch, in nanoseconds of CPU time."""

    handshakes: int
    thread_cpu_ns: int
    turns_ns: int


class PlainLoop:
    """The compiled plain_openssl as a live process, pinned like a worker."""

    def __init__(self, program: Path, case: Case, setting: Setting, *, chainless: bool) -> None:
        """Of the setting's material, pinned to its measuring CPU."""
        folder, files = setting.ticket.material_folder, setting.files
        certificate, key, cpu = folder / files.certificate, folder / files.key, setting.cpus.measuring
        tls_1_3 = case.protocol == "TLSv1.3"
        cipher = _TLS_1_3 if tls_1_3 else _suite(case)
        groups = [name for name in (case.group, case.curve) if name != "-"] or ["P-256"]
        arguments = [cipher, ":".join(dict.fromkeys(groups)), _signature(case), str(certificate), str(key)]
        arguments += ["chainless"] if chainless else []
        arguments += ["ticket"] if case.resumption is Resumption.TICKET else []
        self._process = subprocess.Popen(
            [program, case.protocol, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"OPENSSL_CONF": "/dev/null"},
        )
        if cpu is not None:
            os.sched_setaffinity(self._process.pid, {cpu})

    def batch(self, min_ns: int) -> PlainBatch:
        """Over at least so much wall time. Raises BenchError when it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{min_ns}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().split()
        if len(answer) != 3:
            raise BenchError("plain_openssl ended: its standard error says why")
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


def compare_with_plain_loop(
    lab: Lab, program: Path, case: Case, invocations: int, batches: int, *, chainless: bool
) -> Peer:
    """Worker and plain loop take turns of two milliseconds, in fresh processes each invocation. `chainless`: the loop
    neither builds nor verifies chains, as the worker doesn't."""
    subject = "openssl@system"
    setting = lab.setting(case, {subject: lab.kit(subject)}, batches)
    ours: dict[str, list[float]] = {}
    theirs: dict[str, list[float]] = {}
    outside: list[float] = []
    for invocation in range(invocations):
        plain = PlainLoop(program, case, setting, chainless=chainless)
        with plain, Party(setting, subject) as party:
            mine = ours[str(invocation)] = []
            others = theirs[str(invocation)] = []
            for number in range(WARM_UP_BATCHES + batches):
                batch, other = one_each(party, plain, theirs_first=number % 2 == 1)
                if number < WARM_UP_BATCHES:
                    continue
                mine.append(batch.thread_cpu_ns / batch.handshakes)
                outside.append(1 - turns_ns(batch) / mine[-1])
                others.append(other.thread_cpu_ns / other.handshakes)
    return Peer(
        case=case,
        name="plain OpenSSL loop, chainless" if chainless else "plain OpenSSL loop",
        ours_ns=float(np.median(medians(ours))),
        ours_outside=statistics.median(outside),
        theirs_ns=float(np.median(medians(theirs))),
        ratio=compare(ours, theirs),
    )


def one_each(party: Party, plain: PlainLoop, *, theirs_first: bool) -> tuple[Batch, PlainBatch]:
    """A batch of ours and one of theirs, in either order: who is second finds the caches used."""
    if theirs_first:
        other = plain.batch(BATCH_NS)
        return party.batch(BATCH_NS), other
    return party.batch(BATCH_NS), plain.batch(BATCH_NS)


def _suite(case: Case) -> str:
    exchange = "" if case.key_exchange == "RSA" else f"{case.key_exchange}-"
    return f"{exchange}AES128-GCM-SHA256"


def _signature(case: Case) -> str:
    if case.rsa_bits:
        return "rsa_pss_rsae_sha256" if case.protocol == "TLSv1.3" else "RSA+SHA256"
    return "ecdsa_secp256r1_sha256"
