"""`python -m bench.in_ci [openssl] [gnutls] [deb] [--folder FOLDER]`: the examples of infra/ci, tried on real sources.

For each library it makes a repository (bench/branches.py) and runs the example's script as the job of a pull request
does, which is pushed to three times: a change that makes handshakes slower, one that does not, and one that does not
compile. A double of GitHub's API records the comments. `deb` compares repacked packages with those of their suite.

It prints the comments and a line for each job. Exit status 0 if each job ended with the right status and left the right
comment, otherwise 1. Building and counting take half an hour on two cores; trees in a named FOLDER are used again.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.bisection import CASE
from bench.branches import BROKEN, PLACES, SAME, SLOWER, plant_branches
from bench.machine import BenchError
from bench.planted import BRANCH, fetch_sources
from kexbench.domain.libraries import Library
from kexbench.domain.pairs import COMMENT_FILE
from kexbench.kits.errors import StepFailed
from tests.forges.fake_github import FakeGitHub
from tests.serving import serving

CI = Path(__file__).parents[2] / "infra" / "ci"
OPTIONS = ("--case", CASE, "--relevant", "0.2%")
CONFIGURE = {"openssl": "no-shared no-module no-tests", "gnutls": "--with-included-unistring --without-p11-kit"}
"""Shorter builds. GnuTLS has no headers of its own libraries on every machine."""
SUITE, DEB = "bookworm", "deb"
PUSHES = ((1, SLOWER, 3), (1, SAME, 0), (1, BROKEN, 4), (2, SAME, 0))
"""The pull request, the branch that is its head, and the status that the job has to end with."""
COMMENTED = {1}
"""Pull requests that get a comment. In the other one nothing ever changed."""


@dataclass(frozen=True)
class Job:
    """What a job ended with."""

    pull_request: int
    branch: str
    expected: int
    status: int
    minutes: float
    comments: tuple[str, ...]
    """All of its pull request, after it."""
    report: str

    def faults(self, earlier: "Job | None") -> Iterator[str]:
        name = f"{self.branch} in pull request {self.pull_request}"
        if self.status != self.expected:
            yield f"{name} ended with {self.status}, not {self.expected}"
        if not self.report:
            yield f"{name} has no report"
        if len(self.comments) != (self.pull_request in COMMENTED):
            yield f"{name} left {len(self.comments)} comments"
        if earlier and earlier.pull_request == self.pull_request and earlier.comments == self.comments:
            yield f"{name} left the comment as it was"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.in_ci")
    parser.add_argument("parts", nargs="*", help="default: all")
    parser.add_argument("--folder", type=Path, help="keep repositories, trees and reports here")
    options = parser.parse_args(arguments)
    faults: list[str] = []
    with TemporaryDirectory() as scratch:
        folder = (options.folder or Path(scratch)).absolute()
        try:
            for part in options.parts or (*PLACES, DEB):
                (folder / part).mkdir(parents=True, exist_ok=True)
                faults += try_packages(folder / part) if part == DEB else try_library(part, folder / part)
        except (BenchError, StepFailed, subprocess.CalledProcessError) as error:
            faults.append(str(error))
    for fault in faults:
        print(f"wrong: {fault}")
    return 1 if faults else 0


def try_library(library: Library, folder: Path) -> list[str]:
    """The faults of the jobs of both pull requests. Raises BenchError, StepFailed and CalledProcessError."""
    checkout, report = _checkout(library, folder), folder / "report"
    forge = FakeGitHub()
    faults: list[str] = []
    earlier = None
    with serving(forge.app()) as address:
        for pull_request, branch, expected in PUSHES:
            variables = {
                **os.environ,
                **_of_a_job(folder, pull_request),
                "GITHUB_API_URL": address + forge.prefix,
                "GITHUB_REPOSITORY": forge.repository,
                "BUILDS": str(folder / "builds"),
                "CONFIGURE": CONFIGURE[library],
                "REPORT": str(report),
            }
            if shutil.which("ccache"):
                variables |= {"CC": "ccache gcc", "CCACHE_NOHASHDIR": "1"}
            words = [str(CI / "examples" / f"{library}.sh"), f"origin/{BRANCH}", f"origin/{branch}", *OPTIONS]
            began_s = time.monotonic()
            process = subprocess.run(words, cwd=checkout, env=variables, check=False)
            # Only now is there a token, since the script runs the code of the pull request.
            subprocess.run(["kexbench", "comment", report], env={**variables, "GITHUB_TOKEN": forge.token}, check=True)
            job = Job(
                pull_request,
                branch,
                expected,
                process.returncode,
                (time.monotonic() - began_s) / 60,
                tuple(body for _, body in forge.bodies(pull_request)),
                _read(report / COMMENT_FILE),
            )
            print(f"== {library}, {branch}: status {job.status} after {job.minutes:.1f} minutes\n{job.report}")
            faults += (f"{library}: {fault}" for fault in job.faults(earlier))
            earlier = job
        for pull_request in sorted(COMMENTED):
            for author, body in forge.bodies(pull_request):
                print(f"== {library}: the comment on pull request {pull_request}, by {author}\n{body}")
        print(f"== {library}: {', '.join(forge.written())} of {len(forge.asked)} requests changed something")
    return faults


def try_packages(folder: Path) -> list[str]:
    """OpenSSL's packages of a suite with another version but the same contents. Raises CalledProcessError."""
    packages, repacked = folder / "packages", folder / "repacked"
    for each in (packages, repacked):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir()
    subprocess.run(["apt-get", "-qq", "download", "libssl3", "libssl-dev"], cwd=packages, check=True)
    for package in sorted(packages.iterdir()):
        tree = folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
        control = tree / "DEBIAN" / "control"
        text = control.read_text(encoding="utf-8")
        (version,) = re.findall(r"^Version: (.+)$", text, re.MULTILINE)
        # Also where one depends on exactly the other.
        control.write_text(text.replace(version, f"{version}+kex1"), encoding="utf-8")
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, repacked], check=True, stdout=sys.stderr)
    words = [str(CI / "compare-builds"), "openssl", f"debian/{SUITE}", f"deb:{repacked}#{SUITE}", *OPTIONS]
    variables = {**os.environ, **_of_a_job(folder, 1)}
    status = subprocess.run(words, cwd=folder, env=variables, check=False).returncode
    print(f"== packages: status {status}\n{_read(folder / 'summary.md')}")
    return [] if status == 0 else [f"packages: ended with {status}, not 0"]


def _checkout(library: Library, folder: Path) -> Path:
    origin, checkout = folder / "origin", folder / "checkout"
    if not checkout.exists():
        shutil.rmtree(origin, ignore_errors=True)
        with TemporaryDirectory(dir=folder) as scratch:
            sources = fetch_sources(Path(scratch), lambda text: print(text, file=sys.stderr), PLACES[library].sources)
            plant_branches(shutil.copytree(sources, origin, symlinks=True), library)
        subprocess.run(["git", "clone", "--quiet", origin, checkout], check=True)
    return checkout


def _of_a_job(folder: Path, pull_request: int) -> Mapping[str, str]:
    """The variables that a job of GitHub Actions has, besides those of the API. The summary is a new one."""
    event = folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": pull_request}}), encoding="utf-8")
    (folder / "summary.md").unlink(missing_ok=True)
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_JOB": "handshake-costs",
        "GITHUB_REF": f"refs/pull/{pull_request}/merge",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
