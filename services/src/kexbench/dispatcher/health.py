"""The dispatcher's endpoints for the kubelet and Prometheus. Liveness does not depend on the API and Kubernetes: if one
of them is away, a restart of this process does not help."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, generate_latest

from kexbench.queue.troubles import Troubles

STALE_S = 900.0
"""A round takes seconds, or longer if others answer slowly; each of its requests ends after a minute."""


class Health:
    """Health of one dispatcher. `clock` returns monotonic seconds."""

    def __init__(self, troubles: Troubles, clock: Callable[[], float] = time.monotonic) -> None:
        self.troubles = troubles
        self._clock = clock
        self._round_ended_at = clock()
        self._registry = CollectorRegistry()
        words = "Rounds over all open runs, by whether the API and Kubernetes answered every request."
        self._rounds = Counter("kexbench_dispatcher_rounds", words, ["result"], registry=self._registry)
        for result in ("answered", "failed"):
            self._rounds.labels(result)  # 0 from the start, so that the first event is an increase
        words = "Parts of the dispatcher that currently fail."
        Gauge("kexbench_dispatcher_troubles", words, registry=self._registry).set_function(
            lambda: len(self.troubles.now())
        )

    def end_round(self, *, answered: bool) -> None:
        """Record the end of a round."""
        self._round_ended_at = self._clock()
        self._rounds.labels("answered" if answered else "failed").inc()

    @property
    def lives(self) -> bool:
        return self._clock() - self._round_ended_at < STALE_S

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Status, content type and body."""
        if path == "/metrics":
            return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(self._registry)
        if path == "/healthz":
            status = HTTPStatus.OK if self.lives else HTTPStatus.SERVICE_UNAVAILABLE
            return status, "text/plain; charset=utf-8", status.phrase.encode()
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
