"""`kexbench fleet`: the machines side by side, and which of them are set aside."""

from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table

from kexbench.answers.fleet import Fleet, FleetNode, NodeState
from kexbench.cli.console import err, out, print_json
from kexbench.cli.options import AsJson, ListedAlone
from kexbench.cli.reaching import reach_api
from kexbench.domain.fleet import SetAside
from kexbench.domain.numbers import counted, move_words
from kexbench.queue.nodes import WantedSetAside

app = typer.Typer(
    cls=ListedAlone,
    help="List the machines, and set bad ones aside. Without a verb: list them.",
)
Node = Annotated[str, typer.Argument(metavar="NODE", help="As `kexbench fleet` prints it.")]
_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]


@app.command("list")
def list_nodes(
    pool: Annotated[str | None, typer.Option(help="Only this pool.", show_default=False)] = None,
    states: Annotated[
        list[NodeState] | None,
        typer.Option("--state", help="Only nodes in this state. Repeat it for several states.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List pools and nodes: when each measured last, and what is wrong with it.

    Nodes that need attention come first. `differs` is the sentinel's cost there relative to the pool's other nodes.

    Examples:

        kexbench fleet
        kexbench fleet --pool amd
        kexbench fleet --state differs --state silent
        kexbench fleet --json | jq -r '.pools[].nodes[] | select(.differs) | .node'
    """
    with reach_api() as api:
        whole = api.get(Fleet, "/fleet")
    fleet = _chosen(whole, pool, states or list(NodeState))
    if as_json:
        print_json(fleet.model_dump(mode="json"))
    elif not whole.pools:
        err.print("no machine has measured anything yet")
    elif not fleet.pools:
        err.print("no such node: kexbench fleet lists all", markup=False)
    else:
        out.print(_table(fleet))
        err.print(_summary(fleet), markup=False)


def _chosen(fleet: Fleet, pool: str | None, states: Collection[NodeState]) -> Fleet:
    chosen = (
        each.model_copy(update={"nodes": [node for node in each.nodes if node.state in states]})
        for each in fleet.pools
        if pool in (None, each.pool)
    )
    return fleet.model_copy(update={"pools": [each for each in chosen if each.nodes]})


def _table(fleet: Fleet) -> Table:
    table = Table("pool", "node", "CPU", "last seen, UTC", "jobs", "differs", "findings", box=None, header_style="bold")
    nodes = [(pool.pool, node) for pool in fleet.pools for node in pool.nodes]
    for pool, node in sorted(nodes, key=lambda each: list(NodeState).index(each[1].state)):
        table.add_row(
            pool,
            node.node,
            f"{node.host.cpu_model}, {node.host.cpus} CPUs",
            f"{node.last_seen.astimezone(UTC):%Y-%m-%d %H:%M}",
            _jobs(node),
            move_words(node.differs.ratio, node.differs.low, node.differs.high) if node.differs else "",
            "\n".join(_findings(node)),
        )
    return table


def _summary(fleet: Fleet) -> str:
    """Below the table, where a long one ends."""
    counts = Counter(node.state for pool in fleet.pools for node in pool.nodes)
    parts = ", ".join(f"{counts[state]} {state}" for state in NodeState if counts[state])
    return f"{counted(counts.total(), 'node')}: {parts}"


def _jobs(node: FleetNode) -> str:
    troubles = ((node.lost_jobs, "lost"), (node.failed_jobs, "failed"))
    return ", ".join([str(node.jobs), *(f"{number} {what}" for number, what in troubles if number)])


def _findings(node: FleetNode) -> list[str]:
    aside = (
        [f"set aside since {node.set_aside.since:%Y-%m-%d %H:%M}: {node.set_aside.reason}"] if node.set_aside else []
    )
    failed = [f"{number} {kind}" for kind, number in node.failures.items()]
    doctors = [f"{each.name}: {each.found}" for each in node.findings if each.verdict == "warning"]
    silent = [f"no result for {node.silent_days} days"] if node.silent_days else []
    return [*silent, *aside, *failed, *doctors]


@app.command("set-aside")
def set_aside(
    node: Node,
    pool: Annotated[str, typer.Option(help="Its pool.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Shown wherever its results are missing.", show_default=False)],
    since: Annotated[
        datetime | None,
        typer.Option(formats=_TIMES, help="Its results from this time on do not count, in UTC. Default: now."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set a node aside: its results no longer count, and no job is sent there.

    Its results since that time count in no comparison, history or alert. `kexbench fleet return` undoes this.

    Examples:

        kexbench fleet set-aside node-3 --pool amd --reason "its fan failed" --since 2027-01-31
    """
    moment = since.replace(tzinfo=UTC) if since else None
    with reach_api() as api:
        wanted = WantedSetAside(pool=pool, node=node, reason=reason, since=moment)
        change = api.post(SetAside, "/fleet/set-asides", wanted)
    if as_json:
        print_json(change.model_dump(mode="json"))
    else:
        out.print(f"{node} of pool {pool} is set aside since {change.since:%Y-%m-%d %H:%M} UTC", markup=False)


@app.command("return")
def return_node(
    node: Node,
    pool: Annotated[
        str | None, typer.Option(help="Its pool, if nodes of several pools have this name.", show_default=False)
    ] = None,
) -> None:
    """Return a node that was set aside: all its results count again.

    Examples:

        kexbench fleet return node-3
    """
    with reach_api() as api:
        asides = api.get(list[SetAside], "/fleet/set-asides")
        pools = [each.pool for each in asides if each.node == node and pool in (None, each.pool)]
        if not pools:
            raise typer.BadParameter(f"{node} is not set aside: kexbench fleet lists the nodes")
        if len(pools) > 1:
            raise typer.BadParameter(
                f"several pools have a {node} that is set aside: add --pool with {', '.join(pools)}"
            )
        api.send("DELETE", f"/fleet/set-asides/{quote(pools[0], safe='')}/{quote(node, safe='')}")
    out.print(f"{node} of pool {pools[0]} counts again", markup=False)
