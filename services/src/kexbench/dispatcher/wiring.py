"""Connects a dispatcher with the API, the cluster and the pools of the settings."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime

from kexbench.client import ApiClient
from kexbench.dispatcher.control import ApiControl
from kexbench.dispatcher.health import Health
from kexbench.dispatcher.loop import EXPECTED, Dispatcher
from kexbench.execution.argo.lightkube_cluster import Accounts, LightkubeCluster
from kexbench.execution.argo.pods import JobSettings
from kexbench.queue.troubles import Troubles
from kexbench.settings import Settings
from kexbench.wiring import Installation


@contextmanager
def dispatcher_of(
    settings: Settings, api: ApiClient, identity: str, clock: Callable[[], datetime]
) -> Iterator[tuple[Dispatcher, Health]]:
    """`identity` is unique to this process. Raises ClusterError, and DocumentError for wrong pools or site settings."""
    assert settings.api_url
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
        site=Installation(settings).job_pods(),
    )
    pools = Installation(settings).pools()
    lease_namespace, _, own_account = settings.dispatcher_service_account.partition(":")
    accounts = Accounts(of_jobs=settings.job_service_account, of_lease=own_account)
    connected = LightkubeCluster.connect(settings.cluster_namespace, lease_namespace, accounts=accounts)
    with closing(connected) as cluster:
        troubles = Troubles(clock, EXPECTED)
        health = Health(troubles)
        yield Dispatcher(ApiControl(api), cluster, pools, jobs, identity, clock, health, troubles), health
