"""`kexbench qualify`: an A/A run that shows which changes this machine can detect."""

from typing import Annotated
from urllib.parse import urlencode

import typer
from rich import box
from rich.table import Table

from kexbench.answers.qualifications import QualificationRow, Qualifications
from kexbench.answers.runs import RunSummary
from kexbench.api.run_models import RunWanted
from kexbench.cli.cluster import followed
from kexbench.cli.compose import cases_for, run_wish
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import cluster_url, reach_api
from kexbench.cli.step_tables import case_text
from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import PACKAGES
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
        list[str] | None, typer.Argument(help=f"Default: {' '.join(PACKAGES)}.", show_default=False)
    ] = None,
    invocations: Annotated[int, typer.Option(min=12, max=1000, help="Invocations of each case.")] = 40,
    group: Annotated[int, typer.Option(min=3, max=1000, help="Invocations of future comparisons.")] = 10,
    case: Annotated[
        list[str] | None, typer.Option("--case", metavar="GLOB", help="Only cases whose id matches.")
    ] = None,
    pool: Annotated[str | None, typer.Option(help="The pool of a cluster to qualify.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how much equal builds differ: a kit, its copy and relinks of the same objects.

    The result is stored, shown on the page Machine, and used by specs with `resolve:`. If KEXBENCH_API_URL names a
    cluster, --pool selects the pool to qualify. The runs are queued there; Ctrl-C only stops following them.

    Examples:

        kexbench qualify
        kexbench qualify openssl --invocations 100 --group 30
        KEXBENCH_API_URL=https://kexbench.example.com KEXBENCH_TOKEN_FILE=token kexbench qualify --pool amd
    """
    settings = Settings()
    cases = cases_for(KINDS, case or ())
    for unknown in set(libraries or ()) - set(PACKAGES):
        raise typer.BadParameter(f"{unknown} cannot be relinked; supported are {', '.join(PACKAGES)}")
    libraries = libraries or list(PACKAGES)
    if cluster_url(settings) is not None:
        if pool is None:
            raise typer.BadParameter("KEXBENCH_API_URL names a cluster: add --pool NAME with one of its pools")
        status = _measured_on_cluster([_wish(library, cases, invocations, pool) for library in libraries])
    elif pool is not None:
        raise typer.BadParameter("--pool needs a cluster, but KEXBENCH_API_URL names none: set it, or omit --pool")
    else:
        status = 0
        for library in libraries:
            status = status or run_wish(Installation(settings), _wish(library, cases, invocations)).exit_status
    query = {"invocations": group} | ({"pool": pool} if pool else {})
    with reach_api() as api:
        qualifications = api.get(Qualifications, f"/qualifications?{urlencode(query)}")
    if as_json:
        print_json(qualifications.model_dump(mode="json"))
    else:
        print_qualifications(qualifications)
    raise typer.Exit(status)


def _measured_on_cluster(wishes: list[Wish]) -> int:
    """Queue all runs, then follow each until it has ended."""
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
    """Six subjects, one block: a relink, its copy and four more relinks."""
    sources = ["system+relink=1", "system+relink=1+copy=2", *(f"system+relink={n}" for n in range(2, RELINKS + 1))]
    return Wish(
        name=f"qualify-{library}",
        description="How much does a build differ from itself and from other links of the same objects?",
        subjects=tuple(SubjectRef.parse(f"{library}@{source}") for source in sources),
        cases=cases,
        invocations=invocations,
        pools=(pool,),
        purpose=Purpose.QUALIFICATION,
    )


def print_qualifications(qualifications: Qualifications) -> None:
    """The table and an explanation of its columns."""
    rows = qualifications.rows
    if not rows:
        err.print("no qualifications yet: kexbench qualify")
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("case", "CV", "smallest\ndetectable\nchange", "false\npositives", "layout\nfloor", "resolution"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for row in rows:
        table.add_row(f"{row.library} {case_text(row.case.title)}", *_figures(row))
    out.print(table)
    group = rows[0].group
    out.print(
        f"CV: spread of one build's invocations. Smallest detectable change: of {group} invocations, at "
        f"p < {qualifications.alpha:g} with power {qualifications.power:g}. False positives: how often {group} "
        "invocations of equal builds show a change. Layout floor: the change from linking the same objects in another "
        "order. Resolution: the larger of these two; a smaller change would probably be missed.",
        style="dim",
    )


def _figures(row: QualificationRow) -> list[str]:
    rate = "too few"
    if row.false_positives and row.false_positives.high is not None:
        rate = f"{row.false_positives.value:.1%}\n<= {row.false_positives.high:.1%}"
    floor = "not\nmeasured" if row.layout_floor is None else f"{row.layout_floor:.2%}"
    return [f"{row.cv:.2%}", f"{row.smallest_detectable_change:.2%}", rate, floor, f"{row.cannot_resolve_below:.2%}"]
