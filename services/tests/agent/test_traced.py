"""The trace of a job: what its pod did, and what the runner measured, added afterwards."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kexbench import traces
from kexbench.agent import __main__ as agent
from kexbench.agent import measure as measuring
from kexbench.agent.isolation import Found
from kexbench.agent.measure import RunnerFailed, measure
from kexbench.domain.plans import Isolation
from kexbench.execution.traced import MOST_BATCHES, add_invocations
from kexbench.runner.results import read_results
from tests.agent.conftest import EXCLUSIVE, Service
from tests.builders import NOON, a_run, an_invocation
from tests.collector import Collector


@pytest.fixture
def confined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "read_isolation", lambda _: Found(Isolation.EXCLUSIVE, "CPU 1"))


@pytest.mark.usefixtures("confined")
def test_a_job_is_traced_from_its_pod_to_the_store_and_nothing_is_sent_while_it_measures(
    service: Service, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = service.started()
    pod = service.pod(run)
    pod.fetch()
    sent_while_measuring: list[object] = []
    upload = measuring.upload

    def note_and_upload(*these: Any) -> None:
        sent_while_measuring.extend(collector.requests)
        upload(*these)

    monkeypatch.setattr(measuring, "upload", note_and_upload)
    assert measure(pod.settings, pod.api, pod.say)
    assert sent_while_measuring == []
    spans = collector.of(run.run_id)
    by_name = {span.name: span for span in spans}
    job = by_name["measure job"]
    invocations = [span for span in spans if span.name == "measure invocations"]
    assert [span.name for span in spans[-3:]] == ["measure job", "store invocations", "upload results"]
    assert {span.parent_id for span in invocations} == {job.span_id}
    assert {span.parent_id for span in spans if span not in invocations} == {traces.first_span_id(run.run_id)}
    facts = {name.removeprefix("kexbench."): value for name, value in job.attributes.items()}
    settings = pod.settings
    assert facts == {
        "run_id": run.run_id,
        "job_id": settings.job_id,
        "pool": "local",
        "node": settings.node_name,
        "attempt": 1,
    }
    results = read_results(settings.work / "results.ndjson")
    assert sum(int(str(span.attributes["kexbench.invocations"])) for span in invocations) == len(results)
    cases = {case for span in invocations for case in span.attributes["kexbench.case_ids"]}  # type: ignore[union-attr]
    assert cases == {result.case_id for result in results}
    assert all(earlier.end_ns <= later.start_ns for earlier, later in pairwise(invocations))
    assert by_name["store invocations"].attributes["kexbench.job_ids"] == [settings.job_id]
    assert {span.process for span in collector.spans} == {"kexbench test"}, "and none of the runner's process"


@pytest.mark.usefixtures("confined")
def test_a_runner_that_fails_marks_its_job(
    service: Service, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = service.started(EXCLUSIVE)
    pod = service.pod(run)
    pod.fetch()
    monkeypatch.setattr(measuring, "_run", lambda *_: 2)
    with pytest.raises(RunnerFailed):
        measure(pod.settings, pod.api, pod.say)
    assert [span.name for span in collector.of(run.run_id) if span.has_failed] == ["measure job"]


def test_many_invocations_share_a_few_spans(collector: Collector, tmp_path: Path) -> None:
    run, count = a_run(), 3 * MOST_BATCHES + 1
    results = tmp_path / "results.ndjson"
    results.write_text(f"{an_invocation(run).model_dump_json()}\n" * count)
    add_invocations(run.run_id, "job", results, NOON)
    spans = collector.of(run.run_id)
    assert len(spans) <= MOST_BATCHES
    assert sum(int(str(span.attributes["kexbench.invocations"])) for span in spans) == count


def test_what_an_earlier_process_measured_is_not_added_again(collector: Collector, tmp_path: Path) -> None:
    run, results = a_run(), tmp_path / "results.ndjson"
    measured = json.loads(an_invocation(run).model_dump_json())
    lines = [{**measured, "started_at": f"2026-01-01T1{hour}:00:00.000+00:00"} for hour in (1, 3)]
    results.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    add_invocations(run.run_id, "job", results, NOON)
    (span,) = collector.of(run.run_id)
    assert span.attributes["kexbench.invocations"] == 1


def test_the_last_line_of_a_pod_is_why_it_failed_also_where_the_collector_is_away(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        with traces.span("measure job", "run"):
            raise RunnerFailed("the runner failed with exit status 2")

    monkeypatch.setenv(traces.ENDPOINT, "http://127.0.0.1:9")
    monkeypatch.setattr(traces, "EXPORT_S", 0.2)
    monkeypatch.setattr(agent, "_measure", fail)
    assert agent.main(["measure"]) == agent.LOST
    assert capsys.readouterr().err.splitlines()[-1] == "the runner failed with exit status 2"
