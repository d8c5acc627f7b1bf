"""`python -m bench [--quick] [--only PART]`: measure, print, and write docs/results/benchmarks.md. The first time, it
builds kits.

Exit status 1 if a part cannot be measured, or if the worker and the loop of connections disagree. The file then keeps
that part's old section. Other figures never cause a failure. Without a simulated cluster, only planning is measured.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench import report
from bench.answers import Answers, measure_answers
from bench.answers_report import answers_text, loads_text
from bench.builds import Built, NotBuilt, compare_builds
from bench.calibration import calibrate
from bench.commits import measure_commits
from bench.connections import (
    CALL_NS,
    SHORT_NS,
    TOLERANCE,
    Agreement,
    Disagreement,
    compare_connections,
)
from bench.counts import Repeated, repeat_counts
from bench.detection import Pools, measure_pools
from bench.gnutls_cli import compare_with_gnutls_cli
from bench.large_store import EXTENTS
from bench.levels import Level, compare_levels
from bench.load import Load, measure_load
from bench.machine import FULL, QUICK, BenchError, Machine, Scale, all_cpus
from bench.metrics import CLOSE, HELD, NEAR, Compared, compare_metrics
from bench.mixes import GOAL, SUBJECT, Predicted, compare_mixes
from bench.overhead import Overhead, measure_overhead
from bench.pages import PageFigures, measure_pages
from bench.pages_report import SCRIPT_KB, USEFUL_S, pages_text
from bench.peers import Peer, compare_with_plain_loop
from bench.power import resampled_power
from bench.questions import LEFT_OUT
from bench.scale import Scaled, measure_scale
from bench.sharding import Sharded, measure_sharding
from bench.texts import (
    ANSWERS,
    BUILDS,
    COMMITS,
    CONNECTIONS,
    COUNTS,
    DETECTION,
    HEAD,
    LEVELS,
    LOAD,
    METRICS,
    MIXED,
    OVERHEAD,
    PAGES,
    PEERS,
    SCALE,
    SHARDING,
    THREADS,
)
from bench.threads import TOLERANCE as THREADS_TOLERANCE
from bench.threads import Together, compare_threads
from kexbench.analysis.detectable import ALPHA
from kexbench.analysis.resampling import rejections
from kexbench.domain.cases import Case, KeyExchange, Protocol, Resumption
from kexbench.domain.plans import BATCHES, THREADS_BATCH_NS
from kexbench.files import write_whole
from kexbench.kits import KitError
from kexbench.runner.host import read_host_facts

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "docs/results/benchmarks.md"
PARTITIONS = 200
USUAL_GROUP = 10
"""Invocations of an ordinary run. A pool has more such groups, so their rate of false alarms is more precise."""


def a_case(protocol: str, exchange: str, **fields: object) -> Case:
    return Case.model_validate({"protocol": Protocol(protocol), "key_exchange": KeyExchange(exchange), **fields})


ECDSA_1_3 = a_case("TLSv1.3", "ECDHE-ECDSA", curve="P-256", group="X25519")
RSA_1_3 = a_case("TLSv1.3", "ECDHE-RSA", rsa_bits=2048, group="X25519")
RSA_1_2 = a_case("TLSv1.2", "RSA", rsa_bits=2048)
ECDHE_RSA_1_2 = a_case("TLSv1.2", "ECDHE-RSA", rsa_bits=2048, group="P-256")
TICKET = a_case("TLSv1.2", "ECDHE-ECDSA", curve="P-256", group="P-256", resumption=Resumption.TICKET)
PSK_DHE = a_case("TLSv1.3", "ECDHE-ECDSA", curve="P-256", group="X25519", resumption=Resumption.PSK_DHE)
TIMED = (ECDHE_RSA_1_2, RSA_1_2, RSA_1_3, ECDSA_1_3, PSK_DHE, TICKET)
PLAIN = (RSA_1_2, ECDHE_RSA_1_2, RSA_1_3, ECDSA_1_3)
LEVELLED = (RSA_1_2, ECDHE_RSA_1_2, RSA_1_3, ECDSA_1_3, TICKET)
LEVEL_HANDSHAKES = 10_000
DETECTED = (ECDSA_1_3,)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of the time, wider intervals, no file written")
    parser.add_argument("--only", choices=list(PARTS), help="only this part; the file keeps its other sections")
    parser.add_argument("--plain", type=Path, required=True, help="path of the compiled plain_openssl")
    parser.add_argument("--values", type=int, choices=EXTENTS, help="of the store behind the pages, in millions")
    options = parser.parse_args(arguments)
    scale = QUICK if options.quick else FULL
    if options.values:
        scale = replace(scale, pages_millions=options.values)
    machine = Machine()
    about = report.machine_lines(datetime.now(UTC), read_host_facts(), calibrate(machine, ECDSA_1_3))
    sections: dict[str, str] = {}
    missing = []
    for part in [options.only] if options.only else PARTS:
        heading, measure = PARTS[part]
        try:
            figures = measure(machine, scale, options.plain)
        except Disagreement as error:
            print(f"\n{heading}{about}\n\n{error}\n\nNot written: worker and loop disagree.", flush=True)
            missing.append(part)
            continue
        except (BenchError, KitError, FileNotFoundError) as error:
            print(f"\n{heading}Not measured: {error}", flush=True)
            missing.append(part)
            continue
        sections[part] = f"{heading}{about}\n\n{figures}"
        print(f"\n{sections[part]}", flush=True)
    if sections and not options.quick:
        existing = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
        headings = {part: heading.partition("\n")[0] for part, (heading, _) in PARTS.items()}
        write_whole(REPORT, report.document(existing, HEAD, headings, sections).encode())
        _log(f"written to {REPORT.relative_to(ROOT)}")
    return 1 if missing else 0


def _overheads(machine: Machine, scale: Scale) -> Iterator[Overhead]:
    for subject in ("openssl@system", "gnutls@system"):
        for case in TIMED:
            _log(f"overhead: {subject}, {case.label}")
            yield measure_overhead(machine, case, subject, scale)


def _peers(machine: Machine, scale: Scale, plain: Path) -> Iterator[Peer]:
    for case in PLAIN:
        _log(f"compared with a plain loop: {case.label}")
        for chainless in (False, True):
            yield compare_with_plain_loop(machine, plain, case, scale.invocations, scale.batches, chainless=chainless)
    _log(f"compared with gnutls-cli --benchmark-tls-kx, {scale.peer_rounds} rounds of 40 s")
    yield from compare_with_gnutls_cli(machine, scale)


def _levels(machine: Machine, scale: Scale, plain: Path) -> Iterator[Level]:
    for case in LEVELLED:
        _log(f"level compared with {LEVEL_HANDSHAKES:,} handshakes: {case.label}")
        yield compare_levels(machine, plain, case, LEVEL_HANDSHAKES, scale)


def _connections(machine: Machine, scale: Scale) -> str:
    """The table of all parts. Raises Disagreement."""
    results: list[Agreement] = []
    for progress in compare_connections(machine, scale):
        if isinstance(progress, str):
            _log(f"connections: {progress}")
        else:
            results.append(progress)
    table = report.connections_table(results)
    if not all(result.agrees for result in results):
        raise Disagreement(table)
    return table


def _metrics(machine: Machine, scale: Scale, plain: Path) -> str:
    """The table of all metrics. Raises Disagreement."""
    results: list[Compared] = []
    for progress in compare_metrics(machine, plain.parent, scale):
        if isinstance(progress, str):
            _log(f"metrics: {progress}")
        else:
            results.append(progress)
    table = report.metrics_table(results, os.getloadavg()[0])
    if any(result.differs for result in results):
        raise Disagreement(table)
    return table


def _threads(machine: Machine, scale: Scale) -> str:
    """The table of all thread counts. Raises Disagreement."""
    results: list[Together] = []
    for progress in compare_threads(machine, scale):
        if isinstance(progress, str):
            _log(f"threads: {progress}")
        else:
            results.append(progress)
    table = report.threads_table(results)
    if not all(result.agrees for result in results):
        raise Disagreement(table)
    return table


def _counts(machine: Machine, scale: Scale) -> Iterator[Repeated]:
    for progress in repeat_counts(machine, scale.counts):
        if isinstance(progress, str):
            _log(f"counts: {progress}")
        else:
            yield progress


def _builds(machine: Machine, scale: Scale) -> Iterator[Built | NotBuilt]:
    for progress in compare_builds(machine, scale):
        if isinstance(progress, str):
            _log(f"builds: {progress}")
        else:
            yield progress


def _mixes(machine: Machine, scale: Scale) -> Iterator[Predicted]:
    for progress in compare_mixes(machine, scale):
        if isinstance(progress, str):
            _log(f"mixes: {progress}")
        else:
            yield progress


def _detections(machine: Machine, scale: Scale) -> Iterator[str]:
    for case in DETECTED:
        for progress in measure_pools(machine, case, "openssl@system", scale.pool):
            if isinstance(progress, Pools):
                curve = resampled_power(progress.log_ratios, progress.group, PARTITIONS, ALPHA, seed=0)
                small = rejections(progress.log_ratios[0.0], USUAL_GROUP, PARTITIONS, ALPHA, np.random.default_rng(0))
                yield report.detection_text(progress, curve) + report.usual_group_text(small, USUAL_GROUP, ALPHA)
            elif progress % 40 == 0:
                _log(f"detection: {case.label}, {progress} of {scale.pool} invocations of each pair")


def _left_out() -> str:
    return "; ".join(f"`{operation}`: {reason}" for operation, reason in LEFT_OUT.items())


def _answers(scale: Scale) -> Iterator[Answers]:
    for millions in scale.stored_millions:
        _log(f"answers: a store of {millions} million values")
        yield measure_answers(millions)


def _loads(machine: Machine, scale: Scale) -> Iterator[tuple[int, Load]]:
    for millions in scale.load_millions:
        _log(f"load: {scale.load_s:.0f} s on a store of {millions} million values")
        with all_cpus(machine.cpus):
            yield millions, measure_load(millions, scale.load_s)


def _paged(machine: Machine, scale: Scale) -> PageFigures:
    _log(f"pages: {scale.page_rounds} visits of each with a store of {scale.pages_millions} million values")
    with all_cpus(machine.cpus):
        return measure_pages(EXTENTS[scale.pages_millions], scale.page_rounds)


def _sharded(machine: Machine, scale: Scale) -> Iterator[Sharded]:
    for progress in measure_sharding(machine.installation.catalogue(), machine.cpus, scale):
        _log(f"sharding: {progress.nodes:,} simulated nodes, {progress.ended_s:.0f} s")
        yield progress


def _scaled(machine: Machine, scale: Scale) -> Scaled:
    _log(f"scale: {scale.cases:,} cases, {scale.nodes:,} simulated nodes")
    return measure_scale(machine.installation.catalogue(), machine.cpus, scale)


PARTS: dict[str, tuple[str, Callable[[Machine, Scale, Path], str]]] = {
    "overhead": (OVERHEAD, lambda machine, scale, _: report.overhead_table(list(_overheads(machine, scale)))),
    "peers": (PEERS, lambda machine, scale, plain: report.peers_table(list(_peers(machine, scale, plain)))),
    "levels": (
        LEVELS.format(handshakes=LEVEL_HANDSHAKES),
        lambda machine, scale, plain: report.levels_table(list(_levels(machine, scale, plain))),
    ),
    "connections": (
        CONNECTIONS.format(tolerance=TOLERANCE, short_us=SHORT_NS / 1000, call_us=CALL_NS / 1000),
        lambda machine, scale, _: _connections(machine, scale),
    ),
    "metrics": (METRICS.format(held=HELD, close=CLOSE, near=NEAR), _metrics),
    "threads": (
        THREADS.format(tolerance=THREADS_TOLERANCE, turn_ms=THREADS_BATCH_NS / 1e6),
        lambda machine, scale, _: _threads(machine, scale),
    ),
    "counts": (
        COUNTS.format(counts=FULL.counts),
        lambda machine, scale, _: report.counts_table(list(_counts(machine, scale))),
    ),
    "builds": (
        BUILDS,
        lambda machine, scale, _: report.builds_table(list(_builds(machine, scale))),
    ),
    "mixes": (
        MIXED.format(subject=SUBJECT, goal=GOAL),
        lambda machine, scale, _: report.mixes_table(list(_mixes(machine, scale))),
    ),
    "detection": (
        DETECTION.format(batches=BATCHES),
        lambda machine, scale, _: "\n\n".join(_detections(machine, scale)),
    ),
    "commits": (COMMITS, lambda _machine, scale, _: report.commits_table(measure_commits(scale.pushes))),
    "answers": (ANSWERS.format(left_out=_left_out()), lambda _machine, scale, _: answers_text(list(_answers(scale)))),
    "load": (LOAD, lambda machine, scale, _: loads_text(list(_loads(machine, scale)))),
    "pages": (
        PAGES.format(useful_s=USEFUL_S, script_kb=SCRIPT_KB),
        lambda machine, scale, _: pages_text(scale.pages_millions, _paged(machine, scale)),
    ),
    "scale": (SCALE, lambda machine, scale, _: report.scale_table(_scaled(machine, scale))),
    "sharding": (SHARDING, lambda machine, scale, _: report.sharding_table(list(_sharded(machine, scale)))),
}
"""The text above each part's figures, and the function that measures them."""


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
