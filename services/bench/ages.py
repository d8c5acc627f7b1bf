"""A context that ages, beside a loop that shares no code with the worker: resumptions by session id, and full
handshakes whose sessions fill the server's cache."""

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from bench.detection import no_load
from bench.machine import BenchError
from bench.peers import plain_words
from kexbench.domain.ages import points_of
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.dimensions import Tickets
from kexbench.domain.metrics import AGED, Metric
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn
from kexbench.runner.participant import Setting

RESUMED = Case.model_validate(
    {
        "protocol": Protocol.TLS_1_2,
        "key_exchange": KeyExchange.ECDHE_RSA,
        "rsa_bits": 2048,
        "group": "P-256",
        "resumption": "session-id",
    }
)
CACHED = Case.model_validate(
    {
        "protocol": Protocol.TLS_1_2,
        "key_exchange": KeyExchange.ECDHE_ECDSA,
        "curve": "P-256",
        "group": "P-256",
        "tickets": Tickets.CACHED,
    }
)
CONNECTIONS = {RESUMED: 20_000, CACHED: 2_000}
"""The cases, with their connections: full handshakes take ten times as long."""


def compare_ages(
    program: Path, setting: Setting, subject: str, invocations: int
) -> Mapping[Metric, list[tuple[float, float]]]:
    """What the program and kexbench tell in each of their turns. In every other one the program is first, since a
    CPU's speed may drift. Raises BenchError."""
    pairs: dict[Metric, list[tuple[float, float]]] = defaultdict(list)
    measure = setting.job_input.measure.model_copy(update={"age": CONNECTIONS[setting.case]})
    job_input = setting.job_input.model_copy(update={"measure": measure})
    for number in range(invocations):
        heap = _run(program, setting, "heap")
        theirs = loop_ages(_run(program, setting, "time"), heap) if number % 2 == 0 else {}
        invocation = measure_invocation(
            job_input, Turn(setting.case.case_id, (subject,), number), setting.cpus, setting.log, no_load
        )
        for outcome in invocation.outcomes:
            raise BenchError(f"{invocation.case_id}: {outcome.kind}: {outcome.reason}")
        theirs = theirs or loop_ages(_run(program, setting, "time"), heap)
        for sample in invocation.samples:
            if sample.metric in AGED:
                pairs[sample.metric].append((theirs[sample.metric], sample.cost))
    return pairs


def loop_ages(time: Mapping[str, float], heap: Mapping[str, float]) -> dict[Metric, float]:
    """The metrics of an age, from what the loop tells in its two runs."""
    return {Metric(name): value for name, value in {**time, **heap}.items()}


def _run(program: Path, setting: Setting, counts: str) -> dict[str, float]:
    _protocol, *words = plain_words(setting)
    connections = CONNECTIONS[setting.case]
    mode = "resumed" if setting.case == RESUMED else "cached"
    command = [str(program), *words, mode, str(connections), str(points_of(connections)), counts]
    environment = {**os.environ, "OPENSSL_CONF": "/dev/null"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise BenchError(f"{program.name}: {done.stderr.strip()[-500:]}")
    numbers: dict[str, float] = json.loads(done.stdout)
    return numbers
