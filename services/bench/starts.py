"""`python -m bench.starts FOLDER [--quick]`: starts of processes by the worker and by a plain program, in turns, and
docs/results/starts-beside-a-plain-program.md from it.

FOLDER holds the compiled workers/handshake/bench/plain_start.c: `make plain-start` there. Exit status 1 if a step that
takes a millisecond differs by more than 5%.
"""

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from bench.machine import BenchError, Machine
from bench.tables import markdown_table
from bench.turns import medians
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.metrics import STARTED, Metric
from kexbench.files import write_whole
from kexbench.kits import KitError
from kexbench.runner.host import read_host_facts
from kexbench.runner.participant import Dropped, Setting, expect, setup_request, setup_timeout_s, worker_faults
from kexbench.runner.records import Ready, StartedProcesses
from kexbench.runner.start import start_request, start_samples, start_timeout_s

PAGE = Path(__file__).parents[2] / "docs/results/starts-beside-a-plain-program.md"
LIBRARIES = {"openssl@system": "openssl", "gnutls@system": "gnutls"}
"""Subjects, with the last part of the plain program's name."""
_ECDSA = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519")
CASES = tuple(
    _ECDSA.model_copy(update=fields)
    for fields in ({}, {"verification": True, "trust_anchors": 144}, {"server_names": 100})
)
COLUMNS = (
    *(Metric.START_LOAD_CPU_NS, Metric.START_LIBRARY_CPU_NS, Metric.START_CONTEXT_CPU_NS, Metric.START_KEYS_CPU_NS),
    *(Metric.START_TRUST_CPU_NS, Metric.START_HANDSHAKE_CPU_NS, Metric.START_WALL_NS, Metric.START_READ_BYTES),
    *(Metric.START_RESIDENT_BYTES, Metric.START_HEAP_BYTES),
)
"""What the plain program prints, in its order. Times are in microseconds there."""
AGREE, LARGE_NS = 0.05, 1_000_000
"""The largest difference, and how long a step has to take to be compared: the rest is of the clocks and of chance."""
PROCESSES, QUICK_PROCESSES, TURN = 80, 8, 4
"""TURN: how many one of them starts before it is the other's turn."""
OWN_MEMORY = Metric.START_RESIDENT_BYTES
"""Of which the worker's own program has half a megabyte more, so it is shown and not compared."""
HEAD = f"""\
# Starts beside a plain program

`make starts` writes this page: the steps of a start as kexbench stores them, beside a program that shares no code
with the worker and starts another one ([plain_start.c](../../workers/handshake/bench/plain_start.c)). Both take the
same steps with the same libraries, under the kit's dynamic linker: TLS 1.3, ECDHE with X25519, an ECDSA certificate
with P-256, trust anchors where the client verifies, and a context and key for each name of the server. They take
turns of {TURN} processes on one CPU, and a ratio is the median of the turns' ratios, since a CPU's speed may change
between turns. Numbers are medians of {{processes}} processes. Where a step takes a millisecond or more, and of bytes,
they agree within {AGREE:.0%}, or the row says **no**. Not compared are wall time, which other programs share, and
resident memory, of which the worker's own program has half a megabyte more."""

Numbers = Mapping[Metric, Sequence[float]]
Turns = Sequence[Numbers]


@dataclass(frozen=True)
class Compared:
    metric: Metric
    plain: float
    ours: float
    ratio: float

    @property
    def is_compared(self) -> bool:
        is_large = self.metric.unit != "ns" or max(self.plain, self.ours) >= LARGE_NS
        return is_large and self.metric not in (OWN_MEMORY, Metric.START_WALL_NS)

    @property
    def differs(self) -> bool:
        return self.is_compared and abs(self.ratio - 1) > AGREE


def compare(setting: Setting, reference: str, program: Path, processes: int) -> list[Compared]:
    """Raises BenchError."""
    try:
        ours, plain = _in_turns(setting, reference, program, processes)
    except Dropped as fault:
        raise BenchError(f"{reference}, {setting.case.label}: {fault.reason}") from None
    return [_compared(metric, plain, ours) for metric in (Metric.START_CPU_NS, *COLUMNS)]


def _compared(metric: Metric, plain: Turns, ours: Turns) -> Compared:
    turns = [(median(theirs[metric]), median(own[metric])) for theirs, own in zip(plain, ours, strict=True)]
    return Compared(metric, *medians(turns))


def _in_turns(setting: Setting, reference: str, program: Path, processes: int) -> tuple[Turns, Turns]:
    """Raises Dropped, BenchError."""
    case = setting.case
    with setting.launch(reference) as timed, setting.launch(reference, count_heap=True) as counting, worker_faults():
        for worker in (timed, counting):
            expect(Ready, worker.ask(setup_request(case, setting.files), setup_timeout_s(case)))
        request = start_request(case, TURN)
        counted = expect(StartedProcesses, counting.ask(request, start_timeout_s(case, TURN)))
        ours, plain = [], []
        for _ in range(processes // TURN):
            record = expect(StartedProcesses, timed.ask(request, start_timeout_s(case, TURN)))
            ours.append({sample.metric: sample.values for sample in start_samples(reference, record, counted)})
            plain.append(_plain_numbers(setting, reference, program))
    assert all(turn.keys() == STARTED.keys() for turn in ours)
    return ours, plain


def _plain_numbers(setting: Setting, reference: str, program: Path) -> Numbers:
    """Of one turn. Raises BenchError."""
    numbers: dict[Metric, list[float]] = defaultdict(list)
    for values in plain_start(setting, reference, program, TURN):
        for metric, value in zip(COLUMNS, values, strict=True):
            numbers[metric].append(value * 1000 if metric.unit == "ns" else value)
    numbers[Metric.START_CPU_NS] = _totals(numbers)
    heap = COLUMNS.index(Metric.START_HEAP_BYTES)
    counting = program.with_name(f"{program.name}_heap")
    numbers[Metric.START_HEAP_BYTES] = [values[heap] for values in plain_start(setting, reference, counting, TURN)]
    return numbers


def _totals(numbers: Numbers) -> list[float]:
    """CPU time of all steps, by process."""
    steps = [numbers[metric] for metric in COLUMNS if metric.endswith("_cpu_ns")]
    return [sum(each) for each in zip(*steps, strict=True)]


def plain_start(setting: Setting, reference: str, program: Path, processes: int) -> list[list[float]]:
    """What each process prints. Raises BenchError."""
    folder, files = setting.job_input.material_folder, setting.files
    anchors = "-" if files.trust_anchors_file == "-" else str(folder / files.trust_anchors_file)
    kit = setting.job_input.kits[reference]
    arguments = [str(folder / files.certificate), str(folder / files.key), anchors, str(setting.case.server_names)]
    cpu = setting.cpus.measuring
    pinned = [] if cpu is None else ["taskset", "-c", str(cpu)]
    launch = kit.manifest.launch_program(kit.folder, program, *arguments)
    command = [*pinned, str(program.with_name("plain_start")), str(processes), *launch.arguments]
    done = subprocess.run(command, cwd=launch.folder, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise BenchError(f"the plain program ended: {done.stderr.strip()}")
    return [list(map(float, line.split())) for line in done.stdout.splitlines()]


def section(reference: str, version: str, case: Case, rows: Sequence[Compared]) -> str:
    table = markdown_table(
        ("metric", "plain program", "kexbench", "ratio", "agree"),
        [
            [
                f"`{row.metric}`",
                _words(row.metric, row.plain),
                _words(row.metric, row.ours),
                f"{row.ratio:.3f}",
                "**no**" if row.differs else "yes" if row.is_compared else "–",
            ]
            for row in rows
        ],
    )
    return f"## {reference} {version}, {case.label}\n\n{table}"


def _words(metric: Metric, value: float) -> str:
    return f"{value / 1e6:,.3f} ms" if metric.unit == "ns" else f"{value:,.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.starts")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer processes")
    arguments = parser.parse_args()
    processes = QUICK_PROCESSES if arguments.quick else PROCESSES
    sections, differ = [], False
    try:
        machine = Machine()
        for reference, name in LIBRARIES.items():
            kit = machine.kit(reference)
            for case in CASES:
                setting = machine.setting(case, {reference: kit}, 1)
                rows = compare(setting, reference, arguments.folder.resolve() / f"plain_started_{name}", processes)
                differ |= any(row.differs for row in rows)
                sections.append(section(reference, kit.manifest.version, case, rows))
    except (BenchError, KitError) as error:
        print(f"not measured: {error}", file=sys.stderr)
        return 1
    facts = read_host_facts()
    when = f"Measured on {datetime.now(UTC):%Y-%m-%d}, {facts.cpu_model}."
    write_whole(PAGE, ("\n\n".join([HEAD.format(processes=processes), when, *sections]) + "\n").encode())
    print(PAGE)
    return differ


if __name__ == "__main__":
    sys.exit(main())
