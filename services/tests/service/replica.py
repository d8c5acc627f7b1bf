"""One of several APIs that share a store on a server: `python -m tests.service.replica`, with its settings in the
environment. Callers are those of `tests.api.cluster`, and the lease is a file in the home."""

from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.service import own_store, replicas
from kexbench.service.serving import Service
from kexbench.settings import Settings
from kexbench.store.port import Store, TokenStore
from kexbench.wiring import Installation
from tests.api.cluster import LIBRARY_REPOSITORY, POOLS, WORKER, Names, planner
from tests.execution.leases import FileLeases

LEASE_S, MARGIN_S = 3, 1.0
LEASES = "leases.json"


class Double(Installation):
    """Kubernetes and the images of an installation are replaced."""

    def leases(self) -> FileLeases:
        return FileLeases(self.settings.home / LEASES)

    def gatekeeper(self, secret: str, store: TokenStore) -> Names:
        return Names()

    def supplies(self, store: Store) -> Supplies | LocalSupplies:
        from kexbench.kits.shared_store import SharedKitStore

        kits = SharedKitStore(self.settings.home / "kits", WORKER, shared=True)
        return Supplies(kits, self.material(), planner(), lambda: POOLS, lambda _: [LIBRARY_REPOSITORY])


def main() -> None:
    replicas.LEASE_S, replicas.MARGIN_S, replicas.PACE_S = LEASE_S, MARGIN_S, 0.1
    installation = Double(Settings())
    settings = installation.settings
    service = Service(installation, own_store(settings), settings.host, settings.port)
    with service:
        service.run()


if __name__ == "__main__":
    main()
