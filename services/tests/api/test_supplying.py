"""What pods get and what they bring: orders, kits, key material, attempts, invocations."""

import hashlib
import tarfile
from io import BytesIO
from pathlib import Path

import httpx2
import pytest

from kexbench.domain.hosts import HostFacts
from kexbench.domain.kits import SubjectRef
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.runner.job_input import JobOrder
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Selection
from tests.api.cluster import ClusterApi, an_attempt, cluster_api
from tests.api.conftest import ClientOf, assert_problem
from tests.builders import HOST, an_invocation

OTHER_HOST = HOST.model_copy(update={"microcode": "0x2"})


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


def pod_of(run: Run, uid: str = "uid-1", job: int = 0) -> str:
    return f"pod {run.run_id} {run.plan.jobs[job].job_id} {uid}"


def upload(
    api: ClusterApi, run: Run, value: float, *, attempt: int = 1, uid: str = "uid-1", host: HostFacts = HOST
) -> httpx2.Response:
    invocation = an_invocation(run, cpu_ns={"fake@1.0": [value] * 3}, attempt=attempt, host=host)
    return api.ask(pod_of(run, uid), "POST", f"/runs/{run.run_id}/invocations", invocation.model_dump(mode="json"))


def counted(api: ClusterApi) -> list[float]:
    return [row.level for row in api.store.samples(Selection(Metric.CPU_NS))]


def test_what_is_stored_is_listed_for_every_job_and_for_each_alone(api: ClusterApi) -> None:
    run = api.started()
    first, second, *_ = (job.job_id for job in run.plan.jobs)
    api.announce(run)
    assert upload(api, run, 1.0).status_code == 204
    of_run = f"/runs/{run.run_id}"
    assert api.ask("dispatcher", "GET", f"{of_run}/stored-by-job").json() == {first: 1}
    answers = [api.ask("dispatcher", "GET", f"{of_run}/invocations?job_id={job}").json() for job in (first, second)]
    assert [[one["job_id"] for one in stored] for stored in answers] == [[first], []]


def test_an_order_holds_all_of_the_job_and_nothing_of_others(api: ClusterApi) -> None:
    run = api.started()
    job = run.plan.jobs[0]
    answer = api.ask(pod_of(run), "GET", f"/runs/{run.run_id}/jobs/{job.job_id}/order")
    order = JobOrder.model_validate_json(answer.content)
    assert order == JobOrder.of(run, job)
    assert (order.job, sorted(order.kits)) == (job, ["fake@1.0", "fake@1.1"])


def test_a_kit_leaves_as_it_came(api: ClusterApi) -> None:
    run = api.started()
    kit, archive = api.packed("fake@1.0")
    answer = api.ask(pod_of(run), "GET", f"/kits/{kit.kit_id}")
    assert answer.content == archive.read_bytes()
    with tarfile.open(fileobj=BytesIO(answer.content)) as packed:
        assert sorted(packed.getnames()) == ["bin", "bin/worker", "kit.json"]
    assert_problem(api.ask(pod_of(run), "GET", "/kits/0123456789abcdef"), 404, "no kit")


def test_a_kit_that_is_not_what_it_says_is_refused(api: ClusterApi) -> None:
    run = api.queued()
    _, archive = api.packed("fake@1.0")
    for content in (archive.read_bytes(), b"no archive"):
        answer = api.send_kit(f"builder {run.run_id} fake@1.0", "0123456789abcdef", content)
        assert_problem(answer, 422, "0123456789abcdef")
    assert api.shared_store.kit_store.list() == ()


def test_a_kit_that_was_sent_is_what_its_reference_means(api: ClusterApi) -> None:
    assert api.deliver(api.queued(), "fake@1.0").status_code == 200
    kit, _ = api.packed("fake@1.0")
    assert api.shared_store.kit_store.find(SubjectRef.parse("fake@1.0"), "x86_64") == kit


@pytest.mark.parametrize(
    ("who", "says"),
    [
        ("builder {run} fake@1.1", "kit {kit} is fake@1.0 for x86_64, expected fake@1.1 for x86_64"),
        ("builder {run} fake@git:https://example.org/evil.git#v1", "kit {kit} is fake@1.0"),
        ("builder {run}", "was not created to build a kit"),
    ],
)
def test_a_builder_can_send_its_own_kit_and_no_other(api: ClusterApi, who: str, says: str) -> None:
    """Its sources may have read its token, or be what speaks."""
    run = api.queued()
    assert api.deliver(run, "fake@1.1").status_code == 200
    before = api.shared_store.kit_store.list()
    kit, archive = api.packed("fake@1.0")
    answer = api.send_kit(who.format(run=run.run_id), kit.kit_id, archive.read_bytes())
    assert_problem(answer, 403, says.format(kit=kit.kit_id))
    assert api.shared_store.kit_store.list() == before
    assert api.shared_store.kit_store.find(SubjectRef.parse("fake@1.0"), "x86_64") is None
    assert api.shared_store.kit_store.find(SubjectRef.parse("fake@1.1"), "x86_64") == before[0]


def test_no_kit_that_is_there_is_replaced(api: ClusterApi) -> None:
    run = api.queued()
    api.deliver(run, "fake@1.0")
    kit, archive = api.packed("fake@1.0")
    folder = api.shared_store.kit_store.folder(kit.kit_id)
    before = {path: path.stat().st_ino for path in folder.rglob("*")}
    assert api.deliver(run, "fake@1.0").status_code == 200
    assert {path: path.stat().st_ino for path in folder.rglob("*")} == before
    other = archive.read_bytes().replace(b"the worker of fake@1.0", b"the worker of nobody..")
    assert_problem(api.send_kit(f"builder {run.run_id} fake@1.0", kit.kit_id, other), 422, "do not match its manifest")
    assert {path: path.stat().st_ino for path in folder.rglob("*")} == before


def test_material_is_given_to_the_pods_of_the_run_that_it_is_of(api: ClusterApi) -> None:
    run = api.started()
    key = next(iter(run.material.values())).key
    answer = api.ask(pod_of(run), "GET", f"/runs/{run.run_id}/material/{key}")
    assert hashlib.sha256(answer.content).hexdigest() == key.removesuffix(".pem")
    for file in (f"{'0' * 64}.pem", "..%2Findex", "key.pem"):
        assert_problem(api.ask(pod_of(run), "GET", f"/runs/{run.run_id}/material/{file}"), 404)
    assert_problem(api.ask("submitter", "GET", f"/runs/{run.run_id}/material/{key}"), 403)


def test_two_pods_never_share_an_attempt(api: ClusterApi) -> None:
    run = api.started()
    assert api.announce(run).status_code == 204
    assert api.announce(run).status_code == 204
    assert_problem(api.announce(run, uid="uid-2"), 409, "belongs to pod pod-uid-1")
    assert api.announce(run, uid="uid-2", attempt=2).status_code == 204
    assert [(one.attempt, one.pod_uid) for one in api.store.attempts(run.run_id)] == [(1, "uid-1"), (2, "uid-2")]


def test_a_pod_announces_itself_and_no_other(api: ClusterApi) -> None:
    run = api.started()
    tried = an_attempt(run, uid="uid-2")
    path = f"/runs/{run.run_id}/jobs/{tried.job_id}/attempts"
    assert_problem(api.ask(pod_of(run), "PUT", f"{path}/1", tried.model_dump(mode="json")), 403, "pod-uid-1")
    own = an_attempt(run)
    assert_problem(api.ask(pod_of(run), "PUT", f"{path}/2", own.model_dump(mode="json")), 422)


def test_of_two_attempts_with_other_values_exactly_one_counts(api: ClusterApi) -> None:
    run = api.started()
    api.announce(run)
    api.announce(run, uid="uid-2", attempt=2)
    assert upload(api, run, 20, attempt=2, uid="uid-2").status_code == 204
    assert counted(api) == [20]
    for _ in range(2):
        assert upload(api, run, 10).status_code == 204
    assert counted(api) == [10]


def test_only_what_the_announced_pod_measured_where_it_said_is_stored(api: ClusterApi) -> None:
    run = api.started()
    assert_problem(upload(api, run, 1), 409, "was not announced")
    api.announce(run)
    assert_problem(upload(api, run, 1, uid="uid-2"), 409, "was not announced")
    assert_problem(upload(api, run, 1, host=OTHER_HOST), 409, "was not announced")
    assert counted(api) == []


def test_hosts_of_another_microcode_are_another_kind_and_never_mixed(api: ClusterApi) -> None:
    run = api.started()
    api.announce(run)
    api.announce(run, uid="uid-2", attempt=2, host=OTHER_HOST)
    upload(api, run, 10)
    second = an_invocation(run, 1, cpu_ns={"fake@1.0": [20]}, attempt=2, host=OTHER_HOST).model_dump(mode="json")
    api.ask(pod_of(run, "uid-2"), "POST", f"/runs/{run.run_id}/invocations", second)
    detail = api.http.get(f"/runs/{run.run_id}").json()
    kinds = [(kind["pool"], kind["cpu_model"]) for kind in detail["host_kinds"]]
    assert kinds == [("pool-a", f"{HOST.cpu_model}, microcode 0x2"), ("pool-a", HOST.cpu_model)]
    assert [cell["estimate"]["value"] for cell in detail["cells"]] == [20]
    first = api.http.get(f"/runs/{run.run_id}", params={"cpu_model": HOST.cpu_model}).json()
    assert [cell["estimate"]["value"] for cell in first["cells"]] == [10]
    assert [(host["pools"], host["nodes"], host["isolation"]) for host in detail["hosts"]] == [
        (["pool-a"], ["node-1"], ["exclusive"])
    ] * 2
