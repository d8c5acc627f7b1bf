"""What queued runs are supplied with."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kexbench.domain.kits import Library
from kexbench.domain.plans import Plan

if TYPE_CHECKING:
    from kexbench.kits.shared_store import SharedKitStore
    from kexbench.material.store import MaterialStore


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
        """The plan of a spec's text, by a catalogue's text or by the installed catalogue. `only` limits the plan to
        some references. With `anywhere` a followed branch may be in any repository, otherwise only in the
        catalogue's. Raises DocumentError."""
        ...


@dataclass(frozen=True)
class Supplies:
    """What a service on a cluster supplies. `architectures` returns the architecture of each pool. `repositories`
    returns a library's git repositories in the catalogue: their code is run. `namespace` has the pods of jobs."""

    shared_store: "SharedKitStore"
    material: "MaterialStore"
    plan: Planner
    architectures: Callable[[], dict[str, str]]
    repositories: Callable[[Library], Collection[str]]
    namespace: str = "kexbench-jobs"


@dataclass(frozen=True)
class LocalSupplies:
    """What a service supplies to the queued runs of its own machine: a plan, made as Supplies makes it. `log_tail`
    returns the last lines of a run's log, `measured` how many invocations of each job are on the disk, by its id."""

    plan: Planner
    log_tail: Callable[[str], list[str]] = lambda _: []
    measured: Callable[[str], Mapping[str, int]] = lambda _: {}
