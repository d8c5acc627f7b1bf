"""Options that narrow what was measured down to libraries and machines, and what they say where nothing is left."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from kexbench.cli.words import host_text
from kexbench.domain.hosts import HostKind

Libraries = Annotated[
    list[str] | None,
    typer.Option("--library", help="Only this library; repeatable. Default: all.", show_default=False),
]
Pool = Annotated[str | None, typer.Option(help="Only this pool.", show_default=False)]
Cpu = Annotated[str | None, typer.Option(help="Only this CPU model.", show_default=False)]


def narrowed(libraries: Sequence[str] | None, pool: str | None, cpu: str | None) -> list[tuple[str, str]]:
    """Names and values of an address's query."""
    machine = [(name, value) for name, value in (("pool", pool), ("cpu_model", cpu)) if value]
    return [*(("library", each) for each in libraries or ()), *machine]


def no_such(libraries: Iterable[str], host: HostKind | None) -> typer.BadParameter:
    """For who asked for something else than what was measured: these libraries, on this machine."""
    known = ", ".join(dict.fromkeys(libraries))
    place = host_text(host) if host else "an unknown machine"
    return typer.BadParameter(f"nothing was measured for these options; there are {known}, on {place}")
