"""The fake keeps the contract that a real cluster keeps."""

from datetime import timedelta

import pytest

from tests.execution.argo.cases import SETTINGS
from tests.execution.argo.contract import ClusterContract
from tests.execution.argo.fake_cluster import FakeCluster


class FakeBed:
    def __init__(self) -> None:
        self.cluster = FakeCluster()
        self.namespace = SETTINGS.namespace

    def add_pod_for_no_node(self, name: str, labels: dict[str, str]) -> None:
        self.cluster.add_pod(name, labels, ("Unschedulable", "0/2 nodes are available"))

    def pass_s(self, seconds: float) -> None:
        self.cluster.now += timedelta(seconds=seconds)


class TestFakeCluster(ClusterContract):
    @pytest.fixture
    def bed(self) -> FakeBed:
        return FakeBed()
