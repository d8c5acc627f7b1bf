"""The dispatcher's endpoints for the kubelet and Prometheus. Liveness does not depend on the API and Kubernetes: if one
of them is away, a restart of this process does not help."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeVar, cast, get_args

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from kexbench.api.metrics import LoopMetrics
from kexbench.execution.leases import LEASE_S
from kexbench.queue.troubles import Troubles

STALE_S = 900.0
"""A round takes seconds, or longer if others answer slowly; each of its requests ends after a minute."""


Port = TypeVar("Port")
Asked = Literal["api", "kubernetes"]
_BUCKETS_S = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0)


class _Counted:
    def __init__(self, port: object, count: Callable[[], None]) -> None:
        self._port = port
        self._count = count

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self._count()
            return method(*arguments, **named)

        return call


class Health:
    """Health of one dispatcher. `clock` returns monotonic seconds."""

    def __init__(self, troubles: Troubles, clock: Callable[[], float] = time.monotonic) -> None:
        self.troubles = troubles
        self._clock = clock
        self._round_ended_at = clock()
        self._held_at = -math.inf
        self._stands_by = False
        self._registry = CollectorRegistry()
        words = "Rounds over all open runs, by whether the API and Kubernetes answered every request."
        self._rounds = Counter("kexbench_dispatcher_rounds", words, ["result"], registry=self._registry)
        for result in ("answered", "failed"):
            self._rounds.labels(result)  # 0 from the start, so that the first event is an increase
        words = "Seconds that rounds took."
        name = "kexbench_dispatcher_round_seconds"
        self._seconds = Histogram(name, words, registry=self._registry, buckets=_BUCKETS_S)
        words = "Questions of rounds, by whom they went to; answers at hand count too."
        self._requests = Counter("kexbench_dispatcher_requests", words, ["to"], registry=self._registry)
        for to in get_args(Asked):
            self._requests.labels(to)
        self._registry.register(LoopMetrics(troubles))
        words = "1 in the dispatcher that acts, 0 in one that stands by."
        Gauge("kexbench_dispatcher_acts", words, registry=self._registry).set_function(lambda: float(self.acts()))
        words = "Parts of the dispatcher that currently fail."
        Gauge("kexbench_dispatcher_troubles", words, registry=self._registry).set_function(
            lambda: len(self.troubles.now())
        )

    @contextmanager
    def timed_round(self) -> Iterator[None]:
        began_at = self._clock()
        yield
        self._seconds.observe(self._clock() - began_at)

    def counted(self, port: Port, to: Asked) -> Port:
        """The port, each of whose calls is counted as a request."""
        return cast(Port, _Counted(port, self._requests.labels(to).inc))

    def end_round(self, *, answered: bool) -> None:
        """Record the end of a round. One that stands by has none, since it asks nobody."""
        self._round_ended_at = self._clock()
        if self._stands_by:
            return
        self._rounds.labels("answered" if answered else "failed").inc()

    def note_lease(self, *, is_ours: bool) -> None:
        self._stands_by = not is_ours
        self._held_at = self._clock() if is_ours else -math.inf

    def acts(self) -> bool:
        """Whether this dispatcher holds the lease, as far as it knows."""
        return self._clock() - self._held_at < LEASE_S

    @property
    def lives(self) -> bool:
        return self._clock() - self._round_ended_at < STALE_S

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Status, content type and body."""
        if path == "/metrics":
            return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(self._registry)
        if path == "/healthz":
            status = HTTPStatus.OK if self.lives else HTTPStatus.SERVICE_UNAVAILABLE
            words = f"{status.phrase}: {'acts' if self.acts() else 'stands by'}"
            return status, "text/plain; charset=utf-8", words.encode()
        return HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"use /healthz or /metrics"

    @contextmanager
    def served(self, port: int) -> Iterator[int]:
        """Serves in a thread while the context lasts; port 0 selects a free port. Raises OSError."""
        answer = self.answer

        class Handler(BaseHTTPRequestHandler):
            timeout = 10.0

            def do_GET(self) -> None:
                status, kind, body = answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Logs nothing, because probes come every few seconds."""

        # The kubelet and Prometheus use the pod's address. The answers are not secret.
        with ThreadingHTTPServer(("", port), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, name="health")
            thread.start()
            try:
                yield server.server_address[1]
            finally:
                server.shutdown()
                thread.join()
