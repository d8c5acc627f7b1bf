"""Pods reach the API whenever somebody answers, learn why where it refuses, and get files whole."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kexbench.api.calling import API_PREFIX
from kexbench.api.gate import MAX_UPLOAD_BYTES
from kexbench.api.models import StoredInvocation
from kexbench.api.verdicts import MOST_RUNS
from kexbench.client import _VERDICTS, ApiClient, Refused, Unreachable, batches_of, token_in
from kexbench.store.lock import ServiceAddress
from tests.builders import a_run, an_invocation

KEY = StoredInvocation(job_id="job", attempt=1, case_id="case", invocation=3)


@dataclass(frozen=True)
class Reply:
    """`missing`: so many bytes fewer than announced are sent. Status 0 is to hang up."""

    status: int = 200
    body: bytes = b""
    missing: int = 0


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    token: str | None
    length: str | None
    body: bytes


@dataclass
class Api:
    """A server on loopback that answers what it is set to, in this order. It has its port from the start and listens
    once it is started, so that before nobody answers there."""

    replies: list[Reply] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._server = HTTPServer(("127.0.0.1", 0), _handler(self), bind_and_activate=False)
        self._server.server_bind()
        self._thread: Thread | None = None
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        self._server.server_activate()
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def stop(self) -> None:
        if self._thread:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


def _handler(api: Api) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = self.headers["Content-Length"]
            body = self.rfile.read(int(length or 0))
            api.asked.append(Asked(self.command, self.path, self.headers["Authorization"], length, body))
            reply = api.replies.pop(0)
            if not reply.status:
                return
            self.send_response(reply.status)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body[: len(reply.body) - reply.missing])

        do_GET = do_PUT = do_POST = _answer  # noqa: N815 (the names that http.server looks for)

        def log_message(self, format: str, *args: Any) -> None: ...

    return Handler


@pytest.fixture
def api() -> Iterator[Api]:
    found = Api()
    yield found
    found.stop()


@dataclass
class Pod:
    """A client, what it said, and what happens when it says something."""

    api: ApiClient
    token_file: Path
    said: list[str]
    on_wait: list[Callable[[], object]]


MakePod = Callable[..., Pod]


@pytest.fixture
def pod(api: Api, tmp_path: Path) -> Iterator[MakePod]:
    """`pod()` has a client of the API that waits for next to nothing between two tries."""
    opened: list[ApiClient] = []

    def make(*, patience_s: float = 60) -> Pod:
        token_file, said, on_wait = tmp_path / "token", list[str](), list[Callable[[], object]]()
        token_file.write_text("first\n")

        def say(text: str) -> None:
            said.append(text)
            if on_wait:
                on_wait.pop(0)()

        link = ApiClient(api.url, token_in(token_file), say, patience_s=patience_s, longest_wait_s=0.01)
        opened.append(link)
        return Pod(link, token_file, said, on_wait)

    yield make
    for link in opened:
        link.close()


def problem(detail: str, remedy: str | None = None) -> bytes:
    return json.dumps({"detail": detail, **({"remedy": remedy} if remedy else {})}).encode()


def test_what_is_asked_for_comes_as_what_it_is(api: Api, pod: MakePod) -> None:
    api.replies.append(Reply(body=f"[{KEY.model_dump_json()}]".encode()))
    api.start()
    assert pod().api.get(list[StoredInvocation], "/runs/a/invocations") == [KEY]
    assert (api.asked[0].method, api.asked[0].path) == ("GET", f"{API_PREFIX}/runs/a/invocations")


def test_while_nobody_answers_it_waits_and_goes_on_when_somebody_does(api: Api, pod: MakePod) -> None:
    one = pod()
    api.replies.append(Reply(204))
    one.on_wait.append(api.start)
    one.api.send("PUT", "/references", KEY)
    assert one.said[0].startswith(f"waiting for the API at {api.url}: ")
    assert "refused" in one.said[0]
    assert [asked.body for asked in api.asked] == [KEY.model_dump_json().encode()]


def test_an_api_that_hangs_up_is_asked_again(api: Api, pod: MakePod) -> None:
    api.replies += [Reply(0), Reply(204)]
    api.start()
    one = pod()
    one.api.send("POST", "/runs/a/invocations", KEY)
    assert len(one.said) == 1
    assert api.asked[0] == api.asked[1]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_an_answer_that_may_be_another_one_later_is_asked_for_again(api: Api, pod: MakePod, status: int) -> None:
    api.replies += [Reply(status, problem("the store is away", "try again")), Reply(status), Reply(204)]
    api.start()
    one = pod()
    one.api.send("POST", "/runs/a/invocations", KEY)
    assert one.said == [
        f"waiting for the API at {api.url}: the store is away; try again",
        f"waiting for the API at {api.url}: the API answered {status}",
    ]
    assert {asked.body for asked in api.asked} == {KEY.model_dump_json().encode()}


@pytest.mark.parametrize("status", [307, 400, 401, 403, 404, 409, 413, 422])
def test_a_refusal_is_reported_with_its_detail_and_remedy_and_not_asked_again(
    api: Api, pod: MakePod, status: int
) -> None:
    api.replies.append(Reply(status, problem("run a is over", "start another one")))
    api.start()
    one = pod()
    with pytest.raises(Refused) as caught:
        one.api.send("PUT", "/runs/a")
    assert (caught.value.status, str(caught.value)) == (status, "run a is over; start another one")
    assert one.said == []
    assert len(api.asked) == 1


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (problem("no such run"), "no such run"),
        (b"<html>", "the API answered 404"),
        (b"[]", "the API answered 404"),
        (b"{}", "the API answered 404"),
        (b'{"detail": 7}', "the API answered 404"),
    ],
)
def test_a_refusal_without_a_remedy_or_in_no_words_of_ours_is_reported_all_the_same(
    api: Api, pod: MakePod, body: bytes, says: str
) -> None:
    api.replies.append(Reply(404, body))
    api.start()
    with pytest.raises(Refused) as caught:
        pod().api.get(StoredInvocation, "/nothing")
    assert str(caught.value) == says


def test_the_token_is_read_anew_for_each_request_also_for_one_that_is_repeated(api: Api, pod: MakePod) -> None:
    api.replies += [Reply(204), Reply(503), Reply(204)]
    api.start()
    one = pod()
    one.on_wait.append(lambda: one.token_file.write_text("third"))
    one.api.send("PUT", "/references")
    one.token_file.write_text("second\n")
    one.api.send("PUT", "/references")
    assert [asked.token for asked in api.asked] == ["Bearer first", "Bearer second", "Bearer third"]


def test_patience_ends_and_what_was_tried_is_named(pod: MakePod) -> None:
    one = pod(patience_s=0)
    with pytest.raises(Unreachable, match=r"the API at http://127\.0\.0\.1:\d+ did not answer for 0 s: .*refused"):
        one.api.send("PUT", "/references")


def test_patience_ends_with_an_api_that_can_not_answer_too(api: Api, pod: MakePod) -> None:
    api.replies.append(Reply(503, problem("the store is away")))
    api.start()
    with pytest.raises(Unreachable, match="the store is away"):
        pod(patience_s=0).api.send("PUT", "/references")


def test_a_file_is_sent_whole_each_time_with_its_length(api: Api, pod: MakePod, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000
    (tmp_path / "kit.tar").write_bytes(content)
    api.replies += [Reply(503), Reply(0), Reply(200)]
    api.start()
    with (tmp_path / "kit.tar").open("rb") as archive:
        pod().api.send_file("/kits/0123", archive)
    assert [asked.body for asked in api.asked] == [content] * 3
    assert {asked.length for asked in api.asked} == {str(len(content))}


def test_a_file_that_is_refused_is_not_sent_again(api: Api, pod: MakePod, tmp_path: Path) -> None:
    (tmp_path / "kit.tar").write_bytes(b"no kit")
    api.replies.append(Reply(422, problem("the kit is damaged", "build it again")))
    api.start()
    with (
        (tmp_path / "kit.tar").open("rb") as archive,
        pytest.raises(Refused, match="the kit is damaged; build it again"),
    ):
        pod().api.send_file("/kits/0123", archive)
    assert len(api.asked) == 1


def test_a_download_is_a_file_with_its_hash(api: Api, pod: MakePod, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000
    api.replies.append(Reply(body=content))
    api.start()
    one = pod()
    assert one.api.download("/kits/0123", tmp_path / "kit.tar") == hashlib.sha256(content).hexdigest()
    assert (tmp_path / "kit.tar").read_bytes() == content
    assert sorted(tmp_path.iterdir()) == [tmp_path / "kit.tar", one.token_file]


def test_a_download_that_is_cut_off_is_tried_again_and_never_half_there(api: Api, pod: MakePod, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000
    api.replies += [Reply(body=content, missing=1), Reply(body=content, missing=200_000), Reply(body=content)]
    api.start()
    one, seen = pod(), []
    one.on_wait += [lambda: seen.append((tmp_path / "kit.tar").exists())] * 2
    assert one.api.download("/kits/0123", tmp_path / "kit.tar") == hashlib.sha256(content).hexdigest()
    assert (tmp_path / "kit.tar").read_bytes() == content
    assert seen == [False, False]


@pytest.mark.parametrize(
    ("reply", "raised"), [(Reply(body=b"half of it", missing=5), Unreachable), (Reply(404, b"not this"), Refused)]
)
def test_a_download_that_fails_leaves_nothing(
    api: Api, pod: MakePod, tmp_path: Path, reply: Reply, raised: type[Exception]
) -> None:
    api.replies.append(reply)
    api.start()
    one = pod(patience_s=0)
    with pytest.raises(raised):
        one.api.download("/kits/0123", tmp_path / "kit.tar")
    assert list(tmp_path.iterdir()) == [one.token_file]


def test_a_trailing_slash_of_the_address_is_no_part_of_the_path(api: Api, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("token")
    api.replies.append(Reply(204))
    api.start()
    with closing(ApiClient(f"{api.url}/", token_in(tmp_path / "token"), print)) as link:
        link.send("PUT", "/references")
    assert api.asked[0].path == f"{API_PREFIX}/references"


def test_without_patience_everything_is_asked_once_and_any_answer_is_the_last_word(api: Api) -> None:
    address = ServiceAddress(pid=1, url=api.url, secret="s" * 64)
    with closing(ApiClient.here(address)) as client:
        with pytest.raises(Unreachable, match=r"the service does not answer: .*refused"):
            client.send("PUT", "/references")
        api.replies += [Reply(503, problem("the store is away", "try again")), Reply(204)]
        api.start()
        with pytest.raises(Refused) as caught:
            client.send("PUT", "/references")
        assert (caught.value.detail, caught.value.remedy, len(api.replies)) == ("the store is away", "try again", 1)


def test_a_stream_that_breaks_off_says_so_and_is_not_asked_for_again(api: Api, pod: MakePod) -> None:
    api.replies += [Reply(body=b"half of it", missing=5), Reply(body=b"never asked for")]
    api.start()
    with pytest.raises(Unreachable, match="the service does not answer: "):
        list(pod().api.stream("/export"))
    assert len(api.asked) == 1


def test_a_delivery_is_cut_into_bodies_that_the_service_takes() -> None:
    run = a_run()
    large = an_invocation(run, cpu_ns={"fake@1.0": tuple(map(float, range(100_000)))})
    bodies = list(batches_of([large] * 20))
    assert sum(count for count, _ in bodies) == 20
    assert [len(json.loads(body)) for _, body in bodies] == [count for count, _ in bodies]
    assert max(len(body) for _, body in bodies) <= MAX_UPLOAD_BYTES
    assert len(bodies) > 1


def test_as_many_verdicts_are_read_in_one_request_as_the_service_answers() -> None:
    assert _VERDICTS == MOST_RUNS


def test_the_address_is_said_without_the_password_in_it() -> None:
    said: list[str] = []
    link = ApiClient("http://alice:hunter2@127.0.0.1:1", lambda: "", said.append, patience_s=0.1, longest_wait_s=0.01)
    with closing(link), pytest.raises(Unreachable) as raised:
        link.send("PUT", "/references")
    assert said[0].startswith("waiting for the API at http:")
    assert "hunter2" not in "".join((*said, str(raised.value)))
