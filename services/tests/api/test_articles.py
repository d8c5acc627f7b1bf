"""Published figures beside measured ones: in the answer about a run, and in the list of articles."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.domain.articles import ARTICLES
from kexbench.domain.runs import Run, RunState
from kexbench.planning.documents import parse_document
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import ECDSA, NOON, RSA, SPEC, a_run, an_event, an_invocation

ROOT = Path(__file__).parents[3]
ONE = "fake@1.0"
RATIOS = f"""\
reference:
  title: an article
  ratios:
    - title: server
      side: server
      rows:
        - {{ caseId: {ECDSA}, relativeTo: {RSA}, ratio: 2.7 }}
        - {{ caseId: {RSA}, relativeTo: {ECDSA}, ratio: 1.03 }}
"""
OF_2011 = SPEC.replace("name: example", "name: forward-secrecy-2011")


def measured(
    store: ClickHouseStore, run: Run, state: RunState = RunState.FINISHED, without_sides: tuple[str, ...] = ()
) -> Run:
    store.add_run(run)
    for number in range(6):
        for case_id, cost in ((RSA, 2_000_000), (ECDSA, 1_000_000)):
            invocation = an_invocation(
                run,
                number,
                case_id=case_id,
                cpu_ns={ONE: cost + number},
                preempted_batches=9 * len(without_sides),
                without_sides=without_sides,
            )
            store.add_invocation(run, invocation)
    store.add_event(an_event(run, state, seconds=99))
    return run


def article(client: httpx2.Client, name: str) -> dict[str, Any]:
    found = {each["name"]: each for each in client.get("/articles").json()["articles"]}
    assert set(found) == {each.spec_name for each in ARTICLES}
    view: dict[str, Any] = found[name]
    return view


def test_published_ratios_stand_beside_those_of_the_servers_cpu_time(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = measured(empty_store, a_run(spec=SPEC + RATIOS))
    reference = client.get(f"/runs/{run.run_id}").json()["reference"]
    assert reference["tables"] == []
    (ratios,) = reference["ratios"]
    ((faster, slower),) = ratios["rows"].values()
    assert faster["ratio"]["ratio"] == pytest.approx(2, rel=1e-4)
    assert faster["ratio"]["low"] <= faster["ratio"]["ratio"] <= faster["ratio"]["high"]
    assert (faster["published_ratio"], faster["order"]) == (2.7, "as published")
    assert slower["ratio"]["ratio"] == pytest.approx(1 / faster["ratio"]["ratio"])
    assert slower["order"] == "opposite"


def test_a_ratio_of_the_servers_needs_the_servers_cpu_time(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = measured(empty_store, a_run(spec=SPEC + RATIOS), without_sides=(ONE,))
    (ratios,) = client.get(f"/runs/{run.run_id}").json()["reference"]["ratios"]
    assert [(row["ratio"], row["order"]) for rows in ratios["rows"].values() for row in rows] == [(None, None)] * 2


def test_an_article_has_the_newest_finished_run_of_its_spec(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    assert article(client, "forward-secrecy-2011")["run"] is None
    measured(empty_store, a_run("old", spec=OF_2011 + RATIOS))
    newest = measured(empty_store, a_run("new", spec=OF_2011 + RATIOS, created_at=NOON + timedelta(days=1)))
    failed = a_run("failed", spec=OF_2011 + RATIOS, created_at=NOON + timedelta(days=2))
    measured(empty_store, failed, RunState.FAILED)
    run = article(client, "forward-secrecy-2011")["run"]
    assert run["run_id"] == newest.run_id
    assert run["reference"] == client.get(f"/runs/{newest.run_id}").json()["reference"]
    assert [subject["version"] for subject in run["subjects"]] == ["1.0"]


@pytest.mark.parametrize("known", ARTICLES, ids=lambda known: known.spec_name)
def test_the_spec_of_an_article_is_there_and_has_its_name(known: Any) -> None:
    document = parse_document((ROOT / known.spec).read_text(), known.spec)
    assert document.value["metadata"]["name"] == known.spec_name
