"""Lets programs of this machine reach the cluster's API, which is in a network of its own."""

import socket
import threading
from contextlib import suppress

from devcluster.plan import HOST

_CHUNK = 65536


def listen() -> socket.socket:
    """A port of this machine's loopback; a process in the cluster's network inherits it and answers there."""
    return socket.create_server(("127.0.0.1", 0))


def relay(listener: socket.socket) -> None:
    """Pass each connection on to the API server, for as long as this process lives."""
    threading.Thread(target=_accept, args=(listener,), daemon=True).start()


def _accept(listener: socket.socket) -> None:
    while True:
        outer, _ = listener.accept()
        try:
            inner = socket.create_connection((HOST, 443))
        except OSError:
            outer.close()
            continue
        for source, target in ((outer, inner), (inner, outer)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(_CHUNK):
            target.sendall(chunk)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
