"""How kits are made: a provider names a version, the worker is linked to it, the shelf keeps the folder."""

from kexbench.kits.errors import KitError, KitErrors, raise_all
from kexbench.kits.process import Progress
from kexbench.kits.recipe import Workshop, default_providers
from kexbench.kits.shelf import Shelf
from kexbench.kits.worker import WorkerSource

__all__ = [
    "KitError",
    "KitErrors",
    "Progress",
    "Shelf",
    "WorkerSource",
    "Workshop",
    "default_providers",
    "raise_all",
]
