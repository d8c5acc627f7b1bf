"""The real dispatcher with simulated answers of the API, which are parsed like real ones."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import httpx2
from pydantic import BaseModel, TypeAdapter

from kexbench.answers.queued import QueueView
from kexbench.api.run_models import OpenRun
from kexbench.client import ApiClient
from kexbench.dispatcher.control import ApiControl
from kexbench.dispatcher.loop import Dispatcher
from kexbench.domain.pools import Pool
from kexbench.domain.runs import Run, RunEvent, RunState
from kexbench.execution.argo.cluster import Cluster
from kexbench.execution.argo.pods import JobSettings

SETTINGS = JobSettings(
    namespace="kexbench-jobs",
    runner_image="local.test/kexbench/runner:dev",
    builder_image="local.test/kexbench/builder:dev",
    api_url="http://kexbench-api.kexbench.svc:8350",
)
Found = TypeVar("Found")
_STARTED = (RunState.QUEUED, RunState.RUNNING)


@dataclass(frozen=True)
class Look:
    """A round of the dispatcher over everything that is open."""

    seconds: float
    answers_s: float
    """The part spent on parsing the API's answers."""
    was_answered: bool
    """Whether Kubernetes answered in time. Otherwise the next round tries again."""


class MadeUpApi(ApiClient):
    """The API with one started run. From the submission on it reports all invocations as stored, the largest possible
    answer. The run is therefore finished when the last workflow has ended."""

    def __init__(self, run: Run) -> None:
        super().__init__("http://nobody.invalid", str)
        self._run = run.model_dump_json().encode()
        events = [RunEvent(run_id=run.run_id, at=run.created_at, state=state) for state in _STARTED]
        plan = run.plan
        self._open = OpenRun(
            run_id=run.run_id, pools=list(plan.pools), invocations_planned=plan.invocations, events=events
        )
        self._stored = json.dumps({job.job_id: job.count for job in run.plan.jobs}).encode()
        self.answers_s = 0.0

    @property
    def newest(self) -> RunEvent:
        return self._open.events[-1]

    def get(self, kind: type[Found], path: str) -> Found:
        content = self._answer(path)
        began = time.perf_counter()
        value = TypeAdapter(kind).validate_json(content)
        self.answers_s += time.perf_counter() - began
        return value

    def send(
        self,
        method: str,  # noqa: ARG002
        path: str,
        body: BaseModel | None = None,
        headers: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> httpx2.Response:
        if path == "/bisections/advance":
            return httpx2.Response(200, content=b"[]")
        if path == "/alerts/advance":
            return httpx2.Response(204)
        assert isinstance(body, RunEvent)
        self._open.events.append(body)
        return httpx2.Response(204)

    def _answer(self, path: str) -> bytes:
        if path == "/open-runs":
            return TypeAdapter(list[OpenRun]).dump_json([self._open])
        if path == f"/open-runs/{self._open.run_id}":
            return self._run
        if path == "/queue":
            return QueueView(runs=[]).model_dump_json().encode()
        if path.endswith("/stored-by-job"):
            return self._stored if len(self._open.events) > len(_STARTED) else b"{}"
        return b"[]"


class Dispatching:
    """A dispatcher with one run."""

    def __init__(self, run: Run, cluster: Cluster, pools: tuple[Pool, ...]) -> None:
        self._api = MadeUpApi(run)
        self._dispatcher = Dispatcher(
            ApiControl(self._api), cluster, pools, SETTINGS, "bench", lambda: datetime.now(UTC)
        )

    @property
    def newest(self) -> RunEvent:
        return self._api.newest

    def look(self) -> Look:
        began, answers_s = time.perf_counter(), self._api.answers_s
        was_answered = self._dispatcher.once()
        return Look(time.perf_counter() - began, self._api.answers_s - answers_s, was_answered)
