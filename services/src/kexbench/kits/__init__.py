"""How kits are made: a provider names a version, the worker is linked to it, the shelf keeps the folder."""

from kexbench.kits.errors import KitError, KitErrors, raise_all
from kexbench.kits.probe import read_probe
from kexbench.kits.process import Progress
from kexbench.kits.recipe import Workshop, default_providers
from kexbench.kits.shelf import Shelf
from kexbench.kits.verify import KitCheck, kit_ids, verify_kit
from kexbench.kits.worker import WorkerSource

__all__ = [
    "KitCheck",
    "KitError",
    "KitErrors",
    "Progress",
    "Shelf",
    "WorkerSource",
    "Workshop",
    "default_providers",
    "kit_ids",
    "raise_all",
    "read_probe",
    "verify_kit",
]
