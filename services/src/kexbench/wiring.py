"""The composition root: the one place that knows which adapter stands behind which port."""

from kexbench.execution.folder import RunFolder, run_folders
from kexbench.kits import Shelf, WorkerSource, Workshop, default_providers
from kexbench.material.shelf import MaterialShelf
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError, Fault
from kexbench.planning.spec import Catalogue
from kexbench.runner.probe import WorkerProber
from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from kexbench.store.port import Store


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

    def open_store(self) -> Store:
        """Opened and migrated. Raises StoreError."""
        clauses = EngineClauses(self.settings.store_engine, self.settings.store_deduplication_window)
        store = ClickHouseStore(self.settings.store_dsn, self.settings.store_database, clauses)
        store.migrate()
        return store

    def catalogue(self) -> Catalogue:
        """Raises DocumentError."""
        path = self.settings.catalogue
        try:
            return read_catalogue(path.read_text(), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise DocumentError(str(path), [Fault(1, 1, "", f"cannot be read: {error}")]) from None

    def run_folder(self, run_id: str) -> RunFolder:
        return RunFolder(self.settings.home / "runs" / run_id)

    def run_folders(self) -> list[RunFolder]:
        return run_folders(self.settings.home / "runs")
