"""`kexbench why`: names the functions that made a library faster or slower."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.analysis.pairs import costs_of
from kexbench.analysis.profile_files import file_name, profile_file
from kexbench.analysis.why import explain
from kexbench.cli.compare import Cases, SpecMatrix, matrices_of
from kexbench.cli.compose import Done, cases_for, run_wish
from kexbench.cli.console import err, out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import on_this_machine
from kexbench.cli.references import typed_reference
from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.profiles import (
    ROOTS,
    SMALLEST_SHARE,
    UNNAMED,
    Explanation,
    FunctionChange,
    Profile,
    ProfileFormat,
)
from kexbench.domain.upgrades import COUNTED
from kexbench.files import make_folder, write_whole
from kexbench.planning.catalogue import tracked
from kexbench.planning.compose import USUAL
from kexbench.planning.explanation import counting_wish
from kexbench.wiring import Installation

MUCH = 0.2
UNNAMED_ADVICE = (
    "Packages of distributions name only exported functions. Builds from sources name all of them: compare versions of "
    "the catalogue, or git and tarball sources."
)
OTHER_CODE = (
    "Valgrind's CPU lacks features of this machine's, so a library may run other code here than it does natively: time "
    "decides. For counts and times of the same code, measure cases with the same cpuFeatures."
)
DEFAULT_CASE = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"


def why(
    library: Annotated[str, typer.Argument(help="Such as openssl.", show_default=False)],
    before: Annotated[str, typer.Argument(help="A version of the catalogue, or a source.", show_default=False)],
    after: Annotated[str, typer.Argument(help="The version to compare with it.", show_default=False)],
    case: Cases = None,
    spec: SpecMatrix = None,
    functions: Annotated[int, typer.Option(min=1, help="The number of functions to show.")] = 12,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Write the profiles of each version and side to this folder, for KCachegrind and for speedscope.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count the instructions of two versions and show the functions that make the difference.

    Counts come from callgrind, so they do not depend on what else the machine does. Time stays the measure: Valgrind's
    CPU lacks some instructions, so a library may choose other code there.

    Exit status: 0 counted, 1 nothing could be counted.

    Examples:

        kexbench why openssl 3.0.8 3.5.5
        kexbench why openssl debian/bookworm debian/trixie --case '*rsa-2048*'
        kexbench why openssl 3.0.0 3.0.8 --spec bench-specs/articles/forward-secrecy-2011.yaml --case '*_rsa_rsa-2048*'
        kexbench why openssl git:../openssl#master git:../openssl#my-branch
        kexbench why openssl 3.0.8 3.5.5 --save profiles
    """
    installation = Installation(on_this_machine("kexbench why counts on this machine", "run it on a node"))
    references = (_reference(installation, library, before), _reference(installation, library, after))
    if references[0] == references[1]:
        raise typer.BadParameter(f"both are {references[0]}; to compare a build with itself, append +copy=2 to one")
    cases = cases_for(matrices_of(spec) if spec else list(USUAL), case or ([] if spec else [DEFAULT_CASE]))
    if save:
        _prepare(save)
    done = run_wish(
        installation,
        counting_wish(
            "why", references, cases, f"Which functions make {references[1]} faster or slower than {references[0]}?"
        ),
    )
    counted = [pair for each in cases for pair in _counted(done, each, references)]
    if as_json:
        print_json([pair.row | {"run_id": done.end.run.run_id} for pair in counted])
    else:
        out.print(
            f"Instructions of {references[1]} compared with {references[0]}, counted by callgrind\n", markup=False
        )
        _print(done, counted, functions)
    if save:
        _save(save, counted, library, (before, after), by_case=len(cases) > 1)
    raise typer.Exit(done.exit_status or (0 if counted else 1))


def _reference(installation: Installation, library: str, text: str) -> SubjectRef:
    """A version of the catalogue, or a source as in other commands. Raises BadParameter."""
    entries = [entry for name, entry in tracked(installation.catalogue()) if name == library and entry.version == text]
    return SubjectRef(library=library, source=entries[0].source) if entries else typed_reference(f"{library}@{text}")


@dataclass(frozen=True)
class _Counted:
    """Both versions of one side of a case."""

    case: Case
    profiles: tuple[Profile, Profile]
    explanation: Explanation
    other_code: bool
    """Whether a library chose its code by other CPU features than without Valgrind."""

    @property
    def row(self) -> dict[str, Any]:
        explanation = self.explanation.model_dump(mode="json")
        return {"case_id": self.case.case_id, **explanation, "other_code": self.other_code}


def _counted(done: Done, case: Case, references: tuple[SubjectRef, SubjectRef]) -> Iterator[_Counted]:
    """Nothing where one of the versions could not be counted."""
    names = tuple(map(str, references))
    profiles = {
        (subject, profile.side): profile
        for invocation in done.invocations
        if invocation.case_id == case.case_id
        for subject, of_subject in invocation.profiles.items()
        for profile in of_subject
    }
    for side in ROOTS:
        both = [profiles[name, side] for name in names if (name, side) in profiles]
        if len(both) == len(names):
            metric = COUNTED[side]
            counts = [costs_of(done.invocations, case.case_id, name, metric) for name in names]
            yield _Counted(
                case=case,
                profiles=(both[0], both[1]),
                explanation=explain(both[0], both[1], max(max(values) / min(values) - 1 for values in counts)),
                other_code=any(profile.ran_other_code for profile in both),
            )


def _prepare(folder: Path) -> None:
    """Make the folder before minutes of counting. Raises BadParameter."""
    try:
        make_folder(folder.absolute())
    except OSError as error:
        raise typer.BadParameter(f"--save: the folder {folder} cannot be made: {error.strerror}") from None


def _save(folder: Path, counted: Sequence[_Counted], library: str, versions: tuple[str, str], *, by_case: bool) -> None:
    """Both profiles of each side of each case, in each format, over those of an earlier run. Raises BadParameter."""
    files: dict[str, str] = {}
    for pair in counted:
        case_id = [pair.case.case_id] if by_case else []
        for version, profile in zip(versions, pair.profiles, strict=True):
            build = "-".join([library, version, *case_id])
            for file_format in get_args(ProfileFormat):
                files[file_name(build, profile.side, file_format)] = profile_file(profile, build, file_format)
    try:
        for name, text in files.items():
            write_whole(folder / name, text.encode())
    except OSError as error:
        raise typer.BadParameter(f"--save: the folder {folder} cannot be written: {error.strerror}") from None
    err.print(f"{len(files)} profiles are in {folder}", markup=False)


def _print(done: Done, counted: Sequence[_Counted], functions: int) -> None:
    """A table for each side of each case, then what limits them, and why cases have no result."""
    for pair in counted:
        out.print(_table(pair, functions) if pair.explanation.has_changed else Text(_title(pair)))
        out.print()
    if any(unnamed_share(pair.explanation) > MUCH for pair in counted):
        out.print(UNNAMED_ADVICE, style="dim")
    if any(pair.other_code for pair in counted):
        out.print(OTHER_CODE, style="dim")
    faults = {
        f"{outcome.subject}, {done.end.run.plan.case(invocation.case_id).label}: {outcome.kind}: {outcome.reason}"
        for invocation in done.invocations
        for outcome in invocation.outcomes
    }
    for fault in sorted(faults):
        out.print(fault, markup=False, soft_wrap=True)
    err.print(f"run {done.end.run.run_id}", markup=False)


def _name(changed: FunctionChange) -> str:
    return changed.name if changed.name == changed.later_name else f"{changed.name} → {changed.later_name}"


def unnamed_share(explanation: Explanation) -> float:
    """The share of all changes, up and down, that is in functions without names."""
    moved = sum(abs(changed.change) for changed in explanation.functions)
    unnamed = sum(abs(changed.change) for changed in explanation.functions if changed.name.startswith(UNNAMED))
    return unnamed / moved if moved else 0.0


def _title(pair: _Counted) -> str:
    explanation = pair.explanation
    counts = f"{explanation.before:,.0f} → {explanation.after:,.0f} instructions per handshake"
    lines = [f"{pair.case.label}, {explanation.side}: {counts} ({explanation.ratio - 1:+.2%})"]
    if not explanation.has_changed:
        lines.append(f"no change: two counts of one build differ by up to {explanation.resolution:.2%}")
    elif explanation.place:
        lines.append(f"most of the change is in {explanation.place.name}")
    if explanation.has_changed and explanation.spread > SMALLEST_SHARE:
        lines.append(f"two counts of one version differ by {explanation.spread:.3%}, as libraries draw random numbers")
    return "\n".join(lines)


def _table(pair: _Counted, functions: int) -> Table:
    explanation = pair.explanation
    table = Table(title=Text(_title(pair)), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("function", overflow="fold")
    for column in ("before", "after", "share of change", "calls, both sides"):
        table.add_column(column, justify="right")
    for changed in explanation.functions[:functions]:
        calls = f"{changed.calls_before:,.1f} → {changed.calls_after:,.1f}"
        table.add_row(
            Text(_name(changed)), f"{changed.before:,.0f}", f"{changed.after:,.0f}", f"{changed.share:.1%}", calls
        )
    return table
