"""What the dashboard and the command line read, from samples in a real store."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from threading import Event, Semaphore
from time import sleep

import httpx2
import pytest

from kexbench import __version__
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.api.gate import READERS_AT_ONCE
from kexbench.domain.runs import Run, RunState
from kexbench.domain.samples import Metric, OutcomeKind, Sample
from kexbench.queue.troubles import Troubles
from kexbench.service.serving import ask_first
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import EXPORT_COLUMNS, RunKey
from tests.api.asking import series
from tests.api.conftest import SECRET, ClientOf, assert_problem, token
from tests.builders import (
    ECDSA,
    HOST,
    NOON,
    QUIET,
    REFERENCE,
    RSA,
    SPEC,
    a_kit,
    a_run,
    an_event,
    an_invocation,
    an_outcome,
)
from tests.serving import serving
from tests.stores import raw

ONE, TWO = "fake@1.0", "fake@1.1"


def measured(store: ClickHouseStore, run: Run, one: float = 1000, two: float = 1100, invocations: int = 6) -> Run:
    """A finished run whose two subjects differ by what they cost."""
    store.add_run(run)
    for case_id in (RSA, ECDSA):
        for number in range(invocations):
            invocation = an_invocation(run, number, case_id=case_id, cpu_ns={ONE: one + number, TWO: two + number})
            store.add_invocation(run, invocation)
    store.add_event(an_event(run, RunState.FINISHED, seconds=99))
    return run


@pytest.mark.parametrize(
    ("shares", "sibling"),
    [
        ((None, None), None),
        ((0.0, 0.02), {"share": 0.01, "disturbs": False}),
        ((0.5, 0.25), {"share": 0.375, "disturbs": True}),
        ((None, 0.5), {"share": 0.5, "disturbs": True}),
    ],
    ids=["no sibling", "idle", "busy", "looked at once"],
)
def test_a_run_tells_how_busy_the_other_thread_of_its_core_was(
    shares: tuple[float | None, ...], sibling: object, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run()
    empty_store.add_run(run)
    for number, share in enumerate(shares):
        load = QUIET.model_copy(update={"sibling_busy_share": share})
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns={"fake@1.0": 1}, load=load))
    again = an_invocation(
        run, cpu_ns={"fake@1.0": 1}, attempt=2, load=QUIET.model_copy(update={"sibling_busy_share": 1})
    )
    empty_store.add_invocation(run, again)
    assert client.get(f"/runs/{run.run_id}").json()["sibling"] == sibling


def test_a_run_shows_the_metric_that_its_instrument_decides_by(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    spec = SPEC.replace("measure: {", "measure: { instrument: instructions,")
    timed, counted = a_run("timed"), a_run("counted", spec=spec)
    counts = tuple(
        Sample(subject=ONE, metric=metric, values=(value,))
        for metric, value in ((Metric.COUNTED_INSTRUCTIONS, 1000), (Metric.SERVER_COUNTED_INSTRUCTIONS, 900))
    )
    for run in (timed, counted):
        empty_store.add_run(run)
    empty_store.add_invocation(timed, an_invocation(timed, cpu_ns={ONE: 500}))
    empty_store.add_invocation(counted, an_invocation(counted).model_copy(update={"samples": counts}))

    def shown(run: Run, **query: str) -> tuple[str, list[float]]:
        detail = client.get(f"/runs/{run.run_id}", params=query).json()
        return detail["metric"], [cell["estimate"]["value"] for cell in detail["cells"] if cell["estimate"]]

    assert shown(timed) == ("cpu_ns", [500])
    assert shown(counted) == ("counted_instructions", [1000])
    assert shown(counted, metric="server_counted_instructions") == ("server_counted_instructions", [900])
    assert shown(counted, metric="cpu_ns") == ("cpu_ns", []), "a metric that was asked for is never replaced"
    without = client.get("/runs/counted", params={"metric": "cpu_ns"}).json()
    assert [subject["version"] for subject in without["subjects"]] == ["1.0"], "its costs have names all the same"


def test_a_cell_that_preemption_left_without_sides_says_so(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run()
    empty_store.add_run(run)
    for number in range(6):
        disturbed = [TWO] if number < 5 else []
        invocation = an_invocation(
            run, number, cpu_ns={ONE: 1000, TWO: 1100}, preempted_batches=len(disturbed), without_sides=disturbed
        )
        empty_store.add_invocation(run, invocation)
    one, two = client.get(f"/runs/{run.run_id}").json()["cells"]
    assert (one["sides_outcome"], one["outcome"], two["outcome"]) == (None, None, None)
    assert (two["sides_outcome"]["kind"], two["sides_outcome"]["invocations"]) == ("disturbed", 5)
    assert two["change"]["client"] is None
    for address in ("/matrix", f"/runs/{run.run_id}"):
        cell = client.get(address, params={"metric": "server_cpu_ns"}).json()["cells"][1]
        assert (cell["outcome"]["kind"], cell["outcome"]["invocations"]) == ("disturbed", 5)
        assert cell["estimate"]["invocations"] == 1


@pytest.mark.parametrize(
    ("shares", "steal"),
    [
        ((None, None), None),
        ((0.0, 0.01), {"share": 0.005, "disturbs": False}),
        ((0.03, 0.01), {"share": 0.02, "disturbs": True}),
    ],
    ids=["not known", "little", "much"],
)
def test_a_run_tells_what_the_hypervisor_gave_to_others(
    shares: tuple[float | None, ...], steal: object, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run()
    empty_store.add_run(run)
    for number, share in enumerate(shares):
        load = QUIET.model_copy(update={"steal_share": share})
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: 1}, load=load))
    assert client.get(f"/runs/{run.run_id}").json()["steal"] == steal


def test_health_names_the_release_and_the_engine(client: httpx2.Client) -> None:
    found = client.get("/health").json()
    assert found["status"] == "ok"
    assert found["version"] == __version__
    assert found["engine"].startswith("chDB 2")
    assert found["troubles"] == []


def test_health_is_answered_while_the_store_answers_nobody(
    client: httpx2.Client, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("health asked the store")

    monkeypatch.setattr(empty_store, "_query", refuse)
    assert client.get("/health").json()["engine"].startswith("chDB 2")


def test_a_few_readers_are_worked_at_at_once_and_neither_health_nor_a_delivery_waits_for_them(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way: list[int] = []
    release = Event()

    def slow_keys(*_: object) -> list[RunKey]:
        under_way.append(1)
        release.wait(60)
        return []

    monkeypatch.setattr(empty_store, "run_keys", slow_keys)
    run = a_run()
    get = partial(httpx2.get, trust_env=False, timeout=60)
    headers = {**token(run.run_id), "Content-Type": "application/json"}
    put = partial(httpx2.put, trust_env=False, timeout=60, headers=headers, content=run.model_dump_json())
    with (
        serving(create_app(empty_store, LocalGatekeeper(SECRET), None)) as url,
        ThreadPoolExecutor(3 * READERS_AT_ONCE) as readers,
    ):
        answers = [
            readers.submit(get, f"{url}{API_PREFIX}/runs?limit={limit}") for limit in range(1, 3 * READERS_AT_ONCE + 1)
        ]
        while len(under_way) < READERS_AT_ONCE:
            sleep(0.01)
        assert [get(f"{url}{API_PREFIX}/health").status_code for _ in range(10)] == [200] * 10
        assert put(f"{url}{API_PREFIX}/runs/{run.run_id}").status_code == 204
        at_once = len(under_way)
        release.set()
        assert {answer.result().status_code for answer in answers} == {200}
    assert at_once == READERS_AT_ONCE


def test_an_answer_at_hand_waits_for_nobody(empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    release, under_way = Event(), Semaphore(0)
    run_keys = empty_store.run_keys

    def slow_keys(limit: int, before: datetime | None) -> list[RunKey]:
        under_way.release()
        release.wait(60)
        return run_keys(limit, before)

    get = partial(httpx2.get, trust_env=False, timeout=60)
    with (
        serving(create_app(empty_store, LocalGatekeeper(SECRET), None)) as url,
        ThreadPoolExecutor(READERS_AT_ONCE) as readers,
    ):
        first = get(f"{url}{API_PREFIX}/runs")
        monkeypatch.setattr(empty_store, "run_keys", slow_keys)
        waiting = [readers.submit(get, f"{url}{API_PREFIX}/runs?limit={limit + 1}") for limit in range(READERS_AT_ONCE)]
        for _ in waiting:
            assert under_way.acquire(timeout=60)
        at_hand = get(f"{url}{API_PREFIX}/runs")
        assert (at_hand.headers["etag"], at_hand.headers["age"]) == (first.headers["etag"], "0")
        empty_store.add_run(a_run())
        outdated = get(f"{url}{API_PREFIX}/runs", headers={"Cache-Control": "max-stale=60"})
        assert outdated.headers["etag"] == first.headers["etag"]
        assert int(outdated.headers["age"]) > 0
        assert not any(answer.done() for answer in waiting)
        release.set()
        assert {answer.result().status_code for answer in waiting} == {200}


def test_readers_who_want_the_same_at_once_wait_for_one_answer(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    release = Event()
    content_version = empty_store.content_version

    def slow_keys(*_: object) -> list[RunKey]:
        asked.append("runs")
        release.wait(60)
        return []

    def known_version() -> str:
        asked.append("version")
        return content_version()

    monkeypatch.setattr(empty_store, "run_keys", slow_keys)
    monkeypatch.setattr(empty_store, "content_version", known_version)
    get = partial(httpx2.get, trust_env=False, timeout=60)
    with (
        serving(create_app(empty_store, LocalGatekeeper(SECRET), None)) as url,
        ThreadPoolExecutor(READERS_AT_ONCE) as readers,
    ):
        answers = [readers.submit(get, f"{url}{API_PREFIX}/runs") for _ in range(READERS_AT_ONCE)]
        while asked.count("version") < READERS_AT_ONCE:
            sleep(0.01)
        release.set()
        assert {answer.result().status_code for answer in answers} == {200}
    assert asked.count("runs") == 1


def test_what_the_first_page_shows_is_computed_before_its_first_reader_comes(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a reader waits for samples to be read")

    run = measured(empty_store, a_run())
    with serving(create_app(empty_store, LocalGatekeeper(SECRET), None)) as url:
        ask_first(url)
        monkeypatch.setattr(empty_store, "samples", refuse)
        asked = {"pool": "local", "cpu_model": HOST.cpu}
        cells = httpx2.get(f"{url}{API_PREFIX}/matrix", params=asked, trust_env=False, timeout=60).json()["cells"]
    assert {cell["run_id"] for cell in cells} == {run.run_id}


def test_health_tells_what_does_not_work_and_since_when(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    times = iter([NOON, NOON + timedelta(minutes=1)])
    troubles = Troubles(lambda: next(times))
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, troubles=troubles)) as client:
        for _ in range(2):
            with troubles.guard("queue"):
                raise ZeroDivisionError("a run\nof nothing")
        found = client.get(f"{API_PREFIX}/health")
        assert found.status_code == 200
        assert found.json()["status"] == "impaired"
        assert found.json()["troubles"] == [
            {"part": "queue", "since": "2026-01-01T12:00:00Z", "reason": "ZeroDivisionError: a run; of nothing"}
        ]
        with troubles.guard("queue"):
            pass
        assert client.get(f"{API_PREFIX}/health").json()["status"] == "ok"


def test_every_answer_tells_browsers_to_be_careful(client: httpx2.Client) -> None:
    for path in ("/health", "/runs/none"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'self'" in headers["content-security-policy"]


def test_an_empty_store_gives_empty_answers(client: httpx2.Client) -> None:
    assert client.get("/runs").json() == {"runs": [], "next_before": None}
    assert client.get("/subjects").json() == []
    matrix = client.get("/matrix").json()
    assert (matrix["host_kind"], matrix["cells"]) == (None, [])
    filters = client.get("/filters").json()
    assert (filters["host_kinds"], filters["libraries"]) == ([], [])
    assert {metric["metric"] for metric in filters["metrics"]} >= {"cpu_ns", "client_bytes"}


def test_filters_list_what_has_samples_with_the_newest_host_first(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, a_run())
    other = HOST.model_copy(update={"cpu_model": "Newer CPU"})
    measured(empty_store, a_run("newer", host=other, created_at=NOON + timedelta(days=1)))
    filters = client.get("/filters").json()
    assert [kind["cpu_model"] for kind in filters["host_kinds"]] == ["Newer CPU", HOST.cpu_model]
    assert filters["libraries"] == ["fake"]


def test_the_matrix_holds_a_cell_for_every_case_and_version(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, a_run())
    matrix = client.get("/matrix").json()
    assert matrix["host_kind"] == {"pool": "local", "cpu_model": HOST.cpu_model}
    assert [case["id"] for case in matrix["cases"]] == [RSA, ECDSA]
    assert [subject["version"] for subject in matrix["subjects"]] == ["1.0", "1.1"]
    assert {(cell["case_id"], cell["subject"]) for cell in matrix["cells"]} == {
        (case_id, subject["name"]) for case_id in (RSA, ECDSA) for subject in matrix["subjects"]
    }
    first, second = (cell for cell in matrix["cells"] if cell["case_id"] == RSA)
    assert first["change"] is None
    assert first["estimate"] == {"value": 1002.5, "low": 1000, "high": 1005, "invocations": 6}
    assert second["change"]["before"]["subject"] == first["subject"]
    assert second["change"]["verdict"] == "more"
    assert second["change"]["paired"]
    assert 1.09 < second["change"]["low"] < second["change"]["ratio"] < second["change"]["high"] < 1.101
    assert second["change"]["warnings"] == []


def test_commits_that_were_measured_beside_each_other_are_compared_in_that_run(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    three = "fake@1.2"
    spec = SPEC.replace("[1.0, 1.1]", "[1.0, 1.1, 1.2]")
    for day, (older, newer) in enumerate(((ONE, TWO), (TWO, three))):
        run = a_run(f"day-{day}", spec=spec, created_at=NOON + timedelta(days=day))
        empty_store.add_run(run)
        for number in range(6):
            cpu_ns = {older: (day + 1) * (1000 + number), newer: (day + 1) * (1020 + number)}
            empty_store.add_invocation(run, an_invocation(run, number, cpu_ns=cpu_ns))
    found = {cell["subject"].partition("~")[0]: cell for cell in client.get("/matrix").json()["cells"]}
    assert [found[name]["run_id"] for name in (ONE, TWO, three)] == ["day-0", "day-1", "day-1"]
    for name in (TWO, three):
        change = found[name]["change"]
        assert (change["paired"], change["warnings"], change["verdict"]) == (True, [], "more")
        assert 1.019 < change["ratio"] < 1.021


def test_the_matrix_is_narrowed_by_host_library_and_metric(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, a_run())
    assert client.get("/matrix", params={"library": ["openssl"]}).json()["cells"] == []
    assert len(client.get("/matrix", params={"library": ["openssl", "fake"]}).json()["cells"]) == 4
    assert client.get("/matrix", params={"pool": "elsewhere"}).json()["host_kind"] is None
    unknown = client.get("/matrix", params={"pool": "local", "cpu_model": "Z80"}).json()
    assert (unknown["host_kind"]["cpu_model"], unknown["cells"]) == ("Z80", [])
    client_side = client.get("/matrix", params={"metric": "client_cpu_ns"}).json()
    assert client_side["cells"][0]["estimate"]["value"] == 250.5
    assert client.get("/matrix", params={"metric": "wall_ns"}).json()["subjects"] == []


def test_a_series_has_a_line_a_build_profile_and_a_point_a_version(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    versions = {f"fake@{version}": version for version in ("3.9", "3.10", "4.0")}
    kits = {name: a_kit(name) for name in versions} | {"fake@4.0": a_kit("fake@4.0", flags="-O3")}
    run = a_run(spec=SPEC.replace("[1.0, 1.1]", f"[{', '.join(versions.values())}]"), kits=kits)
    empty_store.add_run(run)
    for number in range(2):
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns=dict.fromkeys(kits, 10 + number)))
    lines = series(client, RSA)
    assert [[point["subject"]["version"] for point in line["points"]] for line in lines] == [["3.9", "3.10"], ["4.0"]]
    assert lines[0]["points"][0]["levels"] == [10, 11]
    assert lines[0]["points"][0]["value"] == 10.5
    assert lines[0]["build_profile_label"] != lines[1]["build_profile_label"]
    assert client.get("/trends", params={"case_id": RSA}).json()["lines"][0]["points"][0]["levels"] is None


def test_kits_of_one_version_and_two_sources_are_never_mixed(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    names = ("fake@1.0+seed=1", "fake@1.0+seed=2")
    run = a_run(spec=SPEC.replace("[1.0, 1.1]", "[1.0+seed=1, 1.0+seed=2]"))
    empty_store.add_run(run)
    for number in range(3):
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns=dict(zip(names, (10, 20), strict=True))))
    for cells in (client.get("/matrix").json()["cells"], client.get(f"/runs/{run.run_id}").json()["cells"]):
        assert sorted(cell["estimate"]["value"] for cell in cells) == [10, 20]
        assert {cell["estimate"]["invocations"] for cell in cells} == {3}
    (line,) = series(client, RSA)
    assert [point["levels"] for point in line["points"]] == [[10, 10, 10], [20, 20, 20]]


def test_runs_are_paged_newest_first_without_gaps_or_repetitions(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    runs = [a_run(f"run-{number}", created_at=NOON + timedelta(seconds=number // 2)) for number in range(7)]
    for run in runs:
        empty_store.add_run(run)
    seen, before = [], None
    for _ in runs:
        page = client.get("/runs", params={"limit": 3} | ({"before": before} if before else {})).json()
        seen += [run["run_id"] for run in page["runs"]]
        before = page["next_before"]
        if before is None:
            break
    assert seen == [run.run_id for run in sorted(runs, key=lambda run: (run.created_at, run.run_id), reverse=True)]


def test_a_run_without_events_has_only_just_begun(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run()
    empty_store.add_run(run)
    (summary,) = client.get("/runs").json()["runs"]
    assert (summary["state"], summary["invocations_stored"], summary["invocations_planned"]) == ("running", 0, 12)


def test_a_run_tells_everything_about_itself(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = measured(empty_store, a_run())
    found = client.get(f"/runs/{run.run_id}").json()
    assert found["summary"]["state"] == "finished"
    assert found["summary"]["invocations_stored"] == found["summary"]["invocations_planned"] == 12
    assert found["summary"]["subjects"] == ["fake 1.0", "fake 1.1"]
    assert found["spec_text"] == SPEC
    assert found["kits"][ONE]["kit_id"] == run.kits[ONE].kit_id
    assert len(found["cells"]) == 4
    assert found["reference"] is None


def test_a_run_shows_its_own_numbers_even_when_newer_ones_exist(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    old = measured(empty_store, a_run("old"), one=1000)
    measured(empty_store, a_run("new", created_at=NOON + timedelta(days=1)), one=2000)
    assert client.get(f"/runs/{old.run_id}").json()["cells"][0]["estimate"]["value"] == 1002.5
    assert {cell["run_id"] for cell in client.get("/matrix").json()["cells"]} == {"new"}


def test_a_reference_stands_beside_the_measured_rates(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run(spec=SPEC + REFERENCE)
    empty_store.add_run(run)
    for number in range(6):
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: 2_000_000 + number}))
        empty_store.add_invocation(run, an_invocation(run, number, case_id=ECDSA, cpu_ns={ONE: 1_000_000 + number}))
    (table,) = client.get(f"/runs/{run.run_id}").json()["reference"]["tables"]
    ((rsa, ecdsa),) = table["rows"].values()
    assert (rsa["published_rate"], round(rsa["rate"]["value"]), rsa["ratio"]["ratio"]) == (900, 500, 1)
    assert (round(ecdsa["rate"]["value"]), round(ecdsa["ratio"]["ratio"], 3), round(ecdsa["published_ratio"], 3)) == (
        1000,
        2,
        0.667,
    )
    assert ecdsa["rate"]["low"] <= ecdsa["rate"]["value"] <= ecdsa["rate"]["high"]
    ((swap,),) = table["swaps"].values()
    assert (swap["faster_here"], swap["slower_here"]) == (ECDSA, RSA)
    assert swap["faster_cpu_ns"] == {"client": 250_000.5, "server": 750_002}
    assert swap["slower_cpu_ns"]["server"] > 1_400_000


def test_an_order_that_differs_is_shown_where_nothing_tells_the_sides_apart(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """As where other programs ran in between all the time: the page of the run shows what there is."""
    run = a_run(spec=SPEC + REFERENCE)
    empty_store.add_run(run)
    for number in range(6):
        for case_id, cost, spoilt in ((RSA, 2_000_000, [ONE]), (ECDSA, 1_000_000, [])):
            empty_store.add_invocation(
                run,
                an_invocation(
                    run, number, case_id=case_id, cpu_ns={ONE: cost}, preempted_batches=9, without_sides=spoilt
                ),
            )
    (table,) = client.get(f"/runs/{run.run_id}").json()["reference"]["tables"]
    ((swap,),) = table["swaps"].values()
    assert swap["slower_cpu_ns"] is None
    assert swap["faster_cpu_ns"] == {"client": 250_000, "server": 750_000}


def test_subjects_are_listed_in_version_order_one_a_kit(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run(spec=SPEC.replace("[1.0, 1.1]", "[3.10, 3.9]"))
    empty_store.add_run(run)
    empty_store.add_invocation(run, an_invocation(run, cpu_ns=dict.fromkeys(run.kits, 5)))
    assert [subject["version"] for subject in client.get("/subjects").json()] == ["3.9", "3.10"]


def test_an_export_as_csv_is_read_by_any_csv_reader(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    kit = a_kit(TWO, flags='-O2 "quoted", with, commas')
    run = a_run(kits={TWO: kit})
    empty_store.add_run(run)
    empty_store.add_invocation(run, an_invocation(run, cpu_ns={ONE: [10, 11.4], TWO: [20, 21]}))
    response = client.get("/export", params={"run_id": run.run_id})
    assert response.headers["content-type"].startswith("text/csv")
    assert "kexbench-samples.csv" in response.headers["content-disposition"]
    one, two = csv.DictReader(io.StringIO(response.text))
    assert (one["values"], one["median"], one["n"]) == ("10.0 11.0", "10.5", "2")
    assert two["build_profile"] == kit.build_profile.label
    assert one["measured_at"] == "2026-01-01T12:01:00+00:00"


def test_an_export_as_json_holds_the_same_as_the_csv(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = measured(empty_store, a_run(), invocations=3)
    rows = client.get("/export", params={"format": "json"}).json()
    assert len(rows) == 12
    lines = list(csv.DictReader(io.StringIO(client.get("/export").text)))
    for row, line in zip(rows, lines, strict=True):
        assert {**row, "values": " ".join(map(repr, row["values"])), "batches_removed_at": ""} == {
            **line, **{name: row[name] for name in ("n", "level", "median", "p05", "p95", "rsa_bits", "invocation")}
        }  # fmt: skip
    assert {row["run_id"] for row in rows} == {run.run_id}


def test_what_a_batch_does_not_know_is_no_number_in_any_export(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """It is `null` in JSON and `nan` in CSV, and the number of batches does not count it."""
    run = a_run()
    empty_store.add_run(run)
    values = [1000.0, float("nan"), 3000.0, 1000.0]
    empty_store.add_invocation(run, an_invocation(run, cpu_ns={ONE: values}, preempted_batches=1))
    asked = {"metric": "server_cpu_ns"}
    (row,) = client.get("/export", params={"format": "json", **asked}).json()
    assert (row["values"], row["n"], row["median"]) == ([750, None, 2250, 750], 3, 750)
    (line,) = csv.DictReader(io.StringIO(client.get("/export", params=asked).text))
    assert line["values"] == "750.0 nan 2250.0 750.0"


def test_an_export_of_nothing_is_empty_and_well_formed(client: httpx2.Client) -> None:
    assert client.get("/export", params={"format": "json"}).json() == []
    assert client.get("/export").text == ",".join(EXPORT_COLUMNS) + "\n"


def test_an_export_is_narrowed_by_case_library_and_metric(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, a_run(), invocations=2)
    for narrowed, count in (
        ({"case_id": RSA}, 4),
        ({"library": "gnutls"}, 0),
        ({"metric": "server_cpu_ns"}, 8),
        ({"cpu_model": "other"}, 0),
        ({"pool": "local"}, 8),
    ):
        assert len(client.get("/export", params={"format": "json", **narrowed}).json()) == count


def test_an_unsupported_subject_has_a_reason_instead_of_a_number(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 5}, outcomes=[an_outcome(TWO)]))
    numbers, reason = client.get("/matrix").json()["cells"]
    assert numbers["outcome"] is None
    assert (reason["estimate"], reason["change"]) == (None, None)
    assert reason["outcome"] == {
        "kind": OutcomeKind.UNSUPPORTED, "reason": "no such group", "detail": None, "invocations": 1
    }  # fmt: skip


def test_what_does_not_exist_is_a_problem_with_a_remedy(client: httpx2.Client) -> None:
    assert_problem(client.get("/runs/none"), 404, "there is no run none")
    assert client.get("/runs/none").json()["remedy"] == "kexbench runs list lists the runs"
    assert_problem(client.get("/cpus", params={"case_id": "none"}), 404, "no samples of case none")
    assert_problem(client.get("/runs/none/invocations"), 404)
    assert_problem(client.get("/runs/none/stored-by-job"), 404)
    assert_problem(client.get("/nothing"), 404)


def test_a_question_of_the_wrong_form_is_a_problem_that_names_the_place(client: httpx2.Client) -> None:
    assert_problem(client.get("/distribution"), 422, "query.case_id")
    assert_problem(client.get("/matrix", params={"metric": "speed"}), 422, "query.metric")
    assert_problem(client.get("/runs", params={"limit": 0}), 422, "query.limit")
    assert_problem(client.get("/runs", params={"before": "2026-01-01T00:00:00"}), 422, "query.before")
    for number in ("1767268800", "-1750", "1e9"):
        assert_problem(client.get("/runs", params={"before": number}), 422, "query.before")
    assert_problem(client.get("/export", params={"format": "xml"}), 422, "query.format")
    assert_problem(client.get("/matrix", params={"pool": "x" * 201}), 422, "query.pool")
    assert client.get("/distribution").json()["errors"][0]["type"] == "missing"


def test_a_method_that_a_route_lacks_is_a_problem(client: httpx2.Client) -> None:
    assert_problem(client.delete("/runs"), 405)


def test_a_store_that_fails_is_a_problem_and_not_a_crash(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    raw(empty_store).command(f"DROP DATABASE {raw(empty_store).database}")
    assert_problem(client.get("/runs"), 503, "the store")
    empty_store.migrate()  # other tests go on with it


def test_a_case_without_a_name_is_refused_and_not_a_mixture_of_all(client: httpx2.Client) -> None:
    assert client.get("/distribution", params={"case_id": "", "subject": "fake"}).status_code == 422


@pytest.mark.parametrize("address", ["/filters", "/matrix", "/runs", "/upgrades"])
def test_an_answer_is_new_only_after_something_was_stored(
    client: httpx2.Client, empty_store: ClickHouseStore, address: str
) -> None:
    first, again = client.get(address), client.get(address)
    tag = {"If-None-Match": first.headers["etag"]}
    assert again.headers["etag"] == first.headers["etag"]
    assert again.content == first.content
    unchanged = client.get(address, headers=tag)
    assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", first.headers["etag"])

    run = a_run()
    empty_store.add_run(run)
    costs = {"fake@1.0": 1.0, "fake@1.1": 2.0}
    empty_store.add_invocation(run, an_invocation(run, cpu_ns=costs))
    changed = client.get(address, headers=tag)
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]
    assert changed.content != first.content


def test_a_large_answer_is_compressed_for_those_who_take_it(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    small = client.get("/matrix")
    assert "content-encoding" not in small.headers
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_invocation(run, an_invocation(run, cpu_ns={"fake@1.0": 1.0, "fake@1.1": 2.0}))
    compressed = client.get("/matrix")
    plain = client.get("/matrix", headers={"Accept-Encoding": "identity"})
    assert (compressed.headers["content-encoding"], compressed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert "content-encoding" not in plain.headers
    assert compressed.json() == plain.json()
    assert int(compressed.headers["content-length"]) < int(plain.headers["content-length"]) == len(plain.content)


def test_an_answer_to_another_address_has_another_tag(client: httpx2.Client) -> None:
    addresses = ("/matrix", "/matrix?metric=wall_ns", "/filters")
    assert len({client.get(address).headers["etag"] for address in addresses}) == 3
