"""The cluster that kind is to make fits the values and the spec beside it, and the devcluster."""

import re
from itertools import pairwise
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from devcluster.images import kexbench_image
from devcluster.plan import nodes
from kexbench.execution.argo.pods import JobSettings
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.plan import make_plan
from tests.infra.pools import CHART, ROOT, pools_of

KIND = ROOT / "infra" / "kind"
CLUSTER = yaml.safe_load((KIND / "cluster.yaml").read_text())
VALUES = yaml.safe_load((KIND / "values.yaml").read_text())
FIRST_SUPPORTED_MINOR = 35
"""Of Kubernetes 1; nobody mends the one before any more."""
WORKERS = [node for node in CLUSTER["nodes"] if node["role"] == "worker"]


def patch_of(holder: dict[str, Any], kind: str) -> dict[str, Any]:
    """What is patched into kubeadm's configuration of this kind. kind ignores a patch of another version silently, so
    none may name one."""
    [found] = [patch for patch in map(yaml.safe_load, holder["kubeadmConfigPatches"]) if patch["kind"] == kind]
    assert "apiVersion" not in found
    return dict(found)


def registered(worker: dict[str, Any]) -> dict[str, Any]:
    return dict(patch_of(worker, "JoinConfiguration")["nodeRegistration"])


def test_it_says_nothing_that_kind_does_not_know() -> None:
    assert (CLUSTER["apiVersion"], CLUSTER["kind"]) == ("kind.x-k8s.io/v1alpha4", "Cluster")
    assert set(CLUSTER) == {"apiVersion", "kind", "name", "kubeadmConfigPatches", "nodes"}
    assert [set(node) - {"role", "image", "labels", "kubeadmConfigPatches"} for node in CLUSTER["nodes"]] == [set()] * 3


def test_all_nodes_are_of_one_image_by_its_digest() -> None:
    assert len({node["image"] for node in CLUSTER["nodes"]}) == 1
    assert "@sha256:" in CLUSTER["nodes"][0]["image"]


def test_every_kubernetes_that_something_is_tried_on_is_of_one_minor_and_that_is_supported() -> None:
    named = {
        ROOT / "infra" / "devcluster" / "programs" / "go.mod": r"k8s\.io/kubernetes v1\.(\d+)\.\d+",
        ROOT / "charts" / "tools" / "build.sh": r"k8s\.io/kubernetes@v1\.(\d+)\.\d+",
        KIND / "cluster.yaml": r"kindest/node:v1\.(\d+)\.\d+",
    }
    (minor,) = {int(re.findall(text, path.read_text())[0]) for path, text in named.items()}
    assert minor >= FIRST_SUPPORTED_MINOR


def test_its_workers_are_the_pools_of_the_values_and_the_nodes_of_the_devcluster() -> None:
    pools = pools_of(VALUES["pools"])
    assert [worker["labels"] for worker in WORKERS] == [pool.node_selector for pool in pools]
    assert [pool.name for pool in pools] == [node.pool for node in nodes(2, 4)]
    for worker, pool, node in zip(WORKERS, pools, nodes(2, 4), strict=True):
        taints = registered(worker).get("taints", [])
        assert [f"{taint['key']}={taint['value']}:{taint['effect']}" for taint in taints] == [node.taints][
            : len(taints)
        ]
        assert bool(taints) == bool(node.taints)
        assert [toleration.model_dump(exclude={"operator"}) for toleration in pool.tolerations] == taints


def test_every_worker_keeps_back_the_cpus_that_the_other_hands_out() -> None:
    kept = [set(registered(worker)["kubeletExtraArgs"]["reserved-cpus"].split(",")) for worker in WORKERS]
    handed_out = [{"0", "1", "2", "3"} - each for each in kept]
    assert all(not one & other for one, other in pairwise(handed_out))
    # One for the job, and one for what Argo adds to it and for everything else.
    assert all(len(each) > pool.cpus for each, pool in zip(handed_out, pools_of(VALUES["pools"]), strict=True))


def test_its_kubelets_have_the_static_cpu_manager() -> None:
    wanted = yaml.safe_load((ROOT / "infra" / "node-pools" / "kubelet.yaml").read_text())
    kubelet = patch_of(CLUSTER, "KubeletConfiguration")
    assert kubelet["cpuManagerPolicy"] == wanted["cpuManagerPolicy"] == "static"
    assert kubelet["reservedSystemCPUs"]  # without any the policy does not start, on the control plane either


def test_the_values_are_the_charts() -> None:
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    assert [fault.message for fault in Draft202012Validator(schema).iter_errors(merged(defaults, VALUES))] == []


def merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """As Helm lays values over the chart's own."""
    both = {key: merged(below[key], above[key]) for key in below.keys() & above if isinstance(below[key], dict)}
    return {**below, **above, **both}


def test_the_images_are_those_that_the_devcluster_has() -> None:
    image = VALUES["image"]
    for name in ("runner", "builder", "service"):
        assert f"{image['prefix']}/{name}:{image['tag']}" == kexbench_image(name)


def test_the_first_run_is_planned_on_both_pools_and_needs_nothing_from_elsewhere() -> None:
    spec = KIND / "first-run.yaml"
    catalogue = read_catalogue((ROOT / "bench-specs" / "libraries.yaml").read_text(), "libraries.yaml")
    plan = make_plan(spec.read_text(), str(spec), catalogue, pools=[pool["name"] for pool in VALUES["pools"]])
    assert plan.pools == ("pool-a", "pool-b")
    sources = {subject.reference.partition("@")[2] for subject in plan.subjects} | {
        str(plan.sentinel).partition("@")[2]
    }
    assert sources == {"system"}


def test_the_page_on_kubernetes_says_where_the_api_is_and_who_asks_before_it_submits_the_first_run() -> None:
    """As somebody who may: an account that the values name, with a token for this API."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```", (ROOT / "docs/operate/kubernetes.md").read_text(), re.MULTILINE | re.DOTALL
    )
    (commands,) = (block.splitlines() for block in blocks if "infra/kind/first-run.yaml" in block)
    *before, last = commands
    assert last == "kexbench submit infra/kind/first-run.yaml --wait"
    (install,) = (command for command in before if command.startswith("helm install kexbench "))
    assert f"--values {(KIND / 'values.yaml').relative_to(ROOT)}" in install
    port = re.search(r"port-forward service/kexbench-api (\d+) &$", "\n".join(before), re.MULTILINE)
    token = re.search(
        r"kubectl -n (\S+) create token (\S+) --audience (\S+) .*> (\S+)$", "\n".join(before), re.MULTILINE
    )
    assert port is not None
    assert token is not None
    namespace, account, audience, file = token.groups()
    assert f"{namespace}:{account}" in VALUES["access"]["submitters"]
    assert audience == JobSettings("", "", "", "").audience
    assert f"export KEXBENCH_API_URL=http://127.0.0.1:{port[1]} KEXBENCH_TOKEN_FILE={file}" in before
