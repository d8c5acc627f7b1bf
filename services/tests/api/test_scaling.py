"""Scaling curves: from workers that wait for each other by a known law to the law's coefficients."""

from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

from kexbench.answers.loads import METRICS
from kexbench.domain.runs import Run
from kexbench.domain.samples import Invocation, Metric, Sample
from kexbench.runner.cpus import Cpus
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.job_input import JobInput, JobInputKit
from kexbench.runner.order import turns
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import HOST, NOON, QUIET, SPEC, a_job_input, a_run, an_invocation
from tests.conftest import FakeKit

CONTENDED, FREE = "fake@1.0+contention=0.1+overhead_ns=0", "fake@1.1+overhead_ns=0"
THREADS = (1, 2, 4, 8)
SCALING = (
    SPEC.replace("[1.0, 1.1]", f"[{', '.join(text.removeprefix('fake@') for text in (CONTENDED, FREE))}]")
    .replace("[RSA, ECDHE-ECDSA]", f"[RSA]\n  threads: {list(THREADS)}")
    .replace("batches: 4", "batches: 2")
)


def with_noise_of_its_own(kit: JobInputKit, seed: int) -> JobInputKit:
    """The same kit, whose made-up library draws another noise: a real one does so in every process."""
    flag, settings = kit.manifest.arguments
    manifest = kit.manifest.model_copy(update={"arguments": (flag, f"{settings},seed={seed}")})
    return kit.model_copy(update={"manifest": manifest})


def measured(run: Run, fake_kit: FakeKit, folder: Path) -> list[Invocation]:
    """All invocations of a run by the real runner and workers."""
    found = []
    for number, job in enumerate(run.plan.jobs):
        blank: JobInput = a_job_input(run, number).model_copy(update={"material_folder": folder})
        for turn in turns(job, blank.seed):
            kits = {
                reference: with_noise_of_its_own(JobInputKit(folder=fake_kit(reference)[0], manifest=kit), 1 + seed)
                for seed, (reference, kit) in enumerate(run.kits.items(), start=100 * turn.invocation)
            }
            job_input = blank.model_copy(update={"kits": kits})
            found.append(measure_invocation(job_input, turn, Cpus(None), folder / "log", lambda: QUIET))
    return found


@pytest.fixture
def run(fake_kit: FakeKit) -> Run:
    return a_run(spec=SCALING, kits={reference: fake_kit(reference)[1] for reference in (CONTENDED, FREE)})


def test_a_planted_contention_is_found_again(
    run: Run, fake_kit: FakeKit, tmp_path: Path, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    empty_store.add_run(run)
    found = list(measured(run, fake_kit, tmp_path))
    assert not any(invocation.outcomes for invocation in found)
    empty_store.add_invocations(run, found)
    answer = client.get("/scaling").json()
    (case,) = answer["cases"]
    assert (case["case"]["threads"], case["case"]["id"]) == (1, "tlsv1.2_rsa_rsa-2048_aes-128-gcm")
    contended, free = case["lines"]
    assert [line["subject"] for line in case["lines"]] == [each["name"] for each in answer["subjects"]]

    assert contended["contention"]["low"] < 0.1 < contended["contention"]["high"]
    assert contended["contention"]["high"] - contended["contention"]["low"] < 0.02
    assert contended["coherency"]["low"] == pytest.approx(0, abs=0.001)
    assert free["contention"]["value"] == pytest.approx(0, abs=0.005)

    assert [point["threads"] for point in contended["points"]] == list(THREADS)
    assert contended["points"][0]["efficiency"] is None
    assert contended["points"][0]["rate"]["value"] == pytest.approx(2500, rel=0.01)
    assert contended["points"][0]["alone"] is None
    for point in contended["points"][1:]:
        assert point["alone"]["value"] == pytest.approx(2500, rel=0.01)
        assert point["efficiency"]["value"] == pytest.approx(1 / (1 + 0.1 * (point["threads"] - 1)), rel=0.01)


def test_threads_with_a_context_each_are_a_curve_that_begins_with_the_same_one_thread(
    fake_kit: FakeKit, tmp_path: Path, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    spec = SCALING.replace("threads: [1, 2, 4, 8]", "threads: [1, 2, 4]\n  context: [shared, thread]")
    run = a_run(spec=spec, kits={reference: fake_kit(reference)[1] for reference in (CONTENDED, FREE)})
    empty_store.add_run(run)
    empty_store.add_invocations(run, measured(run, fake_kit, tmp_path))
    shared, own = client.get("/scaling").json()["cases"]
    assert (shared["title"], shared["case"]["threads"]) == ("TLS 1.2 RSA, RSA 2048", 1)
    assert (own["title"], own["case"]["threads"]) == ("TLS 1.2 RSA, RSA 2048, a context for each thread", 2)
    for first, second in zip(shared["lines"], own["lines"], strict=True):
        assert [point["threads"] for point in second["points"]] == [1, 2, 4]
        assert second["points"][0]["rate"] == first["points"][0]["rate"]


def test_a_single_thread_count_is_no_curve(
    run: Run, fake_kit: FakeKit, tmp_path: Path, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    empty_store.add_run(run)
    for invocation in measured(run, fake_kit, tmp_path):
        if invocation.case_id.endswith("threads-4"):
            empty_store.add_invocation(run, invocation)
    found = client.get("/scaling").json()
    assert found["host_kind"]["pool"] == "local"
    assert (found["cases"], found["subjects"]) == ([], [])


def test_nothing_stored_is_no_curve(client: httpx2.Client) -> None:
    assert client.get("/scaling").json() == {"host_kind": None, "subjects": [], "cases": [], "loads": []}


LOADS = SPEC.replace("[RSA, ECDHE-ECDSA]", "[RSA]\n  server: [nginx]\n  concurrency: [1, 8, 32]")
Times = dict[str, tuple[float, tuple[float, float]]]
"""Wall time, and the server's and the client's CPU time, of a connection in µs, by subject."""


def served(run: Run, concurrency: int, number: int, times: Times) -> Invocation:
    case = next(case for case in run.plan.cases if case.concurrency == concurrency)
    blank = an_invocation(run, number, case_id=case.case_id, cpu_ns=dict.fromkeys(times, 1.0))
    samples = [
        Sample(subject=subject, metric=metric, values=(us * 1000,))
        for subject, (wall, cpu) in times.items()
        for metric, us in zip((*METRICS, Metric.CPU_NS), (wall, *cpu, sum(cpu)), strict=True)
    ]
    return blank.model_copy(update={"samples": tuple(samples)})


def test_the_greatest_rate_of_a_server_is_named_with_what_limited_it(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run(spec=LOADS)
    empty_store.add_run(run)
    by_concurrency: dict[int, Times] = {
        1: {"fake@1.0": (1000, (500, 300)), "fake@1.1": (1000, (500, 300))},
        8: {"fake@1.0": (500, (490, 300)), "fake@1.1": (400, (300, 390))},
        32: {"fake@1.0": (520, (510, 300)), "fake@1.1": (500, (380, 350))},
    }
    noise = [number - 2.5 for number in range(6)]
    empty_store.add_invocations(
        run,
        [
            served(run, concurrency, number, {name: (wall + by, cpu) for name, (wall, cpu) in times.items()})
            for concurrency, times in by_concurrency.items()
            for number, by in enumerate(noise)
        ],
    )
    answer = client.get("/scaling").json()
    assert answer["cases"] == []
    (load,) = answer["loads"]
    assert (load["title"], load["case"]["concurrency"]) == ("TLS 1.2 RSA, RSA 2048, served by nginx", 1)
    saturated, idle = load["lines"]
    assert [line["subject"] for line in load["lines"]] == [each["name"] for each in answer["subjects"]]
    assert [point["concurrency"] for point in saturated["points"]] == [1, 8, 32]
    assert saturated["greatest"] == saturated["points"][1]
    rate = saturated["greatest"]["rate"]
    assert rate["value"] == pytest.approx(2000, rel=0.01)
    assert rate["low"] == pytest.approx(1e9 / 502_500)
    assert rate["high"] == pytest.approx(1e9 / 497_500)
    assert saturated["remark"] is None
    assert idle["greatest"]["concurrency"] == 8
    assert idle["remark"] == "The client was the limit: the server used 75% of its CPU, the client 98%."


def test_without_a_choice_the_first_host_kind_with_curves_is_shown(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    other = HOST.model_copy(update={"cpu_model": "Other CPU"})
    runs = {
        HOST: a_run(spec=LOADS),
        other: a_run("20260102-120000-0a0b0c0d", spec=LOADS, host=other, created_at=NOON + timedelta(days=1)),
    }
    times: Times = {"fake@1.0": (1000, (600, 300))}
    for host, run in runs.items():
        found = [served(run, concurrency, 0, times) for concurrency in ((1, 8) if host is HOST else (1,))]
        empty_store.add_run(run)
        empty_store.add_invocations(
            run, [invocation.model_copy(update={"host_id": host.host_id}) for invocation in found]
        )
    newest, older = client.get("/filters").json()["host_kinds"]
    answer = client.get("/scaling").json()
    assert (answer["host_kind"], len(answer["loads"])) == (older, 1)
    chosen = client.get("/scaling", params=newest).json()
    assert (chosen["host_kind"], chosen["loads"]) == (newest, [])


@pytest.mark.parametrize("client_percent", [30, 80])
def test_a_rate_at_which_neither_side_was_busy_is_not_the_servers_limit(
    client_percent: int, client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run(spec=LOADS)
    empty_store.add_run(run)
    times: Times = {"fake@1.0": (1000, (600, client_percent * 10))}
    empty_store.add_invocations(run, [served(run, concurrency, 0, times) for concurrency in (1, 8)])
    (load,) = client.get("/scaling").json()["loads"]
    shares = f"the server used 60% of its CPU, the client {client_percent}%"
    assert load["lines"][0]["remark"] == f"Not the server's limit: {shares}."


def test_a_server_with_one_number_of_connections_at_once_or_without_rates_has_no_maximum(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run(spec=LOADS)
    empty_store.add_run(run)
    times: Times = {"fake@1.0": (1000, (600, 300))}
    without_rate = served(run, 8, 0, times)
    cpu_alone = tuple(sample for sample in without_rate.samples if sample.metric is not Metric.ELAPSED_NS)
    without_rate = without_rate.model_copy(update={"samples": cpu_alone})
    empty_store.add_invocations(run, [served(run, 1, 0, times), without_rate])
    answer = client.get("/scaling").json()
    assert (answer["loads"], answer["subjects"]) == ([], [])
