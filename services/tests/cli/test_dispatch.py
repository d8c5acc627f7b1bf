"""`kexbench dispatch`, with a stand-in for Kubernetes, which has accounts alone, and for the API, which has nothing."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kexbench.api.run_models import ScheduleView
from kexbench.domain.schedules import Schedule
from kexbench.execution.argo.lightkube_cluster import Accounts, LightkubeCluster
from tests.builders import NOON, SPEC
from tests.cli.conftest import Cli

POOLS = """\
apiVersion: kexbench.dev/v1
kind: Pools
pools:
  - name: pool-a
    architecture: x86_64
    nodeSelector: { kexbench.dev/pool: pool-a }
    cpus: 2
    memory: 2Gi
"""
JOB_PODS = """\
apiVersion: kexbench.dev/v1
kind: JobPods
env: [{ name: HTTPS_PROXY, value: "http://proxy:3128" }]
"""
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: one
clusters: [{{ name: one, cluster: {{ server: "{url}" }} }}]
users: [{{ name: one, user: {{ token: one }} }}]
contexts: [{{ name: one, context: {{ cluster: one, user: one }} }}]
"""


ARGO = "/apis/argoproj.io/v1alpha1/namespaces/kexbench-jobs"


class Asked(list[tuple[str, str]]):
    """Methods and paths, in their order; what was made; and what is answered for paths, else there is nothing there."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[dict[str, Any]] = []
        self.answers: dict[str, Any] = {}


@contextmanager
def standing_in() -> Iterator[tuple[str, Asked]]:
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status: int, body: Any) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            asked.append(("GET", path))
            _, _, account = path.partition("/serviceaccounts/")
            if path in asked.answers:
                self.answer(200, asked.answers[path])
            elif account:
                self.answer(200, {"metadata": {"name": account, "uid": f"uid of {account}"}})
            else:
                self.answer(404, {"kind": "Status", "status": "Failure", "code": 404, "message": "not found"})

        def do_POST(self) -> None:
            path = self.path.partition("?")[0]
            asked.append((self.command, path))
            given = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if path in asked.answers:
                self.answer(200, asked.answers[path])
            else:
                asked.made.append(json.loads(given))
                self.answer(201, asked.made[-1])

        def do_PATCH(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def asked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    def written(name: str, text: str) -> str:
        path = Path(cli.folder / name)
        path.write_text(text)
        return str(path)

    with standing_in() as (url, asked):
        settings = {
            "KUBECONFIG": written("kubeconfig", KUBECONFIG.format(url=url)),
            "KEXBENCH_API_URL": url,
            "KEXBENCH_TOKEN_FILE": written("token", "dispatcher"),
            "KEXBENCH_POOLS": written("pools.yaml", POOLS),
            "KEXBENCH_JOB_PODS": written("job-pods.yaml", JOB_PODS),
            "KEXBENCH_RUNNER_IMAGE": "registry.example/runner:1",
            "KEXBENCH_BUILDER_IMAGE": "registry.example/builder:1",
            "KEXBENCH_DISPATCHER_SERVICE_ACCOUNT": "kexbench:its-own",
            "KEXBENCH_JOB_SERVICE_ACCOUNT": "of-jobs",
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield asked


def test_what_is_wrong_is_logged_and_not_every_request(cli: Cli, asked: Asked) -> None:
    done = cli("dispatch", "--once")
    assert ("GET", "/api/v1/queue") in asked
    assert len(asked) > 2, "Kubernetes was asked too"
    (line,) = done.err.splitlines()
    assert " WARNING polling: " in line
    assert done.status == 1


def test_its_lease_belongs_to_its_account_and_so_goes_with_it(cli: Cli, asked: Asked) -> None:
    cli("dispatch", "--once")
    (lease,) = asked.made
    assert lease["kind"] == "Lease"
    assert lease["metadata"]["ownerReferences"] == [owner("its-own")]


def test_what_runs_jobs_belongs_to_their_account_and_is_as_the_site_wants_it(cli: Cli, asked: Asked) -> None:
    schedule = Schedule(name="nightly", cron="0 3 * * *", spec_text=SPEC, changed_at=NOON, changed_by="ci")
    asked.answers = {
        "/api/v1/queue": {"runs": []},
        "/api/v1/open-runs": [],
        "/api/v1/schedules": [ScheduleView.of(schedule).model_dump(mode="json")],
        "/api/v1/bisections/advance": [],
        "/api/v1/alerts/advance": None,
        f"{ARGO}/cronworkflows": {"items": []},
    }
    done = cli("dispatch", "--once")
    assert done.status == 0, done.err
    (cron,) = [made for made in asked.made if made["kind"] == "CronWorkflow"]
    assert cron["metadata"]["ownerReferences"] == [owner("of-jobs")]
    (template,) = cron["spec"]["workflowSpec"]["templates"]
    assert {"name": "HTTPS_PROXY", "value": "http://proxy:3128"} in template["container"]["env"]


def test_a_runs_workflow_belongs_to_the_account_of_jobs(cli: Cli, asked: Asked) -> None:
    accounts = Accounts(of_jobs="of-jobs", of_lease="its-own")
    connected = LightkubeCluster.connect("kexbench-jobs", "kexbench", cli.folder / "kubeconfig", accounts)
    with closing(connected) as cluster:
        cluster.submit({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "one"}})
    (workflow,) = asked.made
    assert workflow["metadata"]["ownerReferences"] == [owner("of-jobs")]


def owner(account: str) -> dict[str, str]:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "name": account, "uid": f"uid of {account}"}
