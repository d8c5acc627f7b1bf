"""`kexbench interop`: tests every library as client with every library as server."""

from typing import Annotated

import typer
from rich import box
from rich.table import Table

from kexbench.cli.compare import Cases
from kexbench.cli.compose import cases_for, run_wish
from kexbench.cli.console import out, print_json
from kexbench.cli.options import AsJson, SpecMatrix
from kexbench.cli.reaching import on_this_machine
from kexbench.cli.references import typed_reference
from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.runs import Purpose
from kexbench.domain.samples import Invocation
from kexbench.planning.compose import Wish
from kexbench.planning.spec import Matrix
from kexbench.wiring import Installation

USUAL = (
    Matrix.model_validate(
        {"protocol": ["TLSv1.2"], "keyExchange": ["RSA", "DHE-RSA", "ECDHE-RSA", "ECDHE-ECDSA", "ECDHE-Ed25519"]}
    ),
    Matrix.model_validate(
        {
            "protocol": ["TLSv1.3"],
            "keyExchange": ["ECDHE-RSA", "ECDHE-RSA-PSS", "ECDHE-ECDSA", "ECDHE-Ed25519"],
            "group": ["X25519", "P-256"],
        }
    ),
    Matrix.model_validate({"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-ECDSA"], "group": ["X25519MLKEM768"]}),
)


def interop(
    references: Annotated[list[str], typer.Argument(help="Two or more subjects.", show_default=False)],
    case: Cases = None,
    spec: SpecMatrix = None,
    as_json: AsJson = False,
) -> None:
    """Test every subject as a client with every subject as a server, in separate processes.

    Examples:

        kexbench interop openssl@system gnutls@system openssl@debian/trixie
        kexbench interop openssl@system gnutls@system --case '*x25519*' --json
    """
    settings = on_this_machine("kexbench interop measures on this machine", "queue a spec with kexbench submit")
    subjects = tuple(typed_reference(text) for text in references)
    if len(set(subjects)) < 2:
        raise typer.BadParameter("give at least two different subjects")
    plain = cases_for(USUAL, case or (), spec)
    with_peers = [each.model_copy(update={"peer": f"server:{server}"}) for each in plain for server in subjects]
    wish = Wish(
        name="interop",
        description=f"interoperability of {', '.join(map(str, subjects))}",
        subjects=subjects,
        cases=tuple(with_peers),
        invocations=2,
        batches=2,
        purpose=Purpose.INTEROP,
    )
    done = run_wish(Installation(settings), wish)
    results = meetings(done.invocations, plain, subjects)
    if as_json:
        print_json([{"case_id": key[0], "client": key[1], "server": key[2], **row} for key, row in results.items()])
    else:
        for each in plain:
            out.print(_table(each, subjects, results))
    broken = any(row["result"] not in ("ok", "unsupported") for row in results.values())
    raise typer.Exit(done.exit_status or (3 if broken else 0))


Meetings = dict[tuple[str, str, str], dict[str, str | None]]


def meetings(invocations: list[Invocation], cases: tuple[Case, ...], subjects: tuple[SubjectRef, ...]) -> Meetings:
    """By case, client and server: `ok`, or the kind of outcome with its reason."""
    results: Meetings = {}
    for case in cases:
        for server in subjects:
            case_id = case.model_copy(update={"peer": f"server:{server}"}).case_id
            for invocation in filter(lambda invocation: invocation.case_id == case_id, invocations):
                for client in invocation.negotiated:
                    results.setdefault((case.case_id, client, str(server)), {"result": "ok", "reason": None})
                for outcome in invocation.outcomes:
                    failure: dict[str, str | None] = {"result": str(outcome.kind), "reason": outcome.reason}
                    results[case.case_id, outcome.subject, str(server)] = failure
    return results


def _table(case: Case, subjects: tuple[SubjectRef, ...], results: Meetings) -> Table:
    table = Table(title=case.label, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("client \\ server")
    for server in subjects:
        table.add_column(str(server).replace("@", "\n"))
    for client in subjects:
        row = [results.get((case.case_id, str(client), str(server)), {}).get("result") for server in subjects]
        table.add_row(str(client), *(result or "not tested" for result in row))
    return table
