"""`kexbench qualify`: an A/A run, which proves what this machine can tell and what it cannot."""

from typing import Annotated
from urllib.parse import urlencode

import typer
from rich import box
from rich.table import Table

from kexbench.api.lab_models import QualificationRow, Qualifications
from kexbench.api.run_models import RunSummary, RunWanted
from kexbench.cli.cluster import followed
from kexbench.cli.compose import cases_for, run_wish
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import cluster_url, reach_api
from kexbench.cli.step_tables import case_text
from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import LAYOUTS
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import Purpose, RunState
from kexbench.planning.compose import Wish, spec_text
from kexbench.planning.spec import Matrix
from kexbench.settings import Settings
from kexbench.wiring import Installation

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
    libraries: Annotated[
        list[str] | None, typer.Argument(help=f"Default: {' '.join(LAYOUTS)}.", show_default=False)
    ] = None,
    invocations: Annotated[int, typer.Option(min=12, max=1000, help="Of each case.")] = 40,
    group: Annotated[int, typer.Option(min=3, max=1000, help="Invocations of the comparisons to come.")] = 10,
    case: Annotated[list[str] | None, typer.Option("--case", metavar="GLOB", help="Only cases whose id fits.")] = None,
    pool: Annotated[str | None, typer.Option(help="Of the cluster, which is qualified.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a kit beside itself and five relinks of one source: how much do they differ although nothing does?

    The result is stored, shown on the page Machine, and used by specs that say `resolve:`. Where KEXBENCH_API_URL names
    a cluster, --pool says which of its pools is qualified: the runs are queued there and followed; Ctrl-C ends the
    following alone.

    Exit status: 0 everything was measured; 1 a run ended otherwise.

    Examples:

        kexbench qualify
        kexbench qualify openssl --invocations 100 --group 30
        KEXBENCH_API_URL=https://kexbench.example.com KEXBENCH_TOKEN_FILE=token kexbench qualify --pool amd
    """
    settings = Settings()
    cases = cases_for(KINDS, case or ())
    for unknown in set(libraries or ()) - set(LAYOUTS):
        raise typer.BadParameter(f"no relinks can be made of {unknown}; there are {', '.join(LAYOUTS)}")
    wanted = libraries or list(LAYOUTS)
    if cluster_url(settings) is not None:
        if pool is None:
            raise typer.BadParameter("KEXBENCH_API_URL names a cluster: say --pool NAME with one of its pools")
        status = _measured_there([_wish(library, cases, invocations, pool) for library in wanted])
    elif pool is not None:
        raise typer.BadParameter("--pool is of a cluster, and KEXBENCH_API_URL names none: leave it out or set that")
    else:
        status = _measured_here(Installation(settings), [_wish(library, cases, invocations) for library in wanted])
    asked = {"invocations": group} | ({"pool": pool} if pool else {})
    with reach_api() as api:
        found = api.get(Qualifications, f"/qualifications?{urlencode(asked)}")
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_qualifications(found)
    raise typer.Exit(status)


def _measured_here(installation: Installation, wishes: list[Wish]) -> int:
    status = 0
    for wish in wishes:
        status = status or run_wish(installation, wish).exit_status
    return status


def _measured_there(wishes: list[Wish]) -> int:
    """Queue all of them, then follow each until it has ended."""
    with reach_api() as api:
        begun = []
        for wish in wishes:
            body = RunWanted(spec_text=spec_text(wish), spec_file=wish.name, purpose="qualification")
            begun.append(api.post(RunSummary, "/runs", body))
            say(f"{wish.name}: run {begun[-1].run_id}, {api.page}{begun[-1].run_id}")
        ended = [followed(api, summary.run_id, seen_to=True) for summary in begun]
    for summary in ended:
        if summary.state is not RunState.FINISHED:
            err.print(f"run {summary.run_id} {summary.state}: {summary.detail}", markup=False)
    return 0 if all(summary.state is RunState.FINISHED for summary in ended) else 1


def _wish(library: str, cases: tuple[Case, ...], invocations: int, pool: str = LOCAL) -> Wish:
    """Six subjects, which is one block: a relink, its copy, and four more relinks."""
    sources = ["system+relink=1", "system+relink=1+copy=2", *(f"system+relink={n}" for n in range(2, RELINKS + 1))]
    return Wish(
        name=f"qualify-{library}",
        description="How far does a build differ from itself, and from another link of the same objects?",
        subjects=tuple(SubjectRef.parse(f"{library}@{source}") for source in sources),
        cases=cases,
        invocations=invocations,
        pools=(pool,),
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
