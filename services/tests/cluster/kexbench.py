"""kexbench as the chart installs it into the cluster of the tests, and what is asked of it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from devcluster.cluster import Cluster
from tests.cluster.kubectl import Kubectl

NAMESPACE, JOBS = "kexbench", "kexbench-jobs"
CHART = Path(__file__).parents[3] / "charts" / "kexbench"
VALUES = Path(__file__).with_name("values.yaml")
_FETCH = "import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())"
_POST = """
import sys, urllib.request
headers = {"Authorization": f"Bearer {sys.argv[2]}", "Content-Type": "application/json"}
urllib.request.urlopen(urllib.request.Request(sys.argv[1], sys.stdin.buffer.read(), headers))
"""
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: NAME }
subjects:
  - openssl: system
  - gnutls: system
pools: [POOLS]
matrix:
  protocol: [TLSv1.3]
  keyExchange: [ECDHE-ECDSA]
  group: [X25519]
measure: { invocations: INVOCATIONS, batches: 4, maxDuration: 20m, isolation: ISOLATION }
"""


def a_spec(name: str, **wanted: str | int) -> str:
    """`wanted`: pools, invocations, isolation."""
    text = SPEC.replace("NAME", name)
    for word, value in {"pools": "pool-a, pool-b", "invocations": 4, "isolation": "exclusive", **wanted}.items():
        text = text.replace(word.upper(), str(value))
    return text


@dataclass(frozen=True)
class Kexbench:
    cluster: Cluster
    kubectl: Kubectl
    token: Path

    @property
    def url(self) -> str:
        at = ("get", "service", "kexbench-api", "--namespace", NAMESPACE)
        return f"http://{self.kubectl(*at, '--output=jsonpath={.spec.clusterIP}')}:8350"

    def command(self, *words: str) -> "subprocess.Popen[str]":
        """`kexbench` as a person of the cluster would start it."""
        settings = {"KEXBENCH_API_URL": self.url, "KEXBENCH_TOKEN_FILE": str(self.token)}
        inside = self.cluster.inside([str(Path(sys.executable).with_name("kexbench")), *words])
        return subprocess.Popen(
            inside, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **settings}
        )

    @contextmanager
    def said_by(self, pod: str) -> Iterator[Iterable[str]]:
        """What a job's pod says, line by line as it says it, until it ends."""
        words = ["logs", pod, "--namespace", JOBS, "--container=main", "--follow"]
        command = [str(self.cluster.binaries.programs / "kubectl"), f"--kubeconfig={self.cluster.kubeconfig}", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
            assert following.stdout is not None
            try:
                yield following.stdout
            finally:
                following.terminate()

    @contextmanager
    def without_api(self) -> Iterator[None]:
        """While its only pod is gone. Whatever happens meanwhile, other tests find it again."""
        api = ("deployment/kexbench-api", "--namespace", NAMESPACE)
        pods = ("pod", "--namespace", NAMESPACE, "--selector=app.kubernetes.io/component=api")
        self.kubectl("scale", *api, "--replicas=0")
        try:
            self.kubectl("wait", *pods, "--for=delete", "--timeout=120s")
            yield
        finally:
            self.kubectl("scale", *api, "--replicas=1")
            self.kubectl("rollout", "status", *api, "--timeout=300s")

    def submit(self, folder: Path, **wanted: str | int) -> str:
        """The id of a run of `a_spec`, which is named like the folder."""
        spec = folder / "spec.yaml"
        spec.write_text(a_spec(folder.name.replace("_", "-").lower()[:60].strip("-"), **wanted))
        return str(self.done(self.command("submit", str(spec), "--json"))["run_id"])

    def done(self, started: "subprocess.Popen[str]", status: int = 0) -> dict[str, Any]:
        """What a command printed as JSON once it has ended."""
        printed, said = started.communicate(timeout=900)
        assert started.returncode == status, said + printed
        found: dict[str, Any] = json.loads(printed)
        return found

    def get(self, path: str) -> Any:
        inside = self.cluster.inside([sys.executable, "-c", _FETCH, f"{self.url}/api/v1{path}"])
        return json.loads(subprocess.run(inside, capture_output=True, text=True, check=True).stdout)

    def post_as(self, pod: dict[str, Any], path: str, body: object) -> None:
        """Send something as a pod would, with a token that is bound to it."""
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        bound = ("--bound-object-kind=Pod", f"--bound-object-name={name}", f"--bound-object-uid={uid}")
        account = pod["spec"]["serviceAccountName"]
        token = self.kubectl("create", "token", account, "--namespace", JOBS, "--audience=kexbench", *bound)
        inside = self.cluster.inside([sys.executable, "-c", _POST, f"{self.url}/api/v1{path}", token])
        subprocess.run(inside, input=json.dumps(body), text=True, check=True)

    def counted(self, run_id: str) -> int:
        """Invocations of which one attempt or more is stored."""
        stored = self.get(f"/runs/{run_id}/invocations")
        return len({(one["job_id"], one["case_id"], one["invocation"]) for one in stored})

    def outcomes(self, run_id: str) -> list[str]:
        """Why cells of the run have no numbers, over both pools."""
        pools = [self.get(f"/runs/{run_id}?pool={pool}")["cells"] for pool in ("pool-a", "pool-b")]
        return [str(cell["outcome"]) for cells in pools for cell in cells if cell["outcome"]]

    def job_that_measures(self, run_id: str) -> dict[str, Any]:
        """A pod of the run that has begun to measure."""
        self.wait_for(run_id, "running")
        at = ("--namespace", JOBS, f"--selector=kexbench.dev/run={run_id},kexbench.dev/job")
        self.kubectl("wait", "pod", *at, "--for=create", "--timeout=300s")
        name = json.loads(self.kubectl("get", "pods", *at, "--output=json"))["items"][0]["metadata"]["name"]
        self.kubectl("wait", "pod", name, "--namespace", JOBS, "--for=condition=Ready", "--timeout=300s")
        pod: dict[str, Any] = json.loads(self.kubectl("get", "pod", name, "--namespace", JOBS, "--output=json"))
        return pod

    def wait_for(self, run_id: str, words: str) -> dict[str, Any]:
        """The run's summary once its state is this one, or the detail of one of its events contains these words. Fails
        the test if the run ends otherwise."""
        for attempt in Retrying(
            retry=retry_if_exception_type(_NotYet), wait=wait_fixed(1), stop=stop_after_delay(600), reraise=True
        ):
            with attempt:
                run = self.get(f"/runs/{run_id}")
                summary: dict[str, Any] = run["summary"]
                if words == summary["state"] or any(words in event["detail"] for event in run["events"]):
                    return summary
                assert summary["state"] not in ("finished", "failed", "cancelled"), summary
                raise _NotYet(f"{summary['state']}: {summary['detail']}")
        raise AssertionError("the last attempt raised")


class _NotYet(Exception):
    """What a run has come to so far."""


def installed(cluster: Cluster, kubectl: Kubectl, folder: Path) -> Kexbench:
    """By Helm, with an account that may submit, in a namespace that takes restricted pods only."""
    kubectl("label", "namespace", JOBS, "pod-security.kubernetes.io/enforce=restricted", "--overwrite")
    helm = [str(cluster.binaries.programs / "helm"), f"--kubeconfig={cluster.kubeconfig}"]
    words = ["upgrade", "--install", "kexbench", str(CHART), "--namespace", NAMESPACE, f"--values={VALUES}", "--wait"]
    subprocess.run([*helm, *words, "--timeout=5m"], check=True, capture_output=True, text=True)
    kubectl("create", "serviceaccount", "submitter", "--namespace", NAMESPACE)
    token = folder / "token"
    at = ("submitter", "--namespace", NAMESPACE, "--audience=kexbench", "--duration=4h")
    token.write_text(kubectl("create", "token", *at))
    return Kexbench(cluster, kubectl, token)
