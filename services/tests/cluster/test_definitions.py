"""What is submitted is known field by field to every line of Argo that is supported."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from devcluster.binaries import ARGO_LINES
from devcluster.cluster import Cluster
from devcluster.plan import ARGO_LINE
from tests.cluster.kubectl import Kubectl, KubectlError
from tests.execution.argo.test_workflows import SNAPSHOTS

pytestmark = pytest.mark.cluster
STRICTLY = ("create", "--dry-run=server", "--validate=strict", "-f")
ONLY_3_7 = {"synchronization": {"mutex": {"name": "one"}}}
"""4.0 knows `mutexes` only."""


@pytest.fixture(scope="module", params=sorted(ARGO_LINES))
def line(request: pytest.FixtureRequest, devcluster: Cluster, kubectl: Kubectl) -> Iterator[str]:
    """A line of Argo whose definitions the cluster has; afterwards it has those of its own again."""
    line: str = request.param
    _define(devcluster, kubectl, line)
    yield line
    _define(devcluster, kubectl, ARGO_LINE)


@pytest.mark.parametrize("snapshot", sorted(SNAPSHOTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_strict_dry_run_takes_what_is_submitted(kubectl: Kubectl, line: str, snapshot: Path) -> None:
    kubectl(*STRICTLY, str(snapshot))


def _define(cluster: Cluster, kubectl: Kubectl, line: str) -> None:
    """Returns when the API server validates by these definitions."""
    kubectl("apply", "--server-side", "--force-conflicts", f"--kustomize={cluster.binaries.argo_crds(line)}")
    known = Retrying(
        retry=retry_if_result(lambda known: known != (line == "3.7")), wait=wait_fixed(0.2), stop=stop_after_delay(60)
    )
    known(_knows, kubectl, ONLY_3_7)


def _knows(kubectl: Kubectl, fields: dict[str, Any]) -> bool:
    steps = {"entrypoint": "one", "templates": [{"name": "one", "suspend": {}}]}
    workflow = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "known", "namespace": "default"},
        "spec": {**steps, **fields},
    }
    try:
        kubectl(*STRICTLY, "-", given=workflow)
    except KubectlError as error:
        if "unknown field" not in str(error):
            raise
        return False
    return True
