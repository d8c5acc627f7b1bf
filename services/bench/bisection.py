"""`python -m bench.bisection [--without-step] [--count] [--seed N]`: bisects OpenSSL's sources with a planted step.

It makes the repository (bench/planted.py), runs `kexbench bisect` on it and prints the result in one line. Exit status
0 if the result names the planted commit, or no commit with `--without-step`; otherwise 1. Builds and measurements take
a quarter of an hour. They are cached, so an interrupted bisection continues with the same seed.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import BenchError, children_cpu_s
from bench.planted import BRANCH, GOOD, Planted, fetch_sources, plant
from kexbench.analysis.bisect import most_builds
from kexbench.cli.bisections import CANNOT_SAY
from kexbench.domain.numbers import move_words
from kexbench.kits.errors import StepFailed
from kexbench.settings import Settings

CASE = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"
COMMITS = 12


@dataclass(frozen=True)
class Searched:
    """The exit status and answer of `kexbench bisect`, and the time of it and its child processes."""

    status: int
    answer: dict[str, Any]
    minutes: float
    cpu_minutes: float


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.bisection", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=1, help="seed of the planted commits' places")
    parser.add_argument("--commits", type=int, default=COMMITS, help="number of commits after the good one")
    parser.add_argument("--without-step", action="store_true", help="plant no slower commit; none may be named")
    parser.add_argument("--count", action="store_true", help="by counted instructions instead of time")
    options = parser.parse_args(arguments)
    try:
        planted = _planted(options.commits, options.seed, with_step=not options.without_step)
        searched = _search(planted, by_count=options.count)
    except (BenchError, StepFailed) as error:
        print(f"bisection failed: {error}", file=sys.stderr)
        return 1
    faults = faults_of(planted, searched)
    print(line_of(planted, searched))
    for fault in faults:
        print(f"wrong: {fault}")
    return 1 if faults else 0


def _planted(commits: int, seed: int, *, with_step: bool) -> Planted:
    """The repository. Its path is always the same, because measurements are cached by the repository's address."""
    folder = Settings().cache / "planted" / f"{seed}-{commits}-{'step' if with_step else 'no-step'}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as scratch:
        sources = fetch_sources(Path(scratch), lambda text: print(text, file=sys.stderr))
        return plant(shutil.copytree(sources, folder), commits, seed, with_step=with_step)


def _search(planted: Planted, *, by_count: bool) -> Searched:
    """Raises BenchError if there is no answer."""
    ends = (GOOD, BRANCH, "--repository", str(planted.folder))
    command = [sys.executable, "-m", "kexbench.cli", "bisect", "openssl", *ends, "--case", CASE, "--json"]
    command += ["--count"] if by_count else []
    began_s, began_cpu_s = time.monotonic(), children_cpu_s()
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if process.returncode not in (0, CANNOT_SAY):
        raise BenchError(f"kexbench bisect ended with status {process.returncode}")
    minutes, cpu_minutes = (time.monotonic() - began_s) / 60, (children_cpu_s() - began_cpu_s) / 60
    return Searched(process.returncode, json.loads(process.stdout), minutes, cpu_minutes)


def faults_of(planted: Planted, searched: Searched) -> list[str]:
    """The faults of an answer. Empty if it is right."""
    answer = searched.answer
    limit = most_builds(planted.commits)
    faults = [] if answer["builds"] <= limit else [f"{answer['builds']} builds, at most {limit} are allowed"]
    if planted.slower is None:
        if searched.status != CANNOT_SAY:
            faults.append(f"exit status {searched.status} although no commit is slower")
        return faults
    named = [commit["hash"] for commit in answer["commits"]] if searched.status == 0 else []
    if named != [planted.slower]:
        faults.append(f"expected {planted.slower}, got {', '.join(named) or 'no commit'}")
    return faults


def line_of(planted: Planted, searched: Searched) -> str:
    answer = searched.answer
    certainty = "no probability" if answer["probability"] is None else f"probability {answer['probability']:.3f}"
    (step,) = answer["steps"]
    return (
        f"{answer['verdict']}: {', '.join(commit['subject'] for commit in answer['commits']) or 'no commit'} of "
        f"{planted.commits} commits, {certainty}, "
        f"change {move_words(step['ratio'], step['low'], step['high'], places=2)}, "
        f"{answer['builds']} builds, {len(answer['failed'])} failed, "
        f"{answer['measurements']} measurements, {answer['invocations']} invocations, {searched.minutes:.0f} minutes, "
        f"{searched.cpu_minutes:.0f} CPU minutes"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
