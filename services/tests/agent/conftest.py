"""A service as a cluster has it, on loopback, with real kits of the fake backend; and pods that use it."""

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.agent.environment import JobPod
from kexbench.agent.fetch import fetch
from kexbench.api.access import Caller
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, TokenError
from kexbench.api.rights import Role
from kexbench.client import ApiClient, token_in
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import Job
from kexbench.domain.runs import Run
from kexbench.kits import KitStore, WorkerSource
from kexbench.kits.shared_store import OrderedKit, SharedKitStore
from kexbench.kits.transport import pack
from kexbench.material.store import MaterialStore
from kexbench.planning.plan import make_plan
from kexbench.queue.supplies import Supplies
from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import SPEC, a_catalogue
from tests.serving import serving

HERE = platform.machine()
EXCLUSIVE = SPEC.replace("invocations: 6", "invocations: 2")
SHARED = EXCLUSIVE.replace("invocations: 2", "invocations: 2, isolation: best-effort")


@dataclass
class KnownCallers:
    """Whoever was let in, by the token, which is a name."""

    callers: dict[str, Caller] = field(default_factory=dict)

    def identify(self, token: str) -> Caller:
        if token not in self.callers:
            raise TokenError("nobody is known by this token")
        return self.callers[token]


@dataclass
class Pod:
    """A pod of a job: its settings, its way to the service, and what it said."""

    settings: JobPod
    api: ApiClient
    said: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.said.append(text)

    def fetch(self) -> None:
        fetch(self.settings, self.api, self.say)


@dataclass
class Service:
    """The API around a store and a kit store, each caller let in by name."""

    url: str
    store: ClickHouseStore
    shared_store: SharedKitStore
    material: Path
    folder: Path
    gatekeeper: KnownCallers
    fakes: KitStore
    clients: list[ApiClient] = field(default_factory=list)

    def admit(self, name: str, role: Role, **bound: Any) -> Path:
        """The token file of a caller who is let in from now on."""
        self.gatekeeper.callers[name] = Caller(role, name, **bound)
        file = self.folder / f"{name}.token"
        file.write_text(name)
        return file

    def supply(self, reference: str) -> str:
        """Send the kit of a fake subject as a builder would; its id."""
        kit = self.fakes.add(SubjectRef.parse(reference))
        archive = self.folder / f"{kit.kit_id}.tar"
        pack(self.fakes.folder(kit.kit_id), archive)
        with self.shared_store.arrival(kit.kit_id, OrderedKit(kit.ref, HERE, "ingredients")) as arrival:
            arrival.write(archive.read_bytes())
            arrival.take()
        return kit.kit_id

    def queued(self, spec: str) -> Run:
        """A run that somebody asked for."""
        asked = self.post("submitter", "/runs", {"spec_text": spec}).json()["run_id"]
        run = self.store.run(asked)
        assert run is not None
        return run

    def started(self, spec: str = EXCLUSIVE) -> Run:
        """A run that the dispatcher started, with the kits of its fake subjects."""
        queued = self.queued(spec)
        for subject in queued.plan.subjects:
            self.supply(subject.reference)
        self.post("dispatcher", f"/runs/{queued.run_id}/start", None)
        run = self.store.run(queued.run_id)
        assert run is not None
        return run

    def pod(self, run: Run, job: Job | None = None, *, name: str = "pod-1", attempt: int = 1) -> Pod:
        """A pod for a job of a run, by default for its first one, on a node of its own."""
        job = job or run.plan.jobs[0]
        uid, node = f"uid-of-{name}", f"node-of-{name}"
        settings = JobPod(
            api_url=self.url,
            token_file=self.admit(name, "job", run_id=run.run_id, job_id=job.job_id, pod=name, pod_uid=uid, node=node),
            run_id=run.run_id,
            job_id=job.job_id,
            attempt=attempt,
            cpus=1,
            pod_name=name,
            pod_uid=uid,
            node_name=node,
            work=self.folder / name,
        )
        self.clients.append(
            ApiClient(self.url, token_in(settings.token_file), print, patience_s=60, longest_wait_s=0.1)
        )
        return Pod(settings, self.clients[-1])

    def post(self, name: Role, path: str, body: object) -> httpx2.Response:
        token = self.admit(name, name).read_text()
        headers = {"Authorization": f"Bearer {token}"}
        return httpx2.post(
            self.url + API_PREFIX + path, json=body, headers=headers, timeout=60, trust_env=False
        ).raise_for_status()


MakePod = Callable[..., Pod]


@pytest.fixture
def service(empty_store: ClickHouseStore, fake_kit_store: KitStore, tmp_path: Path) -> Iterator[Service]:
    shared_store = SharedKitStore(tmp_path / "kits", WorkerSource(Settings().workers).sha256())
    material = MaterialStore(tmp_path / "material")
    supplies = Supplies(
        shared_store=shared_store,
        material=material,
        plan=lambda text, file, *_, **__: make_plan(text, file, a_catalogue()),
        architectures=lambda: {"local": HERE},
        repositories=lambda _: (),
    )
    gatekeeper = KnownCallers()
    with serving(create_app(empty_store, gatekeeper, None, supplies)) as url:
        found = Service(url, empty_store, shared_store, material.folder, tmp_path, gatekeeper, fake_kit_store)
        yield found
        for link in found.clients:
            link.close()
