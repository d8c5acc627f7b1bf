"""The adapter on a real Kubernetes with Argo's definitions: all it needs is the path of a kubeconfig."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex

import pytest
from lightkube import Client, KubeConfig
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.coordination_v1 import Lease
from lightkube.resources.core_v1 import Namespace, Pod, ServiceAccount
from tenacity import Retrying, stop_after_delay, wait_fixed

from kexbench.execution.argo.cluster import ClusterError
from kexbench.execution.argo.lightkube_cluster import Accounts, LightkubeCluster
from kexbench.execution.argo.schedules import cron_workflow
from kexbench.execution.argo.workflows import run_workflows
from kexbench.execution.lightkube_leases import LightkubeLeases
from tests.execution.argo.cases import POOLS, SETTINGS, a_cluster_run
from tests.execution.argo.contract import LABELS, ClusterContract
from tests.execution.leases import LeasesContract

pytestmark = pytest.mark.cluster


class RealBed:
    def __init__(self, config: Path, namespace: str) -> None:
        self._client = Client(config=KubeConfig.from_file(config), namespace=namespace)
        self.namespace = namespace
        self._now = datetime.now(UTC)
        self.cluster = LightkubeCluster(self._client, namespace, namespace, lambda: self._now)

    def add_pod_for_no_node(self, name: str, labels: dict[str, str]) -> None:
        spec = PodSpec(containers=[Container(name="main", image="none")], nodeSelector={"there-is": "none"})
        self._client.create(Pod(metadata=ObjectMeta(name=name, labels=labels), spec=spec))

    def pass_s(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


@pytest.fixture
def namespace(cluster_config: Path) -> Iterator[str]:
    name = f"contract-{token_hex(4)}"
    with closing(Client(config=KubeConfig.from_file(cluster_config))) as client:
        client.create(Namespace(metadata=ObjectMeta(name=name)))
        yield name
        client.delete(Namespace, name)


class TestLightkubeCluster(ClusterContract):
    @pytest.fixture
    def bed(self, cluster_config: Path, namespace: str) -> Iterator[RealBed]:
        bed = RealBed(cluster_config, namespace)
        with closing(bed.cluster):
            yield bed


class RealLeaseBed:
    def __init__(self, config: Path, namespace: str) -> None:
        self.client = Client(config=KubeConfig.from_file(config), namespace=namespace)
        self._now = datetime.now(UTC)
        self.leases = LightkubeLeases(self.client, namespace, lambda: self._now)

    def pass_s(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


class TestLightkubeLeases(LeasesContract):
    @pytest.fixture
    def lease_bed(self, cluster_config: Path, namespace: str) -> Iterator[RealLeaseBed]:
        bed = RealLeaseBed(cluster_config, namespace)
        with closing(bed.client):
            yield bed


def test_what_a_dispatcher_made_goes_with_the_accounts_of_its_release(cluster_config: Path, namespace: str) -> None:
    """As `helm uninstall` deletes them."""
    run = a_cluster_run()
    settings = replace(SETTINGS, namespace=namespace)
    accounts = Accounts(of_jobs="job", of_lease="dispatcher")
    with (
        closing(Client(config=KubeConfig.from_file(cluster_config), namespace=namespace)) as client,
        closing(LightkubeCluster.connect(namespace, namespace, cluster_config, accounts)) as cluster,
    ):
        for name in ("job", "dispatcher"):
            client.create(ServiceAccount(metadata=ObjectMeta(name=name)))
        cluster.submit(run_workflows(run, 1, run.plan.jobs, POOLS, settings)[0])
        cluster.apply_cron(cron_workflow("nightly", "0 3 * * *", settings))
        assert cluster.hold_lease("dispatcher", "one")
        assert cluster.workflows(LABELS)
        for name in ("job", "dispatcher"):
            client.delete(ServiceAccount, name)
        for attempt in Retrying(stop=stop_after_delay(90), wait=wait_fixed(1), reraise=True):
            with attempt:
                assert cluster.workflows(LABELS) == ()
                assert cluster.cron_workflows() == {}
                assert list(client.list(Lease)) == []


def test_what_kubernetes_refuses_is_reported_with_what_to_do(cluster_config: Path) -> None:
    run = a_cluster_run()
    manifest = run_workflows(run, 1, run.plan.jobs, POOLS, replace(SETTINGS, namespace="there-is-none"))[0]
    reason = r"submitting workflow kexbench-run-.*not found\n  remedy: install Argo"
    with (
        closing(LightkubeCluster.connect("there-is-none", "default", cluster_config)) as cluster,
        pytest.raises(ClusterError, match=reason),
    ):
        cluster.submit(manifest)


def test_a_cluster_that_does_not_answer_is_reported_with_what_to_do(cluster_config: Path, tmp_path: Path) -> None:
    away = tmp_path / "away.yaml"
    away.write_text(re.sub(r"https://[\w.:]+", "https://127.0.0.1:9", cluster_config.read_text()))
    with (
        closing(LightkubeCluster.connect("default", "default", away)) as cluster,
        pytest.raises(ClusterError, match=r"listing workflows: .*\n  remedy: check that the API server runs"),
    ):
        cluster.workflows(LABELS)


def test_a_kubeconfig_that_is_not_there_is_reported_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"finding the cluster: .*none\.yaml not found\n  remedy: run this in a pod"):
        LightkubeCluster.connect("default", "default", tmp_path / "none.yaml")
