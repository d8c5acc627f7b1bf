"""`python -m bench.scorecard [--quick] [--only PART] [--live N]`: measure, print, and write docs/results/scorecard.md
and the release's file in docs/results/scorecards, which the API serves. The first time, it builds the kits.

Exit status 1 if a part cannot be measured; the report then gives the reason. Figures alone never fail it.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import httpx2

from bench.machine import BenchError
from bench.scorecard import report
from bench.scorecard.parts import BUILDING, FULL, PARTS, QUICK, Bench, Found
from kexbench import __version__
from kexbench.domain.scorecard import Scorecard, ScorecardPart, from_csv, to_csv
from kexbench.files import write_whole
from kexbench.kits import KitError
from kexbench.kits.errors import StepFailed
from kexbench.runner.host import read_host_facts

ROOT = Path(__file__).parents[3]
_HINDRANCES = (BenchError, KitError, StepFailed, httpx2.HTTPError, OSError)
RESULTS = ROOT / "docs/results"
REPORT, FIGURES = RESULTS / "scorecard.md", RESULTS / f"scorecards/{__version__}.csv"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.scorecard", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="a tenth of the time, wider intervals, no file written")
    parser.add_argument("--only", choices=list(PARTS), help="measure one part and replace it in the files")
    parser.add_argument(
        "--live",
        type=int,
        help="number of upgrades between builds of one source: 3 by default, 1 with --quick; 0 skips all builds",
    )
    options = parser.parse_args(arguments)
    live = options.live if options.live is not None else 1 if options.quick else 3
    bench = Bench(QUICK if options.quick else FULL, live, _say)
    names = [options.only] if options.only else [part for part in PARTS if part not in BUILDING or live]
    parts = [_measured(part, bench) for part in names]
    if options.only and not options.quick:
        _replace(parts[0])
    elif not options.quick:
        _write(Scorecard(measured_at=datetime.now(UTC), version=__version__, machine=_machine(), parts=tuple(parts)))
    return 1 if any(part.failure for part in parts) else 0


def _measured(name: str, bench: Bench) -> ScorecardPart:
    title, measure = PARTS[name]
    began_s = time.monotonic()
    try:
        result = measure(bench)
    except _HINDRANCES as error:
        result = Found(failure=str(error))
    part = ScorecardPart(name=name, title=title, **vars(result), seconds=round(time.monotonic() - began_s, 1))
    print(f"\n{report.part_text(part)}\n\n({part.seconds:.0f} s)", flush=True)
    return part


def _machine() -> str:
    host = read_host_facts()
    virtual = host.virtualisation or "unknown"
    return f"{host.cpu_model}, {host.cpus} CPUs, {virtual} virtualisation, Linux {host.kernel}."


def _replace(part: ScorecardPart) -> None:
    """Only if the part was measured and the files exist."""
    if part.failure or not FIGURES.exists():
        return
    scorecard = from_csv(FIGURES.read_text(encoding="utf-8"))
    about = f"Measured separately on {datetime.now(UTC):%Y-%m-%d}. {part.about}"
    parts = {each.name: each for each in scorecard.parts} | {part.name: part.model_copy(update={"about": about})}
    _write(scorecard.model_copy(update={"parts": tuple(parts[name] for name in PARTS if name in parts)}))


def _write(scorecard: Scorecard) -> None:
    """The figures last: a reader of the figures then has both files."""
    write_whole(REPORT, report.document(scorecard).encode())
    write_whole(FIGURES, to_csv(scorecard).encode())
    _say(f"wrote {REPORT.relative_to(ROOT)} and {FIGURES.relative_to(ROOT)}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
