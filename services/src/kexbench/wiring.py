"""The composition root: the only place that knows which adapter implements which port.

Modules that only the serving process needs are imported where they are used: importing them takes more than a second,
which all other commands save.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from kexbench.domain.kits import Library
from kexbench.domain.plans import Plan
from kexbench.domain.pools import Pool
from kexbench.domain.repositories import Repository
from kexbench.domain.views import View
from kexbench.execution.folder import RunFolder, run_folders
from kexbench.planning.documents import DocumentError, read_text
from kexbench.settings import Settings
from kexbench.store.port import BackupStore, Store, StoreAway, TokenStore

if TYPE_CHECKING:
    from kexbench.api.access import Gatekeeper
    from kexbench.api.doorbell import Doorbell
    from kexbench.api.login import Login
    from kexbench.execution.leases import Leases
    from kexbench.kits import KitStore, Workshop
    from kexbench.kits.servers import ServerStore
    from kexbench.material.store import MaterialStore
    from kexbench.notify.port import Channel
    from kexbench.planning.channels import ConfiguredChannel
    from kexbench.planning.job_pods import JobPods
    from kexbench.planning.spec import Catalogue
    from kexbench.queue.supplies import LocalSupplies, Supplies
    from kexbench.runner.probe import WorkerProber

STORE_PATIENCE_S = 300.0


class Installation:
    """A kexbench installation on one machine, built from its settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def workshop(self) -> Workshop:
        from kexbench.kits import WorkerSource, Workshop, default_providers

        worker, providers = (
            WorkerSource(self.settings.workers),
            default_providers(self.settings.cache, self.settings.workers.parent),
        )
        return Workshop(worker, providers, self.prober())

    def kits(self) -> KitStore:
        from kexbench.kits import KitStore

        return KitStore(self.settings.home / "kits", self.workshop())

    def servers(self) -> ServerStore:
        """The web servers of the kits."""
        from kexbench.kits.servers import ServerStore, server_builds

        jobs = len(os.sched_getaffinity(0))
        return ServerStore(self.kits(), self.workshop(), server_builds(self.settings.cache, jobs))

    def prober(self) -> WorkerProber:
        """Checks that a kit works."""
        from kexbench.runner.probe import WorkerProber

        return WorkerProber(self.material())

    def material(self) -> MaterialStore:
        from kexbench.material.store import MaterialStore

        return MaterialStore((self.settings.home / "material").absolute())

    def pools(self) -> tuple[Pool, ...]:
        """The cluster's pools; none on a single machine. Raises DocumentError."""
        from kexbench.planning.pools import read_pools

        path = self.settings.pools
        return read_pools(read_text(path), str(path)) if path else ()

    def job_pods(self) -> JobPods:
        """What this site adds to the pods of jobs. Raises DocumentError."""
        from kexbench.planning.job_pods import JobPods, read_job_pods

        path = self.settings.job_pods
        return read_job_pods(read_text(path), str(path)) if path else JobPods()

    def repositories(self) -> tuple[Repository, ...]:
        """The watched repositories. Raises DocumentError."""
        from kexbench.planning.repositories import read_repositories

        path = self._configured(self.settings.repositories, "repositories.yaml")
        return read_repositories(read_text(path), str(path)) if path else ()

    def channels(self) -> tuple[ConfiguredChannel, ...]:
        """The channels of notifications. Raises DocumentError."""
        from kexbench.planning.channels import read_channels

        path = self._configured(self.settings.channels, "channels.yaml")
        return read_channels(read_text(path), str(path)) if path else ()

    def views(self) -> tuple[View, ...]:
        """The named views. Raises DocumentError."""
        from kexbench.planning.views import read_views

        path = self._configured(self.settings.views, "views.yaml")
        return read_views(read_text(path), str(path)) if path else ()

    def _configured(self, path: Path | None, usual_name: str) -> Path | None:
        """The file that a setting names, or the usual one in the home folder, if any."""
        usual = self.settings.home / usual_name
        return path or (usual if usual.is_file() else None)

    def opened_channels(self) -> dict[str, Channel]:
        """Adapters of the channels, by their names. Raises DocumentError."""
        from kexbench.notify.apprise_channel import AppriseChannel

        channels = self.channels()
        return {channel.rule.name: AppriseChannel(channel.address) for channel in channels}

    def doorbell(self) -> Doorbell:
        """The doorbell of repositories whose webhooks have a secret."""
        from kexbench.api.doorbell import Doorbell

        files = {repository.name: repository.webhook_secret_file for repository in self.repositories()}
        return Doorbell({name: Path(file) for name, file in files.items() if file is not None})

    def gatekeeper(self, secret: str, store: TokenStore) -> Gatekeeper:
        """Decides who may write: holders of stored tokens, and of tokens signed with the secret or accounts of the
        cluster."""
        from kexbench.api.stored_tokens import TokenGatekeeper

        return TokenGatekeeper(store, self._gatekeeper_of_site(secret))

    def _gatekeeper_of_site(self, secret: str) -> Gatekeeper:
        from kexbench.api.access import LocalGatekeeper

        settings = self.settings
        if settings.access == "local":
            return LocalGatekeeper(secret)
        from kexbench.api.cluster_access import Accounts, ClusterGatekeeper, in_cluster

        accounts = Accounts(
            job=f"{settings.cluster_namespace}:{settings.job_service_account}",
            builder=f"{settings.cluster_namespace}:{settings.builder_service_account}",
            dispatcher=settings.dispatcher_service_account,
            people=settings.accounts_of_people,
        )
        return ClusterGatekeeper(in_cluster(), accounts)

    def login(self, pages_url: str) -> Login | None:
        """How people log in to the pages at `pages_url`; None if they cannot. Raises OSError."""
        settings = self.settings
        if not settings.oidc_issuer or not settings.oidc_client_secret_file:
            return None
        from kexbench.api.login import Login, session_secret
        from kexbench.api.oidc import OidcProvider
        from kexbench.api.sessions import Sessions

        secret = settings.oidc_client_secret_file.read_text(encoding="utf-8").strip()
        return Login(
            OidcProvider(settings.oidc_issuer, settings.oidc_client_id, secret),
            Sessions(session_secret(secret), pages_url),
            settings.roles_of_groups,
            settings.oidc_groups_claim,
        )

    def supplies(self, store: Store) -> Supplies | LocalSupplies:
        """What queued runs are supplied with. Raises DocumentError for faulty pools."""
        from kexbench.kits import WorkerSource
        from kexbench.kits.shared_store import SharedKitStore
        from kexbench.queue.supplies import LocalSupplies, Supplies

        if self.settings.access == "local":
            return LocalSupplies(
                partial(self._planned_here, store),
                lambda run_id: self.run_folder(run_id).log_tail(),
                lambda run_id: self.run_folder(run_id).measured(),
            )
        self.pools()  # reports faults of the pools when the service starts
        shared_store = SharedKitStore(
            self.settings.home.absolute() / "kits",
            WorkerSource(self.settings.workers).sha256(),
            shared=self.settings.replica_lease is not None,
        )
        return Supplies(
            shared_store,
            self.material(),
            self._planned,
            self._architectures,
            self._repositories,
            self.settings.cluster_namespace,
        )

    def _planned(
        self, text: str, file: str, catalogue: str | None = None, only: Collection[str] = (), *, anywhere: bool = False
    ) -> Plan:
        from kexbench.planning.plan import make_plan

        installed, pools = self._catalogue_of(catalogue), [pool.name for pool in self.pools()]
        return make_plan(text, file, installed, pools=pools, only=only, anywhere=anywhere)

    def _catalogue_of(self, text: str | None) -> Catalogue:
        """The catalogue of the text, or the installed one."""
        from kexbench.planning.catalogue import read_catalogue

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
        from kexbench.answers.qualifications import qualifications
        from kexbench.answers.resolving import resolved
        from kexbench.planning.plan import make_plan

        plan_of = partial(make_plan, text, file, self._catalogue_of(catalogue), only=only, anywhere=anywhere)
        return resolved(text, file, plan_of, lambda invocations: qualifications(store, invocations=invocations))

    def _repositories(self, library: Library) -> list[str]:
        return self.catalogue().repositories.get(library, [])

    def _architectures(self) -> dict[str, str]:
        return {pool.name: pool.architecture for pool in self.pools()}

    def leases(self) -> Leases | None:
        """By which several APIs agree on the one that writes; None if there is one. Raises ClusterError."""
        if self.settings.replica_lease is None:
            return None
        from kexbench.execution.lightkube_leases import LightkubeLeases

        return LightkubeLeases.connect(self.settings.replica_lease.partition(":")[0])

    def unopened_store(self) -> Store:
        """The store, as it is. Raises StoreError."""
        from kexbench.store.clickhouse import ClickHouseStore
        from kexbench.store.migrate import EngineClauses
        from kexbench.store.port import StoreError

        try:
            address = self.settings.store_dsn
        except OSError as error:
            remedy = "name a file that can be read in KEXBENCH_STORE_PASSWORD_FILE and KEXBENCH_STORE_CA_FILE"
            raise StoreError(f"{error.filename}: {error.strerror}", remedy) from None
        return ClickHouseStore(address, self.settings.store_database, EngineClauses(self.settings.store_engine))

    def open_store(self, on_wait: Callable[[str], None] | None = None) -> Store:
        """The store, opened and migrated. With `on_wait` this waits for a server that does not answer yet, and reports
        each wait to `on_wait`. Raises StoreError."""
        store = self.unopened_store()
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

    def store_to_restore(self) -> BackupStore:
        """The store, as it is. Raises StoreError."""
        return self.unopened_store()

    def backup(self, store: BackupStore) -> Iterator[bytes]:
        """The pieces of a backup. Raises StoreError and OSError."""
        from kexbench.execution.backing_up import Document, backup

        settings = self.settings
        documents = []
        for name, named, secrets_of in (
            ("repositories.yaml", settings.repositories, self._secrets_of_repositories),
            ("channels.yaml", settings.channels, self._secrets_of_channels),
            ("views.yaml", settings.views, list),
        ):
            if path := self._configured(named, name):
                try:
                    secrets: list[str] | None = secrets_of()
                except DocumentError:  # it has been edited since the service started
                    secrets = None
                documents.append(Document(name, path, secrets))
        return backup(store, documents, self.run_folders, settings.home)

    def _secrets_of_repositories(self) -> list[str]:
        """An address has no password, but a user can be a token."""
        urls = [urlsplit(repository.url) for repository in self.repositories()]
        return [f"//{url.netloc.rpartition('@')[0]}@" for url in urls if url.scheme.startswith("http") and url.username]

    def _secrets_of_channels(self) -> list[str]:
        return [channel.address for channel in self.channels() if isinstance(channel.address, str)]

    def catalogue(self) -> Catalogue:
        """Raises DocumentError."""
        from kexbench.planning.catalogue import read_catalogue

        path = self.settings.catalogue
        return read_catalogue(read_text(path), str(path))

    def run_folder(self, run_id: str) -> RunFolder:
        return RunFolder(self.settings.home / "runs" / run_id)

    def run_folders(self) -> list[RunFolder]:
        return run_folders(self.settings.home / "runs")
