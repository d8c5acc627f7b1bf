"""A commit that is pushed becomes a run on the cluster, once."""

import subprocess
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from devcluster.cluster import Cluster
from devcluster.plan import HOST
from tests.cluster.kexbench import NAMESPACE, VALUES, Kexbench, a_spec
from tests.cluster.kubectl import Kubectl
from tests.watch.repositories import Shared, a_catalogue

pytestmark = pytest.mark.cluster
QUICK, BROKEN, TRACKING = "bench-specs/quick.yaml", "bench-specs/broken.yaml", "bench-specs/tracking.yaml"
CATALOGUE = "bench-specs/libraries.yaml"


class NoneYet(Exception):
    """Nothing is known of the commit so far."""


@pytest.fixture(scope="module")
def shared(
    devcluster: Cluster, kexbench: Kexbench, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shared]:
    """The repository that the chart has watched, served to pods by git itself. One for all tests: of a repository that
    replaced another, only what is pushed after the watcher saw it is measured."""
    folder = tmp_path_factory.mktemp("watched")
    shared = Shared(folder)
    address = urlsplit(yaml.safe_load(VALUES.read_text())["repositories"][0]["url"])
    assert address.hostname == HOST
    words = ["git", "daemon", f"--base-path={folder}", "--export-all", f"--listen={HOST}", "--informative-errors"]
    with subprocess.Popen(devcluster.inside(words)) as daemon:
        try:
            _wait_until_watched(kubectl)
            yield shared
        finally:
            daemon.terminate()


def _wait_until_watched(kubectl: Kubectl) -> None:
    """Until the watcher, which nobody answered before, has looked at it: what is pushed from then on is measured."""
    for attempt in _trying():
        with attempt:
            said = kubectl("logs", "deployment/kexbench-dispatcher", "--namespace", NAMESPACE, "--tail=-1")
            if "watching branch main of benchmarks" not in said:
                raise NoneYet


def _trying() -> Retrying:
    return Retrying(
        retry=retry_if_exception_type(NoneYet), wait=wait_fixed(1), stop=stop_after_delay(180), reraise=True
    )


def handled_commit(kexbench: Kexbench, commit: str) -> dict[str, Any]:
    """What became of a commit's specs."""
    for attempt in _trying():
        with attempt:
            found: list[dict[str, Any]] = kexbench.get("/commits")["commits"]
            for handled in found:
                if handled["commit"]["commit"] == commit:
                    return handled
            raise NoneYet
    raise AssertionError("the last attempt raised")


def test_a_spec_that_is_pushed_is_measured_on_the_pools_it_names_and_a_broken_one_is_reported_with_its_line(
    kexbench: Kexbench, shared: Shared
) -> None:
    handled = handled_commit(
        kexbench, shared.pushed({QUICK: a_spec("pushed"), BROKEN: a_spec("broken", pools="pool-c")})
    )
    broken, quick = handled["checks"]
    assert (broken["path"], broken["run_id"]) == (BROKEN, None)
    assert (broken["faults"][0]["file"], broken["faults"][0]["line"]) == (BROKEN, 7)
    summary = kexbench.wait_for(quick["run_id"], "finished")
    assert (summary["trigger"], summary["commit"]["title"], summary["spec_path"]) == ("commit", "a change", QUICK)
    assert summary["invocations_stored"] == summary["invocations_planned"]
    again = handled_commit(kexbench, shared.pushed({"bench-specs/other.yaml": "nothing: yet\n"}))
    assert [check["path"] for check in again["checks"]] == ["bench-specs/other.yaml"]
    runs = [run for run in kexbench.get("/runs")["runs"] if run["spec_path"] == QUICK]
    assert [run["run_id"] for run in runs] == [quick["run_id"]]


def test_a_version_that_is_pushed_is_measured_against_the_one_before_and_nothing_else_is(
    kexbench: Kexbench, shared: Shared
) -> None:
    tracking = a_spec("tracking", pools="pool-a").replace("openssl: system\n  - gnutls: system", "fake: tracked")
    known = handled_commit(kexbench, shared.pushed({TRACKING: tracking, CATALOGUE: a_catalogue("1.0")}, "Track"))
    newer = handled_commit(kexbench, shared.pushed({CATALOGUE: a_catalogue("1.0", "1.1")}, "fake 1.1 is out"))
    (first,), (second,) = known["checks"], newer["checks"]
    assert (second["path"], second["reason"]) == (TRACKING, "library")
    summary = kexbench.wait_for(second["run_id"], "finished")
    assert (summary["trigger"], summary["subjects"]) == ("library", ["fake 1.0", "fake 1.1"])
    assert summary["invocations_stored"] == summary["invocations_planned"]
    asked = {run["run_id"] for run in kexbench.get("/runs")["runs"] if run["spec_path"] == TRACKING}
    assert asked == {first["run_id"], second["run_id"]}
