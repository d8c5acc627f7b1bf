"""A collector of OpenTelemetry on loopback: it takes OTLP over HTTP and keeps the spans."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from kexbench import traces

Value = str | int | list[str]


@dataclass(frozen=True)
class Received:
    """A span as the collector got it."""

    process: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    start_ns: int
    end_ns: int
    has_failed: bool
    failure: str
    attributes: dict[str, Value]


class Collector:
    def __init__(self) -> None:
        self.requests: list[tuple[str, list[Received]]] = []
        """The path and the spans of each request."""
        self.headers: list[dict[str, str]] = []

    @property
    def spans(self) -> list[Received]:
        """All that were sent, those of this process included, in the order in which they ended in their process."""
        traces.end()
        return [span for _, spans in self.requests for span in spans]

    def of(self, run_id: str) -> list[Received]:
        return [span for span in self.spans if span.trace_id == traces.trace_id(run_id)]


def _read(body: bytes) -> Iterator[Received]:
    request = ExportTraceServiceRequest.FromString(body)
    for of_resource in request.resource_spans:
        resource = {each.key: each.value.string_value for each in of_resource.resource.attributes}
        for span in (span for of_scope in of_resource.scope_spans for span in of_scope.spans):
            attributes: dict[str, Value] = {}
            for each in span.attributes:
                kind = each.value.WhichOneof("value")
                listed = [item.string_value for item in each.value.array_value.values]
                attributes[each.key] = listed if kind == "array_value" else getattr(each.value, kind)
            yield Received(
                process=resource["service.name"],
                name=span.name,
                trace_id=span.trace_id.hex(),
                span_id=span.span_id.hex(),
                parent_id=span.parent_span_id.hex(),
                start_ns=span.start_time_unix_nano,
                end_ns=span.end_time_unix_nano,
                has_failed=span.status.code == span.status.STATUS_CODE_ERROR,
                failure=span.status.message,
                attributes=attributes,
            )


@contextmanager
def collecting() -> Iterator[tuple[Collector, str]]:
    """A collector and its address."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.requests.append((self.path, list(_read(body))))
            collector.headers.append(dict(self.headers))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector, f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
