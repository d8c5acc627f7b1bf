"""Traces: what happened to a run, from the commit to the alert, as spans for a collector of OpenTelemetry.

Off unless OTEL_EXPORTER_OTLP_ENDPOINT is set. The processes that work on a run share only its id, so the ids of its
trace and of the trace's first span follow from that: every process adds to the same trace (docs/adr/0049).
"""

import hashlib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock, Thread
from typing import TYPE_CHECKING

from kexbench import __version__

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
EXPORT_S = 3.0
"""Timeout of a request to the collector, unless OTEL_EXPORTER_OTLP_TIMEOUT sets another."""
FLUSH_S = 5.0
"""A process that ends waits this long for the collector at most, and then drops its spans."""
REMEDY = f"install kexbench[traces], or unset {ENDPOINT}"
_HELD_MS, _HELD_SPANS = 24 * 3600 * 1000, 8192
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
_first_of: ContextVar[str | None] = ContextVar("first_of", default=None)
"""The run whose first span is being made."""
_log = logging.getLogger(__name__)

Attribute = str | int | Sequence[str] | None
Times = tuple[datetime, datetime]
"""When an action began and ended."""


def trace_id(run_id: str) -> str:
    """Of a run's trace, 32 hexadecimal digits."""
    return _digest(run_id)[:16].hex()


def first_span_id(run_id: str) -> str:
    """Of the span that all others of a run are below, 16 hexadecimal digits."""
    return _digest(run_id)[16:24].hex()


def _digest(run_id: str) -> bytes:
    """Neither part is all zeros, which would be invalid: nobody finds a text with such a SHA-256."""
    return hashlib.sha256(f"kexbench run {run_id}".encode()).digest()


def are_on() -> bool:
    """Whether somebody wants traces."""
    return bool(os.environ.get(ENDPOINT))


def begin(program: str, *, sends_at_end: bool) -> None:
    """Name this process, such as `kexbench serve`. With `sends_at_end` nothing is sent before `end`, so that nothing
    disturbs what is measured meanwhile."""
    _process.program, _process.sends_at_end = program, sends_at_end


def end() -> None:
    """Send what is left, for FLUSH_S at most. A span that is added later begins anew."""
    provider = _process.take()
    if provider is None:
        return
    # Looking up a name has no timeout, so the wait is bounded here. The thread does not keep the process alive.
    flushing = Thread(target=provider.shutdown, name="last spans", daemon=True)
    flushing.start()
    flushing.join(FLUSH_S)


class Span:
    """An action that goes on."""

    def fail(self) -> None:
        """Mark it as failed."""


@contextmanager
def span(name: str, run_id: str, **attributes: Attribute) -> Iterator[Span]:
    """An action of a run, for as long as the context lasts; spans of the run inside it are below it. An exception marks
    it as failed, with the exception's class alone: a text may have secrets."""
    tracer = _process.tracer()
    if tracer is None:
        yield Span()
        return
    from opentelemetry import trace

    class Recorded(Span):
        def fail(self) -> None:
            recorded.set_status(trace.StatusCode.ERROR)

    recorded = tracer.start_span(name, _below(run_id), attributes=_named(run_id, attributes))
    with trace.use_span(recorded, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield Recorded()
        except BaseException as error:
            recorded.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise


def add(
    name: str, run_id: str, times: Times, attributes: Mapping[str, Attribute] | None = None, *, has_failed: bool = False
) -> None:
    """An action of a run that has ended."""
    if tracer := _process.tracer():
        _add(tracer, name, run_id, _below(run_id), times, attributes or {}, has_failed=has_failed)


def add_first(
    name: str, run_id: str, times: Times, attributes: Mapping[str, Attribute], *, has_failed: bool = False
) -> None:
    """The whole run, which all its other spans are below."""
    if tracer := _process.tracer():
        from opentelemetry.context import Context

        token = _first_of.set(run_id)
        try:
            _add(tracer, name, run_id, Context(), times, attributes, has_failed=has_failed)
        finally:
            _first_of.reset(token)


def _add(
    tracer: "Tracer",
    name: str,
    run_id: str,
    context: "Context | None",
    times: Times,
    attributes: Mapping[str, Attribute],
    *,
    has_failed: bool,
) -> None:
    from opentelemetry.trace import StatusCode

    added = tracer.start_span(name, context, attributes=_named(run_id, attributes), start_time=_ns(times[0]))
    if has_failed:
        added.set_status(StatusCode.ERROR)
    added.end(_ns(max(times)))


def _ns(moment: datetime) -> int:
    """Since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def _named(run_id: str, attributes: Mapping[str, Attribute]) -> dict[str, str | int | Sequence[str]]:
    named = {"run_id": run_id, **attributes}
    return {f"kexbench.{name}": value for name, value in named.items() if value is not None}


def _below(run_id: str) -> "Context | None":
    """Below the current span if that is of the same run, otherwise below the run's first span."""
    from opentelemetry import trace
    from opentelemetry.context import Context

    of_run = int(trace_id(run_id), 16)
    if trace.get_current_span().get_span_context().trace_id == of_run:
        return None
    sampled = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    first = trace.SpanContext(of_run, int(first_span_id(run_id), 16), is_remote=True, trace_flags=sampled)
    return trace.set_span_in_context(trace.NonRecordingSpan(first), Context())


@dataclass
class _Process:
    """What this process sends its spans with, made for the first one."""

    program: str = "kexbench"
    sends_at_end: bool = False
    _provider: "TracerProvider | None" = None
    _is_broken: bool = False
    _lock: Lock = field(default_factory=Lock)

    def tracer(self) -> "Tracer | None":
        """None if traces are off."""
        if not are_on() or self._is_broken:
            return None
        with self._lock:
            if self._provider is None:
                self._provider = self._made()
            return self._provider.get_tracer("kexbench", __version__) if self._provider else None

    def take(self) -> "TracerProvider | None":
        with self._lock:
            provider, self._provider, self._is_broken = self._provider, None, False
            return provider

    def _made(self) -> "TracerProvider | None":
        """None if it cannot be made, which is logged once, and fails no run."""
        try:
            return _provider(self.program, sends_at_end=self.sends_at_end)
        except ImportError:
            _log.warning("%s is set, but traces need more packages: %s", ENDPOINT, REMEDY)
        except Exception as error:
            # Such as a timeout that is no number. The text could repeat a header with a token.
            _log.warning("no traces are sent: check the variables OTEL_… (%s)", type(error).__name__)
        self._is_broken = True
        return None


_process = _Process()


def _provider(program: str, *, sends_at_end: bool) -> "TracerProvider":
    """Not the global one, so that no library sends spans by it. Raises ImportError without the extra."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Ids(RandomIdGenerator):
        """Those of a run's first span follow from the run; others are random."""

        def generate_trace_id(self) -> int:
            run_id = _first_of.get()
            return int(trace_id(run_id), 16) if run_id else super().generate_trace_id()

        def generate_span_id(self) -> int:
            run_id = _first_of.get()
            return int(first_span_id(run_id), 16) if run_id else super().generate_span_id()

    timeout_s = None if any(os.environ.get(name) for name in _TIMEOUTS) else EXPORT_S
    exporter = OTLPSpanExporter(timeout=timeout_s)
    named = Resource({"service.name": program, "service.version": __version__})
    resource = Resource.create().merge(named).merge(OTELResourceDetector().detect())  # what is configured wins
    provider = TracerProvider(resource=resource, id_generator=Ids(), shutdown_on_exit=False)
    if sends_at_end:
        processor = BatchSpanProcessor(exporter, _HELD_SPANS, _HELD_MS, _HELD_SPANS)
    else:
        processor = BatchSpanProcessor(exporter)
    provider.add_span_processor(processor)
    return provider
