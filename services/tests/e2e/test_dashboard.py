"""Pages read, and used, by a real browser: of a short real run, and of runs on a cluster that is made up."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from kexbench.answers.why import culprits_of, explained
from kexbench.domain.alerts import AlertAction
from kexbench.domain.instruments import Instrument
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Selection
from tests.api import test_paths
from tests.api.cluster import CLUSTER_SPEC, an_attempt, cluster_api, cluster_app, planner
from tests.api.conftest import ClientOf
from tests.api.test_bisections import Stage
from tests.api.test_fleet import a_fleet
from tests.api.test_upgrades import ONE, THREE, TWO, counted, measured
from tests.builders import HOST, a_finding, a_kit, a_run, a_screening, an_alert_event
from tests.cli.conftest import Cli
from tests.serving import serving

FRONTEND = Path(__file__).parents[3] / "frontend"
TIMEOUT_S = 600
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata:
  name: browser
  description: Two real libraries and two versions of a made-up one with a step of two percent.
subjects:
  - openssl: system
  - gnutls: system
  - fake: [1.0+noise=0.001, 1.1+noise=0.001+step=1.02]
matrix:
  - protocol: [TLSv1.2]
    keyExchange: [RSA, ECDHE-ECDSA]
  - protocol: [TLSv1.2]
    keyExchange: [ECDHE-ECDSA]
    transferBytes: [4096]
measure: { invocations: 6, batches: 4 }
"""
FROM_GIT = f"fake@git:https://git.example.org/mirrors/of/libraries/fake.git#{'0123456789' * 4}"


@pytest.mark.browser
def test_the_dashboard_shows_the_numbers_of_a_real_run(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    spec = tmp_path / "browser.yaml"
    spec.write_text(SPEC)
    with cli.serving() as (_, url):
        measured = cli("run", str(spec))
        assert measured.status == 0, measured.err
        assert is_shown("dashboard", url, tmp_path)


@pytest.mark.browser
def test_a_run_on_a_cluster_is_followed_cancelled_and_resumed_on_its_page(
    empty_store: ClickHouseStore, tmp_path: Path
) -> None:
    with serving(cluster_app(empty_store, tmp_path, Settings().pages)) as url:
        assert is_shown("controls", url, tmp_path)


@pytest.mark.browser
@pytest.mark.parametrize("stored", ["nothing", "a few paths", "many cases and versions"])
def test_what_a_user_waits_for_is_read_on_its_page(empty_store: ClickHouseStore, tmp_path: Path, stored: str) -> None:
    if stored != "nothing":
        for path in ("50ms", "2ms", "50ms-loss-1"):
            test_paths.measured(empty_store, path, {ONE: test_paths.SMALL, TWO: test_paths.LARGE}, waits={TWO: 2})
    if stored == "many cases and versions":
        test_paths.measured(empty_store, "4g", {ONE: test_paths.SMALL, TWO: None}, day=1)
        test_paths.measured(empty_store, "50ms", {ONE: test_paths.SMALL}, waits={ONE: 3}, protocol="tlsv1.2", day=1)
    with serving(cluster_app(empty_store, tmp_path, Settings().pages)) as url:
        assert is_shown("paths", url, tmp_path)


@pytest.mark.browser
def test_a_bisection_is_read_on_its_page(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> None:
    stage = Stage(cluster_api(empty_store, client_of, tmp_path), client_of, commits=64, first_bad=41, broken=(31, 32))
    assert stage.searching().search()["summary"]["state"] == "found"
    with serving(cluster_app(empty_store, tmp_path, Settings().pages)) as url:
        assert is_shown("bisections", url, tmp_path)


@pytest.mark.browser
def test_an_upgrade_and_its_alert_are_read_and_handled_on_their_pages(
    empty_store: ClickHouseStore, tmp_path: Path
) -> None:
    measured(empty_store, "confirming", {"fake@1.0": 1.0, "fake@1.1": 1.05})
    counted(empty_store, "counting", {ONE: 100.0, TWO: 350.0})
    before, after = sorted(row.subject.name for row in empty_store.measured_subjects(Selection(Metric.CPU_NS)))
    finding = a_finding().model_copy(update={"subjects": (before, after)})
    empty_store.add_alert_event(an_alert_event(finding=finding))
    culprits = tuple(
        culprits_of(explained(empty_store, before, after, Instrument.INSTRUCTIONS), ("client", "server"), "counting")
    )
    empty_store.add_alert_event(an_alert_event(AlertAction.EXPLAINED, 1, culprits=culprits))
    empty_store.add_screening(a_screening("confirming"))
    with serving(cluster_app(empty_store, tmp_path, Settings().pages)) as url:
        assert is_shown("alerts", url, tmp_path)


@pytest.mark.long
@pytest.mark.browser
def test_versions_of_several_sources_and_pools_of_unlike_nodes_are_distinguished(
    empty_store: ClickHouseStore, tmp_path: Path
) -> None:
    kits = {THREE: a_kit(FROM_GIT, version="1.1")}
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0, THREE: 1.0}, kits=kits)
    mixed = a_run("mixed").model_copy(update={"plan": planner()(CLUSTER_SPEC, "spec.yaml")})
    empty_store.add_run(mixed)
    for number, governor in enumerate(("performance", "powersave"), start=1):
        host = HOST.model_copy(update={"governor": governor})
        tried = an_attempt(mixed, uid=governor, attempt=number, host=host)
        empty_store.add_attempt(tried.model_copy(update={"node": f"node-{number}"}), tried_in(mixed))
    with serving(cluster_app(empty_store, tmp_path, Settings().pages)) as url:
        assert is_shown("choices", url, tmp_path)


@pytest.mark.browser
def test_the_machines_of_a_cluster_are_read_on_their_page(
    empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path
) -> None:
    a_fleet(cluster_api(empty_store, client_of, tmp_path))
    with serving(cluster_app(empty_store, tmp_path, Settings().pages)) as url:
        assert is_shown("fleet", url, tmp_path)


def tried_in(run: Run) -> str:
    """The pool of its first job."""
    return run.plan.jobs[0].pool


def is_shown(name: str, url: str, folder: Path, environment: Mapping[str, str] = MappingProxyType({})) -> bool:
    """Whether all tests in a file of `frontend/e2e` pass against a service. Playwright empties the folder it writes to,
    so each call has one of its own."""
    done = subprocess.run(
        ["npm", "run", "--silent", "e2e", "--", f"{name}.spec.ts"],
        cwd=FRONTEND,
        env={**os.environ, "KEXBENCH_URL": url, "KEXBENCH_E2E_OUTPUT": str(folder / "playwright"), **environment},
        timeout=TIMEOUT_S,
        check=False,
    )
    return done.returncode == 0
