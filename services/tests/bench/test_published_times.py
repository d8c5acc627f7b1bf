"""Published times of handshakes over paths: every case of their specs has one, and they stand beside those of a run."""

import csv

import pytest

from bench.published_times import PUBLISHED, published_times
from kexbench.answers.articles import articles
from kexbench.domain.numbers import percent
from kexbench.domain.runs import Run, RunState
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.plan import make_plan
from kexbench.runner.path import path_samples
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import BENCH_SPECS, a_run, an_event, an_invocation
from tests.runner.test_path import a_record

NAMES = ("paquin-2020", "sosnowski-2023")
SUBJECT = "fake@1.0"
CONNECTIONS = 100


def rows(name: str) -> list[dict[str, str]]:
    with PUBLISHED.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["article"] == name]


@pytest.mark.parametrize("name", NAMES)
def test_every_case_of_an_articles_spec_has_a_published_time(name: str) -> None:
    catalogue = read_catalogue((BENCH_SPECS / "libraries.yaml").read_text(), "libraries.yaml")
    spec = BENCH_SPECS / "articles" / f"{name}.yaml"
    plan = make_plan(spec.read_text(), str(spec), catalogue)
    assert sorted(row["case_id"] for row in rows(name)) == sorted(case.case_id for case in plan.cases)


def measured(store: ClickHouseStore, name: str, late_ns: int) -> Run:
    """A run of an article's spec with the fake library, whose handshakes wait two round trips and so much more."""
    text = (BENCH_SPECS / "articles" / f"{name}.yaml").read_text()
    run = a_run(spec=text.replace("openssl: [crate/3.5.5]", "fake: [1.0]"))
    store.add_run(run)
    found = []
    for case in run.plan.cases:
        path = case.network_path
        assert path is not None
        waits = [2 * path.round_trip_ns + late_ns] * CONNECTIONS
        record = a_record(CONNECTIONS, handshake_ns=waits, request_ns=waits)
        invocation = an_invocation(run, 0, case_id=case.case_id, cpu_ns={SUBJECT: 500_000})
        samples = path_samples(SUBJECT, case, path, record)
        found.append(invocation.model_copy(update={"samples": (*invocation.samples, *samples)}))
    store.add_invocations(run, found)
    store.add_event(an_event(run, RunState.FINISHED, seconds=99))
    return run


@pytest.mark.parametrize(("name", "round_trips"), [("paquin-2020", 2), ("sosnowski-2023", 1)])
def test_times_stand_beside_those_of_the_run_from_the_same_beginning(
    empty_store: ClickHouseStore, name: str, round_trips: int
) -> None:
    run = measured(empty_store, name, late_ns=1_000_000)
    (view,) = (each.run for each in articles(empty_store).articles if each.run)
    since, table = published_times(empty_store, view)
    assert ("ClientHello" in since) is (round_trips == 1)
    lines = table.splitlines()[2:]
    assert len(lines) == len(run.plan.cases)
    for line, row in zip(lines, rows(name), strict=True):
        path = run.plan.case(row["case_id"]).network_path
        assert path is not None
        here = round_trips * path.round_trip_ms + 1
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[2:5] == [
            row["p50_ms"],
            f"{here:.2f} [{here:.2f}, {here:.2f}]",
            percent(here / float(row["p50_ms"])),
        ]
        assert len(cells) == (7 if row["p95_ms"] else 5)
