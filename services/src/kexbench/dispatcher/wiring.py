"""Puts a dispatcher together: the API, the cluster and the pools that the settings name."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime

from kexbench.dispatcher.control import ApiControl
from kexbench.dispatcher.loop import Dispatcher
from kexbench.execution.argo.lightkube_cluster import LightkubeCluster
from kexbench.execution.argo.pods import JobSettings
from kexbench.settings import Settings
from kexbench.uplink import Uplink
from kexbench.wiring import Installation


@contextmanager
def dispatcher_of(
    settings: Settings, identity: str, clock: Callable[[], datetime], *, patience_s: float
) -> Iterator[Dispatcher]:
    """`identity` is this process's. Raises ClusterError and, for wrong pools, DocumentError."""
    assert settings.api_url
    assert settings.token_file
    assert settings.runner_image
    assert settings.builder_image
    jobs = JobSettings(
        namespace=settings.cluster_namespace,
        runner_image=settings.runner_image,
        builder_image=settings.builder_image,
        api_url=settings.api_url,
        image_pull_policy=settings.image_pull_policy,
        job_service_account=settings.job_service_account,
        builder_service_account=settings.builder_service_account,
    )
    pools = Installation(settings).pools()
    lease_namespace = settings.dispatcher_service_account.partition(":")[0]
    with (
        closing(LightkubeCluster.connect(settings.cluster_namespace, lease_namespace)) as cluster,
        closing(Uplink(settings.api_url, settings.token_file, lambda _: None, patience_s=patience_s)) as api,
    ):
        yield Dispatcher(ApiControl(api), cluster, pools, jobs, identity, clock)
