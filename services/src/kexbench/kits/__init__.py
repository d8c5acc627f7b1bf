"""How kits are made: a provider resolves a version, the worker is linked to it, and the kit store keeps the kit."""

from kexbench.kits.errors import KitError, KitErrors, raise_all
from kexbench.kits.probe import read_probe
from kexbench.kits.process import Progress
from kexbench.kits.recipe import Workshop, default_providers
from kexbench.kits.store import KitStore
from kexbench.kits.verify import KitCheck, kit_ids, verify_kit
from kexbench.kits.worker import WorkerSource

__all__ = [
    "KitCheck",
    "KitError",
    "KitErrors",
    "KitStore",
    "Progress",
    "WorkerSource",
    "Workshop",
    "default_providers",
    "kit_ids",
    "raise_all",
    "read_probe",
    "verify_kit",
]
