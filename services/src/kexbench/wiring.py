"""The composition root: the one place that knows which adapter stands behind which port.

What only the process that holds the store needs is imported where it is made: it takes more than a second, which every
other command does without.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from kexbench.domain.kits import Library
from kexbench.domain.plans import Plan
from kexbench.domain.pools import Pool
from kexbench.domain.repositories import Repository
from kexbench.execution.folder import RunFolder, run_folders
from kexbench.kits import Shelf, WorkerSource, Workshop, default_providers
from kexbench.material.shelf import MaterialShelf
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.channels import ConfiguredChannel, read_channels
from kexbench.planning.documents import DocumentError, Fault
from kexbench.planning.job_pods import JobPods, read_job_pods
from kexbench.planning.plan import make_plan
from kexbench.planning.pools import read_pools
from kexbench.planning.repositories import read_repositories
from kexbench.planning.spec import Catalogue
from kexbench.runner.probe import WorkerProber
from kexbench.settings import Settings
from kexbench.store.port import Store, StoreAway

if TYPE_CHECKING:
    from kexbench.api.access import Gatekeeper
    from kexbench.api.webhooks import Doorbell
    from kexbench.notify.port import Channel
    from kexbench.queue.supplies import LocalSupplies, Supplies

STORE_PATIENCE_S = 300.0


class Installation:
    """One kexbench on one machine, made of its settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def workshop(self) -> Workshop:
        worker, providers = WorkerSource(self.settings.workers), default_providers(self.settings.cache)
        return Workshop(worker, providers, self.prober())

    def kits(self) -> Shelf:
        return Shelf(self.settings.home / "kits", self.workshop())

    def prober(self) -> WorkerProber:
        """What kits prove themselves with."""
        return WorkerProber(self.material())

    def material(self) -> MaterialShelf:
        return MaterialShelf((self.settings.home / "material").absolute())

    def pools(self) -> tuple[Pool, ...]:
        """Those of the cluster; none where this machine measures by itself. Raises DocumentError."""
        path = self.settings.pools
        return read_pools(_text(path), str(path)) if path else ()

    def job_pods(self) -> JobPods:
        """What this site wants of the pods of jobs. Raises DocumentError."""
        path = self.settings.job_pods
        return read_job_pods(_text(path), str(path)) if path else JobPods()

    def repositories(self) -> tuple[Repository, ...]:
        """Those that are watched. Raises DocumentError."""
        named, usual = self.settings.repositories, self.settings.home / "repositories.yaml"
        path = named or (usual if usual.is_file() else None)
        return read_repositories(_text(path), str(path)) if path else ()

    def channels(self) -> tuple[ConfiguredChannel, ...]:
        """Those that people are told at. Raises DocumentError."""
        named, usual = self.settings.channels, self.settings.home / "channels.yaml"
        path = named or (usual if usual.is_file() else None)
        return read_channels(_text(path), str(path)) if path else ()

    def opened_channels(self) -> dict[str, Channel]:
        """The same by their names, to send to. Raises DocumentError."""
        from kexbench.notify.apprise_channel import AppriseChannel

        found = self.channels()
        return {one.rule.name: AppriseChannel(one.address) for one in found}

    def doorbell(self) -> Doorbell:
        """Of the repositories whose webhooks have a secret."""
        from kexbench.api.webhooks import Doorbell

        named = {one.name: one.webhook_secret_file for one in self.repositories()}
        return Doorbell({name: Path(file) for name, file in named.items() if file is not None})

    def gatekeeper(self, secret: str) -> Gatekeeper:
        """Who may write: whoever has a token signed with the secret, or accounts of the cluster."""
        from kexbench.api.access import LocalGatekeeper

        settings = self.settings
        if settings.access == "local":
            return LocalGatekeeper(secret)
        from kexbench.api.cluster_access import Accounts, ClusterGatekeeper, in_cluster

        accounts = Accounts(
            job=f"{settings.cluster_namespace}:{settings.job_service_account}",
            builder=f"{settings.cluster_namespace}:{settings.builder_service_account}",
            dispatcher=settings.dispatcher_service_account,
            submitters=frozenset(filter(None, map(str.strip, settings.submitters.split(",")))),
        )
        return ClusterGatekeeper(in_cluster(), accounts)

    def supplies(self, store: Store) -> Supplies | LocalSupplies:
        """What runs that are queued are given. Raises DocumentError for wrong pools."""
        from kexbench.kits.depot import Depot
        from kexbench.queue.supplies import LocalSupplies, Supplies

        if self.settings.access == "local":
            return LocalSupplies(partial(self._planned_here, store))
        self.pools()  # so that what is wrong with them is told when the service starts
        depot = Depot(self.settings.home.absolute() / "kits", WorkerSource(self.settings.workers).sha256())
        return Supplies(depot, self.material(), self._planned, self._architectures, self._repositories)

    def _planned(
        self, text: str, file: str, catalogue: str | None = None, only: Collection[str] = (), *, anywhere: bool = False
    ) -> Plan:
        known, pools = self._catalogue_of(catalogue), [pool.name for pool in self.pools()]
        return make_plan(text, file, known, pools=pools, only=only, anywhere=anywhere)

    def _catalogue_of(self, text: str | None) -> Catalogue:
        """The one that is installed, where no text of another is given."""
        return self.catalogue() if text is None else read_catalogue(text, self.settings.catalogue.name)

    def _planned_here(
        self,
        store: Store,
        text: str,
        file: str,
        catalogue: str | None = None,
        only: Collection[str] = (),
        *,
        anywhere: bool = False,
    ) -> Plan:
        from kexbench.api.lab import qualifications
        from kexbench.api.resolving import resolved

        plan_of = partial(make_plan, text, file, self._catalogue_of(catalogue), only=only, anywhere=anywhere)
        return resolved(text, file, plan_of, lambda invocations: qualifications(store, invocations=invocations))

    def _repositories(self, library: Library) -> list[str]:
        return self.catalogue().repositories.get(library, [])

    def _architectures(self) -> dict[str, str]:
        return {pool.name: pool.architecture for pool in self.pools()}

    def open_store(self, on_wait: Callable[[str], None] | None = None) -> Store:
        """Opened and migrated. With `on_wait` a server that does not answer yet is waited for, as one that starts
        beside this process, and `on_wait` is told so each time. Raises StoreError."""
        from kexbench.store.clickhouse import ClickHouseStore
        from kexbench.store.migrate import EngineClauses

        clauses = EngineClauses(self.settings.store_engine, self.settings.store_deduplication_window)
        store = ClickHouseStore(self.settings.store_dsn, self.settings.store_database, clauses)
        if on_wait is None:
            store.migrate()
            return store
        for attempt in Retrying(
            retry=retry_if_exception_type(StoreAway),
            stop=stop_after_delay(STORE_PATIENCE_S),
            wait=wait_exponential(multiplier=0.5, max=15),
            before_sleep=lambda state: on_wait(f"{state.outcome.exception() if state.outcome else ''}: waiting for it"),
            reraise=True,
        ):
            with attempt:
                store.migrate()
        return store

    def catalogue(self) -> Catalogue:
        """Raises DocumentError."""
        path = self.settings.catalogue
        return read_catalogue(_text(path), str(path))

    def run_folder(self, run_id: str) -> RunFolder:
        return RunFolder(self.settings.home / "runs" / run_id)

    def run_folders(self) -> list[RunFolder]:
        return run_folders(self.settings.home / "runs")


def _text(path: Path) -> str:
    """Raises DocumentError."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError(str(path), [Fault(1, 1, "", f"cannot be read: {error}")]) from None
