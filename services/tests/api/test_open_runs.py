"""What a round of the dispatcher asks of the API, counted, and that its double refuses what the API refuses."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from kexbench.client import ApiClient, ApiError
from kexbench.dispatcher.control import ApiControl, Control
from kexbench.domain.runs import RunEvent, RunState
from kexbench.execution.argo.decide import RunView
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import ClusterApi, cluster_api, cluster_app
from tests.api.conftest import ClientOf
from tests.api.test_kept_answers import spied
from tests.builders import HOST, NOON, all_invocations, an_outcome
from tests.execution.argo.cases import a_cluster_run
from tests.execution.argo.fake_control import FakeControl
from tests.serving import serving


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


@pytest.fixture
def requests() -> list[str]:
    """The paths that were asked."""
    return []


@pytest.fixture
def control(
    empty_store: ClickHouseStore, tmp_path: Path, requests: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ApiControl]:
    send = httpx2.Client.request

    def noting(client: httpx2.Client, method: str, url: str, **given: object) -> httpx2.Response:
        requests.append(f"{method} {url}")
        return send(client, method, url, **given)  # type: ignore[arg-type]

    with serving(cluster_app(empty_store, tmp_path / "served")) as url:
        monkeypatch.setattr(httpx2.Client, "request", noting)
        client = ApiClient(url, lambda: "dispatcher", print, patience_s=10)
        yield ApiControl(client)
        client.close()


def test_what_is_open_is_asked_once_and_a_plan_only_of_the_run_that_needs_it(
    api: ClusterApi, control: ApiControl, requests: list[str]
) -> None:
    waiting, started = [api.queued() for _ in range(3)], api.started()
    requests.clear()
    views = control.open_runs()
    assert len(requests) == 1
    assert [view.run_id for view in views] == [run.run_id for run in (*waiting, started)]
    runs = [*waiting, started]
    whole = [RunView.of(run, api.store.events(run.run_id)) for run in runs]
    assert [view.with_run(run) for view, run in zip(views, runs, strict=True)] == whole
    assert [control.run(run.run_id) for run in (waiting[0], started)] == [waiting[0], started]
    assert len(requests) == 3
    control.open_runs()
    assert control.run(started.run_id) == started
    assert len(requests) == 4, "a started run never changes"
    assert control.run(waiting[0].run_id) == waiting[0]
    assert len(requests) == 5, "a waiting one does, when it starts"


def test_a_run_that_was_read_while_it_waited_is_read_again_once_it_is_started(
    api: ClusterApi, control: ApiControl
) -> None:
    run = api.queued()
    assert not control.run(run.run_id).is_started
    api.deliver_kits(run)
    assert api.ask("dispatcher", "POST", f"/runs/{run.run_id}/start").status_code == 200
    assert control.run(run.run_id) == api.stored(run.run_id)
    assert control.run(run.run_id).is_started


def test_open_runs_take_as_many_statements_however_many_they_are(
    api: ClusterApi, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = spied(empty_store, monkeypatch)
    counts = []
    for _ in range(2):
        for _ in range(3):
            api.queued()
        counts.append(len(said.during(lambda: api.ask("dispatcher", "GET", "/open-runs"))))
    assert counts[0] == counts[1]
    assert len(api.ask("dispatcher", "GET", "/open-runs").json()) == 6


def test_what_is_left_out_are_the_invocations_of_blocks_without_hope(api: ClusterApi, control: ApiControl) -> None:
    run = api.started()
    job = run.plan.jobs[0]
    first = next(invocation for invocation in all_invocations(run) if invocation.job_id == job.job_id)
    outcomes = tuple(map(an_outcome, run.kits))
    api.store.add_invocation(run, first.model_copy(update={"samples": (), "outcomes": outcomes}), HOST)
    none = {other.job_id: 0 for other in run.plan.jobs}
    assert control.left_out(run.run_id) == {**none, job.job_id: job.invocations - 1}


NOBODY = "nobody"
Request = Callable[[Control], object]


@pytest.mark.parametrize(
    "request_of",
    [
        lambda control: control.run(NOBODY),
        lambda control: control.known_kits(NOBODY),
        lambda control: control.start(NOBODY),
        lambda control: control.stored_invocations(NOBODY),
        lambda control: control.left_out(NOBODY),
        lambda control: control.record(RunEvent(run_id=NOBODY, at=NOON, state=RunState.RUNNING)),
    ],
    ids=["run", "known_kits", "start", "stored_invocations", "left_out", "record"],
)
def test_the_double_of_the_api_refuses_an_unknown_run_as_the_api_does(control: ApiControl, request_of: Request) -> None:
    fake = FakeControl(lambda: NOON)
    fake.queue(a_cluster_run())
    said = []
    for each in (control, fake):
        with pytest.raises(ApiError) as refused:
            request_of(each)
        said.append(str(refused.value).split(";")[0])
    assert said == ["there is no run nobody"] * 2
