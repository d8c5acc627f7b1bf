"""The API as everybody asks it: commands, pods, the dispatcher, and what watches and notifies. And the delivery of a
run's results to it."""

import getpass
import hashlib
import os
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Self, TypeVar

import httpx
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
from kexbench.domain.commits import Check, HandledCommit
from kexbench.domain.following import FollowedCommit
from kexbench.domain.notifications import Sending
from kexbench.domain.runs import Run, RunEvent
from kexbench.domain.verdicts import RunVerdict
from kexbench.execution.folder import RunFolder
from kexbench.service import reach_service
from kexbench.store.lock import ServiceAddress
from kexbench.wiring import Installation

if TYPE_CHECKING:
    from kexbench.api.access import Role

Found = TypeVar("Found")
Token = Callable[[], str]
"""Says who asks, anew for each request. Raises NoToken."""
PATIENCE_S = 1800.0
"""So long a pod asks again while nobody answers. What was measured is on the disk meanwhile."""
LONGEST_WAIT_S = 30.0
"""Between two tries; the first ones follow each other sooner."""
DELIVERY_ATTEMPTS = 5
_TIMEOUT_S = 120.0
_LATER = (408, 429, 500, 502, 503, 504)
_COMMITS = 50


class ApiError(Exception):
    """The API did not do what it was asked; the text says why, and what to do."""


class Refused(ApiError):
    """It will not do it, however often it is asked; the text is its problem's detail and remedy, where it names one."""

    def __init__(self, status: int, detail: str, remedy: str | None = None) -> None:
        super().__init__(f"{detail}; {remedy}" if remedy else detail)
        self.status = status
        self.detail = detail
        self.remedy = remedy


class Unreachable(ApiError):
    """Nobody answered for as long as there was patience; the text says what was tried."""


class NoToken(ApiError):
    """Nothing says who asks; the text says what is wrong with the token's file."""


class _Later(Exception):
    """An answer that may be another one in a while."""


def user_name() -> str:
    """Who asks, as others are told; not every container knows its user's name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def token_in(file: Path) -> Token:
    """What Kubernetes keeps renewing before it expires."""
    return partial(_read_token, file)


def token_for(address: ServiceAddress, role: "Role") -> Token:
    """Of the user of this process, in a role at a service of this machine."""
    return lambda: sign_role_token(user_name(), role, address.secret, now=datetime.now(UTC))


class ApiClient:
    """Typed calls, each of which can be repeated. `say` is told when one has to wait. Raises ApiError."""

    def __init__(
        self,
        url: str,
        token: Token,
        say: Callable[[str], None] = lambda _: None,
        *,
        patience_s: float | None = PATIENCE_S,
        longest_wait_s: float = LONGEST_WAIT_S,
    ) -> None:
        """Without patience everything is asked once, and any answer is the last word."""
        url = url.rstrip("/")
        self.page: str | None = f"{url}/runs/"
        """Where runs can be looked at, if somebody serves them for longer than this command."""
        self._token = token
        self._say = say
        self._patience_s = patience_s
        self._longest_wait_s = longest_wait_s
        self._http = httpx.Client(base_url=url + API_PREFIX, timeout=_TIMEOUT_S, trust_env=False, verify=_trusted(url))

    @classmethod
    def here(cls, address: ServiceAddress, role: "Role" = "submitter") -> Self:
        """Of a service on this machine. It has no patience: whoever serves next has another address."""
        found = cls(address.url, token_for(address, role), patience_s=None)
        found.page = found.page if address.lasting else None
        return found

    @classmethod
    def of_run(cls, address: ServiceAddress, run_id: str) -> Self:
        """For who measures a run on this machine."""
        return cls(address.url, lambda: sign_run_token(run_id, address.secret, now=datetime.now(UTC)), patience_s=None)

    def get(self, kind: type[Found], path: str) -> Found:
        return TypeAdapter(kind).validate_json(self._ask("GET", path).content)

    def post(
        self, kind: type[Found], path: str, body: BaseModel | None = None, headers: Mapping[str, str] | None = None
    ) -> Found:
        return TypeAdapter(kind).validate_json(self.send("POST", path, body, headers).content)

    def send(
        self, method: str, path: str, body: BaseModel | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        return self._ask(method, path, body.model_dump_json().encode() if body else b"", headers or {})

    def send_file(self, path: str, archive: BinaryIO) -> None:
        headers = {"Content-Length": str(os.fstat(archive.fileno()).st_size), "Content-Type": "application/x-tar"}

        def put() -> None:
            archive.seek(0)
            self._checked(self._http.put(path, content=archive, headers=self._named(headers)))

        self._again(put)

    def download(self, path: str, target: Path) -> str:
        """Write the answer to a file, whole or not at all; its SHA-256."""
        begun = target.with_name(f".{target.name}")
        try:
            digest = self._again(lambda: self._receive(path, begun))
            begun.replace(target)
        finally:
            begun.unlink(missing_ok=True)
        return digest

    def stream(self, path: str) -> Iterator[bytes]:
        """An answer piece by piece, as it comes. One that breaks off is not asked for again: what was yielded by then
        would come twice."""
        with ExitStack() as answers:

            def opened() -> httpx.Response:
                with ExitStack() as failed:
                    response = failed.enter_context(self._http.stream("GET", path, headers=self._named()))
                    self._checked(response)
                    answers.push(failed.pop_all())
                return response

            response = self._again(opened)
            with _unreachable():
                yield from response.iter_bytes()

    def heads(self, repository: str) -> Mapping[str, str]:
        """The commit of each branch that was handled last."""
        return self.get(dict[str, str], f"/repositories/{repository}/heads")

    def run_committed(self, asked: CommittedSpec) -> Check:
        """Have a spec measured, once; tells its run or its faults."""
        return self.post(Check, f"/repositories/{asked.commit.repository}/runs", asked)

    def plan_committed(self, asked: CommittedSpec) -> Check:
        """Have a spec planned; tells its dry run or its faults, or its run where there is one already."""
        dry = DryRunRequest(
            spec_text=asked.spec_text,
            spec_file=asked.path,
            catalogue_text=asked.catalogue_text,
            subjects=asked.subjects,
            commit=asked.commit,
        )
        found = self.post(DryRunView, "/dry-runs", dry)
        faults = tuple(found.faults)
        return Check(path=asked.path, reason=asked.reason, run_id=found.run_id, faults=faults, dry_run=found.dry_run)

    def note_commit(self, handled: HandledCommit) -> None:
        self.send("POST", f"/repositories/{handled.commit.repository}/commits", handled)

    def verdict(self, run_id: str) -> RunVerdict:
        """Of a run that has ended."""
        return self.get(RunVerdict, f"/runs/{run_id}/verdict")

    def rings(self) -> Mapping[str, int]:
        """How often webhooks rang for each repository."""
        return self.get(dict[str, int], "/rings")

    def commits(self, repository: str) -> Sequence[CommitView]:
        """The newest that say something of a spec, with the states of their runs."""
        return self.get(CommitPage, f"/commits?repository={repository}&limit={_COMMITS}").commits

    def followed(self, repository: str) -> Sequence[FollowedView]:
        """How far each branch was looked through that a spec of the repository follows."""
        return self.get(list[FollowedView], f"/repositories/{repository}/followed")

    def run_followed(self, asked: FollowedSpec) -> Check:
        """Have a commit of a library measured, once; tells its run or the spec's faults."""
        return self.post(Check, f"/repositories/{asked.following.repository}/followed-runs", asked)

    def note_followed(self, noted: FollowedCommit) -> None:
        self.send("POST", f"/repositories/{noted.following.repository}/followed", noted)

    def next_message(self) -> ToSend | None:
        """Begin the next message of the outbox that is due."""
        content = self.send("POST", "/notifications/next").content
        return None if content == b"null" else ToSend.model_validate_json(content)

    def note_sending(self, sending: Sending) -> None:
        """Say what came of a message that was begun."""
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
            (known.job_id, known.attempt, known.case_id, known.invocation)
            for known in self.get(list[StoredInvocation], f"/runs/{run.run_id}/invocations")
        }
        for done, invocation in enumerate(invocations, start=1):
            key = (invocation.job_id, invocation.attempt, invocation.case_id, invocation.invocation)
            if key not in stored:
                self.send("POST", f"/runs/{run.run_id}/invocations", invocation)
            on_progress(done, len(invocations))
        for event in events:
            self.add_event(event)

    def close(self) -> None:
        self._http.close()

    def _ask(
        self, method: str, path: str, content: bytes = b"", more: Mapping[str, str] = MappingProxyType({})
    ) -> httpx.Response:
        headers = {"Content-Type": "application/json", **more}
        return self._again(
            lambda: self._checked(self._http.request(method, path, content=content, headers=self._named(headers)))
        )

    def _named(self, headers: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token()}", **headers}

    def _receive(self, path: str, target: Path) -> str:
        digest = hashlib.sha256()
        with self._http.stream("GET", path, headers=self._named()) as response:
            self._checked(response)
            with target.open("wb") as file:
                for piece in response.iter_bytes():
                    digest.update(piece)
                    file.write(piece)
        return digest.hexdigest()

    def _checked(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        response.read()
        refused = Refused(response.status_code, *problem_words(response))
        if self._patience_s is not None and response.status_code in _LATER:
            raise _Later(str(refused))
        raise refused

    def _again(self, ask: Callable[[], Found]) -> Found:
        """Until it is done or refused, for as long as there is patience."""
        if self._patience_s is None:
            with _unreachable():
                return ask()
        return Retrying(
            retry=retry_if_exception_type((httpx.TransportError, _Later)),
            wait=wait_random_exponential(multiplier=0.5, max=self._longest_wait_s),
            stop=stop_after_delay(self._patience_s),
            before_sleep=lambda state: self._say(f"waiting for the API: {_reason_in(state)}"),
            retry_error_callback=self._give_up,
        )(ask)

    def _give_up(self, state: RetryCallState) -> None:
        raise Unreachable(f"the API did not answer for {self._patience_s:.0f} s: {_reason_in(state)}")


def deliver_run(
    installation: Installation, folder: RunFolder, on_progress: Callable[[int, int], None] = lambda _done, _total: None
) -> None:
    """Deliver a run to whoever serves the store. When that process dies on the way, another is
    found or started, and what was stored is not sent again. Raises what the last attempt raised."""
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


def _trusted(url: str) -> ssl.SSLContext:
    """What the system trusts, or SSL_CERT_FILE says. To read it takes a fifth of a second: only where it is needed."""
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
    if not (token.isascii() and token.isprintable()):  # as a header takes it
        raise NoToken(f"the token file {file} holds no token, but something else")
    return token


@contextmanager
def _unreachable() -> Iterator[None]:
    try:
        yield
    except httpx.TransportError as error:
        raise Unreachable(f"the service does not answer: {_reason(error)}") from error


def _reason(error: BaseException | None) -> str:
    """In words; of some errors there is nothing but the name."""
    return str(error) or type(error).__name__


def _reason_in(state: RetryCallState) -> str:
    return _reason(state.outcome.exception() if state.outcome else None)
