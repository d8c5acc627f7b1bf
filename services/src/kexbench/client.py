"""The API client of commands, pods, the dispatcher, the watcher and the notifier. It also delivers a run's results
to the API."""

import getpass
import hashlib
import os
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Self, TypeVar
from urllib.parse import urlencode

import httpx2
from pydantic import BaseModel, TypeAdapter
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_after_delay,
    wait_exponential,
    wait_random_exponential,
)

from kexbench.api.alert_models import ToSend
from kexbench.api.calling import API_PREFIX, NO_CERTIFICATES, problem_words, sign_role_token, sign_run_token
from kexbench.api.commit_models import CommitPage, CommittedSpec, CommitView, FollowedSpec, FollowedView
from kexbench.api.models import StoredInvocation
from kexbench.api.run_models import DryRunRequest, DryRunView
from kexbench.domain.addresses import without_users
from kexbench.domain.commits import BranchHead, Check, HandledCommit
from kexbench.domain.following import FollowedCommit
from kexbench.domain.notifications import Sending
from kexbench.domain.runs import Run, RunEvent
from kexbench.domain.samples import Invocation
from kexbench.domain.verdicts import RunVerdict
from kexbench.execution.folder import RunFolder
from kexbench.service import reach_service
from kexbench.store.lock import ServiceAddress
from kexbench.wiring import Installation

if TYPE_CHECKING:
    from kexbench.api.rights import Role

Answer = TypeVar("Answer")
Token = Callable[[], str]
"""Returns the access token for each request. Raises NoToken."""
PATIENCE_S = 1800.0
"""How long a pod retries while the API does not answer. Its results are on disk meanwhile."""
LONGEST_WAIT_S = 30.0
"""Between two tries; the first tries are closer together."""
DELIVERY_ATTEMPTS = 5
_TIMEOUT_S = 120.0
_LATER = (408, 429, 500, 502, 503, 504)
_COMMITS = 50
_VERDICTS = 50
"""Verdicts that are read in one request."""
_BATCH_BYTES = 8 << 20
"""Of invocations that are sent in one request, half of what the service takes. Smaller ones leave the store more to
merge. A larger invocation is sent alone."""


class ApiError(Exception):
    """The API did not do what was requested; the text says why, and what to do."""


class Refused(ApiError):
    """Retrying cannot help. The text is the problem's detail, and its remedy if there is one."""

    def __init__(self, status: int, detail: str, remedy: str | None = None) -> None:
        super().__init__(f"{detail}; {remedy}" if remedy else detail)
        self.status = status
        self.detail = detail
        self.remedy = remedy


class Unreachable(ApiError):
    """The API did not answer within the time limit; the text says what was tried."""


class NoToken(ApiError):
    """There is no access token; the text says what is wrong with the token's file."""


class _Transient(Exception):
    """A failure that may pass, so a retry makes sense."""


def user_name() -> str:
    """The user's name, as shown to others. Not every container knows it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def token_in(file: Path) -> Token:
    """The token in a file, which Kubernetes renews before it expires."""
    return partial(_read_token, file)


def token_for(address: ServiceAddress, role: "Role") -> Token:
    """A token for the user of this process, in a role at a service of this machine."""
    return lambda: sign_role_token(user_name(), role, address.secret, now=datetime.now(UTC))


class ApiClient:
    """Typed calls, all of which can be repeated. `say` reports each wait. Raises ApiError."""

    def __init__(
        self,
        url: str,
        token: Token,
        say: Callable[[str], None] = lambda _: None,
        *,
        patience_s: float | None = PATIENCE_S,
        longest_wait_s: float = LONGEST_WAIT_S,
    ) -> None:
        """Without `patience_s` each request is sent once, and any answer is final."""
        url = url.rstrip("/")
        self.page: str | None = f"{url}/runs/"
        """Address of the runs' pages, if the service lasts longer than this command."""
        self._url = url
        self._place = without_users(url)
        self._token = token
        self._say = say
        self._patience_s = patience_s
        self._longest_wait_s = longest_wait_s
        self._http = httpx2.Client(base_url=url + API_PREFIX, timeout=_TIMEOUT_S, trust_env=False, verify=_trusted(url))

    @classmethod
    def here(cls, address: ServiceAddress, role: "Role" = "admin") -> Self:
        """For a service on this machine. It never retries: the next service has another address."""
        client = cls(address.url, token_for(address, role), patience_s=None)
        client.page = client.page if address.lasting else None
        return client

    @classmethod
    def of_run(cls, address: ServiceAddress, run_id: str) -> Self:
        """For the process that measures a run on this machine."""
        return cls(address.url, lambda: sign_run_token(run_id, address.secret, now=datetime.now(UTC)), patience_s=None)

    def get(self, kind: type[Answer], path: str) -> Answer:
        return TypeAdapter(kind).validate_json(self._request("GET", path).content)

    def post(
        self, kind: type[Answer], path: str, body: BaseModel | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        return TypeAdapter(kind).validate_json(self.send("POST", path, body, headers).content)

    def send(
        self, method: str, path: str, body: BaseModel | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        return self._request(method, path, body.model_dump_json().encode() if body else b"", headers or {})

    def send_file(self, path: str, archive: BinaryIO) -> None:
        headers = {"Content-Length": str(os.fstat(archive.fileno()).st_size), "Content-Type": "application/x-tar"}

        def put() -> None:
            archive.seek(0)
            self._checked(self._http.put(path, content=archive, headers=self._authorized(headers)))

        self._retried(put)

    def download(self, path: str, target: Path) -> str:
        """Write the answer to a file, whole or not at all. Returns its SHA-256."""
        incoming = target.with_name(f".{target.name}")
        try:
            digest = self._retried(lambda: self._receive(path, incoming))
            incoming.replace(target)
        finally:
            incoming.unlink(missing_ok=True)
        return digest

    def stream(self, path: str) -> Iterator[bytes]:
        """The pieces of an answer, as they arrive. A broken answer is not requested again: its first pieces would come
        twice."""
        with ExitStack() as answers:

            def opened() -> httpx2.Response:
                with ExitStack() as on_failure:
                    response = on_failure.enter_context(self._http.stream("GET", path, headers=self._authorized()))
                    self._checked(response)
                    answers.push(on_failure.pop_all())
                return response

            response = self._retried(opened)
            with _unreachable():
                yield from response.iter_bytes()

    def at_root(self, path: str) -> str:
        """The address of what the service serves without the API's prefix, for `stream`."""
        return f"{self._url}{path}"

    def heads(self, repository: str) -> Mapping[str, BranchHead]:
        """The newest handled commit of each branch."""
        return self.get(dict[str, BranchHead], f"/repositories/{repository}/heads")

    def run_committed(self, spec: CommittedSpec) -> Check:
        """Queue the run of a spec, once. Returns its run or its faults."""
        return self.post(Check, f"/repositories/{spec.commit.repository}/runs", spec)

    def plan_committed(self, spec: CommittedSpec) -> Check:
        """Plan a spec. Returns its dry run or its faults, or its run if it already has one."""
        request = DryRunRequest(
            spec_text=spec.spec_text,
            spec_file=spec.path,
            catalogue_text=spec.catalogue_text,
            subjects=spec.subjects,
            commit=spec.commit,
        )
        view = self.post(DryRunView, "/dry-runs", request)
        faults = tuple(view.faults)
        return Check(path=spec.path, reason=spec.reason, run_id=view.run_id, faults=faults, dry_run=view.dry_run)

    def note_commit(self, handled: HandledCommit) -> None:
        self.send("POST", f"/repositories/{handled.commit.repository}/commits", handled)

    def verdicts(self, run_ids: Sequence[str]) -> Mapping[str, RunVerdict]:
        """The verdicts of those runs that have ended."""
        verdicts: dict[str, RunVerdict] = {}
        for first in range(0, len(run_ids), _VERDICTS):
            query = urlencode([("run_id", run_id) for run_id in run_ids[first : first + _VERDICTS]])
            verdicts |= self.get(dict[str, RunVerdict], f"/verdicts?{query}")
        return verdicts

    def rings(self) -> Mapping[str, int]:
        """How many webhooks arrived for each repository."""
        return self.get(dict[str, int], "/rings")

    def commits(self, repository: str) -> Sequence[CommitView]:
        """The newest commits with specs, and the states of their runs."""
        return self.get(CommitPage, f"/commits?repository={repository}&limit={_COMMITS}").commits

    def followed(self, repository: str) -> Sequence[FollowedView]:
        """The newest checked commit of each branch that a spec of the repository follows."""
        return self.get(list[FollowedView], f"/repositories/{repository}/followed")

    def run_followed(self, spec: FollowedSpec) -> Check:
        """Queue the run of a library's commit, once. Returns its run or the spec's faults."""
        return self.post(Check, f"/repositories/{spec.following.repository}/followed-runs", spec)

    def note_followed(self, commit: FollowedCommit) -> None:
        self.send("POST", f"/repositories/{commit.following.repository}/followed", commit)

    def next_message(self) -> ToSend | None:
        """Start the next due message of the outbox."""
        content = self.send("POST", "/notifications/next").content
        return None if content == b"null" else ToSend.model_validate_json(content)

    def note_sending(self, sending: Sending) -> None:
        """Record the result of a started message."""
        self.send("POST", "/notifications/sendings", sending)

    def queued_run(self, run_id: str) -> Run:
        return self.get(Run, f"/open-runs/{run_id}")

    def put_run(self, run: Run) -> None:
        self.send("PUT", f"/runs/{run.run_id}", run)

    def add_event(self, event: RunEvent) -> None:
        self.send("POST", f"/runs/{event.run_id}/events", event)

    def deliver(self, folder: RunFolder, on_progress: Callable[[int, int], None]) -> None:
        """Send what the store lacks of a run. Stops at the first failure. Raises DamagedFile before anything is
        sent."""
        run = folder.run()
        events, invocations = folder.events(), folder.invocations(run)
        self.put_run(run)
        stored = {
            (row.job_id, row.attempt, row.case_id, row.invocation)
            for row in self.get(list[StoredInvocation], f"/runs/{run.run_id}/invocations")
        }
        missing = [
            each for each in invocations if (each.job_id, each.attempt, each.case_id, each.invocation) not in stored
        ]
        for sent in self.add_invocations(run.run_id, missing):
            on_progress(len(invocations) - len(missing) + sent, len(invocations))
        for event in events:
            self.add_event(event)

    def add_invocations(self, run_id: str, invocations: Iterable[Invocation]) -> Iterator[int]:
        """Send invocations of a run, several at a time. After each request, yields the number that is stored so far."""
        sent = 0
        for count, batch in batches_of(invocations):
            self._request("POST", f"/runs/{run_id}/invocation-batches", batch)
            sent += count
            yield sent

    def close(self) -> None:
        self._http.close()

    def _request(
        self, method: str, path: str, content: bytes = b"", extra_headers: Mapping[str, str] = MappingProxyType({})
    ) -> httpx2.Response:
        headers = {"Content-Type": "application/json", **extra_headers}
        return self._retried(
            lambda: self._checked(self._http.request(method, path, content=content, headers=self._authorized(headers)))
        )

    def _authorized(self, headers: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token()}", **headers}

    def _receive(self, path: str, target: Path) -> str:
        digest = hashlib.sha256()
        with self._http.stream("GET", path, headers=self._authorized()) as response:
            self._checked(response)
            with target.open("wb") as file:
                for piece in response.iter_bytes():
                    digest.update(piece)
                    file.write(piece)
        return digest.hexdigest()

    def _checked(self, response: httpx2.Response) -> httpx2.Response:
        if response.is_success:
            return response
        response.read()
        refused = Refused(response.status_code, *problem_words(response))
        if self._patience_s is not None and response.status_code in _LATER:
            raise _Transient(str(refused))
        raise refused

    def _retried(self, request: Callable[[], Answer]) -> Answer:
        """Retry until the request succeeds or is refused, within the time limit."""
        if self._patience_s is None:
            with _unreachable():
                return request()
        return Retrying(
            retry=retry_if_exception_type((httpx2.TransportError, _Transient)),
            wait=wait_random_exponential(multiplier=0.5, max=self._longest_wait_s),
            stop=stop_after_delay(self._patience_s),
            before_sleep=lambda state: self._say(f"waiting for the API at {self._place}: {_reason_in(state)}"),
            retry_error_callback=self._give_up,
        )(request)

    def _give_up(self, state: RetryCallState) -> None:
        raise Unreachable(f"the API at {self._place} did not answer for {self._patience_s:.0f} s: {_reason_in(state)}")


def deliver_run(
    installation: Installation, folder: RunFolder, on_progress: Callable[[int, int], None] = lambda _done, _total: None
) -> None:
    """Deliver a run to the process that serves the store. If that process ends, another one is found or started, and
    stored results are not sent again. Raises the error of the last attempt."""
    retrying = Retrying(
        retry=retry_if_exception_type(Unreachable),
        stop=stop_after_attempt(DELIVERY_ATTEMPTS),
        wait=wait_exponential(multiplier=0.2, max=5),
        reraise=True,
    )
    for attempt in retrying:
        with (
            attempt,
            reach_service(installation) as address,
            closing(ApiClient.of_run(address, folder.path.name)) as api,
        ):
            api.deliver(folder, on_progress)


def batches_of(invocations: Iterable[Invocation]) -> Iterator[tuple[int, bytes]]:
    """The bodies of requests that deliver invocations, each with the number of its invocations."""
    batch: list[bytes] = []
    for invocation in invocations:
        document = invocation.model_dump_json().encode()
        if batch and sum(map(len, batch)) + len(document) > _BATCH_BYTES:
            yield len(batch), b"[" + b",".join(batch) + b"]"
            batch = []
        batch.append(document)
    if batch:
        yield len(batch), b"[" + b",".join(batch) + b"]"


def _trusted(url: str) -> ssl.SSLContext:
    """The certificates of the system, or of SSL_CERT_FILE. Reading them takes 0.2 s, so only https does it."""
    return ssl.create_default_context() if url.startswith("https:") else NO_CERTIFICATES


def _read_token(file: Path) -> str:
    try:
        token = file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise NoToken(f"the token file {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise NoToken(f"the token file {file} holds no token: it is not text") from None
    if not token:
        raise NoToken(f"the token file {file} is empty")
    if not (token.isascii() and token.isprintable()):  # valid in a header
        raise NoToken(f"the token file {file} holds something other than a token")
    return token


@contextmanager
def _unreachable() -> Iterator[None]:
    try:
        yield
    except httpx2.TransportError as error:
        raise Unreachable(f"the service does not answer: {_reason(error)}") from error


def _reason(error: BaseException | None) -> str:
    """The text of an error, or its name if it has no text."""
    return str(error) or type(error).__name__


def _reason_in(state: RetryCallState) -> str:
    return _reason(state.outcome.exception() if state.outcome else None)
