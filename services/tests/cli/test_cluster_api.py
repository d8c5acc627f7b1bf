"""One client for the cluster: commands that ask for runs and numbers ask the API that KEXBENCH_API_URL names."""

import json
from collections.abc import Callable, Iterator
from math import exp
from pathlib import Path

import numpy as np
import pytest
import yaml

from kexbench.domain.runs import Purpose, Run, RunState
from kexbench.domain.samples import WITHDRAWN_REASON, Invocation, Metric, Sample
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import CLUSTER_SPEC, an_attempt, cluster_app, planner
from tests.api.test_qualifications import COPY, ONE, qualified
from tests.builders import ECDSA, HOST, RSA, a_kit, a_run, an_event, an_invocation
from tests.cli.conftest import TIMEOUT_S, Cli, Result
from tests.cli.queueing import until
from tests.serving import serving

pytestmark = pytest.mark.thorough

NOISE = 0.003


@pytest.fixture
def store(empty_store: ClickHouseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClickHouseStore]:
    """Of the cluster that the command line is set to."""
    (tmp_path / "token").write_text("submitter")
    with serving(cluster_app(empty_store, tmp_path / "api")) as url:
        monkeypatch.setenv("KEXBENCH_API_URL", url)
        monkeypatch.setenv("KEXBENCH_TOKEN_FILE", str(tmp_path / "token"))
        yield empty_store


def a_cluster_run(run_id: str = "of-the-cluster") -> Run:
    plan = planner()(CLUSTER_SPEC, "spec.yaml")
    return a_run(run_id, spec=CLUSTER_SPEC.replace("pools: [pool-a, pool-b]\n", "")).model_copy(update={"plan": plan})


def with_a_run(store: ClickHouseStore) -> Run:
    run = a_cluster_run()
    store.add_run(run)
    store.add_event(an_event(run, RunState.FINISHED))
    found = [an_invocation(run, number, cpu_ns={"fake@1.0": 1e6, "fake@1.1": 1.2e6}) for number in range(6)]
    store.add_invocations(run, found)
    return run


def wants_the_cluster(cli: Cli, done: Result) -> None:
    """Nothing was asked or made here."""
    assert "Traceback" not in done.err
    assert not (cli.folder / "home").exists()


@pytest.mark.long
def test_the_clusters_runs_are_listed_and_shown(cli: Cli, store: ClickHouseStore) -> None:
    listed = cli("runs", "list")
    assert (listed.status, listed.out) == (0, "no runs yet: kexbench submit SPEC\n")
    run = with_a_run(store)
    (found,) = cli("runs", "list", "--json").json()["runs"]
    assert (found["run_id"], found["pools"]) == (run.run_id, ["pool-a", "pool-b"])
    assert run.run_id in cli("runs", "list").out
    shown = cli("runs", "show", run.run_id, "--metric", "server_cpu_ns", "--json").json()
    assert shown["summary"]["run_id"] == run.run_id
    assert sorted(cell["estimate"]["value"] for cell in shown["cells"] if cell["estimate"]) == [0.75e6, 0.9e6]
    done = cli("runs", "show", run.run_id)
    assert done.status == 0, done.err
    assert "1,000/s → 833/s" in done.out
    wants_the_cluster(cli, done)


def test_a_metric_is_shown_in_its_unit_and_a_withdrawn_one_with_the_reason(cli: Cli, store: ClickHouseStore) -> None:
    """Of a runner before format 2, the memory of several connections was stored as that of one."""
    run = with_a_run(store)

    def held(number: int, subject: str, format_version: int) -> Invocation:
        made = an_invocation(run, number, cpu_ns={"fake@1.0": 1e6, "fake@1.1": 1.2e6})
        sample = Sample(subject=subject, metric=Metric.SERVER_HELD_BYTES, values=(46_730,))
        return made.model_copy(update={"format_version": format_version, "samples": (*made.samples, sample)})

    store.add_invocations(run, [held(0, "fake@1.0", 2), held(1, "fake@1.1", 1)])
    done = cli("runs", "show", run.run_id, "--metric", "server_held_bytes")
    assert done.status == 0, done.err
    text = " ".join(done.out.split())
    assert "Heap held by an open server connection" in text
    assert "46,730 B" in text
    assert f"fake 1.1: withdrawn: {WITHDRAWN_REASON}" in text
    assert "/s" not in text
    server = cli("runs", "show", run.run_id, "--metric", "server_cpu_ns")
    assert "750 µs" in server.out
    assert "900 µs" in server.out
    assert "/s" not in server.out


def test_a_run_that_the_cluster_does_not_have_is_reported_with_a_remedy(cli: Cli, store: ClickHouseStore) -> None:
    done = cli("runs", "show", "no/such?run")
    assert done.status == 1
    assert "there is no run no/such?run" in done.err or "Not Found" in done.err
    wants_the_cluster(cli, done)


def test_the_clusters_samples_are_exported(cli: Cli, store: ClickHouseStore) -> None:
    run = with_a_run(store)
    done = cli("export", "--format", "json", "--metric", "server_cpu_ns", "--run", run.run_id)
    found = json.loads(done.out)
    assert len(found) == 12
    assert {(row["run_id"], row["metric"]) for row in found} == {(run.run_id, str(Metric.SERVER_CPU_NS))}
    assert json.loads(cli("export", "--format", "json", "--run", "another").out) == []
    wants_the_cluster(cli, done)


def queued(store: ClickHouseStore, run_id: str, state: RunState = RunState.QUEUED) -> None:
    run = a_cluster_run(run_id).announced()
    store.add_event(an_event(run, RunState.QUEUED, seconds=0))
    if state is not RunState.QUEUED:
        store.add_event(an_event(run, state))
    store.add_run(run)


def test_several_runs_are_cancelled_and_what_could_not_be_is_named(cli: Cli, store: ClickHouseStore) -> None:
    queued(store, "one")
    queued(store, "two", RunState.RUNNING)
    queued(store, "over", RunState.FINISHED)
    queued(store, "another")
    done = cli("runs", "cancel", "one", "two", "over", "nobody")
    assert (done.status, done.err) == (1, "there is no run nobody\n  remedy: kexbench runs list lists the runs\n")
    assert done.out.splitlines() == [
        "one  cancelling  cancelled by ci:pipeline",
        "two  cancelling  cancelled by ci:pipeline",
        "over  finished  run over is finished: there is nothing to cancel",
    ]
    again = cli("runs", "cancel", "one", "over", "--json")
    assert again.status == 0, again.err
    assert [(run["run_id"], run["outcome"], run["state"]) for run in again.json()["runs"]] == [
        ("one", "unchanged", "cancelling"),
        ("over", "unchanged", "finished"),
    ]
    assert store.events("one")[-1].state is RunState.CANCELLING
    assert [event.state for event in store.events("another")] == [RunState.QUEUED]
    wants_the_cluster(cli, done)


def test_all_queued_runs_are_cancelled_and_running_ones_are_not(cli: Cli, store: ClickHouseStore) -> None:
    queued(store, "begun", RunState.RUNNING)
    empty = cli("runs", "cancel", "--queued")
    assert (empty.status, empty.out, empty.err) == (0, "no run is queued\n", "")
    queued(store, "waits")
    done = cli("runs", "cancel", "--queued")
    assert (done.status, done.out) == (0, "waits  cancelling  cancelled by ci:pipeline\n")
    assert cli("runs", "cancel", "--queued", "--json").json() == {"runs": []}
    assert [event.state for event in store.events("begun")] == [RunState.QUEUED, RunState.RUNNING]


@pytest.mark.parametrize("arguments", [(), ("one", "--queued")])
def test_which_runs_to_cancel_is_said_in_one_way(arguments: tuple[str, ...], cli: Cli, store: ClickHouseStore) -> None:
    queued(store, "one")
    done = cli("runs", "cancel", *arguments)
    assert (done.status, done.out) == (2, "")
    assert "name runs, or give --queued" in " ".join(done.err.replace("│", " ").split())
    assert [event.state for event in store.events("one")] == [RunState.QUEUED]


def test_the_cluster_plans_with_its_pools(cli: Cli, store: ClickHouseStore) -> None:
    path = cli.folder / "spec.yaml"
    path.write_text(CLUSTER_SPEC)
    assert cli("plan", str(path), "--json").json() == planner()(CLUSTER_SPEC, "").model_dump(mode="json")
    done = cli("plan", str(path))
    assert done.status == 0, done.err
    assert "pool pool-a: about " in done.out
    assert "pool pool-b: about " in done.out
    assert "ahead in the queue: no run" in done.out
    assert "not built yet" not in done.out  # the cluster has kits of its own
    path.write_text(CLUSTER_SPEC.replace("pool-b", "pool-c"))
    wrong = cli("plan", str(path))
    assert (wrong.status, wrong.out) == (1, "")
    line = CLUSTER_SPEC.splitlines().index("pools: [pool-a, pool-b]") + 1
    assert f"{path}:{line}:17: pools.1: there is no pool 'pool-c'" in wrong.err
    wants_the_cluster(cli, wrong)


def test_a_pool_whose_nodes_are_not_comparable_is_reported_before_a_run_of_it(cli: Cli, store: ClickHouseStore) -> None:
    run = a_cluster_run()
    store.add_run(run)
    for number, governor in enumerate(("performance", "powersave"), start=1):
        host = HOST.model_copy(update={"governor": governor})
        tried = an_attempt(run, uid=governor, attempt=number, host=host).model_copy(update={"node": governor})
        store.add_attempt(tried, "pool-b")
    path = cli.folder / "spec.yaml"
    path.write_text(CLUSTER_SPEC)
    lines = [line for line in cli("plan", str(path)).out.splitlines() if line.startswith("pool ")]
    assert [line.endswith(" of machine time; its nodes are not comparable") for line in lines] == [False, True]


def test_a_pool_is_qualified_by_a_run_in_its_queue(cli: Cli, store: ClickHouseStore) -> None:
    qualified(store, ONE, COPY, run_id="elsewhere", day=1)  # a newer one on another host kind says nothing of the pool
    only = ("openssl", "--case", RSA, "--invocations", "12")
    process = cli.start("qualify", *only, "--pool", "pool-a", "--group", "6", "--json")
    try:
        until(lambda: len(store.open_run_rows()) == 1)
        run = store.run(store.open_run_rows()[0].run_id)
        assert run is not None
        assert (run.purpose, run.plan.pools) == (Purpose.QUALIFICATION, ("pool-a",))
        assert yaml.safe_load(run.spec_text)["pools"] == ["pool-a"]
        measured(store, run)
        out, err = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err
    found = json.loads(out)
    assert found["host_kind"]["pool"] == "pool-a"
    (row,) = found["rows"]
    assert (row["library"], row["run_id"], row["invocations"], row["group"]) == ("openssl", run.run_id, 12, 6)
    assert row["cv"] == pytest.approx(NOISE, rel=0.6)
    assert f"run {run.run_id}" in err


def measured(store: ClickHouseStore, run: Run) -> None:
    """What the pods of a run leave in the store; each build has noise of its own."""
    chance = np.random.default_rng(7)
    references = [subject.reference for subject in run.plan.subjects]
    blank = a_run().material[RSA]
    kits = {reference: a_kit(reference, version="3.0.2") for reference in references}
    run = run.model_copy(update={"kits": kits, "material": {case.case_id: blank for case in run.plan.cases}})
    store.add_run(run)
    found = [
        an_invocation(run, number, cpu_ns={one: 1e6 * exp(NOISE * chance.standard_normal()) for one in references})
        for number in range(12)
    ]
    store.add_invocations(run, found, HOST)
    store.add_event(an_event(run, RunState.FINISHED, seconds=1e8))


@pytest.mark.long
def test_a_qualification_that_failed_is_reported_and_ends_with_1(cli: Cli, store: ClickHouseStore) -> None:
    process = cli.start("qualify", "openssl", "--pool", "pool-a", "--case", RSA)
    try:
        until(lambda: len(store.open_run_rows()) == 1)
        run = store.run(store.open_run_rows()[0].run_id)
        assert run is not None
        store.add_event(an_event(run, RunState.FAILED, seconds=1e8, detail="no node is ready"))
        _, err = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1
    assert f"run {run.run_id} failed: no node is ready" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--pool NAME"),
        (("--pool", "nowhere"), "there is no pool 'nowhere'"),
    ],
)
def test_a_pool_that_is_not_named_or_not_there_is_not_qualified(
    arguments: tuple[str, ...], says: str, cli: Cli, store: ClickHouseStore
) -> None:
    done = cli("qualify", "openssl", *arguments)
    assert done.status != 0
    assert says in " ".join(done.err.replace("│", " ").split())
    assert store.open_runs() == []
    wants_the_cluster(cli, done)


def test_a_pool_is_of_a_cluster_alone(cli: Cli) -> None:
    done = cli("qualify", "--pool", "pool-a")
    assert done.status == 2
    assert "KEXBENCH_API_URL names none" in " ".join(done.err.replace("│", " ").split())


def test_the_commands_of_a_clusters_run_are_printed(cli: Cli, store: ClickHouseStore) -> None:
    run = a_cluster_run()
    queued = run.announced().model_copy(update={"run_id": "queued"})
    for one in (run, queued):
        store.add_run(one)
        store.add_event(an_event(one, RunState.QUEUED))
    done = cli("reproduce", run.run_id, ECDSA, "--invocation", "2", "--print")
    assert done.status == 0, done.err
    job = next(job for job in run.plan.jobs if ECDSA in job.case_ids and 2 in job.numbers)
    assert f"# in a pod of pool {job.pool} with the order of job {job.job_id}" in done.out
    assert f"seed {run.run_id}/{job.job_id}/{ECDSA}/2" in done.out
    for kit in run.kits.values():
        assert f"cd /var/lib/kexbench/kits/{kit.folder_name}\n" in done.out
    found = cli("reproduce", run.run_id, ECDSA, "--invocation", "2", "--print", "--json").json()
    assert sorted(found["commands"]) == sorted(found["order"]) == ["fake@1.0", "fake@1.1"]
    assert (found["recorded"], found["again"]) == (None, None)
    waiting = cli("reproduce", "queued", ECDSA, "--print")
    assert waiting.status == 2
    assert "has not started" in waiting.err
    wants_the_cluster(cli, waiting)


@pytest.mark.parametrize(
    ("arguments", "instead"),
    [
        (("run", "spec.yaml"), "kexbench submit SPEC --wait"),
        (("run", "--resume", "one"), "kexbench runs resume RUN"),
        (("compare", "openssl@system", "openssl@debian/trixie"), "kexbench submit"),
        (("interop", "openssl@system", "gnutls@system"), "kexbench submit"),
        (("token",), "kubectl create token"),
        (("reproduce", "one", RSA), "--print"),
    ],
)
def test_what_only_this_machine_can_do_says_so_where_a_cluster_is_named(
    arguments: tuple[str, ...], instead: str, cli: Cli, store: ClickHouseStore
) -> None:
    done = cli(*arguments)
    assert (done.status, done.out) == (2, "")
    assert "KEXBENCH_API_URL names a cluster\n  remedy: " in done.err
    assert instead in done.err
    assert "unset KEXBENCH_API_URL" in done.err
    wants_the_cluster(cli, done)


Prepared = Callable[[Path], object]


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        (lambda file: None, "No such file or directory"),
        (lambda file: file.mkdir(), "Is a directory"),
        (lambda file: file.write_text(" \n"), "is empty"),
        (lambda file: file.write_bytes(b"\xff\xfe"), "token"),
        (lambda file: file.write_text("one\ntwo"), "token"),
        (lambda file: file.write_text("tokén"), "token"),
    ],
    ids=["missing", "folder", "empty", "bytes", "lines", "letters"],
)
@pytest.mark.parametrize("verb", [("runs", "list"), ("queue",), ("export",)], ids=" ".join)
def test_a_token_file_without_a_token_is_reported_with_the_remedy(
    verb: tuple[str, ...], prepare: Prepared, says: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = cli.folder / "tokens"
    prepare(file)
    monkeypatch.setenv("KEXBENCH_API_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("KEXBENCH_TOKEN_FILE", str(file))
    done = cli(*verb)
    assert (done.status, done.out) == (2, "")
    assert f"the token file {file} " in done.err
    assert says in done.err
    assert "remedy: set KEXBENCH_TOKEN_FILE to a file with a token" in done.err
    wants_the_cluster(cli, done)


def test_a_cluster_without_a_token_file_is_reported_with_the_remedy(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEXBENCH_API_URL", "http://127.0.0.1:1")
    monkeypatch.delenv("KEXBENCH_TOKEN_FILE", raising=False)
    done = cli("runs", "list")
    assert (done.status, done.out) == (2, "")
    assert "KEXBENCH_TOKEN_FILE is not set" in done.err
    assert "remedy: set KEXBENCH_TOKEN_FILE to a file with a token" in done.err
    wants_the_cluster(cli, done)


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8350",
        "kexbench.example.com",
        "ftp://127.0.0.1",
        "http://",
        "http://[::1",
        "http://h:no",
        "https://h?x",
    ],
)
@pytest.mark.parametrize("verb", [("runs", "list"), ("token",)], ids=" ".join)
def test_what_is_no_address_of_an_api_is_reported_with_the_remedy(
    verb: tuple[str, ...], url: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cli.folder / "tokens").write_text("submitter")
    monkeypatch.setenv("KEXBENCH_API_URL", url)
    monkeypatch.setenv("KEXBENCH_TOKEN_FILE", str(cli.folder / "tokens"))
    done = cli(*verb)
    assert (done.status, done.out) == (2, "")
    assert f"KEXBENCH_API_URL is {url!r}, which is not the URL of an API" in done.err
    assert "remedy: set it to a URL such as https://" in done.err
    wants_the_cluster(cli, done)
