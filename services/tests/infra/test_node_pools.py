"""Node pools in the clouds: without faults, and at one with the chart and the kubelet's file. Nothing is applied."""

import base64
import email
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from kexbench.domain.pools import Pool
from tests.infra.conftest import ToolError, Tools
from tests.infra.pools import CHART, ROOT, pools_of

NODE_POOLS = ROOT / "infra" / "node-pools"
KUBELET = yaml.safe_load((NODE_POOLS / "kubelet.yaml").read_text())
GIVEN: dict[str, dict[str, object]] = {
    "aws": {"region": "r", "cluster_name": "c", "node_role_arn": "arn", "subnet_ids": ["s"]},
    "google": {"project": "p", "location": "r", "zone": "r-a", "cluster": "c", "service_account": "s@p"},
}
GROUPS = {"aws": "aws_eks_node_group.pool", "google": "google_container_node_pool.pool"}
POOLS = {
    "aws": {
        "instance_type": "c7i.2xlarge",
        "architecture": "x86_64",
        "threads_per_core": 2,
        "reserved_cpus": "0,4",
        "cpus": 2,
    },
    "google": {
        "machine_type": "c4a-standard-8",
        "architecture": "aarch64",
        "two_threads_per_core": False,
        "disk_type": "hyperdisk-balanced",
        "cpus": 2,
    },
}
pytestmark = pytest.mark.infra
every_cloud = pytest.mark.parametrize("cloud", GIVEN)
Evaluated = dict[str, Any]


@pytest.fixture(scope="session")
def clouds(tools: Tools) -> dict[str, Evaluated]:
    """Each with the pools that it has by default."""
    return {cloud: tools.evaluated(NODE_POOLS / cloud, given) for cloud, given in GIVEN.items()}


def pools_in(evaluated: Evaluated) -> dict[str, Pool]:
    return {pool.name: pool for pool in pools_of(evaluated["outputs"]["pools"])}


def nodes_in(evaluated: Evaluated, cloud: str) -> dict[str, dict[str, Any]]:
    """What the API gets to know of the nodes of each pool. Google has most of it in a block."""
    groups = evaluated["resources"][GROUPS[cloud]]
    return {name: {**group, **group.get("node_config", [{}])[0]} for name, group in groups.items()}


@every_cloud
def test_the_charts_value_is_one_that_the_chart_and_the_service_take(clouds: dict[str, Any], cloud: str) -> None:
    values = clouds[cloud]["outputs"]["pools"]
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())
    schema = {"$defs": schema["$defs"], **schema["properties"]["pools"]}
    assert [fault.message for fault in Draft202012Validator(schema).iter_errors(values)] == []
    assert {pool.architecture for pool in pools_in(clouds[cloud]).values()} == {"x86_64", "aarch64"}


@every_cloud
def test_every_pool_of_the_chart_has_nodes_with_the_labels_it_selects(clouds: dict[str, Any], cloud: str) -> None:
    nodes = nodes_in(clouds[cloud], cloud)
    assert {pool.name: pool.node_selector for pool in pools_in(clouds[cloud]).values()} == {
        name: group["labels"] for name, group in nodes.items()
    }


@every_cloud
def test_nodes_are_tainted_and_their_pool_alone_tolerates_it(clouds: dict[str, Any], cloud: str) -> None:
    pools = pools_in(clouds[cloud])
    for name, group in nodes_in(clouds[cloud], cloud).items():
        [taint] = group["taint"]
        assert taint["effect"] == "NO_SCHEDULE"
        tolerating = [
            pool.name
            for pool in pools.values()
            for one in pool.tolerations
            if (one.key, one.value, one.effect) == (taint["key"], taint["value"], "NoSchedule")
        ]
        assert tolerating == [name]


def test_images_of_aws_nodes_are_of_their_pools_architecture(clouds: dict[str, Any]) -> None:
    images = {"x86_64": "AL2023_x86_64_STANDARD", "aarch64": "AL2023_ARM_64_STANDARD"}
    nodes = nodes_in(clouds["aws"], "aws")
    for pool in pools_in(clouds["aws"]).values():
        assert nodes[pool.name]["ami_type"] == images[pool.architecture]


def test_an_arm_pool_on_google_tolerates_what_google_taints_its_nodes_with(clouds: dict[str, Any]) -> None:
    for pool in pools_in(clouds["google"]).values():
        keys = {toleration.key for toleration in pool.tolerations}
        assert ("kubernetes.io/arch" in keys) == (pool.architecture == "aarch64")


def test_google_nodes_have_the_static_cpu_manager_and_one_thread_a_core(clouds: dict[str, Any]) -> None:
    for group in nodes_in(clouds["google"], "google").values():
        assert group["kubelet_config"] == [{"cpu_manager_policy": KUBELET["cpuManagerPolicy"]}]
        features = group.get("advanced_machine_features", [])
        # Axion has no second threads.
        assert features == ([] if group["machine_type"].startswith("c4a-") else [{"threads_per_core": 1}])


def test_aws_nodes_are_given_what_the_kubelets_file_says(clouds: dict[str, Any]) -> None:
    templates = clouds["aws"]["resources"]["aws_launch_template.pool"]
    assert set(templates) == set(pools_in(clouds["aws"]))
    for name, template in templates.items():
        text = base64.b64decode(template["user_data"]).decode()
        [part] = [one for one in email.message_from_string(text).walk() if not one.is_multipart()]
        assert part.get_content_type() == "application/node.eks.aws"
        config = yaml.safe_load(str(part.get_payload()))
        assert (config["apiVersion"], config["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
        kubelet = config["spec"]["kubelet"]["config"]
        expected = {key: value for key, value in KUBELET.items() if key not in ("apiVersion", "kind")}
        # A kubelet that has CPUs to reserve and either of these does not start.
        without = {"kubeReservedCgroup": "", "systemReservedCgroup": ""}
        reserved = {"reservedSystemCPUs": "0,4" if name == "xeon4" else "0"}
        assert kubelet == {**expected, **without, **reserved}


@every_cloud
def test_nodes_do_not_come_and_go(clouds: dict[str, Any], cloud: str) -> None:
    for group in nodes_in(clouds[cloud], cloud).values():
        sizes = group["scaling_config"][0].values() if cloud == "aws" else [group["node_count"]]
        assert set(sizes) == {2}
        assert "autoscaling" not in group
        assert group.get("capacity_type", "ON_DEMAND") == "ON_DEMAND"


@pytest.mark.parametrize(
    ("cloud", "name", "changed", "said"),
    [
        ("google", "Axion", {}, "A pool's name is a label"),
        ("google", "axion", {"architecture": "arm64"}, "An architecture is x86_64 or aarch64"),
        ("google", "axion", {"cpus": 1.5}, "whole CPUs"),
        ("aws", "xeon4", {"cpus": 3}, "whole cores only"),
    ],
)
def test_a_pool_that_can_not_be_is_refused(
    tools: Tools, cloud: str, name: str, changed: dict[str, object], said: str
) -> None:
    right = {name.lower(): POOLS[cloud]}
    assert tools.evaluated(NODE_POOLS / cloud, {**GIVEN[cloud], "pools": right})["outputs"]["pools"]
    with pytest.raises(ToolError, match=re.escape(said)):
        tools.evaluated(NODE_POOLS / cloud, {**GIVEN[cloud], "pools": {name: {**POOLS[cloud], **changed}}})


@pytest.mark.parametrize(
    ("found", "instead", "said"),
    [
        ("local.effects[taint", "local.effect[taint", "effect"),
        ("each.value.machine_type", "each.value.machine", "machine"),
        ("module.pools.labels", "module.pools.label", "label"),
        ("= var.disk_gib", "= 60", "nothing uses variable disk_gib"),
        ("  cluster        =", "  cluster =", "not formatted"),
        ("node_count     = each.value.nodes", "node_count     = each.value.nodes }", "nodes.tf"),
    ],
)
def test_a_fault_in_the_files_would_be_found(tools: Tools, tmp_path: Path, found: str, instead: str, said: str) -> None:
    nodes = shutil.copytree(NODE_POOLS, tmp_path / "node-pools") / "google" / "nodes.tf"
    assert found in nodes.read_text()
    nodes.write_text(nodes.read_text().replace(found, instead))
    with pytest.raises(ToolError, match=re.escape(said)):
        tools.evaluated(nodes.parent, GIVEN["google"])


@every_cloud
def test_versions_are_pinned(cloud: str) -> None:
    text = (NODE_POOLS / cloud / "versions.tf").read_text()
    assert re.findall(r'^\s+version += "(.*)"', text, re.MULTILINE) == re.findall(r'"(\d+\.\d+\.\d+)"', text) != []
