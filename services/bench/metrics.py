"""Every metric that is stored, beside an independent program: one that shares no code with the worker.

The numbers of kexbench come from whole invocations, so the runner's arithmetic is compared as well.
"""

import json
import os
import re
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.ages import CONNECTIONS as AGES
from bench.ages import compare_ages
from bench.connection_loop import LoopTurn, build_loop
from bench.connections import interleaved
from bench.detection import no_load
from bench.machine import BenchError, Machine, Scale, pin
from bench.peers import plain_words
from bench.turns import medians
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.dimensions import Server
from kexbench.domain.instruments import Instrument
from kexbench.domain.metrics import AGED, LATENCIES, OVER_PATH, STARTED, MetricGroup
from kexbench.domain.plans import SERVED_BATCH_NS, WARM_UP_BATCHES
from kexbench.domain.samples import Invocation, Metric
from kexbench.runner.counting import FEWER, MORE, count_invocation
from kexbench.runner.invocation import measure_invocation, samples_of
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.order import Turn
from kexbench.runner.participant import Setting
from kexbench.runner.serving import ServedParticipant, served_samples
from kexbench.runner.web_server import CONTENT

SUBJECT = "openssl@system"
CONNECTIONS, HELD = 10, 16
CLOSE = 0.01
"""By so much bytes, heap and instructions may differ: signatures of ECDSA have no fixed length, and a worker has some
150 bytes of its own for each side."""

NEAR = 0.02
"""The same of all that lives in a worker with a context, since some kilobytes of it are its own."""


class Program(StrEnum):
    """An independent program. They are in workers/handshake/bench."""

    CONNECTION = "plain_connection.c"
    COUNTS = "plain_counts.c"
    CLIENT = "plain_client.c"
    AGE = "plain_age.c"
    CALLGRIND = "plain_counts.c in callgrind"

    @property
    def source(self) -> str:
        return self.partition(" ")[0]


def _case(protocol: str, key_exchange: str, **fields: object) -> Case:
    return Case.model_validate({"protocol": Protocol(protocol), "key_exchange": KeyExchange(key_exchange), **fields})


ECDSA = _case("TLSv1.3", "ECDHE-ECDSA", curve="P-256", group="X25519")
RSA_8192 = _case("TLSv1.2", "RSA", rsa_bits=8192)
"""So slow that the worker holds fewer connections open than usual."""
TRANSFER = ECDSA.model_copy(update={"transfer_bytes": 16_384})
SERVED = ECDSA.model_copy(update={"transfer_bytes": 4096, "server": Server.NGINX, "concurrency": 1})

NO_OTHER = (
    "the kernel's perf_event has these counters and nothing else does; `perf stat` reads them for a whole program, and "
    "knows no sides"
)
_TIMES = (
    Metric.CPU_NS,
    Metric.CLIENT_CPU_NS,
    Metric.SERVER_CPU_NS,
    Metric.WALL_NS,
    Metric.ELAPSED_NS,
    Metric.FIRST_NS,
    Metric.CONNECTION_CPU_NS,
    Metric.CLIENT_CONNECTION_CPU_NS,
    Metric.SERVER_CONNECTION_CPU_NS,
    Metric.CLIENT_OBJECTS_CPU_NS,
    Metric.SERVER_OBJECTS_CPU_NS,
)
_TRANSFERS = (Metric.CLIENT_TRANSFER_CPU_NS, Metric.SERVER_TRANSFER_CPU_NS)
_WIRE = (
    Metric.CLIENT_BYTES,
    Metric.SERVER_BYTES,
    Metric.CLIENT_RECORDS,
    Metric.SERVER_RECORDS,
    Metric.ROUND_TRIPS,
)
_EXACT = _WIRE[2:]
_HEAP = (
    Metric.CLIENT_ALLOCATIONS,
    Metric.SERVER_ALLOCATIONS,
    Metric.HEAP_PEAK_BYTES,
    Metric.CLIENT_HELD_BYTES,
    Metric.SERVER_HELD_BYTES,
)
_ALLOCATED = (
    Metric.ALLOCATED_BYTES,
    Metric.CLIENT_ALLOCATED_BYTES,
    Metric.SERVER_ALLOCATED_BYTES,
    Metric.OBJECTS_ALLOCATED_BYTES,
    Metric.KEPT_BYTES,
)
_COUNTED = {
    Metric.CLIENT_COUNTED_INSTRUCTIONS: "turn_of_client",
    Metric.SERVER_COUNTED_INSTRUCTIONS: "turn_of_server",
    Metric.OBJECTS_COUNTED_INSTRUCTIONS: "objects",
}
"""With the function of the program in which they are counted."""
_LIVE = (Metric.YOUNG_HEAP_BYTES, Metric.OLD_HEAP_BYTES)
_HARDWARE = (
    Metric.CLIENT_INSTRUCTIONS,
    Metric.SERVER_INSTRUCTIONS,
    Metric.CLIENT_CYCLES,
    Metric.SERVER_CYCLES,
    Metric.CLIENT_BRANCH_MISSES,
    Metric.SERVER_BRANCH_MISSES,
    Metric.CLIENT_CACHE_MISSES,
    Metric.SERVER_CACHE_MISSES,
)
OF_THREADS = (
    "only cases of several threads have it; the section on threads has plain_threads.c beside their rates and how much "
    "these vary"
)
OWN_THREADS = (
    "OpenSSL has no threads of its own; Go has, whose own benchmark is beside it in stacks-beside-their-own-programs.md"
)
BY_DEBUGGER = (
    "a debugger counts it in plain_atomics.c, which steps for minutes: `make -C workers/handshake plain-atomics`"
)
OVER_A_PATH = (
    "only cases with a path have it; a plain loop and curl are beside its times in paths-beside-a-plain-program.md"
)
OF_A_START = "only runs that start processes have it; plain_start.c is beside it in starts-beside-a-plain-program.md"
BESIDE: Mapping[Metric, Program | str] = {
    **dict.fromkeys((*_TIMES, *_TRANSFERS), Program.CONNECTION),
    **dict.fromkeys((*_WIRE, *_HEAP, *_ALLOCATED), Program.COUNTS),
    **dict.fromkeys((*_COUNTED, Metric.COUNTED_INSTRUCTIONS), Program.CALLGRIND),
    **dict.fromkeys(LATENCIES, Program.CLIENT),
    **dict.fromkeys(AGED, Program.AGE),
    **dict.fromkeys(_HARDWARE, NO_OTHER),
    **dict.fromkeys(OVER_PATH, OVER_A_PATH),
    **dict.fromkeys((metric for metric in Metric if metric.row.group is MetricGroup.ATOMICS), BY_DEBUGGER),
    **dict.fromkeys(STARTED, OF_A_START),
    Metric.START_COUNTED_INSTRUCTIONS: "callgrind counts it, as it counts those of handshakes above",
    Metric.ALONE_NS: OF_THREADS,
    Metric.THROUGHPUT_SPREAD_PPM: OF_THREADS,
    Metric.BACKGROUND_CPU_NS: OWN_THREADS,
}
"""The program that each metric is compared with, or why there is none."""


@dataclass(frozen=True)
class Compared:
    """One metric of a case, as the program counts it and as kexbench stores it."""

    metric: Metric
    case: Case
    theirs: float
    ours: float
    ratio: float

    @property
    def differs(self) -> bool:
        """Whether a number that does not depend on the machine is another. Times are only shown."""
        if self.metric in _EXACT:
            return self.ours != self.theirs
        if self.metric in _LIVE:
            return abs(self.ratio - 1) > NEAR
        if self.metric is Metric.GROWTH_BYTES:
            return abs(self.ours - self.theirs) > CLOSE * self.theirs
        return BESIDE[self.metric] in (Program.COUNTS, Program.CALLGRIND) and abs(self.ratio - 1) > CLOSE


Numbers = Mapping[Metric, float]
Pairs = Mapping[Metric, Sequence[tuple[float, float]]]
"""What the program and kexbench counted in each turn."""


def compare_metrics(machine: Machine, plain: Path, scale: Scale) -> Iterator[str | Compared]:
    """Yields each step, and the results. `plain`: the folder with the compiled programs. Raises BenchError, KitError
    and Dropped."""
    kit = machine.kit(SUBJECT)
    for case in (ECDSA, TRANSFER):
        yield f"times of {case.label}"
        times = _times(machine, kit, case, scale.invocations)
        yield from _compared(case, times, _TRANSFERS if case.transfer_bytes else _TIMES)
    for case in (ECDSA, RSA_8192):
        yield f"wire and heap of {case.label}"
        setting = machine.setting(case, {SUBJECT: kit}, 3)
        theirs, ours = _counts(plain / "plain_counts", setting), _invocation(setting, examines=True)
        yield from _compared(case, _once(theirs, ours), (*_WIRE, *_HEAP))
        ours = _invocation(setting, instrument=Instrument.ALLOCATIONS)
        yield from _compared(case, _once(theirs, ours), _ALLOCATED)
    yield f"instructions of {ECDSA.label}"
    setting = machine.setting(ECDSA, {SUBJECT: kit}, 3)
    theirs, ours = (
        _instructions(plain / "plain_counts", setting),
        _invocation(setting, instrument=Instrument.INSTRUCTIONS),
    )
    yield from _compared(ECDSA, _once(theirs, ours), theirs)
    for case in AGES:
        yield f"age of {case.label}"
        aged = machine.setting(case, {SUBJECT: kit}, 3)
        yield from _compared(case, compare_ages(plain / "plain_age", aged, SUBJECT, scale.invocations), AGED)
    yield f"latencies of {SERVED.label}"
    program = machine.installation.servers().add(Server.NGINX, kit.manifest.ref, kit.manifest)
    served = machine.setting(SERVED, {SUBJECT: kit.model_copy(update={"servers": {Server.NGINX: program}})}, 1)
    theirs, ours = _latencies(plain / "plain_client", served, scale.batches)
    yield from _compared(SERVED, _once(theirs, ours), LATENCIES)


def _compared(case: Case, pairs: Pairs, metrics: Iterable[Metric]) -> Iterator[Compared]:
    return (Compared(metric, case, *medians(pairs[metric])) for metric in metrics)


def _once(theirs: Numbers, ours: Numbers) -> Pairs:
    return {metric: [(value, ours[metric])] for metric, value in theirs.items() if metric in ours}


def _invocation(setting: Setting, *, examines: bool = False, instrument: Instrument = Instrument.TIME) -> Numbers:
    """What kexbench stores of a whole invocation."""
    method = count_invocation if instrument.counts else measure_invocation
    turn = Turn(setting.case.case_id, (SUBJECT,), 0, examines=examines)
    measure = setting.job_input.measure.model_copy(update={"instrument": instrument})
    job_input = setting.job_input.model_copy(update={"measure": measure})
    return _costs(method(job_input, turn, setting.cpus, setting.log, no_load))


def _costs(invocation: Invocation) -> Numbers:
    for outcome in invocation.outcomes:
        raise BenchError(f"{invocation.case_id}: {outcome.kind}: {outcome.reason}")
    return {sample.metric: sample.cost for sample in invocation.samples}


def _times(machine: Machine, kit: JobInputKit, case: Case, invocations: int) -> Pairs:
    """Invocations in which worker and loop take turns. Rounds with a preemption do not count."""
    setting = machine.setting(case, {SUBJECT: kit}, 1)
    pairs: dict[Metric, list[tuple[float, float]]] = defaultdict(list)
    workshop, source = machine.installation.workshop(), machine.installation.settings.workers
    with TemporaryDirectory(prefix="kexbench-bench-") as folder:
        program = build_loop(workshop, SUBJECT, source, Path(folder))
        for number in range(invocations):
            tried = interleaved(program, SUBJECT, kit, setting, loop_starts=bool(number % 2))
            clean = [each for each in tried if each.is_clean]
            if not clean:
                continue
            batches = [each.batch for each in clean]
            costs = [loop_costs(each.turn) for each in clean]
            for sample in samples_of(SUBJECT, batches, whole_connection=case.is_whole_connection):
                if (metric := sample.metric) in costs[0]:
                    pairs[metric].append((statistics.fmean(each[metric] for each in costs), sample.cost))
    if not pairs:
        raise BenchError(f"{case.label}: preempted in every round; this machine is too busy")
    return pairs


def loop_costs(turn: LoopTurn) -> Numbers:
    """The metrics of a connection, from what the loop measured."""
    client_ns = turn.client_handshake_ns + turn.client_objects_ns + turn.client_transfer_ns + turn.client_finish_ns
    server_ns = turn.server_handshake_ns + turn.server_objects_ns + turn.server_transfer_ns + turn.server_finish_ns
    handshake_ns = turn.client_handshake_ns + turn.server_handshake_ns
    totals = {
        Metric.CPU_NS: handshake_ns,
        Metric.CLIENT_CPU_NS: turn.client_handshake_ns,
        Metric.SERVER_CPU_NS: turn.server_handshake_ns,
        Metric.WALL_NS: turn.elapsed_ns * handshake_ns / turn.thread_cpu_ns,
        Metric.ELAPSED_NS: turn.elapsed_ns,
        Metric.CONNECTION_CPU_NS: client_ns + server_ns,
        Metric.CLIENT_CONNECTION_CPU_NS: client_ns,
        Metric.SERVER_CONNECTION_CPU_NS: server_ns,
        Metric.CLIENT_OBJECTS_CPU_NS: turn.client_objects_ns,
        Metric.SERVER_OBJECTS_CPU_NS: turn.server_objects_ns,
        Metric.CLIENT_TRANSFER_CPU_NS: turn.client_transfer_ns,
        Metric.SERVER_TRANSFER_CPU_NS: turn.server_transfer_ns,
    }
    of_one = {metric: total / turn.connections for metric, total in totals.items()}
    return {**of_one, Metric.FIRST_NS: turn.first_handshake_ns}


def _counts(program: Path, setting: Setting) -> Numbers:
    answer = _answer([program, *plain_words(setting), str(CONNECTIONS), str(HELD)])
    return counted(json.loads(answer))


def counted(totals: Mapping[str, float]) -> Numbers:
    """The metrics of a connection, from the program's totals."""
    totals = {**totals, Metric.ALLOCATED_BYTES: totals["client_allocated_bytes"] + totals["server_allocated_bytes"]}
    by = {**dict.fromkeys((*_WIRE, *_HEAP, *_ALLOCATED), totals["connections"]), Metric.HEAP_PEAK_BYTES: 1}
    by |= dict.fromkeys((Metric.CLIENT_HELD_BYTES, Metric.SERVER_HELD_BYTES), totals["held"])
    return {metric: totals[metric] / divisor for metric, divisor in by.items()}


def _instructions(program: Path, setting: Setting) -> Numbers:
    """The difference of two runs, so that nothing that is done once counts."""
    found: dict[Metric, float] = {}
    for metric, function in _COUNTED.items():
        fewer, more = (_collected(program, setting, function, number) for number in (FEWER, MORE))
        found[metric] = (more - fewer) / (MORE - FEWER)
    return {
        Metric.COUNTED_INSTRUCTIONS: found[Metric.CLIENT_COUNTED_INSTRUCTIONS]
        + found[Metric.SERVER_COUNTED_INSTRUCTIONS],
        **found,
    }


def _collected(program: Path, setting: Setting, function: str, connections: int) -> int:
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={function}*"]
    done = _run([*callgrind, program, *plain_words(setting), str(connections), "0"])
    match = re.search(r"Collected : (\d+)", done.stderr)
    if match is None:
        raise BenchError(f"callgrind counted nothing: {done.stderr[-500:]}")
    return int(match[1])


def _latencies(program: Path, setting: Setting, batches: int) -> tuple[Numbers, Numbers]:
    """Both load the same server in turns, each batch with as many connections."""
    signature, group = "ecdsa_secp256r1_sha256", f"{setting.case.group}:{setting.case.curve}"
    theirs: dict[Metric, list[float]] = defaultdict(list)
    ours = []
    with ServedParticipant(setting, SUBJECT) as served:
        words = [str(served.port), CONTENT, str(setting.case.transfer_bytes), group, signature]
        with subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdin is not None
            assert client.stdout is not None
            pin(client.pid, setting.cpus.beside.measuring)
            for number in range(WARM_UP_BATCHES + batches):
                batch = served.batch(SERVED_BATCH_NS)
                client.stdin.write(f"{batch.connections}\n")
                client.stdin.flush()
                line = client.stdout.readline()
                if not line:
                    raise BenchError(f"{program.name} ended: its standard error says why")
                if number >= WARM_UP_BATCHES:
                    ours.append(batch)
                    for name, value in json.loads(line).items():
                        theirs[Metric(name)].append(value)
            client.stdin.close()
    stored = {sample.metric: sample.cost for sample in served_samples(SUBJECT, ours)}
    return {metric: statistics.median(values) for metric, values in theirs.items()}, stored


def _answer(command: list[str | Path]) -> str:
    return _run(command).stdout


def _run(command: list[str | Path]) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "OPENSSL_CONF": "/dev/null"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise BenchError(f"{Path(command[0]).name}: {done.stderr.strip()[-500:]}")
    return done
