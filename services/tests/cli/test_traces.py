"""The trace of a command that measures: sent when it has ended, and no collector fails it."""

import socket

import pytest

from kexbench import traces
from tests.cli.conftest import Cli
from tests.collector import Collector

RUN_SPANS = {
    "build kits",
    "measure job",
    "measure invocations",
    "store invocations",
    "run",
    "queued",
    "building",
    "running",
}


def run_id_of(collector: Collector) -> str:
    (run,) = [span for span in collector.spans if span.name == "run"]
    return str(run.attributes["kexbench.run_id"])


@pytest.mark.long
def test_a_run_of_this_machine_is_one_trace_sent_at_its_end_and_needs_no_answer(
    cli: Cli, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = cli.spec("traced", "1.0", invocations=2)
    done = cli("run", spec)
    assert done.status == 0, done.err
    run_id = run_id_of(collector)
    assert collector.of(run_id) == collector.spans
    assert {span.name for span in collector.spans} == RUN_SPANS
    assert {span.process for span in collector.spans} == {"kexbench run"}
    assert len(collector.requests) == 1, "at the end"
    (run,) = [span for span in collector.spans if span.name == "run"]
    assert (run.span_id, run.has_failed) == (traces.first_span_id(run_id), False)
    jobs = {span.span_id: span for span in collector.spans if span.name == "measure job"}
    for span in collector.spans:
        inner = span.name == "measure invocations"
        assert span.parent_id in (jobs if inner else {run.span_id, ""})

    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv(traces.ENDPOINT, f"http://127.0.0.1:{silent.getsockname()[1]}")
        done = cli("run", spec)
    assert done.status == 0, done.err
