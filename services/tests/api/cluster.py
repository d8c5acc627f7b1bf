"""An API that has a cluster: callers by name, kits that nobody built, and the routes in this process."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2
from fastapi import FastAPI

from kexbench.api.access import Caller
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, TokenError
from kexbench.api.doorbell import Doorbell
from kexbench.domain.hosts import HostFacts
from kexbench.domain.kits import KitManifest
from kexbench.domain.notifications import ChannelRule
from kexbench.domain.plans import Isolation, Plan
from kexbench.domain.repositories import Repository
from kexbench.domain.runs import JobAttempt, Run
from kexbench.kits.shared_store import SharedKitStore
from kexbench.kits.transport import pack
from kexbench.material.store import MaterialStore
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.plan import make_plan
from kexbench.queue.supplies import Planner, Supplies
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import ClientOf
from tests.builders import HOST, NOON, SPEC, a_catalogue, a_kit

WORKER = "2" * 64
"""Whose kits the kit store counts: those of `a_kit`."""
LIBRARY_REPOSITORY = "https://example.org/fake.git"
POOLS = {"pool-a": "x86_64", "pool-b": "x86_64", "arm": "aarch64"}
CLUSTER_SPEC = SPEC.replace("matrix:", "pools: [pool-a, pool-b]\nmatrix:")
CALLERS = {
    "viewer": Caller("viewer", "eve"),
    "submitter": Caller("submitter", "ci:pipeline"),
    "triager": Caller("triager", "ops:triage"),
    "admin": Caller("admin", "ops:boss"),
    "dispatcher": Caller("dispatcher", "kexbench:dispatcher"),
}


class Names:
    """A gatekeeper that takes a caller's name for the token; pods are `pod RUN JOB UID`, builders
    `builder RUN REFERENCE`, and the pods of schedules `schedule NAME`."""

    def identify(self, token: str) -> Caller:
        if token in CALLERS:
            return CALLERS[token]
        words = token.split()
        if words[:1] == ["pod"]:
            _, run_id, job_id, uid = words
            return Caller("job", f"pod {uid}", run_id, job_id, f"pod-{uid}", uid, "node-1")
        if words[:1] == ["builder"]:
            _, run_id, *reference = words
            if not reference:
                return Caller("builder", "a builder", run_id)
            return Caller("builder", "a builder", run_id, reference=reference[0], architecture="x86_64")
        if words[:1] == ["schedule"]:
            return Caller("schedule", "a pod of a schedule", schedule=words[1])
        raise TokenError(f"nobody is called {token!r}")


@dataclass
class ClusterApi:
    """What the routes are asked, by whom."""

    http: httpx2.Client
    shared_store: SharedKitStore
    store: ClickHouseStore
    folder: Path

    def ask(self, who: str, method: str, path: str, body: object = None, **headers: str) -> httpx2.Response:
        return self.http.request(method, path, json=body, headers={"Authorization": f"Bearer {who}", **headers})

    def submit(self, spec: str = CLUSTER_SPEC, **headers: str) -> httpx2.Response:
        return self.ask("submitter", "POST", "/runs", {"spec_text": spec}, **headers)

    def queued(self, spec: str = CLUSTER_SPEC) -> Run:
        return self.stored(self.submit(spec).json()["run_id"])

    def stored(self, run_id: str) -> Run:
        found = self.store.run(run_id)
        assert found is not None
        return found

    def started(self, spec: str = CLUSTER_SPEC) -> Run:
        run = self.queued(spec)
        self.deliver_kits(run)
        assert self.ask("dispatcher", "POST", f"/runs/{run.run_id}/start").status_code == 200
        return self.stored(run.run_id)

    def deliver_kits(self, run: Run) -> None:
        for subject in run.plan.subjects:
            self.deliver(run, subject.reference)

    def deliver(self, run: Run, reference: str) -> httpx2.Response:
        """As a builder does."""
        kit, archive = self.packed(reference)
        return self.send_kit(f"builder {run.run_id} {reference}", kit.kit_id, archive.read_bytes())

    def send_kit(self, who: str, kit_id: str, archive: bytes) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {who}"}
        return self.http.put(f"/kits/{kit_id}?ingredients={'a' * 32}", content=archive, headers=headers)

    def packed(self, reference: str) -> tuple[KitManifest, Path]:
        """A kit of one file, as an archive."""
        content = f"the worker of {reference}".encode()
        blank = {name: value for name, value in a_kit(reference) if name not in ("kit_id", "version_key")}
        kit = KitManifest.sealed(**blank | {"files": {"bin/worker": hashlib.sha256(content).hexdigest()}})
        folder = self.folder / kit.folder_name
        if not folder.exists():
            (folder / "bin").mkdir(parents=True)
            (folder / "bin" / "worker").write_bytes(content)
            (folder / "kit.json").write_text(kit.model_dump_json())
        archive = self.folder / f"{kit.kit_id}.tar"
        pack(folder, archive)
        return kit, archive

    def announce(self, run: Run, uid: str = "uid-1", attempt: int = 1, host: HostFacts = HOST) -> httpx2.Response:
        tried = an_attempt(run, uid=uid, attempt=attempt, host=host)
        who, path = f"pod {run.run_id} {tried.job_id} {uid}", f"/runs/{run.run_id}/jobs/{tried.job_id}"
        return self.ask(who, "PUT", f"{path}/attempts/{attempt}", tried.model_dump(mode="json"))


def an_attempt(run: Run, *, uid: str = "uid-1", attempt: int = 1, host: HostFacts = HOST, job: int = 0) -> JobAttempt:
    return JobAttempt(
        run_id=run.run_id,
        job_id=run.plan.jobs[job].job_id,
        attempt=attempt,
        host=host,
        isolation=Isolation.EXCLUSIVE,
        node="node-1",
        pod=f"pod-{uid}",
        pod_uid=uid,
        started_at=NOON,
    )


def cluster_app(
    store: ClickHouseStore,
    folder: Path,
    pages: Path | None = None,
    doorbell: Doorbell | None = None,
    channels: Collection[ChannelRule] = (),
    repositories: Sequence[Repository] = (),
) -> FastAPI:
    """An application that has a cluster; `folder` gets its kits and material."""
    shared_store, material = SharedKitStore(folder / "kits", WORKER), MaterialStore(folder / "material")
    supplies = Supplies(shared_store, material, planner(), lambda: POOLS, lambda _: [LIBRARY_REPOSITORY])
    return create_app(store, Names(), pages, supplies, doorbell, channels=channels, repositories=repositories)


def cluster_api(
    store: ClickHouseStore, client_of: ClientOf, folder: Path, channels: Collection[ChannelRule] = ()
) -> ClusterApi:
    app = cluster_app(store, folder, channels=channels)
    http = client_of(app)
    http.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
    return ClusterApi(http, app.state.supplies.shared_store, store, folder)


def planner() -> Planner:
    def plan(
        text: str, file: str, catalogue: str | None = None, only: Collection[str] = (), /, *, anywhere: bool = False
    ) -> Plan:
        known = a_catalogue() if catalogue is None else read_catalogue(catalogue, "libraries.yaml")
        return make_plan(text, file, known, pools=POOLS, only=only, anywhere=anywhere)

    return plan
