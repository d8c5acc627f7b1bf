"""`python -m bench [--quick] [--only PART]`: measure, print, and write docs/benchmarks.md. Builds kits the first time.

Exit status 1 when a part can't be measured, of which the file keeps what it had; figures themselves never fail it, nor
does a machine without a simulated cluster, where planning is measured alone.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench import report
from bench.builds import Built, NotBuilt, compare_builds
from bench.calibration import calibrate
from bench.commits import measure_commits
from bench.detection import Pools, measure_pools
from bench.gnutls_cli import compare_with_gnutls_cli
from bench.lab import FULL, QUICK, BenchError, Lab, Scale
from bench.levels import Level, compare_levels
from bench.overhead import Overhead, measure_overhead
from bench.peers import Peer, compare_with_plain_loop
from bench.scale import Scaled, measure_scale
from bench.texts import BUILDS, COMMITS, DETECTION, HEAD, LEVELS, OVERHEAD, PEERS, SCALE
from kexbench.analysis.detectable import ALPHA
from kexbench.analysis.power import resampled_power
from kexbench.analysis.resampling import rejections
from kexbench.domain.cases import Case, KeyExchange, Protocol, Resumption
from kexbench.domain.plans import BATCHES
from kexbench.files import write_whole
from kexbench.kits import KitError
from kexbench.runner.host import read_host_facts

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "docs" / "benchmarks.md"
PARTITIONS = 200
USUAL_GROUP = 10
"""Invocations of an ordinary run: there are more groups of them, so their false positives are known better."""


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
    parser.add_argument("--only", choices=list(PARTS), help="one part; the file keeps its other sections")
    parser.add_argument("--plain", type=Path, required=True, help="the compiled plain_openssl")
    options = parser.parse_args(arguments)
    scale = QUICK if options.quick else FULL
    lab = Lab()
    machine = report.machine_lines(datetime.now(UTC), read_host_facts(), calibrate(lab, ECDSA_1_3))
    sections: dict[str, str] = {}
    missing = []
    for part in [options.only] if options.only else PARTS:
        heading, measure = PARTS[part]
        try:
            figures = measure(lab, scale, options.plain)
        except (BenchError, KitError, FileNotFoundError) as error:
            print(f"\n{heading}Nothing of this was measured: {error}", flush=True)
            missing.append(part)
            continue
        sections[part] = f"{heading}{machine}\n\n{figures}"
        print(f"\n{sections[part]}", flush=True)
    if scale is FULL:
        known = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
        headings = {part: heading.partition("\n")[0] for part, (heading, _) in PARTS.items()}
        write_whole(REPORT, report.document(known, HEAD, headings, sections).encode())
        _say(f"written to {REPORT.relative_to(ROOT)}")
    return 1 if missing else 0


def _overheads(lab: Lab, scale: Scale) -> Iterator[Overhead]:
    for subject in ("openssl@system", "gnutls@system"):
        for case in TIMED:
            _say(f"overhead: {subject}, {case.label}")
            yield measure_overhead(lab, case, subject, scale)


def _peers(lab: Lab, scale: Scale, plain: Path) -> Iterator[Peer]:
    for case in PLAIN:
        _say(f"against a plain loop: {case.label}")
        for chainless in (False, True):
            yield compare_with_plain_loop(lab, plain, case, scale.invocations, scale.batches, chainless=chainless)
    _say(f"against gnutls-cli --benchmark-tls-kx, {scale.peer_rounds} rounds of 40 s")
    yield from compare_with_gnutls_cli(lab, scale)


def _levels(lab: Lab, scale: Scale, plain: Path) -> Iterator[Level]:
    for case in LEVELLED:
        _say(f"a level against {LEVEL_HANDSHAKES:,} handshakes: {case.label}")
        yield compare_levels(lab, plain, case, LEVEL_HANDSHAKES, scale)


def _builds(lab: Lab, scale: Scale) -> Iterator[Built | NotBuilt]:
    for progress in compare_builds(lab, scale):
        if isinstance(progress, str):
            _say(f"builds: {progress}")
        else:
            yield progress


def _detections(lab: Lab, scale: Scale) -> Iterator[str]:
    for case in DETECTED:
        for found in measure_pools(lab, case, "openssl@system", scale.pool):
            if isinstance(found, Pools):
                curve = resampled_power(found.log_ratios, found.group, PARTITIONS, ALPHA, seed=0)
                small = rejections(found.log_ratios[0.0], USUAL_GROUP, PARTITIONS, ALPHA, np.random.default_rng(0))
                yield report.detection_text(found, curve) + report.usual_group_text(small, USUAL_GROUP, ALPHA)
            elif found % 40 == 0:
                _say(f"detection: {case.label}, {found} of {scale.pool} invocations of each pair")


def _scaled(lab: Lab, scale: Scale) -> Scaled:
    _say(f"scale: {scale.cases:,} cases, {scale.nodes:,} simulated nodes")
    return measure_scale(lab.installation.catalogue(), lab.cpus, scale)


PARTS: dict[str, tuple[str, Callable[[Lab, Scale, Path], str]]] = {
    "overhead": (OVERHEAD, lambda lab, scale, _: report.overhead_table(list(_overheads(lab, scale)))),
    "peers": (PEERS, lambda lab, scale, plain: report.peers_table(list(_peers(lab, scale, plain)))),
    "levels": (
        LEVELS.format(handshakes=LEVEL_HANDSHAKES),
        lambda lab, scale, plain: report.levels_table(list(_levels(lab, scale, plain))),
    ),
    "builds": (
        BUILDS,
        lambda lab, scale, _: report.builds_table(list(_builds(lab, scale))),
    ),
    "detection": (DETECTION.format(batches=BATCHES), lambda lab, scale, _: "\n\n".join(_detections(lab, scale))),
    "commits": (COMMITS, lambda _lab, scale, _: report.commits_table(measure_commits(scale.pushes))),
    "scale": (SCALE, lambda lab, scale, _: report.scale_table(_scaled(lab, scale))),
}
"""What stands above the figures of each part, and how they are made."""


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
