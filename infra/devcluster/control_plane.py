"""etcd, the API server, controllers, scheduler, CoreDNS, Argo's controller and KWOK, as processes beside the nodes."""

import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from devcluster.binaries import Binaries
from devcluster.certificates import Authority
from devcluster.images import ARGOEXEC
from devcluster.plan import (
    API_SERVICE,
    ARGO_LINE,
    DOMAIN,
    HOST,
    NAMESPACES,
    POD_RANGE,
    SERVICE_RANGE,
    SILENT_NODE_S,
    SILENT_SIMULATED_NODE_S,
    Node,
    State,
)
from devcluster.processes import Processes

ADMIN = ("admin", ("system:masters",))
_MANIFESTS = Path(__file__).parent / "manifests"
_ARGO = Path(__file__).parents[1] / "argo"
_ARGO_MANIFESTS = (
    *("controller/namespace.yaml", "controller/workflow-controller-configmap.yaml"),
    *("jobs-namespace.yaml", "jobs-rights.yaml"),
)
"""What users of a cluster apply, but for the controller itself, which is a process here."""
_STAGES = Path(__file__).parent / "kwok" / "stages.yaml"
_SERVER = f"https://{HOST}"
_ARGO_KINDS = (
    *("clusterworkflowtemplates", "cronworkflows", "workflowartifactgctasks", "workflows"),
    *("workflowtaskresults", "workflowtasksets", "workflowtemplates"),
)
_COREFILE = """\
. {{
    ready {host}:8181
    errors
    cache 5
    kubernetes {domain} in-addr.arpa {{
        kubeconfig {kubeconfig}
    }}
}}
"""


@dataclass(frozen=True)
class ControlPlane:
    """Starts the programs in the order in which they need each other."""

    binaries: Binaries
    state: State
    processes: Processes
    authority: Authority

    def kubeconfig(self, name: str, user: str, *groups: str) -> Path:
        return self.authority.kubeconfig(self.state.folder / f"{name}.kubeconfig", _SERVER, user, groups)

    def start_api(self) -> None:
        """etcd and the API server; returns when it answers."""
        folder, programs = self.state.folder, self.binaries.programs
        hosts = (HOST, API_SERVICE, "127.0.0.1", "kubernetes", "kubernetes.default", f"kubernetes.default.svc.{DOMAIN}")
        serving = self.authority.issue("kube-apiserver", "kube-apiserver", (), (*hosts, "kubernetes.default.svc"))
        to_kubelets = self.authority.issue("to-kubelets", *ADMIN)
        signing = self.authority.signing_key("service-accounts")
        etcd = "http://127.0.0.1:2379"
        self.processes.start(
            "etcd",
            [
                programs / "etcd",
                f"--data-dir={folder / 'etcd'}",
                f"--listen-client-urls={etcd}",
                f"--advertise-client-urls={etcd}",
                "--listen-peer-urls=http://127.0.0.1:2380",
                "--unsafe-no-fsync",
            ],
        )
        self.processes.start(
            "kube-apiserver",
            [
                programs / "kube-apiserver",
                f"--advertise-address={HOST}",
                "--secure-port=443",
                f"--service-cluster-ip-range={SERVICE_RANGE}",
                "--authorization-mode=Node,RBAC",
                "--enable-admission-plugins=NodeRestriction",
                f"--etcd-servers={etcd}",
                f"--client-ca-file={self.authority.certificate}",
                f"--tls-cert-file={serving}",
                f"--tls-private-key-file={serving.with_suffix('.key')}",
                f"--kubelet-client-certificate={to_kubelets}",
                f"--kubelet-client-key={to_kubelets.with_suffix('.key')}",
                "--kubelet-preferred-address-types=InternalIP",
                f"--service-account-issuer=https://kubernetes.default.svc.{DOMAIN}",
                f"--service-account-key-file={signing}",
                f"--service-account-signing-key-file={signing}",
                "--allow-privileged",
                f"--default-not-ready-toleration-seconds={SILENT_NODE_S}",
                f"--default-unreachable-toleration-seconds={SILENT_NODE_S}",
            ],
        )
        self.processes.wait_until("the API server", lambda: self.succeeds("get", "--raw=/readyz"), "kube-apiserver")

    def start_controllers(self, silent_node_s: int = SILENT_NODE_S) -> None:
        """Needs the API; returns when namespaces get their service accounts, without which there are no pods. A node
        that was not heard of for so long is not ready."""
        programs = self.binaries.programs
        manager = self.kubeconfig("kube-controller-manager", "system:kube-controller-manager")
        scheduler = self.kubeconfig("kube-scheduler", "system:kube-scheduler")
        self.processes.start(
            "kube-controller-manager",
            [
                programs / "kube-controller-manager",
                f"--kubeconfig={manager}",
                f"--service-account-private-key-file={self.state.folder / 'certificates' / 'service-accounts.key'}",
                f"--root-ca-file={self.authority.certificate}",
                "--use-service-account-credentials",
                f"--cluster-cidr={POD_RANGE}",
                "--kube-api-qps=100",  # a thousand nodes are ready in seconds instead of a minute
                "--kube-api-burst=200",
                "--leader-elect=false",
                f"--node-monitor-grace-period={silent_node_s}s",
            ],
        )
        self.processes.start(
            "kube-scheduler",
            [
                programs / "kube-scheduler",
                f"--kubeconfig={scheduler}",
                "--leader-elect=false",
                "--authorization-always-allow-paths=/healthz,/livez,/readyz,/metrics",
            ],
        )
        self.processes.wait_until(
            "service accounts",
            lambda: self.succeeds("get", "serviceaccount", "default"),
            "kube-controller-manager",
        )

    def start_addons(self, strictness: str = "full") -> None:
        """Namespaces, storage, and Argo with such resource definitions: see Binaries."""
        self._kubectl("apply", "--server-side", f"--filename={_MANIFESTS}")
        self._kubectl("apply", "--server-side", *(f"--filename={_ARGO / name}" for name in _ARGO_MANIFESTS))
        self._kubectl("apply", "--server-side", f"--kustomize={self.binaries.argo_crds(ARGO_LINE, strictness)}")
        kinds = ",".join(f"{kind}.argoproj.io" for kind in _ARGO_KINDS)
        served = partial(self.succeeds, "get", kinds, "--all-namespaces")
        self.processes.wait_until("Argo's resources", served, "kube-apiserver")
        self.processes.start(
            "argo-workflow-controller",
            [
                self.binaries.programs / "workflow-controller",
                f"--kubeconfig={self.state.inner_kubeconfig}",
                "--namespace=argo",
                "--configmap=workflow-controller-configmap",
                f"--executor-image={ARGOEXEC}",
                "--executor-image-pull-policy=IfNotPresent",
            ],
            {"DEFAULT_REQUEUE_TIME": "1s", "LEADER_ELECTION_DISABLE": "true", "ARGO_NAMESPACE": "argo"},
            restarted=True,
        )
        for namespace in NAMESPACES:
            there = partial(self.succeeds, "get", "serviceaccount", "default", "--namespace", namespace)
            self.processes.wait_until(f"namespace {namespace}", there, "kube-controller-manager")

    def start_names(self) -> None:
        """The name service. Needs the rights that the addons bring."""
        corefile = self.state.folder / "Corefile"
        names = self.kubeconfig("coredns", "system:coredns")
        corefile.write_text(_COREFILE.format(host=HOST, domain=DOMAIN, kubeconfig=names))
        self.processes.start("coredns", [self.binaries.programs / "coredns", "-conf", corefile])

    def start_kwok(self, program: Path, pod_ms: int) -> None:
        """What stands for nodes: every one that somebody creates is ready, and its pods do what stages.yaml says."""
        stages = self.state.folder / "stages.yaml"
        stages.write_text(_STAGES.read_text().replace("POD_MILLISECONDS", str(pod_ms)))
        self.processes.start(
            "kwok",
            [
                program,
                f"--kubeconfig={self.state.inner_kubeconfig}",
                f"--config={stages}",
                "--manage-all-nodes",
                f"--node-lease-duration-seconds={SILENT_SIMULATED_NODE_S // 3}",
                "--v=WARN",
            ],
        )

    def wait_for_nodes(self, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            ready = partial(self.succeeds, "wait", "--for=condition=Ready", f"node/{node.name}", "--timeout=1s")
            self.processes.wait_until(f"node {node.name}", ready, f"{node.name}-kubelet")
            reached = self.state.reached(node.name).exists
            self.processes.wait_until(f"services from node {node.name}", reached, f"{node.name}-kube-proxy")

    def succeeds(self, *words: str) -> bool:
        return subprocess.run(self._command(*words), capture_output=True, check=False).returncode == 0

    def _kubectl(self, *words: str) -> None:
        subprocess.run(self._command(*words), stdout=subprocess.DEVNULL, check=True)

    def _command(self, *words: str) -> list[str | Path]:
        return kubectl_command(self.binaries, self.state, self.state.inner_kubeconfig, *words)


def kubectl_command(binaries: Binaries, state: State, kubeconfig: Path, *words: str) -> list[str | Path]:
    """kubectl with these words; what it remembers of a cluster ends with the cluster."""
    memory = f"--cache-dir={state.folder / 'kubectl-cache'}"
    return [binaries.programs / "kubectl", f"--kubeconfig={kubeconfig}", memory, *words]
