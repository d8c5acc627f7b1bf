"""`kexbench compare`: compares two builds of a library without a spec.

The verdicts are those of the API, as pages show them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn
from urllib.parse import quote, urlencode

import typer

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.answers.comparing import DIFFERENT_PROFILE
from kexbench.answers.run import RunDetail
from kexbench.cli.change_report import prepare, unbuilt_ends, unbuilt_of_run, write_report
from kexbench.cli.change_tables import change_lines, change_tables, wait_lines
from kexbench.cli.compose import NeverBegan, cases_for, run_wish, stored_run
from kexbench.cli.console import err, out, print_json
from kexbench.cli.failing import words_of
from kexbench.cli.options import RELEVANT_TEXT, AsJson, Relevant, SpecMatrix, share
from kexbench.cli.reaching import ask_api, on_this_machine
from kexbench.cli.references import typed_reference
from kexbench.cli.report import run_detail
from kexbench.cli.step_tables import unresolved_legend
from kexbench.cli.tables import outcome_lines
from kexbench.cli.two_cases import MEASURING_S, compare_with
from kexbench.client import ApiClient
from kexbench.domain.instruments import INSTRUMENTS, Instrument
from kexbench.domain.kits import SubjectRef
from kexbench.domain.pairs import COMMENT_FILE, PAGE_FILE, REPORT_FILE, ChangeReport, Pair, Unbuilt
from kexbench.domain.plans import JOBS_PER_CELL
from kexbench.domain.runs import Purpose
from kexbench.domain.upgrades import SIDES_OF, Side, SideMove, UpgradeCell
from kexbench.domain.verdicts import RELEVANT
from kexbench.kits import KitError, KitErrors
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
OnlyCounting = Annotated[
    Instrument,
    typer.Option(help="What is counted, function by function."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help=f"Write {REPORT_FILE}, {COMMENT_FILE} for a pull request, and {PAGE_FILE} into this folder.",
        show_default=False,
    ),
]
WORSE, CHANGE_UNBUILT, BASE_UNBUILT = 3, 4, 5
Ends = tuple[SubjectRef, SubjectRef]


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
        int | None,
        typer.Option(
            min=3, max=1000, help="Default: as many as fit into two minutes; 3 with --count.", show_default=False
        ),
    ] = None,
    count: ByCount = False,
    instrument: Annotated[
        list[Instrument] | None,
        typer.Option(help="Decide by this instrument. Repeatable: by each of them.", show_default=False),
    ] = None,
    time: Annotated[bool, typer.Option("--time", help="The default. With --count: decide by both.")] = False,
    relevant: Relevant = RELEVANT_TEXT,
    output: Output = None,
    run: StoredRun = None,
    as_json: AsJson = False,
) -> None:
    """Compare two builds, interleaved on one core, and print a verdict for each case.

    Takes two minutes, with --count one or two for each case.

    Examples:

        kexbench compare openssl@system openssl@prefix:../openssl
        kexbench compare openssl@git:../openssl#master openssl@git:../openssl#my-branch
        kexbench compare openssl@system openssl@debian/trixie --case '*rsa-2048*'
        kexbench compare openssl@debian/trixie openssl@deb:../debs#trixie
        kexbench compare openssl@system openssl@prefix:../openssl --instrument allocations
        kexbench compare openssl@system openssl@prefix:../openssl --count --relevant 0.2% --output report
        kexbench compare openssl@system --case 'tlsv1.2_*' --with cipher=AES-128-CBC-SHA
        kexbench compare gnutls@system gnutls@prefix:/opt/gnutls --spec quickstart
        kexbench compare openssl@system openssl@debian/trixie --run 20260101-120000-0123abcd
    """
    if output:
        prepare(output)
    least = share(relevant)
    if with_:
        if run or count or instrument or output or least != RELEVANT:
            raise typer.BadParameter(
                "--with measures two cases by time: leave out --run, --count, --instrument, --relevant and --output"
            )
        references = (typed_reference(baseline), typed_reference(subject or baseline))
        cases = cases_for(USUAL, case or (), spec)
        compare_with(_here(), references, cases, with_, invocations, names_in, as_json=as_json)
    if subject is None:
        raise typer.BadParameter("name a second build, or with --with what the cases differ in")
    if run and (case or spec or invocations or count or instrument or time or least != RELEVANT):
        raise typer.BadParameter("--run shows a run as it was measured: leave out the options of a new run")
    ends = pair_of(typed_reference(baseline), typed_reference(subject))
    failed, run_ids = 0, [run] if run else []
    if run is None:
        counted = [*([Instrument.INSTRUCTIONS] if count else []), *(instrument or [])]
        by = dict.fromkeys([*counted, *([Instrument.TIME] if time or not counted else [])])
        wishes = [_wish(ends, case, spec, invocations, least, each) for each in by]
        failed, run_ids = _measured(_here(), wishes, ends, output, as_json=as_json)
    asked = [ask_api(lambda api, run_id=run_id: _asked(api, run_id, ends)) for run_id in run_ids]  # type: ignore[misc]
    pairs = [pair for _, pair in asked]
    if as_json:
        print_json([_row(pair, cell) for pair in pairs for cell in pair.cells])
    else:
        for detail, pair in asked:
            _print_all(detail, pair)
    status = failed or _status(pairs)
    if output:
        write_report(output, ChangeReport.of(ends, status, pairs=tuple(pairs)))
    raise typer.Exit(status)


def _here() -> Installation:
    return Installation(
        on_this_machine("kexbench compare measures on this machine", "queue a spec with kexbench submit")
    )


def _wish(
    ends: Ends,
    case: list[str] | None,
    spec: Path | None,
    invocations: int | None,
    relevant: float,
    instrument: Instrument,
) -> Wish:
    cases = cases_for(USUAL, case or (), spec)
    counts = instrument.counts
    jobs = JOBS_PER_CELL if counts else JOBS_OF_A_VERDICT
    return Wish(
        name="compare",
        description=f"{ends[1]} compared with {ends[0]}",
        subjects=ends,
        cases=cases,
        invocations=invocations
        or (MIN_COMPARED_INVOCATIONS if counts else affordable_invocations(cases, 2, MEASURING_S, jobs=jobs)),
        purpose=Purpose.COMPARISON,
        instrument=instrument,
        jobs=jobs,
        relevant=relevant,
    )


def _measured(
    installation: Installation, wishes: Sequence[Wish], ends: Ends, output: Path | None, *, as_json: bool
) -> tuple[int, list[str]]:
    """The exit status of the worst run, and all runs. Ends the command where a build cannot be made."""
    status, run_ids = 0, []
    for wish in wishes:
        try:
            done = run_wish(installation, wish)
        except (KitError, KitErrors) as error:
            unbuilt = unbuilt_ends(error, ends)
            if not unbuilt:
                raise
            for line in words_of(error) or []:
                err.print(line, markup=False, soft_wrap=True)
            _end_unbuilt(ends, unbuilt, output, as_json=as_json)
        except NeverBegan as ended:
            if unbuilt := unbuilt_of_run(ended.event, ends):
                _end_unbuilt(ends, unbuilt, output, as_json=as_json)
            raise
        run_ids.append(stored_run(done, f"kexbench compare {ends[0]} {ends[1]}"))
        status = status or done.exit_status
    return status, run_ids


def _end_unbuilt(ends: Ends, unbuilt: tuple[Unbuilt, ...], output: Path | None, *, as_json: bool) -> NoReturn:
    """A base that cannot be built says nothing about the change."""
    status = BASE_UNBUILT if any(each.which == "base" for each in unbuilt) else CHANGE_UNBUILT
    if as_json:
        print_json([])
    if output:
        write_report(output, ChangeReport.of(ends, status, unbuilt=unbuilt))
    raise typer.Exit(status)


def _status(pairs: Sequence[Pair]) -> int:
    verdicts = [pair.verdict for pair in pairs]
    if any(verdict.is_worse for verdict in verdicts):
        return WORSE
    return 0 if all(verdict.compared for verdict in verdicts) else 1


def pair_of(baseline: SubjectRef, subject: SubjectRef) -> Ends:
    """Raises BadParameter."""
    if baseline == subject:
        raise typer.BadParameter(f"both are {baseline}; to compare a build with itself, append +copy=2 to one")
    return baseline, subject


def _asked(api: ApiClient, run_id: str, ends: Ends) -> tuple[RunDetail, Pair]:
    """A run with the cells of two of its subjects, and what it says of the two. Raises BadParameter."""
    detail = run_detail(api, run_id)
    names_in(detail, ends)  # asks whether it measured both
    query = urlencode({"before": str(ends[0]), "after": str(ends[1])})
    pair = api.get(Pair, f"/runs/{quote(run_id, safe='')}/pair?{query}")
    own = {str(end) for end in ends}
    views = {view.name: f"{view.library}@{view.source}" for view in detail.subjects}
    return detail.model_copy(update={"cells": [cell for cell in detail.cells if views[cell.subject] in own]}), pair


def names_in(detail: RunDetail, pair: Ends) -> tuple[str, str]:
    """The unique names of two subjects in a run; empty for one without results. Raises BadParameter."""
    for end in pair:
        if str(end) not in detail.kits:
            others = ", ".join(detail.kits) or "nothing yet"
            raise typer.BadParameter(f"run {detail.summary.run_id} did not measure {end}; it measured {others}")
    measured = {cell.subject for cell in detail.cells if cell.estimate}
    names = {(view.library, view.source): view.name for view in detail.subjects if view.name in measured}
    before, after = (names.get((kit.library, kit.source), "") for kit in (detail.kits[str(end)] for end in pair))
    return before, after


def profiles_text(*labels: str) -> str:
    """A line about labels of build profiles that differ; empty otherwise."""
    before, after = labels
    return f"{DIFFERENT_PROFILE}: {before} → {after}\n" if before != after else ""


def _print_all(detail: RunDetail, pair: Pair) -> None:
    measure = INSTRUMENTS[pair.instrument].measure
    first, second = (f"{end.reference} ({end.version})" for end in (pair.before, pair.after))
    out.print(f"{measure} of {second} compared with {first}", markup=False, soft_wrap=True)
    labels = (end.build_profile_label for end in (pair.before, pair.after))
    out.print(profiles_text(*labels), markup=False, soft_wrap=True)
    for table in change_tables(pair.cells):
        out.print(table)
    if words := compare_legend(pair.cells):
        out.print(f"\n{words}", style="dim")
    for line in (*change_lines(pair.cells), *wait_lines(pair.waits), *outcome_lines(detail)):
        out.print(line, markup=False, soft_wrap=True)
    err.print(f"run {pair.run_id}", markup=False)


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


def _row(pair: Pair, cell: UpgradeCell) -> dict[str, Any]:
    metrics = SIDES_OF[pair.instrument]
    return {
        "run_id": pair.run_id,
        "case_id": cell.case_id,
        "pool": cell.host_kind.pool,
        "cpu_model": cell.host_kind.cpu_model,
        "verdict": cell.verdict if _is_judged(cell) else None,
        "warnings": list(cell.warnings),
        "components": [change.model_dump() for change in pair.components],
        "resolves": cell.resolves,
        "invocations": cell.invocations,
        "disturbed": cell.disturbed,
        "wait": next((wait.model_dump(mode="json") for wait in pair.waits.cases if wait.case_id == cell.case_id), None),
        "ratios": {
            metrics[side]: move.model_dump() | {"paired": cell.paired} if move else None
            for side, move in _sides(cell).items()
        },
    }
