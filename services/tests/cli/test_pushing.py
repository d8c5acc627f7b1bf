"""From a push to results on one machine: a person commits, everything else follows, once."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, stock
from tests.cli.queueing import serving, until
from tests.conftest import FakeKit
from tests.watch.repositories import Shared, a_catalogue

pytestmark = pytest.mark.thorough

STEADY, NEWER = "1.0+noise=0", "1.1+noise=0"
QUICK, BROKEN, TRACKING = "bench-specs/quick.yaml", "bench-specs/broken.yaml", "bench-specs/tracking.yaml"
WATCHED = """\
apiVersion: kexbench.dev/v1
kind: Repositories
repositories:
  - {{ name: benchmarks, url: {url} }}
"""


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    return Shared(tmp_path)


@pytest.fixture
def cli(cli: Cli, fake_kit: FakeKit, shared: Shared, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Whose kit store has the kits already, and which watches the repository closely."""
    stock(cli, fake_kit, STEADY, NEWER)
    (cli.folder / "home" / "repositories.yaml").write_text(WATCHED.format(url=shared.bare))
    monkeypatch.setenv("KEXBENCH_WATCH_INTERVAL_S", "0.1")
    return cli


@pytest.mark.long
def test_what_is_pushed_is_measured_once_and_a_new_version_against_the_one_before(cli: Cli, shared: Shared) -> None:
    spec = Path(cli.spec("quick", STEADY, invocations=2)).read_text()
    with serving(cli) as served:
        served.hears("watching branch main of benchmarks, which does not exist yet")
        commit = shared.pushed({QUICK: spec, BROKEN: spec.replace("TLSv1.2", "TLSv1.4")}, "Measure it")
        (broken,) = served.hears(f"commit {commit[:12]} of benchmarks, {BROKEN}: ")
        assert f"{BROKEN}:" in broken
        assert "'TLSv1.4' is not one of" in broken
        (line,) = served.hears(f"commit {commit[:12]} of benchmarks, {QUICK}: ")
        run_id = line.rpartition(" ")[2]
        served.hears(f"measuring run {run_id}", f"run {run_id}: finished")
        summary = served.summary(run_id)
        assert (summary["state"], summary["trigger"], summary["commit"]["title"]) == (
            "finished",
            "commit",
            "Measure it",
        )
        assert (summary["commit"]["commit"], summary["spec_path"]) == (commit, QUICK)
        assert summary["invocations_stored"] == summary["invocations_planned"] > 0
    tracking = spec.replace(f"[{STEADY}]", "tracked")
    assert tracking != spec
    with serving(cli) as served:
        known = shared.pushed({TRACKING: tracking, "bench-specs/libraries.yaml": a_catalogue(STEADY)}, "Track")
        (first,) = served.hears(f"commit {known[:12]} of benchmarks, {TRACKING}: ")
        newer = shared.pushed({"bench-specs/libraries.yaml": a_catalogue(STEADY, NEWER)}, "fake 1.1 is out")
        (second,) = served.hears(f"commit {newer[:12]} of benchmarks, {TRACKING}: ")
        compared = second.rpartition(" ")[2]
        served.hears(f"run {compared}: finished")
        summary = served.summary(compared)
        assert (summary["trigger"], summary["subjects"]) == ("library", ["fake 1.0", "fake 1.1"])
        asked = {one["run_id"] for one in served.ask("GET", "/runs")["runs"]}
        assert asked == {run_id, first.rpartition(" ")[2], compared}


@pytest.mark.long
def test_what_a_planned_branch_of_a_bare_repository_would_measure_is_shown_and_nothing_is_measured(
    cli: Cli, shared: Shared
) -> None:
    watched = WATCHED.format(url=f"{shared.bare}, plannedBranches: ['feature/*']")
    (cli.folder / "home" / "repositories.yaml").write_text(watched)
    spec = Path(cli.spec("quick", STEADY, invocations=2)).read_text()
    with serving(cli) as served:
        served.hears("watching branch main of benchmarks, which does not exist yet")
        commit = shared.commit({QUICK: spec})
        shared.push("feature/faster")
        assert served.hears(f"commit {commit[:12]} of benchmarks, {QUICK}: ") == [
            f"commit {commit[:12]} of benchmarks, {QUICK}: planned"
        ]
        until(lambda: served.ask("GET", "/commits")["commits"] != [])
        ((check,),) = [one["checks"] for one in served.ask("GET", "/commits")["commits"]]
        assert (check["run_id"], check["reason"], list(check["dry_run"]["minutes"])) == (None, "spec", ["local"])
        assert (served.ask("GET", "/runs")["runs"], served.ask("GET", "/queue")["runs"]) == ([], [])
        assert "planned," in cli("commits").out
