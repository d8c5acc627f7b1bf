"""`kexbench compare`: compares two builds of a library without a spec.

The verdicts are those of the API, as pages show them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import typer

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.answers.comparing import DIFFERENT_PROFILE
from kexbench.answers.run import RunDetail
from kexbench.answers.shapes import CaseView
from kexbench.answers.two_ends import ComparedCell
from kexbench.cli.change_tables import change_lines, change_tables
from kexbench.cli.compose import cases_for, run_wish, stored_run
from kexbench.cli.console import err, out, print_json
from kexbench.cli.options import AsJson, SpecMatrix
from kexbench.cli.reaching import ask_api, on_this_machine
from kexbench.cli.references import typed_reference
from kexbench.cli.report import is_lost, run_detail
from kexbench.cli.step_tables import (
    unresolved_legend,
)
from kexbench.cli.tables import outcome_lines
from kexbench.cli.two_cases import MEASURING_S, compare_with
from kexbench.client import ApiClient
from kexbench.domain.components import changed_components
from kexbench.domain.differences import Difference
from kexbench.domain.hosts import HostKind
from kexbench.domain.kits import BuildProfile, SubjectRef
from kexbench.domain.plans import JOBS_PER_CELL, Instrument
from kexbench.domain.upgrades import NOT_JUDGED, SIDES_OF, Side, SideMove, UpgradeCell
from kexbench.planning.compose import JOBS_OF_A_VERDICT, USUAL, Wish, affordable_invocations
from kexbench.wiring import Installation

Cases = Annotated[list[str] | None, typer.Option("--case", metavar="GLOB", help="Only cases whose id matches.")]
StoredRun = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="Measure nothing: show what this stored run says.", show_default=False),
]
ByCount = Annotated[
    bool, typer.Option("--count", help="Decide by counted instructions: no quiet machine is needed. Needs Valgrind.")
]
Pair = tuple[SubjectRef, SubjectRef]


def instrument_of(count: bool) -> Instrument:
    return Instrument.INSTRUCTIONS if count else Instrument.TIME


def compare(
    baseline: Annotated[str, typer.Argument(help="Such as openssl@system.", show_default=False)],
    subject: Annotated[
        str | None, typer.Argument(help="Such as openssl@prefix:../openssl.", show_default=False)
    ] = None,
    case: Cases = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="FIELD=VALUE", help="Compare each case with the same case but for this field."),
    ] = None,
    spec: SpecMatrix = None,
    invocations: Annotated[
        int | None, typer.Option(min=3, max=1000, help="Default: as many as fit into two minutes.", show_default=False)
    ] = None,
    count: ByCount = False,
    run: StoredRun = None,
    as_json: AsJson = False,
) -> None:
    """Compare two builds, interleaved on one core, and print a verdict for each case. Takes two minutes.

    Examples:

        kexbench compare openssl@system openssl@prefix:../openssl
        kexbench compare openssl@git:../openssl#master openssl@git:../openssl#my-branch
        kexbench compare openssl@system openssl@debian/trixie --case '*rsa-2048*'
        kexbench compare openssl@system openssl@prefix:../openssl --count
        kexbench compare openssl@system --case 'tlsv1.2_*' --with cipher=AES-128-CBC-SHA
        kexbench compare gnutls@system gnutls@prefix:/opt/gnutls --spec quickstart
        kexbench compare openssl@system openssl@debian/trixie --run 20260101-120000-0123abcd
    """
    if with_:
        if run or count:
            raise typer.BadParameter("--with measures two cases by time: leave out --run and --count")
        settings = on_this_machine("kexbench compare measures on this machine", "queue a spec with kexbench submit")
        ends = (typed_reference(baseline), typed_reference(subject or baseline))
        cases = cases_for(USUAL, case or (), spec)
        compare_with(Installation(settings), ends, cases, with_, invocations, names_in, as_json=as_json)
    if subject is None:
        raise typer.BadParameter("name a second build, or with --with what the cases differ in")
    pair = pair_of(typed_reference(baseline), typed_reference(subject))
    if run is None:
        settings = on_this_machine("kexbench compare measures on this machine", "queue a spec with kexbench submit")
        done = run_wish(Installation(settings), _wish(pair, case, spec, invocations, count=count))
        run_id, status = stored_run(done, f"kexbench compare {baseline} {subject}"), done.exit_status
    elif case or spec or invocations or count:
        raise typer.BadParameter("--run shows a run as it was measured: leave out the options of a new run")
    else:
        run_id, status = run, 0
    detail, cells = ask_api(lambda api: _compared(api, run_id, pair))
    if as_json:
        print_json([_row(detail, cell, pair) for cell in cells])
    else:
        _print_all(detail, cells, pair)
    verdicts = [cell.verdict for cell in cells if cell.move and cell.verdict not in NOT_JUDGED]
    before, after = names_in(detail, pair)
    is_worse = "more" in verdicts or any(is_lost(detail, (before, case.id), (after, case.id)) for case in detail.cases)
    raise typer.Exit(status or (1 if not verdicts else 3 if is_worse else 0))


def _wish(pair: Pair, case: list[str] | None, spec: Path | None, invocations: int | None, *, count: bool) -> Wish:
    cases = cases_for(USUAL, case or (), spec)
    jobs = JOBS_PER_CELL if count else JOBS_OF_A_VERDICT
    return Wish(
        name="compare",
        description=f"{pair[1]} compared with {pair[0]}",
        subjects=pair,
        cases=cases,
        invocations=invocations
        or (MIN_COMPARED_INVOCATIONS if count else affordable_invocations(cases, 2, MEASURING_S, jobs=jobs)),
        instrument=instrument_of(count),
        jobs=jobs,
    )


def pair_of(baseline: SubjectRef, subject: SubjectRef) -> Pair:
    """Raises BadParameter."""
    if baseline == subject:
        raise typer.BadParameter(f"both are {baseline}; to compare a build with itself, append +copy=2 to one")
    return baseline, subject


def _compared(api: ApiClient, run_id: str, pair: Pair) -> tuple[RunDetail, Sequence[UpgradeCell]]:
    """A run and the cells of two of its subjects, at least one for each case. Raises BadParameter."""
    detail = run_detail(api, run_id)
    names = names_in(detail, pair)
    cells: tuple[ComparedCell, ...] = ()
    if all(names):
        query = urlencode({"before": names[0], "after": names[1]})
        cells = api.get(tuple[ComparedCell, ...], f"/runs/{quote(run_id, safe='')}/changes?{query}")
    ends = {str(end) for end in pair}
    views = {view.name: f"{view.library}@{view.source}" for view in detail.subjects}
    own = [cell for cell in detail.cells if views[cell.subject] in ends]
    shown: list[UpgradeCell] = []
    for case in detail.cases:
        of_case = [cell for cell in cells if cell.case_id == case.id]
        shown += of_case or [without_result(case, detail.host_kind)]
    return detail.model_copy(update={"cells": own}), shown


def names_in(detail: RunDetail, pair: Pair) -> tuple[str, str]:
    """The unique names of two subjects in a run; empty for one without results. Raises BadParameter."""
    for end in pair:
        if str(end) not in detail.kits:
            others = ", ".join(detail.kits) or "nothing yet"
            raise typer.BadParameter(f"run {detail.summary.run_id} did not measure {end}; it measured {others}")
    measured = {cell.subject for cell in detail.cells if cell.estimate}
    names = {(view.library, view.source): view.name for view in detail.subjects if view.name in measured}
    before, after = (names.get((kit.library, kit.source), "") for kit in (detail.kits[str(end)] for end in pair))
    return before, after


def without_result(case: CaseView, kind: HostKind | None) -> UpgradeCell:
    """The cell of a case in which the two could not be compared."""
    return UpgradeCell(
        case_id=case.id,
        title=case.title,
        host_kind=kind or HostKind("", ""),
        verdict="unresolved",
        move=None,
        client=None,
        server=None,
        q=None,
        resolves=None,
        paired=False,
        before_ns=None,
        after_ns=None,
        invocations=0,
        run_ids=(),
        warnings=(),
    )


def profiles_text(profiles: Sequence[BuildProfile]) -> str:
    """A line about profiles whose labels differ; empty otherwise."""
    before, after = (profile.label for profile in profiles)
    return f"{DIFFERENT_PROFILE}: {before} → {after}\n" if before != after else ""


def _along(detail: RunDetail, pair: Pair) -> tuple[Difference, ...]:
    """The components other than the library in which the two differ."""
    return changed_components(*(detail.kits[str(end)].components for end in pair))


def _print_all(detail: RunDetail, cells: Sequence[UpgradeCell], pair: Pair) -> None:
    measure = "Instructions" if detail.measure.instrument is Instrument.INSTRUCTIONS else "CPU time"
    first, second = (f"{end} ({detail.kits[str(end)].version})" for end in pair)
    out.print(f"{measure} of {second} compared with {first}", markup=False, soft_wrap=True)
    out.print(profiles_text([detail.kits[str(end)].build_profile for end in pair]), markup=False, soft_wrap=True)
    for table in change_tables(cells):
        out.print(table)
    if words := compare_legend(cells):
        out.print(f"\n{words}", style="dim")
    for line in (*change_lines(cells), *outcome_lines(detail)):
        out.print(line, markup=False, soft_wrap=True)
    err.print(f"run {detail.summary.run_id}", markup=False)


def compare_legend(cells: Sequence[UpgradeCell]) -> str:
    """What the numbers mean; nothing of what no case has."""
    judged = [cell for cell in cells if _is_judged(cell)]
    lines = []
    if any(cell.move for cell in judged):
        count = max(cell.invocations for cell in judged)
        lines.append(
            f"Trimmed mean of paired ratios over {count} invocations of fresh processes, 95% confidence interval."
        )
    if resolutions := sorted(cell.resolves for cell in judged if cell.resolves):
        sizes = " to ".join(dict.fromkeys(f"{size:.2%}" for size in (resolutions[0], resolutions[-1])))
        lines.append(f"Resolution {sizes}: a smaller change would probably be missed (power 80%, p < 0.01).")
    return " ".join([*lines, *unresolved_legend(judged)])


def _is_judged(cell: UpgradeCell) -> bool:
    return cell.move is not None or cell.verdict == "unlike"


def _sides(cell: UpgradeCell) -> dict[Side, SideMove | None]:
    both = SideMove(**cell.move.model_dump(), verdict=cell.verdict) if cell.move else None
    return {"both": both, "client": cell.client, "server": cell.server}


def _row(detail: RunDetail, cell: UpgradeCell, pair: Pair) -> dict[str, Any]:
    metrics = SIDES_OF[detail.measure.instrument]
    return {
        "run_id": detail.summary.run_id,
        "case_id": cell.case_id,
        "pool": cell.host_kind.pool,
        "cpu_model": cell.host_kind.cpu_model,
        "verdict": cell.verdict if _is_judged(cell) else None,
        "warnings": list(cell.warnings),
        "components": [change.model_dump() for change in _along(detail, pair)],
        "resolves": cell.resolves,
        "invocations": cell.invocations,
        "disturbed": cell.disturbed,
        "ratios": {
            metrics[side]: move.model_dump() | {"paired": cell.paired} if move else None
            for side, move in _sides(cell).items()
        },
    }
