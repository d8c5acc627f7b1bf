"""Dry runs: what a spec's run would be, without one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.analysis.detectable import smallest_detectable_change
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.commits import branch_of
from kexbench.planning.plan import make_plan
from kexbench.queue.supplies import LocalSupplies
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import CLUSTER_SPEC, ClusterApi, an_attempt, cluster_api, planner
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.api.test_local_queue import asks
from tests.api.test_qualifications import COPY, NOISE, ONE, qualified
from tests.builders import HOST, SPEC, a_catalogue, a_commit, newest_runs

QUICK = "bench-specs/quick.yaml"
OPENSSL = SPEC.replace("fake: [1.0, 1.1]", "openssl: [debian/bookworm, debian/trixie]")


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


@pytest.fixture
def machine(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    """One that measures by itself."""
    supplies = LocalSupplies(lambda text, file, *_, **__: make_plan(text, file, a_catalogue()))
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, supplies)) as client:
        client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
        yield client


def asked(api: ClusterApi, who: str = "dispatcher", **changes: Any) -> httpx2.Response:
    return api.ask(who, "POST", "/dry-runs", {"spec_text": CLUSTER_SPEC, "spec_file": QUICK, **changes})


def here(machine: httpx2.Client, spec: str) -> Any:
    return machine.post("/dry-runs", json={"spec_text": spec}, headers=asks()).json()["dry_run"]


def test_a_dry_run_names_the_pools_whose_nodes_are_not_comparable(api: ClusterApi) -> None:
    assert asked(api).json()["dry_run"]["mixed_pools"] == []
    run = api.queued()
    for number, governor in enumerate(("performance", "powersave"), start=1):
        host = HOST.model_copy(update={"governor": governor})
        tried = an_attempt(run, uid=governor, attempt=number, host=host).model_copy(update={"node": governor})
        api.store.add_attempt(tried, "pool-b")
    assert asked(api).json()["dry_run"]["mixed_pools"] == ["pool-b"]


def test_a_dry_run_is_what_a_run_would_be_and_leaves_nothing(api: ClusterApi) -> None:
    answer = asked(api).json()
    dry = answer.pop("dry_run")
    assert answer == {"plan": None, "run_id": None, "faults": []}
    plan = asked(api, "submitter", with_plan=True).json()["plan"]
    assert plan == planner()(CLUSTER_SPEC, QUICK).model_dump(mode="json")
    assert (newest_runs(api.store, 10), api.store.open_runs(), api.store.heads("benchmarks")) == ([], [], {})
    run = api.queued()
    assert (dry["cases"], dry["jobs"], dry["detects"]) == (len(run.plan.cases), len(run.plan.jobs), None)
    assert dry["minutes"].keys() == {"pool-a", "pool-b"}
    assert sum(dry["minutes"].values()) * 60 == pytest.approx(run.plan.estimated_s, abs=1)
    assert (dry["runs_ahead"], dry["minutes_ahead"]) == (0, 0)


@pytest.mark.parametrize("who", ["builder one", "pod one job uid", "schedule nightly"])
def test_who_may_not_ask_for_runs_may_not_have_specs_planned(api: ClusterApi, who: str) -> None:
    assert_problem(asked(api, who), 403)
    assert asked(api, "submitter").status_code == 200


def test_faults_are_an_answer_with_their_places(api: ClusterApi) -> None:
    answer = asked(api, spec_text=CLUSTER_SPEC.replace("pool-b", "pool-c")).json()
    assert (answer["dry_run"], answer["run_id"]) == (None, None)
    assert (answer["faults"][0]["file"], answer["faults"][0]["line"], answer["faults"][0]["column"]) == (QUICK, 6, 17)
    assert asked(api, spec_text="").json()["faults"] == [
        {"file": QUICK, "line": 1, "column": 1, "text": "the document must be a mapping of fields"}
    ]


def test_what_is_measured_of_a_commit_already_names_its_run(api: ClusterApi) -> None:
    commit = a_commit().model_dump(mode="json")
    body = {"commit": commit, "path": QUICK, "reason": "spec", "spec_text": CLUSTER_SPEC, "catalogue_text": None}
    run_id = api.ask("dispatcher", "POST", "/repositories/benchmarks/runs", body).json()["run_id"]
    proposed = commit | {"branch": branch_of(7)}
    assert asked(api, commit=proposed).json() == {"dry_run": None, "plan": None, "run_id": run_id, "faults": []}
    assert asked(api, commit=proposed, spec_file="bench-specs/other.yaml").json()["dry_run"]["runs_ahead"] == 1


def test_what_is_before_it_in_the_queue_shares_a_pool_with_it(api: ClusterApi) -> None:
    api.queued()
    only = CLUSTER_SPEC.replace("[pool-a, pool-b]", "[pool-a]").replace("name: example", "name: only")
    assert asked(api, spec_text=only).json()["dry_run"]["runs_ahead"] == 1
    assert asked(api, spec_text=only.replace("pool-a", "arm")).json()["dry_run"]["runs_ahead"] == 0


def test_a_commit_would_wait_for_nobodys_wish(api: ClusterApi) -> None:
    api.queued()
    assert asked(api).json()["dry_run"]["runs_ahead"] == 1
    assert asked(api, commit=a_commit().model_dump(mode="json")).json()["dry_run"]["runs_ahead"] == 0


def test_a_machine_by_itself_tells_the_time_that_is_before_it(machine: httpx2.Client) -> None:
    assert here(machine, SPEC)["minutes_ahead"] == 0
    long = SPEC.replace("invocations: 6", "invocations: 900")
    minutes = here(machine, long)["minutes"]
    machine.post("/runs", json={"spec_text": long}, headers=asks())
    dry = here(machine, SPEC)
    assert (dry["runs_ahead"], {"local": dry["minutes_ahead"]}) == (1, minutes)


def test_what_it_detects_is_known_once_every_library_is_qualified(
    machine: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    assert here(machine, OPENSSL)["detects"] is None
    qualified(empty_store, ONE, COPY)
    detects = here(machine, OPENSSL)["detects"]
    assert detects == pytest.approx(smallest_detectable_change(NOISE * 2**0.5, 6), rel=0.3)
    assert here(machine, OPENSSL.replace("invocations: 6", "invocations: 30"))["detects"] < detects
    assert here(machine, OPENSSL.replace("invocations: 6", "invocations: 2"))["detects"] is None
