"""What happened to a run, as one trace: by every process that works on it, to a collector that may be away."""

import json
import logging
import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from kexbench import traces
from kexbench.domain.runs import RunEvent, RunReason, RunState, Trigger
from kexbench.logs import log_json
from kexbench.queue.runs import keep_events, queue_run
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import NOON, SPEC, a_plan
from tests.collector import Collector
from tests.test_dispatcher import KITS, Stage

RUN = "20260101-120000-0a0b0c0d"
WITHOUT = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}


def test_the_ids_follow_from_the_run_and_are_the_same_in_every_release() -> None:
    assert traces.trace_id(RUN) == "ac2cda444e2207a46054456f54874d1a"
    assert traces.first_span_id(RUN) == "e35f1b74562bc74e"


def test_off_by_default_nothing_of_opentelemetry_is_imported_and_no_thread_is_started() -> None:
    program = (
        "import sys, threading; from kexbench import traces; traces.begin('x', sends_at_end=False)\n"
        "with traces.span('a', 'run'): pass\n"
        "traces.end(); print([name for name in sys.modules if 'opentelemetry' in name], threading.active_count())"
    )
    done = subprocess.run([sys.executable, "-c", program], env=WITHOUT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[] 1\n", "")


def test_without_the_extra_one_line_says_what_to_install_and_the_process_goes_on() -> None:
    program = (
        "import sys; sys.modules['opentelemetry.sdk'] = None; from kexbench import traces\n"
        "for _ in range(2):\n"
        "    with traces.span('a', 'run') as span: span.fail()\n"
        "traces.end(); print('goes on')"
    )
    wanted = {**WITHOUT, traces.ENDPOINT: "http://127.0.0.1:9"}
    done = subprocess.run([sys.executable, "-c", program], env=wanted, capture_output=True, text=True, check=True)
    assert done.stdout == "goes on\n"
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "OTEL_EXPORTER_OTLP_ENDPOINT is set, but traces need more packages: install kexbench[traces]"
    )


def test_a_setting_that_cannot_be_used_is_reported_once_without_its_value(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER", "secret")
    for _ in range(2):
        with traces.span("a", RUN):
            pass
    assert [record.getMessage() for record in caplog.records if record.name == "kexbench.traces"] == [
        "no traces are sent: check the variables OTEL_… (RuntimeError)"
    ]
    assert collector.spans == []


def test_spans_of_a_run_are_below_its_first_one_and_inner_ones_below_outer_ones(collector: Collector) -> None:
    with traces.span("outer", RUN, job_id="job", pool=None):
        with traces.span("inner", RUN), traces.span("of another run", "other"):
            pass
        traces.add("before", RUN, (NOON, NOON + timedelta(milliseconds=5)), {"case_ids": ["a", "b"]})
    traces.add_first("run", RUN, (NOON, NOON + timedelta(seconds=1)), {})
    other, inner, before, outer, first = collector.spans
    assert {span.trace_id for span in (inner, before, outer, first)} == {traces.trace_id(RUN)}
    assert other.trace_id == traces.trace_id("other")
    assert other.parent_id == traces.first_span_id("other")
    assert (first.span_id, first.parent_id) == (traces.first_span_id(RUN), "")
    assert outer.parent_id == first.span_id
    assert inner.parent_id == before.parent_id == outer.span_id
    assert before.end_ns - before.start_ns == 5_000_000
    assert before.start_ns == int(NOON.timestamp()) * 1_000_000_000
    assert outer.attributes == {"kexbench.run_id": RUN, "kexbench.job_id": "job"}
    assert before.attributes["kexbench.case_ids"] == ["a", "b"]
    assert {span.process for span in collector.spans} == {"kexbench test"}
    assert {path for path, _ in collector.requests} == {"/v1/traces"}


def test_an_error_is_named_by_its_class_and_its_text_is_not_sent(collector: Collector) -> None:
    with pytest.raises(RuntimeError), traces.span("fails", RUN):
        raise RuntimeError("https://user:secret@example.org")
    with traces.span("is failed", RUN) as span:
        span.fail()
    raised, failed = collector.spans
    assert (raised.has_failed, raised.failure, failed.has_failed) == (True, "RuntimeError", True)
    assert "secret" not in repr(raised)


def test_the_standard_variables_name_the_process_and_add_headers(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "ours")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20token")
    with traces.span("a", RUN):
        pass
    assert [span.process for span in collector.spans] == ["ours"]
    assert collector.headers[0]["authorization"] == "Bearer token"
    assert "token" not in repr(collector.spans)


def test_a_sampler_by_the_trace_keeps_or_drops_all_of_a_run(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    runs = [f"run-{number}" for number in range(40)]
    for run_id in runs:
        traces.add_first("run", run_id, (NOON, NOON), {})
        with traces.span("a", run_id):
            pass
    counts = {len(collector.of(run_id)) for run_id in runs}
    assert counts == {0, 2}


def test_nothing_is_sent_before_the_end_of_a_process_that_may_measure(collector: Collector) -> None:
    for number in range(3000):  # more than the batch of a process that sends meanwhile
        traces.add("a", f"run-{number}", (NOON, NOON))
    assert collector.requests == []
    assert len(collector.spans) == 3000


@pytest.mark.parametrize("accepts", [True, False])
def test_a_collector_that_never_answers_or_is_not_there_holds_nothing_up(
    accepts: bool, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That this test ends is what it shows; the system takes the connection, and nobody answers."""
    monkeypatch.setattr(traces, "EXPORT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        if not accepts:
            silent.close()
        monkeypatch.setenv(traces.ENDPOINT, address)
        with traces.span("a", RUN):
            pass
        traces.end()
    assert collector.spans == []


def test_the_wait_at_the_end_is_bounded_whatever_the_collector_does() -> None:
    program = (
        "from kexbench import traces; traces.FLUSH_S = 0.2\n"
        "with traces.span('a', 'run'): pass\n"
        "traces.end(); print('ended')"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        wanted = {**WITHOUT, traces.ENDPOINT: address, "OTEL_EXPORTER_OTLP_TIMEOUT": "3600", "NO_PROXY": "127.0.0.1"}
        done = subprocess.run([sys.executable, "-c", program], env=wanted, capture_output=True, text=True, check=True)
    assert done.stdout == "ended\n"


def test_a_line_of_the_log_about_a_run_has_the_id_of_its_trace(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        log_json("test")
        for run_id in (RUN, None):
            logging.getLogger("test").info("said", extra={"run_id": run_id})
    finally:
        root.handlers[:], root.level = handlers, level
    of_run, of_none = map(json.loads, capsys.readouterr().err.splitlines())
    assert of_run["trace_id"] == traces.trace_id(RUN)
    assert "trace_id" not in of_none


def test_the_process_that_measures_knows_nothing_of_traces() -> None:
    program = "import sys, kexbench.runner.__main__; print([name for name in sys.modules if 'opentelemetry' in name])"
    wanted = {**WITHOUT, traces.ENDPOINT: "http://127.0.0.1:9"}
    done = subprocess.run([sys.executable, "-c", program], env=wanted, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_dispatcher_adds_what_it_does_with_a_run(collector: Collector) -> None:
    stage = Stage()
    stage.control.kits = {KITS[0]: None, KITS[1]: "0123456789abcdef"}
    stage.tick()
    (kits,) = stage.open_workflows()
    stage.end(kits, well=True)
    stage.tick(2)
    for name in stage.open_workflows():
        stage.end(name, well=True)
    stage.tick()
    spans = collector.of(stage.run.run_id)
    assert spans == collector.spans, "one trace"
    assert [(span.name, span.attributes.get("kexbench.state")) for span in spans] == [
        ("build kits", None),
        ("record state", "building"),
        ("start run", None),
        ("submit jobs", None),
        ("record state", "running"),
        ("record state", "finished"),
    ]
    (submitted,) = [span for span in spans if span.name == "submit jobs"]
    assert (submitted.attributes["kexbench.jobs"], submitted.attributes["kexbench.pools"]) == (4, "amd-epyc,arm.n1")
    assert {span.parent_id for span in spans} == {traces.first_span_id(stage.run.run_id)}


def test_an_action_of_the_dispatcher_that_is_refused_is_marked_as_failed(collector: Collector) -> None:
    stage = Stage()
    stage.cluster.away = True
    stage.control.kits = {KITS[0]: None, KITS[1]: "0123456789abcdef"}
    stage.tick()
    stage.cluster.away = False

    def refuse(*_: object) -> None:
        from kexbench.execution.argo.cluster import ClusterError

        raise ClusterError("forbidden")

    stage.cluster.submit = refuse  # type: ignore[method-assign,assignment]
    stage.tick()
    (span,) = collector.of(stage.run.run_id)
    assert (span.name, span.has_failed, span.failure) == ("build kits", True, "ClusterError")


def event(minutes: int, state: RunState, reason: RunReason | None = None) -> RunEvent:
    return RunEvent(run_id=RUN, at=datetime.now(UTC) + timedelta(minutes=minutes), state=state, reason=reason)


def test_a_run_that_ended_is_the_first_span_with_its_states_below(
    collector: Collector, empty_store: ClickHouseStore
) -> None:
    queue_run(empty_store, RUN, Trigger.API, SPEC, a_plan())
    for minutes, state in ((1, RunState.BUILDING), (2, RunState.BUILDING), (3, RunState.RUNNING)):
        keep_events(empty_store, [event(minutes, state)])
    ended = event(5, RunState.FAILED, RunReason.RUNNER_FAILED)
    keep_events(empty_store, [ended])
    keep_events(empty_store, [ended])  # as when it is delivered again
    run, queued, building, running = collector.of(RUN)
    assert (run.name, run.span_id, run.parent_id) == ("run", traces.first_span_id(RUN), "")
    assert run.has_failed
    assert run.attributes == {
        "kexbench.run_id": RUN,
        "kexbench.spec": "example",
        "kexbench.trigger": "api",
        "kexbench.pools": ["local"],
        "kexbench.state": "failed",
        "kexbench.reason": "runner failed",
    }
    assert [span.name for span in (queued, building, running)] == ["queued", "building", "running"]
    assert (run.start_ns, run.end_ns) == (queued.start_ns, running.end_ns)
    assert (queued.end_ns, building.end_ns) == (building.start_ns, running.start_ns)


def test_a_resumed_run_adds_its_new_part_and_a_note_about_an_ended_one_adds_nothing(
    collector: Collector, empty_store: ClickHouseStore
) -> None:
    queue_run(empty_store, RUN, Trigger.API, SPEC, a_plan())
    keep_events(empty_store, [event(1, RunState.CANCELLED)])
    keep_events(empty_store, [event(2, RunState.QUEUED)])
    keep_events(empty_store, [event(3, RunState.RUNNING)])
    keep_events(empty_store, [event(4, RunState.FINISHED)])
    keep_events(empty_store, [event(5, RunState.FINISHED, RunReason.DISTURBED)])
    spans = collector.of(RUN)
    assert [span.name for span in spans] == ["run", "queued", "resumed run", "queued", "running"]
    assert len({span.span_id for span in spans}) == 5
