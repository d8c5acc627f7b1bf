"""`kexbench capacity`: the cores and machines that a mix of connections needs."""

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.answers.capacity_shapes import (
    CapacityRequest,
    CpuNeed,
    MixPartView,
    MixReport,
    PartChange,
    VersionNeed,
)
from kexbench.cli.console import err, out, print_json
from kexbench.cli.options import AsJson, completed_mix
from kexbench.cli.reaching import reach_api
from kexbench.cli.step_tables import case_text, move_text, verdict_words
from kexbench.cli.words import cases_text, host_text
from kexbench.domain.dimensions import Server
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.mixes import CostOf
from kexbench.planning.documents import read_spec
from kexbench.planning.mix import read_mix

CONTENTS = {
    CostOf.CONNECTION: "CPU time of the server for a whole connection: objects, handshake, data and closing",
    CostOf.HANDSHAKE: "CPU time of the server for a handshake alone",
}
INTERVAL = "[95% confidence interval]"
Version = Annotated[str, typer.Option("--from", metavar="VERSION", help="Such as openssl@3.0.", show_default=False)]


def capacity(
    mix: Annotated[
        Path,
        typer.Argument(
            help="A file of kind TrafficMix, or the name of a mix that comes with kexbench, such as mixes/web.",
            autocompletion=completed_mix,
            show_default=False,
        ),
    ],
    version: Version,
    to: Annotated[
        str | None, typer.Option("--to", metavar="VERSION", help="The version after an upgrade.", show_default=False)
    ] = None,
    pool: Annotated[str | None, typer.Option(help="Only this pool.", show_default=False)] = None,
    cpu: Annotated[str | None, typer.Option(help="Only this CPU model.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Report the cores and machines that a mix of connections needs, from stored results.

    A version is one with results, such as openssl@3.0.19, or the newest that begins so, such as openssl@3.0. With
    `against:` the mix is compared with other parts, such as another certificate.

    Examples:

        kexbench capacity mixes/web --from openssl@3.5
        kexbench capacity mixes/web --from openssl@3.0 --to openssl@3.5
        kexbench capacity mixes/hybrid-50 --from openssl@debian/trixie
        kexbench capacity mix.yaml --from gnutls@3.7 --to gnutls@3.8 --json | jq -r '.cpus[].sentence'
    """
    text = read_spec(mix)
    read_mix(text, str(mix))
    request = CapacityRequest(mix=text, mix_file=str(mix)[-400:], version=version, to=to, pool=pool, cpu_model=cpu)
    with reach_api() as api:
        report = api.post(MixReport, "/capacity", request)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        print_mix(report)
    if not report.cpus:
        raise typer.Exit(1)


def print_mix(report: MixReport) -> None:
    """What the mix needs on each CPU, and the cells that are missing."""
    for cpu in report.cpus:
        _print_cpu(cpu)
    if report.cpus:
        out.print(_legend(report), style="dim", markup=False)
    _print_missing(report)


def _legend(report: MixReport) -> str:
    machine = f", {report.cores_per_machine} cores a machine" if report.cores_per_machine else ""
    load = f"{report.connections_per_s:,.0f} connections a second, cores {report.utilisation:.0%} busy{machine}"
    return f"For {load}. {_contents(report)}"


def _contents(report: MixReport) -> str:
    if report.server is not Server.NONE:
        contents = f"CPU time of {report.server} for a whole connection, kernel included"
        return f"{contents}. The application comes on top. {INTERVAL}"
    return f"{CONTENTS[report.cost]}, in memory. Sockets, the kernel and the application come on top. {INTERVAL}"


def _print_cpu(cpu: CpuNeed) -> None:
    out.print(host_text(cpu.host_kind), style="bold", markup=False)
    for sentence in dict.fromkeys([cpu.sentence, *(version.sentence for version in cpu.versions if version.instead)]):
        out.print(sentence, markup=False, soft_wrap=True)
    changes = {change.case_id: change for change in cpu.part_changes}
    out.print(_table([(version, version.parts) for version in cpu.versions], changes))
    if any(version.against_parts for version in cpu.versions):
        out.print("The other parts")
        out.print(_table([(version, version.against_parts) for version in cpu.versions], {}))
    for line in _warnings(cpu):
        out.print(line, markup=False, soft_wrap=True)
    out.print()


def _table(versions: list[tuple[VersionNeed, tuple[MixPartView, ...]]], changes: dict[str, PartChange]) -> Table:
    """Of each part its cost in each version, the interval, and the part's share of all CPU time."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("case", overflow="fold", min_width=14)
    table.add_column("share", justify="right")
    for version, _ in versions:
        table.add_column(Text(f"{version.end.label}\nµs"), justify="right")
    if changes:
        table.add_column("change", justify="right")
    for place, part in enumerate(versions[0][1]):
        costs = [f"{_cost(parts[place].cpu_ns)}\n{parts[place].load_share:.0%} of CPU time" for _, parts in versions]
        own = changes.get(part.case_id)
        change = [move_text(own.move, verdict_words(own.verdict, own.resolves))] if own else []
        table.add_row(*map(Text, (case_text(part.title), f"{100 * part.share:.3g}%", *costs, *change)))
    return table


def _cost(cost: Estimate) -> str:
    """`65.1` and `[64.9, 65.3]` on a second line, in µs."""
    if cost.low is None or cost.high is None:
        return f"{cost.value / 1e3:,.4g}\nno interval"
    return f"{cost.value / 1e3:,.4g}\n[{cost.low / 1e3:,.4g}, {cost.high / 1e3:,.4g}]"


def _warnings(cpu: CpuNeed) -> list[str]:
    by_warning: dict[str, list[str]] = {}
    for change in cpu.part_changes:
        for warning in change.warnings:
            by_warning.setdefault(warning, []).append(change.title)
    parts = [f"{warning}: {cases_text(titles, len(cpu.part_changes))}" for warning, titles in by_warning.items()]
    return [*cpu.warnings, *parts]


def _print_missing(report: MixReport) -> None:
    by_place: dict[tuple[str, HostKind, str], list[str]] = {}
    for cell in report.missing:
        by_place.setdefault((cell.version, cell.host_kind, cell.reason), []).append(cell.title)
    for (version, kind, reason), titles in by_place.items():
        err.print(f"{version} on {host_text(kind)}: {reason}: {cases_text(titles)}", markup=False)
    if report.spec_text:
        err.print("  remedy: save this spec as mix-spec.yaml, then kexbench run mix-spec.yaml", markup=False)
        err.print(report.spec_text, markup=False)
