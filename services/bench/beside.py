"""`python -m bench.beside PROGRAM [--quick]`: connections over emulated paths by the worker, by a plain loop of
blocking sockets and by curl, and docs/results/paths-beside-a-plain-program.md from it.

PROGRAM is the compiled workers/handshake/bench/plain_path.c. Exit status 1 if a path cannot be measured here.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bench.machine import BenchError, Machine, all_cpus
from bench.tables import markdown_table
from kexbench.analysis.percentiles import percentile
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.intervals import Estimate
from kexbench.domain.paths import NetworkPath, text_of
from kexbench.domain.plans import BATCH_NS
from kexbench.domain.samples import Metric
from kexbench.files import write_whole
from kexbench.kits import KitError
from kexbench.runner.host import read_host_facts
from kexbench.runner.participant import Dropped, Participant, Setting
from kexbench.runner.path import MOST_LATE, connect_over_path

PAGE = Path(__file__).parents[2] / "docs/results/paths-beside-a-plain-program.md"
SUBJECT = "openssl@system"
CASE = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519")
"""What the plain program makes as well."""
PATHS = tuple(NetworkPath(round_trip_ms=50, loss_percent=loss) for loss in (0, 0.1, 1, 5))
SHARES = (0.5, 0.9, 0.95, 0.99)
APART_NS = 5_000_000
"""Between beginnings in the plain loop. A connection there has two threads, so it takes more CPU time than in the
worker, which chooses its own pace."""
CURLS_AT_ONCE = 2
OWN_TIME = {"plain loop": 0.02, "curl": 0.05}
"""The share of a time that may be the program's own and not the path's: threads and wake-ups, and in curl the making of
its TLS context too."""
HEAD = f"""\
# Paths beside a plain program

`make beside` writes this page: what the worker says of connections over an emulated path, beside two programs that
share nothing with it but the emulator. The plain loop has two threads and blocking sockets for each connection, and
reads a clock of its own ([plain_path.c](../../workers/handshake/bench/plain_path.c)). curl asks the same loop for a
page, and its `-w` tells the times. All use the same OpenSSL, TLS 1.3, ECDHE with X25519 and an ECDSA certificate with
P-256, on a round trip of 50 ms, and have the same real-time priority where the machine allows it. Each program loses
other packets than the others.

Times are milliseconds from the beginning of a connection, with 95% intervals by order statistics: *handshake* until the
client's is done, *first byte* until the answer begins. They agree where the intervals overlap within
{OWN_TIME["plain loop"]:.0%} for the plain loop and {OWN_TIME["curl"]:.0%} for curl: threads and processes take time of
their own, and curl makes its TLS context after it has connected. Without an interval there are too few connections
for the percentile."""


class Times(NamedTuple):
    handshake: float
    first_byte: float


@dataclass(frozen=True)
class Beside:
    """A path as each program saw it: its times in nanoseconds."""

    path: NetworkPath
    times: Mapping[str, Sequence[Times]]
    """By program; the worker's come first."""


@dataclass(frozen=True)
class Scale:
    connections: int
    curls: int


FULL, QUICK = Scale(4000, 500), Scale(400, 100)


def compare(machine: Machine, program: Path, path: NetworkPath, scale: Scale) -> Beside:
    """Raises BenchError where the machine does not hold the path."""
    setting = machine.setting(CASE, {SUBJECT: machine.kit(SUBJECT)}, 1)
    times = {"the worker": worker_times(setting, path, scale.connections)}
    with all_cpus(machine.cpus):
        times["plain loop"] = loop_times(program, setting, path, scale.connections)
        if curls := curl_times(program, setting, path, scale.curls):
            times["curl"] = curls
    return Beside(path, times)


def worker_times(setting: Setting, path: NetworkPath, connections: int) -> list[Times]:
    """As a run has them."""
    measure = setting.job_input.measure.model_copy(update={"connections": connections})
    case = setting.case.model_copy(update={"path": text_of(path)})
    job_input = setting.job_input.model_copy(
        update={"measure": measure, "material": {case.case_id: setting.files}, "cases": (case,)}
    )
    over_path = replace(setting, case=case, job_input=job_input)
    try:
        with Participant(setting, SUBJECT) as participant:
            last = participant.batch(BATCH_NS)
        samples = {each.metric: each.values for each in connect_over_path(over_path, SUBJECT, last, "beside")}
    except Dropped as fault:
        raise BenchError(f"{path.words}: {fault.reason}") from None
    both = (samples[Metric.PATH_HANDSHAKE_P50_NS], samples[Metric.PATH_FIRST_BYTE_P50_NS])
    return [Times(*each) for each in zip(*both, strict=True)]


def loop_times(program: Path, setting: Setting, path: NetworkPath, connections: int) -> list[Times]:
    command = _loop_command(program, setting, path, seed=1, connections=connections)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    lines = [list(map(float, line.split())) for line in done.stdout.splitlines()]
    if done.returncode or not lines:
        raise BenchError(f"{path.words}: the plain loop ended: {done.stderr.strip()}")
    return [Times(handshake, first_byte) for _, handshake, first_byte in lines]


def curl_times(program: Path, setting: Setting, path: NetworkPath, count: int) -> list[Times]:
    """Empty where curl is missing, or this user may not enter the client's network namespace."""
    with _serving(_loop_command(program, setting, path, seed=2, connections=0)) as namespace:

        def one(number: int) -> Times | None:
            done = subprocess.run(
                [
                    *_hurried(),
                    *("nsenter", f"--target={namespace}", "--net", "curl", "--silent", "--insecure"),
                    *("--output", "/dev/null", "--tls13-ciphers", "TLS_AES_128_GCM_SHA256", "--curves", "X25519"),
                    *("--interface", f"10.64.{1 + number // 250}.{1 + number % 250}"),
                    *("--write-out", "%{time_appconnect} %{time_starttransfer}", "https://10.65.0.1/"),
                ],
                capture_output=True,
                text=True,
                check=False,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            )
            return Times(*(1e9 * float(each) for each in done.stdout.split())) if done.returncode == 0 else None

        with ThreadPoolExecutor(CURLS_AT_ONCE) as several:
            return [times for times in several.map(one, range(count)) if times]


@contextmanager
def _serving(command: Sequence[str]) -> Iterator[str]:
    """The process whose network namespace is the client's, while the plain program serves."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.communicate("")


def _loop_command(program: Path, setting: Setting, path: NetworkPath, *, seed: int, connections: int) -> list[str]:
    folder, files = setting.job_input.material_folder, setting.files
    numbers = (path.round_trip_ns, path.loss_ppm, seed, connections, APART_NS)
    return [*_hurried(), str(program), str(folder / files.certificate), str(folder / files.key), *map(str, numbers)]


def _hurried() -> Sequence[str]:
    """As a worker does by itself on a path."""
    return ("chrt", "--fifo", "1") if os.geteuid() == 0 else ()


def agree(one: Estimate, other: Estimate, tolerance: float) -> bool | None:
    """Whether the intervals overlap within this share; None where a percentile has none."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    return max(one.low, other.low) <= min(one.high, other.high) * (1 + tolerance)


def section(beside: Beside) -> str:
    worker, *others = beside.times
    rows = []
    for field, title in (("handshake", "handshake"), ("first_byte", "first byte")):
        for share in SHARES:
            percentiles = {
                name: percentile([getattr(each, field) for each in times], share, 1)
                for name, times in beside.times.items()
            }
            agrees = {agree(percentiles[worker], percentiles[name], OWN_TIME[name]) for name in others}
            verdict = "**no**" if False in agrees else "–" if None in agrees else "yes"
            rows.append([f"{title}, {share:.0%}", *map(_words, percentiles.values()), verdict])
    counts = ", ".join(f"{name} {len(times):,}" for name, times in beside.times.items())
    lines = [
        f"## {beside.path.words}",
        f"Connections: {counts}.",
        markdown_table(("percentile", *beside.times, "agree"), rows),
    ]
    return "\n\n".join(lines)


def _words(estimate: Estimate) -> str:
    value = f"{estimate.value / 1e6:,.1f}"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{estimate.low / 1e6:,.1f}, {estimate.high / 1e6:,.1f}]"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.beside")
    parser.add_argument("program", type=Path)
    parser.add_argument("--quick", action="store_true", help="a tenth of the connections")
    arguments = parser.parse_args()
    scale = QUICK if arguments.quick else FULL
    try:
        machine = Machine()
        paths = [compare(machine, arguments.program.resolve(), path, scale) for path in PATHS]
    except (BenchError, KitError) as error:
        print(f"not measured: {error}", file=sys.stderr)
        return 1
    facts = read_host_facts()
    when = (
        f"Measured on {datetime.now(UTC):%Y-%m-%d}, {facts.cpu_model}. At most {MOST_LATE:.0%} of a path's packets may "
        "be late."
    )
    write_whole(PAGE, ("\n\n".join([HEAD, when, *map(section, paths)]) + "\n").encode())
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
