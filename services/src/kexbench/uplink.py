"""The API as pods use it: with a token that Kubernetes keeps renewing, and patience while nobody answers."""

import hashlib
import os
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from kexbench.api.calling import API_PREFIX, NO_CERTIFICATES, problem_words

Found = TypeVar("Found")
PATIENCE_S = 1800.0
"""So long is asked again while nobody answers. What was measured is on the disk meanwhile."""
LONGEST_WAIT_S = 30.0
"""Between two tries; the first ones follow each other sooner."""
_TIMEOUT_S = 120.0
_LATER = (408, 429, 500, 502, 503, 504)


class Refused(Exception):
    """The API will not do it, however often it is asked; the text is its problem's detail and remedy."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Unreachable(Exception):
    """Nobody answered for as long as there was patience; the text says what was tried."""


def _trusted(url: str) -> ssl.SSLContext:
    """What the system trusts, or SSL_CERT_FILE says. To read it takes a fifth of a second: only where it is needed."""
    return ssl.create_default_context() if url.startswith("https:") else NO_CERTIFICATES


class NoToken(Exception):
    """Nothing says who asks; the text says what is wrong with the token's file."""


class Uplink:
    """`say` is told when it has to wait. Raises Refused, Unreachable and NoToken."""

    def __init__(
        self,
        url: str,
        token_file: Path,
        say: Callable[[str], None],
        *,
        patience_s: float = PATIENCE_S,
        longest_wait_s: float = LONGEST_WAIT_S,
    ) -> None:
        self.page = f"{url.rstrip('/')}/runs/"
        """Where runs can be looked at."""
        self._token_file = token_file
        self._say = say
        self._patience_s = patience_s
        self._longest_wait_s = longest_wait_s
        self._http = httpx.Client(
            base_url=url.rstrip("/") + API_PREFIX, timeout=_TIMEOUT_S, trust_env=False, verify=_trusted(url)
        )

    def get(self, kind: type[Found], path: str) -> Found:
        return TypeAdapter(kind).validate_json(self._ask("GET", path).content)

    def send(
        self, method: str, path: str, body: BaseModel | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        return self._ask(method, path, body.model_dump_json().encode() if body else b"", headers or {})

    def send_file(self, path: str, archive: BinaryIO) -> None:
        headers = {"Content-Length": str(os.fstat(archive.fileno()).st_size), "Content-Type": "application/x-tar"}
        for attempt in self._retrying():
            with attempt:
                archive.seek(0)
                _check(self._http.put(path, content=archive, headers={**self._token(), **headers}))

    def download(self, path: str, target: Path) -> str:
        """Write the answer to a file, whole or not at all; its SHA-256."""
        digest = ""
        partial = target.with_name(f".{target.name}")
        try:
            for attempt in self._retrying():
                with attempt:
                    digest = self._receive(path, partial)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return digest

    def stream(self, path: str) -> Iterator[bytes]:
        """An answer piece by piece, as it comes. One that breaks off raises httpx.TransportError: what was yielded by
        then would come twice."""
        with ExitStack() as open_answers:
            response: httpx.Response | None = None
            for attempt in self._retrying():
                with attempt, ExitStack() as failed:
                    response = failed.enter_context(self._http.stream("GET", path, headers=self._token()))
                    if not response.is_success:
                        response.read()
                    _check(response)
                    open_answers.push(failed.pop_all())
            assert response is not None, "the last attempt raised otherwise"
            yield from response.iter_bytes()

    def close(self) -> None:
        self._http.close()

    def _ask(
        self, method: str, path: str, content: bytes = b"", more: Mapping[str, str] = MappingProxyType({})
    ) -> httpx.Response:
        answer: httpx.Response | None = None
        for attempt in self._retrying():
            with attempt:
                headers = {**self._token(), "Content-Type": "application/json", **more}
                answer = _check(self._http.request(method, path, content=content, headers=headers))
        assert answer is not None, "the last attempt raised otherwise"
        return answer

    def _receive(self, path: str, target: Path) -> str:
        found = hashlib.sha256()
        with self._http.stream("GET", path, headers=self._token()) as response:
            if not response.is_success:
                response.read()
            _check(response)
            with target.open("wb") as file:
                for piece in response.iter_bytes():
                    found.update(piece)
                    file.write(piece)
        return found.hexdigest()

    def _token(self) -> dict[str, str]:
        """Read anew each time: the file is renewed before its token expires."""
        file = self._token_file
        try:
            token = file.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise NoToken(f"the token file {file} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise NoToken(f"the token file {file} holds no token: it is not text") from None
        if not token:
            raise NoToken(f"the token file {file} is empty")
        if not (token.isascii() and token.isprintable()):  # as a header takes it
            raise NoToken(f"the token file {file} holds no token, but something else")
        return {"Authorization": f"Bearer {token}"}

    def _retrying(self) -> Retrying:
        return Retrying(
            retry=retry_if_exception_type((httpx.TransportError, _Later)),
            wait=wait_random_exponential(multiplier=0.5, max=self._longest_wait_s),
            stop=stop_after_delay(self._patience_s),
            before_sleep=self._tell,
            retry_error_callback=self._give_up,
        )

    def _tell(self, state: RetryCallState) -> None:
        self._say(f"waiting for the API: {_reason(state)}")

    def _give_up(self, state: RetryCallState) -> None:
        raise Unreachable(f"the API did not answer for {self._patience_s:.0f} s: {_reason(state)}")


def _reason(state: RetryCallState) -> str:
    """In words; of some errors there is nothing but the name."""
    error = state.outcome.exception() if state.outcome else None
    return str(error) or type(error).__name__


class _Later(Exception):
    """An answer that may be another one in a while."""


def _check(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    detail, remedy = problem_words(response)
    text = f"{detail}; {remedy}" if remedy else detail
    if response.status_code in _LATER:
        raise _Later(text)
    raise Refused(response.status_code, text)
