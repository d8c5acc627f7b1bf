"""`kexbench qualify`: an A/A run, which proves what this machine can tell and what it cannot."""

from typing import Annotated

import typer
from rich import box
from rich.table import Table

from kexbench.api.lab_models import QualificationRow, Qualifications
from kexbench.cli.compose import cases_for, run_wish
from kexbench.cli.console import err, out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.step_tables import case_text
from kexbench.client import ApiClient
from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.runs import Purpose
from kexbench.planning.compose import Wish
from kexbench.planning.spec import Matrix
from kexbench.service import reach_service
from kexbench.settings import Settings
from kexbench.wiring import Installation

LIBRARIES = ("openssl", "gnutls")
KINDS = (
    Matrix.model_validate({"protocol": ["TLSv1.2"], "keyExchange": ["RSA", "ECDHE-RSA"]}),
    Matrix.model_validate({"protocol": ["TLSv1.2"], "keyExchange": ["ECDHE-ECDSA"], "resumption": ["ticket"]}),
    Matrix.model_validate(
        {"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-RSA", "ECDHE-ECDSA"], "group": ["X25519"]},
    ),
)
"""One case of each kind of work: private RSA operations, curves, symmetric cryptography alone."""
RELINKS = 5


def qualify(
    libraries: Annotated[list[str] | None, typer.Argument(help="Default: openssl gnutls.", show_default=False)] = None,
    invocations: Annotated[int, typer.Option(min=12, max=1000, help="Of each case.")] = 40,
    group: Annotated[int, typer.Option(min=3, max=1000, help="Invocations of the comparisons to come.")] = 10,
    case: Annotated[list[str] | None, typer.Option("--case", metavar="GLOB", help="Only cases whose id fits.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a kit beside itself and five relinks of one source: how much do they differ although nothing does?

    The result is stored, shown on the page Machine, and used by specs that say `resolve:`.

    Examples:

        kexbench qualify
        kexbench qualify openssl --invocations 100 --group 30
    """
    installation = Installation(Settings())
    cases = cases_for(KINDS, case or ())
    status = 0
    for unknown in set(libraries or ()) - set(LIBRARIES):
        raise typer.BadParameter(f"no relinks can be made of {unknown}; there are {', '.join(LIBRARIES)}")
    for library in libraries or LIBRARIES:
        status = status or run_wish(installation, _wish(library, cases, invocations)).exit_status
    with reach_service(installation) as address:
        found = ApiClient(address).qualifications(group)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_qualifications(found)
    raise typer.Exit(status)


def _wish(library: str, cases: tuple[Case, ...], invocations: int) -> Wish:
    """Six subjects, which is one block: a relink, its copy, and four more relinks."""
    sources = ["system+relink=1", "system+relink=1+copy=2", *(f"system+relink={n}" for n in range(2, RELINKS + 1))]
    return Wish(
        name=f"qualify-{library}",
        description="How far does a build differ from itself, and from another link of the same objects?",
        subjects=tuple(SubjectRef.parse(f"{library}@{source}") for source in sources),
        cases=cases,
        invocations=invocations,
        purpose=Purpose.QUALIFICATION,
    )


def print_qualifications(found: Qualifications) -> None:
    """The table and what its columns mean."""
    if not found.rows:
        err.print("nothing is qualified yet: kexbench qualify")
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("case", "CV", "detects", "false\npositives", "layout\nfloor", "cannot\nresolve\nbelow"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for row in found.rows:
        table.add_row(f"{row.library} {case_text(row.case.title)}", *_figures(row))
    out.print(table)
    group = found.rows[0].group
    out.print(
        f"CV: spread of one build's invocations. Detects: the smallest change that {group} invocations find at "
        f"p < {found.alpha:g} with power {found.power:g}. False positives: how often {group} invocations of one build "
        "called it changed. Layout floor: what linking the same objects in another order moves by itself.",
        style="dim",
    )


def _figures(row: QualificationRow) -> list[str]:
    rate = "too few"
    if row.false_positive_rate is not None and row.false_positive_high is not None:
        rate = f"{row.false_positive_rate:.1%}\n<= {row.false_positive_high:.1%}"
    floor = "none" if row.layout_floor is None else f"{row.layout_floor:.2%}"
    return [f"{row.cv:.2%}", f"{row.smallest_detectable_change:.2%}", rate, floor, f"{row.cannot_resolve_below:.2%}"]
