"""Channels of both kinds, with what arrived at each: one that notes what it is sent, and apprise's with a webhook on
loopback behind it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Protocol

import pytest

from kexbench.notify.apprise_channel import KEY_HEADER, AppriseChannel
from kexbench.notify.port import Channel
from tests.notify.fake import FakeChannel

SECRET = "s3cr3t-T0ken"


@dataclass
class Posted:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Webhook:
    """A server that takes what it is sent, or answers as it is set to."""

    url: str = ""
    posted: list[Posted] = field(default_factory=list)
    status: int = 200
    answer: bytes = b""
    location: str = ""
    arrived: Event = field(default_factory=Event)
    """Set once something was posted and answered."""

    def address(self, more: str = "", *, schema: str = "json") -> str:
        return f"{schema}://hook:{SECRET}@{self.url}/services/{SECRET}-path?+X-Api-Key={SECRET}-key{more}"


@contextmanager
def webhook() -> Iterator[Webhook]:
    found = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.posted.append(Posted(self.path, dict(self.headers.items()), json.loads(body)))
            self.send_response(found.status)
            if found.location:
                self.send_header("Location", found.location)
            self.send_header("Content-Length", str(len(found.answer)))
            self.end_headers()
            self.wfile.write(found.answer)
            found.arrived.set()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as found:
        yield found


class Stage(Protocol):
    """A channel, what arrived there, and a way to have it refuse."""

    @property
    def channel(self) -> Channel: ...

    def arrived(self) -> list[tuple[str, str, str]]:
        """Key, title and text of each."""
        ...

    def refuse(self) -> None: ...
    def relent(self) -> None: ...


class FakeStage:
    def __init__(self) -> None:
        self.channel = FakeChannel()

    def arrived(self) -> list[tuple[str, str, str]]:
        return [(letter.key, letter.title, letter.text) for letter in self.channel.letters]

    def refuse(self) -> None:
        self.channel.refusal = "no such room"

    def relent(self) -> None:
        self.channel.refusal = ""


class AppriseStage:
    def __init__(self, hook: Webhook) -> None:
        self.hook = hook
        self.channel = AppriseChannel(hook.address("&format=text"))

    def arrived(self) -> list[tuple[str, str, str]]:
        taken = self.hook.posted if self.hook.status == 200 else []
        return [(one.headers[KEY_HEADER], one.body["title"], one.body["message"]) for one in taken]

    def refuse(self) -> None:
        self.hook.status = 503

    def relent(self) -> None:
        self.hook.status = 200
        self.hook.posted.clear()


@pytest.fixture(params=["fake", "apprise"])
def stage(request: pytest.FixtureRequest) -> Stage:
    return FakeStage() if request.param == "fake" else AppriseStage(request.getfixturevalue("hook"))
