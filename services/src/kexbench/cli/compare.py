"""`kexbench compare`: compares two builds of a library without a spec."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import typer
from rich.markup import escape

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.analysis.pairs import cell_of, without_sides
from kexbench.analysis.verdict import judge
from kexbench.api.machine_models import Qualifications
from kexbench.cli.compose import Done, cases_for, run_wish
from kexbench.cli.console import err, out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import on_this_machine
from kexbench.cli.references import typed_reference
from kexbench.cli.step_tables import (
    NO_RESULT,
    UNRESOLVED_LEGEND,
    VERDICTS,
    along_text,
    move_text,
    spread_text,
    verdict_words,
)
from kexbench.client import ApiClient
from kexbench.comparison.comparing import DIFFERENT_PROFILE, negotiated_differently
from kexbench.domain.cases import Case
from kexbench.domain.components import ComponentChange, changed_components
from kexbench.domain.hosts import kind_of
from kexbench.domain.kits import BuildProfile, SubjectRef
from kexbench.domain.numbers import counted
from kexbench.domain.plans import JOBS_PER_CELL, Instrument
from kexbench.domain.samples import DISTURBED_REASON, Metric
from kexbench.domain.upgrades import SIDES_OF, Side, SideMove, UpgradeCell
from kexbench.pipeline import read_spec
from kexbench.planning.compose import JOBS_OF_A_VERDICT, USUAL, Wish, affordable_invocations
from kexbench.planning.plan import read_matrices
from kexbench.planning.spec import Matrix
from kexbench.service import reach_service
from kexbench.wiring import Installation

SECONDS = 90
"""Measuring time. With building and starting, a comparison takes about two minutes."""
Cases = Annotated[list[str] | None, typer.Option("--case", metavar="GLOB", help="Only cases whose id matches.")]
SpecMatrix = Annotated[Path | None, typer.Option("--spec", help="Use the cases of this spec.", show_default=False)]

ByCount = Annotated[
    bool, typer.Option("--count", help="Decide by counted instructions: no quiet machine is needed. Needs Valgrind.")
]


def instrument_of(count: bool) -> Instrument:
    return Instrument.INSTRUCTIONS if count else Instrument.TIME


def compare(
    baseline: Annotated[str, typer.Argument(help="Such as openssl@system.", show_default=False)],
    subject: Annotated[str, typer.Argument(help="Such as openssl@prefix:../openssl.", show_default=False)],
    case: Cases = None,
    spec: SpecMatrix = None,
    invocations: Annotated[
        int | None, typer.Option(min=3, max=1000, help="Default: as many as fit into two minutes.", show_default=False)
    ] = None,
    count: ByCount = False,
    as_json: AsJson = False,
) -> None:
    """Compare two builds, interleaved on one core, and print a verdict for each case. Takes two minutes.

    Exit status: 0 no case is slower, 3 a case is slower, 1 no case could be compared.

    Examples:

        kexbench compare openssl@system openssl@prefix:../openssl
        kexbench compare openssl@git:../openssl#master openssl@git:../openssl#my-branch
        kexbench compare openssl@system openssl@debian/trixie --case '*rsa-2048*'
        kexbench compare openssl@system openssl@prefix:../openssl --count
        kexbench compare gnutls@system gnutls@prefix:/opt/gnutls --spec bench-specs/quickstart.yaml
    """
    settings = on_this_machine("kexbench compare measures on this machine", "queue a spec with kexbench submit")
    references = (typed_reference(baseline), typed_reference(subject))
    if references[0] == references[1]:
        raise typer.BadParameter(f"both are {baseline}; to compare a build with itself, append +copy=2 to one")
    cases = cases_for(matrices_of(spec) if spec else list(USUAL), case or ())
    jobs = JOBS_PER_CELL if count else JOBS_OF_A_VERDICT
    wish = Wish(
        name="compare",
        description=f"{references[1]} compared with {references[0]}",
        subjects=references,
        cases=cases,
        invocations=invocations
        or (MIN_COMPARED_INVOCATIONS if count else affordable_invocations(cases, 2, SECONDS, jobs=jobs)),
        instrument=instrument_of(count),
        jobs=jobs,
    )
    installation = Installation(settings)
    done = run_wish(installation, wish)
    before, after = map(str, references)
    floors = {} if count else _floors(installation, done, references[1].library)
    sides = SIDES_OF[instrument_of(count)]
    profiles = [done.end.run.kits[str(reference)].build_profile for reference in references]
    warnings = [DIFFERENT_PROFILE] if profiles[0] != profiles[1] else []
    cells = []
    for each in cases:
        floor, unlike = floors.get(each.case_id, 0.0), _unlike(each, done, references)
        cells.append(cell_of(done.invocations, each, before, after, floor, sides, unlike, warnings))
    judged = judge(cells)
    along = _along(done, references)
    disturbed = {case.case_id: _disturbed(case, done, references) for case in cases}
    if as_json:
        run_id = done.end.run.run_id
        print_json([_row(cell, run_id, along, sides) | {"disturbed": disturbed[cell.case_id]} for cell in judged])
    else:
        measure = "Instructions" if count else "CPU time"
        out.print(f"{measure} of {references[1]} compared with {references[0]}{along_text(along)}", markup=False)
        out.print(_profiles_text(profiles), markup=False, soft_wrap=True)
        _print(judged)
        _explain(cases, done, judged, disturbed)
    verdicts = [cell.verdict for cell in judged if cell.move]
    raise typer.Exit(done.exit_status or (3 if "more" in verdicts else 0 if verdicts else 1))


def _floors(installation: Installation, done: Done, library: str) -> dict[str, float]:
    """By case, how much two builds of one source differ on this machine, as measured by `kexbench qualify`."""
    run = done.end.run
    if done.end.undelivered or run.host is None:
        return {}
    query = urlencode({"pool": run.plan.pools[0], "cpu_model": kind_of(run.host)})
    with reach_service(installation) as address, closing(ApiClient.here(address)) as api:
        rows = api.get(Qualifications, f"/qualifications?{query}").rows
    return {row.case.id: row.layout_floor for row in rows if row.library == library and row.layout_floor is not None}


def matrices_of(spec: Path) -> list[Matrix]:
    """The matrices of a spec file; its subjects are ignored. Raises DocumentError."""
    return read_matrices(read_spec(spec), str(spec))


def _profiles_text(profiles: Sequence[BuildProfile]) -> str:
    """A line about profiles whose labels differ; empty otherwise."""
    before, after = (profile.label for profile in profiles)
    return f"{DIFFERENT_PROFILE}: {before} → {after}\n" if before != after else ""


def _unlike(case: Case, done: Done, pair: tuple[SubjectRef, SubjectRef]) -> list[str]:
    """Why the two did different work, in a case that leaves a choice to the library."""
    if not case.leaves_a_choice:
        return []
    chosen = {
        subject: negotiated
        for invocation in done.invocations
        if invocation.case_id == case.case_id
        for subject, negotiated in invocation.negotiated.items()
    }
    before, after = (chosen.get(str(subject)) for subject in pair)
    return negotiated_differently(after, before) if before and after else []


Disturbed = dict[str, dict[str, int]]
"""By case and subject: invocations without separate numbers of client and server because of other programs."""


def _disturbed(case: Case, done: Done, pair: tuple[SubjectRef, SubjectRef]) -> dict[str, int]:
    """Omits subjects without such invocations."""
    counts = {str(subject): without_sides(done.invocations, case.case_id, str(subject)) for subject in pair}
    return {subject: count for subject, count in counts.items() if count}


def _along(done: Done, pair: tuple[SubjectRef, SubjectRef]) -> tuple[ComponentChange, ...]:
    """The components other than the library in which the two differ."""
    kits = done.end.run.kits
    return changed_components(*(kits[str(subject)].components for subject in pair))


def _print(judged: Sequence[UpgradeCell]) -> None:
    """Each case with its verdict, then three changes: both sides, client, server."""
    for cell in judged:
        word = verdict_words(cell.verdict, cell.resolves).replace("\n", " ") if _is_judged(cell) else NO_RESULT
        out.print(f"[bold]{escape(cell.title)}[/bold]  {word}", soft_wrap=True)
        if cell.verdict == "unlike":
            out.print(f"  {', '.join(cell.warnings)}", markup=False, soft_wrap=True)
            continue
        if cell.invocations == 0:
            continue
        titles: dict[Side, str] = {"both": "both sides", "client": "client", "server": "server"}
        for side, move in _sides(cell).items():
            text = move_text(move, VERDICTS[move.verdict]).replace("\n", "  ") if move else NO_RESULT
            out.print(f"  {titles[side]:<12}{text}", markup=False)
        if words := spread_text(cell.spread):
            out.print(f"  {words}", markup=False)
        if cell.resolves and cell.verdict != "unresolved":
            out.print(f"  resolution  {cell.resolves:.2%}", style="dim", markup=False)


def _is_judged(cell: UpgradeCell) -> bool:
    return cell.move is not None or cell.verdict == "unlike"


def _sides(cell: UpgradeCell) -> dict[Side, SideMove | None]:
    both = SideMove(**cell.move.model_dump(), verdict=cell.verdict) if cell.move else None
    return {"both": both, "client": cell.client, "server": cell.server}


def _explain(cases: tuple[Case, ...], done: Done, judged: Sequence[UpgradeCell], disturbed: Disturbed) -> None:
    """Explains the columns, and why cases have no result."""
    count = max((cell.invocations for cell in judged), default=0)
    out.print(
        f"\nTrimmed mean of paired ratios over {count} invocations of fresh processes, 95% confidence interval. "
        f"Resolution: a smaller change would probably be missed (power 80%, p < 0.01). {UNRESOLVED_LEGEND}",
        style="dim",
    )
    for case in cases:
        faults = {
            f"{outcome.subject}, {case.label}: {outcome.kind}: {outcome.reason}"
            for invocation in done.invocations
            if invocation.case_id == case.case_id
            for outcome in invocation.outcomes
        }
        faults |= {
            f"{subject}, {case.label}, client and server apart: disturbed: "
            f"in {counted(times, 'invocation')}: {DISTURBED_REASON}"
            for subject, times in disturbed[case.case_id].items()
        }
        for fault in sorted(faults):
            out.print(fault, markup=False, soft_wrap=True)
    err.print(f"run {done.end.run.run_id}", markup=False)


def _row(
    cell: UpgradeCell, run_id: str, along: Sequence[ComponentChange], metrics: Mapping[Side, Metric]
) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "case_id": cell.case_id,
        "verdict": cell.verdict if _is_judged(cell) else None,
        "warnings": list(cell.warnings),
        "components": [change.model_dump() for change in along],
        "resolves": cell.resolves,
        "invocations": cell.invocations,
        "ratios": {
            metrics[side]: move.model_dump() | {"paired": cell.paired} if move else None
            for side, move in _sides(cell).items()
        },
    }
