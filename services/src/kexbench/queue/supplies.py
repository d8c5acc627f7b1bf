"""What runs that are queued are supplied with."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from kexbench.domain.kits import Library
from kexbench.domain.plans import Plan
from kexbench.kits.depot import Depot
from kexbench.material.shelf import MaterialShelf


class Planner(Protocol):
    def __call__(
        self,
        text: str,
        file: str,
        catalogue: str | None = None,
        only: Collection[str] = (),
        /,
        *,
        anywhere: bool = False,
    ) -> Plan:
        """The plan of a spec's text, by a catalogue's text or by the one that is installed; of all its subjects, or
        only of some references; following a branch `anywhere`, or only in the catalogue's repositories. Raises
        DocumentError."""
        ...


@dataclass(frozen=True)
class Supplies:
    """What a service that has a cluster gives to its runs; `architectures` tells that of each pool, `repositories`
    which git repositories of a library its catalogue names, since what is in them is run."""

    depot: Depot
    material: MaterialShelf
    plan: Planner
    architectures: Callable[[], dict[str, str]]
    repositories: Callable[[Library], Collection[str]]


@dataclass(frozen=True)
class LocalSupplies:
    """What a service gives to runs that wait for their turn on its own machine: a plan, made as Supplies makes it."""

    plan: Planner
