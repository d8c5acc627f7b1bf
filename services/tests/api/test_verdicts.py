"""Verdicts of runs: as their pages judge the cells, and only once they have ended."""

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.runs import Run, RunState
from kexbench.domain.samples import OutcomeKind, Sample
from kexbench.domain.upgrades import SIDES_OF
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.api.test_qualifications import COPY, ONE, OTHERS, qualified
from tests.builders import ECDSA, RSA, SPEC, a_kit, a_profile, a_run, an_event, an_invocation, an_outcome

THREE = SPEC.replace("[1.0, 1.1]", "[1.0, 1.1, 1.2]")


def a_measured_run(store: ClickHouseStore, *, case_ids: tuple[str, ...] = (RSA, ECDSA)) -> Run:
    """Version 1.1 costs 2% less than 1.0, and 1.2 nothing else; in the second case 1.1 costs a tenth more."""
    run = a_run(spec=THREE)
    store.add_run(run)
    found = []
    for case_id in case_ids:
        changes = {"fake@1.0": 1.0, "fake@1.1": 0.98 if case_id == RSA else 1.1, "fake@1.2": 0.98}
        for number in range(6):
            cost = {reference: change * (100_000 + number) for reference, change in changes.items()}
            found.append(an_invocation(run, number, cpu_ns=cost, case_id=case_id))
    store.add_invocations(run, found)
    return run


def test_the_verdict_counts_what_the_runs_page_shows(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_measured_run(empty_store)
    empty_store.add_event(an_event(run, RunState.FINISHED))
    verdict = client.get(f"/runs/{run.run_id}/verdict").json()
    changes = [cell["change"] for cell in client.get(f"/runs/{run.run_id}").json()["cells"] if cell["change"]]
    assert verdict["compared"] == len(changes) == 4
    for kind in ("more", "less"):
        assert verdict[kind] == [change["verdict"] for change in changes].count(kind)
    assert (verdict["more"], verdict["less"], verdict["unresolved"], verdict["trouble"]) == (1, 2, 0, "")
    cheaper, dearer = verdict["largest"][:2]
    assert (dearer["case"], dearer["pool"]) == ("TLS 1.2 ECDHE-ECDSA, ECDSA P-256, P-256", "local")
    assert (dearer["before"], dearer["after"], dearer["ratio"]) == (
        "fake 1.0 (1.0)",
        "fake 1.1 (1.1)",
        pytest.approx(1.1, abs=1e-4),
    )
    assert cheaper["ratio"] == pytest.approx(0.98 / 1.1, abs=1e-4)
    assert dearer["low"] <= dearer["ratio"] <= dearer["high"]


def test_a_run_that_counts_is_judged_by_its_counts(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run(spec=SPEC.replace("batches: 4", "instrument: instructions"))
    empty_store.add_run(run)
    sides = SIDES_OF[run.plan.measure.instrument]
    for number in range(6):
        samples = tuple(
            Sample(subject=name, metric=metric, values=(cost * (1 + 1e-6 * number),))
            for name, cost in {"fake@1.0": 1000.0, "fake@1.1": 1010.0}.items()
            for metric in sides.values()
        )
        profiles = {
            name: (a_profile("client", key=900), a_profile("server", key=900, hash=own))
            for name, own in {"fake@1.0": 100.0, "fake@1.1": 350.0}.items()
        }
        invocation = an_invocation(run, number, profiles=profiles)
        empty_store.add_invocation(run, invocation.model_copy(update={"samples": samples}))
    empty_store.add_event(an_event(run, RunState.FINISHED))
    verdict = client.get(f"/runs/{run.run_id}/verdict").json()
    assert (verdict["compared"], verdict["more"]) == (1, 1)
    assert verdict["largest"][0]["ratio"] == pytest.approx(1.01, abs=1e-5)
    (culprit,) = verdict["culprits"]
    assert (culprit["side"], culprit["function"], culprit["run_id"]) == ("server", "hash", run.run_id)
    assert (culprit["amounts"], culprit["side_amounts"]) == ([100, 350], [1000, 1250])
    (change,) = [
        cell["change"]
        for cell in client.get(f"/runs/{run.run_id}?metric=counted_instructions").json()["cells"]
        if cell["change"]
    ]
    assert [change["verdict"], change["client"]["verdict"], change["server"]["verdict"]] == ["more"] * 3


def test_a_run_that_has_not_all_that_it_should_says_why(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_measured_run(empty_store, case_ids=(RSA,))
    empty_store.add_event(an_event(run, RunState.FAILED, detail="a node was lost"))
    verdict = client.get(f"/runs/{run.run_id}/verdict").json()
    assert verdict["trouble"] == "failed: a node was lost"
    empty_store.add_event(an_event(run, RunState.FINISHED, seconds=2))
    verdict = client.get(f"/runs/{run.run_id}/verdict").json()
    assert verdict["trouble"] == "6 of 12 invocations are stored"


def test_a_finished_run_has_no_trouble_with_what_no_library_can(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_measured_run(empty_store, case_ids=(RSA,))
    outcomes = tuple(map(an_outcome, run.kits))
    for job in run.plan.jobs:
        tried = {"job_id": job.job_id, "samples": (), "outcomes": outcomes}
        first = an_invocation(run, job.numbers[0], case_id=ECDSA)
        empty_store.add_invocation(run, first.model_copy(update=tried))
    empty_store.add_event(an_event(run, RunState.FINISHED))
    assert client.get(f"/runs/{run.run_id}/verdict").json()["trouble"] == ""


def test_a_run_without_numbers_has_nothing_to_compare(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_event(an_event(run, RunState.CANCELLED))
    verdict = client.get(f"/runs/{run.run_id}/verdict").json()
    assert (verdict["compared"], verdict["more"], verdict["largest"]) == (0, 0, [])


def test_until_it_has_ended_there_is_no_verdict(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run()
    assert_problem(client.get(f"/runs/{run.run_id}/verdict"), 404)
    empty_store.add_run(run)
    empty_store.add_event(an_event(run))
    assert_problem(client.get(f"/runs/{run.run_id}/verdict"), 409, "has not ended")


def test_a_run_that_went_on_is_judged_anew(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_measured_run(empty_store, case_ids=(RSA,))
    empty_store.add_event(an_event(run, RunState.FAILED))
    assert client.get(f"/runs/{run.run_id}/verdict").json()["compared"] == 2
    for number in range(6):
        cost = {"fake@1.0": 100_000, "fake@1.1": 100_000 + number, "fake@1.2": 100_000}
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns=cost, case_id=ECDSA))
    empty_store.add_event(an_event(run, RunState.FINISHED, seconds=9))
    verdict = client.get(f"/runs/{run.run_id}/verdict").json()
    assert (verdict["compared"], verdict["trouble"]) == (4, "")


def test_a_qualification_reaches_every_verdict_at_once(
    client: httpx2.Client, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    """3% more is slower, until builds of one source are known to differ by more. Of two services, both say so."""
    spec = SPEC.replace("fake: [1.0, 1.1]", "openssl: [debian/bookworm, debian/trixie]")
    before, after = kits = ("openssl@debian/bookworm", "openssl@debian/trixie")
    versions = dict(zip(kits, ("3.0.20", "3.5.4"), strict=True))
    run = a_run("upgrade", spec=spec, kits={name: a_kit(name, version=versions[name]) for name in kits})
    empty_store.add_run(run)
    costs = [{before: 100_000 + number, after: 103_000 + number} for number in range(6)]
    empty_store.add_invocations(run, [an_invocation(run, n, cpu_ns=cost, case_id=RSA) for n, cost in enumerate(costs)])
    empty_store.add_event(an_event(run, RunState.FINISHED))
    replica = client_of(create_app(empty_store, LocalGatekeeper(SECRET), None))
    replica.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")

    def answers() -> list[tuple[int, int]]:
        counts = []
        for service in (client, replica):
            (change,) = [c["change"] for c in service.get("/runs/upgrade").json()["cells"] if c["change"]]
            counts.append((int(change["verdict"] == "more"), int(change["verdict"] == "unresolved")))
            verdict = service.get("/runs/upgrade/verdict").json()
            counts.append((verdict["more"], verdict["unresolved"]))
            (listed,) = service.get("/verdicts", params={"run_id": ["upgrade", "none"]}).json().values()
            counts.append((listed["more"], listed["unresolved"]))
        return counts

    assert answers() == [(1, 0)] * 6
    qualified(empty_store, ONE, COPY, *OTHERS, run_id="qualification", layouts=0.02)
    assert answers() == [(0, 1)] * 6


def test_verdicts_of_several_runs_leave_out_those_that_have_not_ended(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_measured_run(empty_store)
    empty_store.add_event(an_event(run, RunState.FINISHED))
    opened = a_run("open")
    empty_store.add_run(opened)
    empty_store.add_event(an_event(opened))
    listed = client.get("/verdicts", params={"run_id": [run.run_id, "open", "none"]}).json()
    assert listed == {run.run_id: client.get(f"/runs/{run.run_id}/verdict").json()}
    assert_problem(client.get("/verdicts"), 422)


def test_what_has_no_result_is_counted_by_its_reason(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """Version 1.1 lost the second case, and 1.2 is too scarce in the first."""
    run = a_run(spec=THREE)
    empty_store.add_run(run)
    for number in range(6):
        cost = {"fake@1.0": 100_000.0 + number, "fake@1.1": 100_010.0} | ({"fake@1.2": 100_000.0} if number < 2 else {})
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns=cost, case_id=RSA))
        crash = an_outcome("fake@1.1", OutcomeKind.CRASHED, "the worker was ended by signal 11")
        cost = {"fake@1.0": 100_000.0 + number, "fake@1.2": 100_010.0}
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns=cost, case_id=ECDSA, outcomes=[crash]))
    empty_store.add_event(an_event(run, RunState.FINISHED))
    verdict = client.get(f"/runs/{run.run_id}/verdict").json()
    assert (verdict["compared"], verdict["lost"]) == (2, 1)
    assert verdict["missing"] == {"crashed": 1, "too few invocations": 1}
    assert "2 without a result" in verdict["sentence"]


@pytest.mark.parametrize("newer_alone", [False, True])
def test_a_run_whose_cases_are_all_unsupported_says_so(
    newer_alone: bool, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run()
    empty_store.add_run(run)
    failing = ["fake@1.1"] if newer_alone else ["fake@1.0", "fake@1.1"]
    costs = {"fake@1.0": 100_000.0} if newer_alone else {}
    for case_id in (RSA, ECDSA):
        for number in range(6):
            outcomes = [an_outcome(name) for name in failing]
            made = an_invocation(run, number, cpu_ns=costs, case_id=case_id, outcomes=outcomes)
            empty_store.add_invocation(run, made)
    empty_store.add_event(an_event(run, RunState.FINISHED))
    verdict = client.get(f"/runs/{run.run_id}/verdict").json()
    assert (verdict["compared"], verdict["lost"], verdict["trouble"]) == (0, 2 * newer_alone, "")
    assert verdict["missing"] == {"unsupported": 2}
    assert verdict["sentence"] == "nothing could be compared: 2 unsupported"
