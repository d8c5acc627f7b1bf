"""A bisection on the cluster: its commits are found by a pod, its ends are built by a workflow, and what stands in the
way is reported until somebody resumes it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from devcluster.cluster import Cluster
from devcluster.plan import HOST
from tests.cluster.kexbench import Kexbench
from tests.kits.repositories import Repository, a_repository

pytestmark = pytest.mark.cluster
PORT = 8418
"""Of values.yaml: what builders may reach."""
CASE = "*_ecdhe-ecdsa_*x25519_aes-128-gcm"

CURIOUS = r"""
my @reached;
push @reached, "a token" if grep { -e } glob "/var/run/secrets/*/token /var/run/secrets/*/*/token";
push @reached, "the environment" if grep { /TOKEN|API_URL/ } keys %ENV;
for my $process (glob "/proc/[0-9]*/environ") {
    open(my $file, "<", $process) or next;
    push @reached, "another process" if join("", <$file>) =~ /(^|\0)KEXBENCH_(TOKEN|API_URL)[A-Z_]*=/;
}
push @reached, "what Argo starts containers with" if open(my $file, ">", "/var/run/argo/argoexec");
print STDERR "reached: ", (join(", ", @reached) || "nothing"), "\n";
exit 1;
"""
"""A script of sources that looks for what it should not have."""


class NotYet(Exception):
    """What a bisection has come to so far."""


@pytest.fixture
def repository(devcluster: Cluster, tmp_path: Path) -> Iterator[Repository]:
    """One that says a version of OpenSSL and has nothing to build but a script that looks around, served to pods as
    plain files."""
    made = a_repository(tmp_path / "openssl")
    (made.folder / "Configure").write_text(CURIOUS)
    for patch in range(4):
        made.commit(patch)
    made.git("tag", "v1", "HEAD~3")
    made.git("update-server-info")
    words = [sys.executable, "-m", "http.server", str(PORT), f"--bind={HOST}", f"--directory={tmp_path}"]
    with subprocess.Popen(devcluster.inside(words)) as server:
        try:
            yield made
        finally:
            server.terminate()


def asked(kexbench: Kexbench, bad: str) -> dict[str, Any]:
    """What became of a question, once nothing more happens by itself."""
    address = f"http://{HOST}:{PORT}/openssl/.git"
    words = ["bisect", "openssl", "v1", bad, "--repository", address, "--case", CASE, "--invocations", "6"]
    return kexbench.done(kexbench.command(*words, "--pool", "pool-a", "--json"), status=1)


def test_commits_are_found_by_a_pod_and_ends_that_do_not_build_are_reported_with_their_run(
    kexbench: Kexbench, repository: Repository
) -> None:
    found = asked(kexbench, "master")
    assert (found["searched"], found["summary"]["state"]) == (4, "waiting")
    assert "2 kits could not be built" in found["summary"]["detail"]
    (run,) = found["runs"]
    detail = kexbench.get(f"/runs/{run['run_id']}")
    assert detail["summary"]["trigger"] == "bisection"
    assert len(detail["events"][-1]["about"]) == 2
    assert detail["events"][-1]["reason"] == "does not build"
    assert detail["events"][-1]["state"] == "failed"
    assert re.findall("reached: ([^;]*)[.;]", detail["events"][-1]["detail"]) == ["nothing"] * 2
    bisection_id = found["summary"]["bisection_id"]
    again = kexbench.done(kexbench.command("bisections", "resume", bisection_id, "--json"))
    assert again["state"] == "searching"
    cancelled = kexbench.done(kexbench.command("bisections", "cancel", bisection_id, "--json"))
    assert cancelled["state"] == "cancelled"
    assert wait_for_run(kexbench, bisection_id) in ("cancelled", "failed")


def test_a_branch_that_there_is_not_is_reported_by_the_pod_that_looked_for_it(
    kexbench: Kexbench, repository: Repository
) -> None:
    found = asked(kexbench, "mister")
    assert (found["searched"], found["runs"], found["summary"]["state"]) == (0, [], "waiting")
    assert "has no branch or tag mister" in found["summary"]["detail"]


def wait_for_run(kexbench: Kexbench, bisection_id: str) -> str:
    """How the run under way ended."""
    for attempt in Retrying(
        retry=retry_if_exception_type(NotYet), wait=wait_fixed(1), stop=stop_after_delay(300), reraise=True
    ):
        with attempt:
            state: str = kexbench.get(f"/bisections/{bisection_id}")["runs"][-1]["state"]
            if state not in ("cancelled", "failed"):
                raise NotYet(state)
            return state
    raise AssertionError("the last attempt raised")
