"""The API as the command line uses it, and the delivery of a run's results to it."""

import getpass
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from kexbench.api.calling import API_PREFIX, NO_CERTIFICATES, problem_words, sign_role_token, sign_run_token
from kexbench.api.models import StoredInvocation
from kexbench.domain.runs import Run, RunEvent
from kexbench.execution.folder import RunFolder
from kexbench.service import reach_service
from kexbench.store.lock import ServiceAddress
from kexbench.wiring import Installation

Found = TypeVar("Found")
_TIMEOUT_S = 60.0
DELIVERY_ATTEMPTS = 5


def user_name() -> str:
    """Who asks, as others are told; not every container knows its user's name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def _no_progress(_done: int, _total: int) -> None:
    pass


class ApiError(Exception):
    """The API refused; the text is its problem's detail and remedy, where it names one."""

    def __init__(self, detail: str, remedy: str | None = None) -> None:
        super().__init__(f"{detail}\n  remedy: {remedy}" if remedy else detail)
        self.detail = detail
        self.remedy = remedy


class ApiClient:
    """Typed calls. Raises ApiError for a refusal and httpx.TransportError when nobody answers."""

    def __init__(self, address: ServiceAddress) -> None:
        self.page = f"{address.url}/runs/" if address.lasting else None
        """Where runs can be looked at, if somebody serves them for longer than this command."""
        self._secret = address.secret
        self._http = httpx.Client(
            base_url=address.url + API_PREFIX, timeout=_TIMEOUT_S, trust_env=False, verify=NO_CERTIFICATES
        )

    def json(self, path: str) -> Any:
        return self._get(path).json()

    def stream(self, path: str) -> Iterator[bytes]:
        """An answer piece by piece, as it comes."""
        with self._http.stream("GET", path) as response:
            if not response.is_success:
                response.read()
                _check(response)
            yield from response.iter_bytes()

    def get(self, kind: type[Found], path: str) -> Found:
        return TypeAdapter(kind).validate_json(self._get(path).content)

    def send(
        self, method: str, path: str, body: BaseModel | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """As somebody who asks for runs: the user of this process."""
        asks = sign_role_token(user_name(), "submitter", self._secret, now=datetime.now(UTC))
        return self._send(method, path, body, {"Authorization": f"Bearer {asks}", **(headers or {})})

    def queued_run(self, run_id: str) -> Run:
        return Run.model_validate_json(_check(self._http.get(f"/open-runs/{run_id}", headers=self._of(run_id))).content)

    def put_run(self, run: Run) -> None:
        self._send("PUT", f"/runs/{run.run_id}", run, self._of(run.run_id))

    def add_event(self, event: RunEvent) -> None:
        self._send("POST", f"/runs/{event.run_id}/events", event, self._of(event.run_id))

    def deliver(self, folder: RunFolder, on_progress: Callable[[int, int], None] = _no_progress) -> None:
        """Send what the store lacks of a run. Can be repeated; stops at the first failure. Raises DamagedFile before
        anything is sent."""
        run = folder.run()
        events, invocations = folder.events(), folder.invocations(run)
        headers = self._of(run.run_id)
        self.put_run(run)
        stored = {
            (known.job_id, known.attempt, known.case_id, known.invocation)
            for known in map(StoredInvocation.model_validate, self.json(f"/runs/{run.run_id}/invocations"))
        }
        for done, invocation in enumerate(invocations, start=1):
            key = (invocation.job_id, invocation.attempt, invocation.case_id, invocation.invocation)
            if key not in stored:
                self._send("POST", f"/runs/{run.run_id}/invocations", invocation, headers)
            on_progress(done, len(invocations))
        for event in events:
            self.add_event(event)

    def close(self) -> None:
        self._http.close()

    def _get(self, path: str) -> httpx.Response:
        return _check(self._http.get(path))

    def _of(self, run_id: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {sign_run_token(run_id, self._secret, now=datetime.now(UTC))}"}

    def _send(self, method: str, path: str, body: BaseModel | None, headers: Mapping[str, str]) -> httpx.Response:
        content = body.model_dump_json() if body else ""
        named = {**headers, "Content-Type": "application/json"}
        return _check(self._http.request(method, path, content=content, headers=named))


def deliver_run(
    installation: Installation, folder: RunFolder, on_progress: Callable[[int, int], None] = _no_progress
) -> None:
    """Deliver a run to whoever serves the store. When that process dies on the way, another is
    found or started, and what was stored is not sent again. Raises what the last attempt raised."""
    retrying = Retrying(
        retry=retry_if_exception_type(httpx.TransportError),
        stop=stop_after_attempt(DELIVERY_ATTEMPTS),
        wait=wait_exponential(multiplier=0.2, max=5),
        reraise=True,
    )
    for attempt in retrying:
        with attempt, reach_service(installation) as address:
            client = ApiClient(address)
            try:
                client.deliver(folder, on_progress)
            finally:
                client.close()


def _check(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    detail, remedy = problem_words(response)
    raise ApiError(detail, remedy)
