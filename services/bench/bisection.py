"""`python -m bench.bisection [--without-step] [--seed N]`: a bisection of OpenSSL's sources with a planted step.

It makes the repository (bench/planted.py), runs `kexbench bisect` on it and says in one line what came of it. Exit
status 0 when the commit that was planted is named, or with `--without-step` none; 1 otherwise. Builds and measurements
take a quarter of an hour, and are kept: the same seed goes on where it was ended.
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

from bench.lab import BenchError, children_cpu_s
from bench.planted import BRANCH, GOOD, Planted, fetch_sources, plant
from kexbench.analysis.bisect import most_builds
from kexbench.cli.bisections import CANNOT_SAY
from kexbench.kits.errors import StepFailed
from kexbench.settings import Settings

CASE = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"
COMMITS = 12


@dataclass(frozen=True)
class Searched:
    """How `kexbench bisect` ended: its exit status, its answer, and what it took with all that it started."""

    status: int
    answer: dict[str, Any]
    minutes: float
    cpu_minutes: float


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.bisection", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=1, help="where things are planted")
    parser.add_argument("--commits", type=int, default=COMMITS, help="behind the good one")
    parser.add_argument("--without-step", action="store_true", help="no commit is slower: it must not name one")
    options = parser.parse_args(arguments)
    try:
        planted = _planted(options.commits, options.seed, with_step=not options.without_step)
        searched = _search(planted)
    except (BenchError, StepFailed) as error:
        print(f"nothing was searched: {error}", file=sys.stderr)
        return 1
    faults = faults_of(planted, searched)
    print(line_of(planted, searched))
    for fault in faults:
        print(f"not as it should be: {fault}")
    return 1 if faults else 0


def _planted(commits: int, seed: int, *, with_step: bool) -> Planted:
    """The repository, always in the same place: what is known of a search is kept with its address."""
    folder = Settings().cache / "planted" / f"{seed}-{commits}-{'step' if with_step else 'no-step'}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as scratch:
        sources = fetch_sources(Path(scratch), lambda words: print(words, file=sys.stderr))
        return plant(shutil.copytree(sources, folder), commits, seed, with_step=with_step)


def _search(planted: Planted) -> Searched:
    """Raises BenchError where there is no answer."""
    ends = (GOOD, BRANCH, "--repository", str(planted.folder))
    command = [sys.executable, "-m", "kexbench.cli", "bisect", "openssl", *ends, "--case", CASE, "--json"]
    began_s, began_cpu_s = time.monotonic(), children_cpu_s()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, CANNOT_SAY):
        raise BenchError(f"kexbench bisect ended with status {done.returncode}")
    minutes, cpu_minutes = (time.monotonic() - began_s) / 60, (children_cpu_s() - began_cpu_s) / 60
    return Searched(done.returncode, json.loads(done.stdout), minutes, cpu_minutes)


def faults_of(planted: Planted, searched: Searched) -> list[str]:
    """What is wrong with an answer, nothing where it is right."""
    answer = searched.answer
    most = most_builds(planted.commits)
    faults = [] if answer["builds"] <= most else [f"{answer['builds']} builds, {most} were allowed"]
    if planted.slower is None:
        if searched.status != CANNOT_SAY:
            faults.append(f"exit status {searched.status} where no commit is slower")
        return faults
    named = [commit["hash"] for commit in answer["commits"]] if searched.status == 0 else []
    if named != [planted.slower]:
        faults.append(f"{planted.slower} is slower, named were {named or 'none'}")
    return faults


def line_of(planted: Planted, searched: Searched) -> str:
    answer = searched.answer
    sure = "no probability" if answer["probability"] is None else f"probability {answer['probability']:.3f}"
    (step,) = answer["steps"]
    return (
        f"{answer['verdict']}: {', '.join(commit['subject'] for commit in answer['commits']) or 'no commit'} of "
        f"{planted.commits}, {sure}, ends {step['ratio'] - 1:+.2%} [{step['low'] - 1:+.2%}, {step['high'] - 1:+.2%}], "
        f"{answer['builds']} builds and {len(answer['failed'])} that failed, {answer['measurements']} measurements of "
        f"{answer['invocations']} invocations, {searched.minutes:.0f} minutes, {searched.cpu_minutes:.0f} CPU minutes"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
