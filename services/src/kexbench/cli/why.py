"""`kexbench why`: names the functions that made a library faster or slower, or that make two libraries differ."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args
from urllib.parse import urlencode

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.analysis.profile_files import file_name
from kexbench.answers.run import RunDetail
from kexbench.cli.compare import Cases, OnlyCounting, StoredRun, names_in, pair_of
from kexbench.cli.compose import cases_for, run_wish, stored_run
from kexbench.cli.console import err, out, print_json
from kexbench.cli.options import AsJson, SpecMatrix
from kexbench.cli.reaching import ask_api, on_this_machine
from kexbench.cli.references import typed_reference
from kexbench.cli.report import run_detail
from kexbench.cli.tables import outcome_lines
from kexbench.client import ApiClient
from kexbench.domain.instruments import INSTRUMENTS, Instrument, side_words
from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import not_explained
from kexbench.domain.numbers import signed_words
from kexbench.domain.profiles import (
    SMALLEST_SHARE,
    UNNAMED,
    CaseExplanation,
    Explanation,
    FunctionChange,
    PartDifference,
    ProfileFormat,
)
from kexbench.files import make_folder, write_whole
from kexbench.planning.catalogue import tracked
from kexbench.planning.compose import USUAL
from kexbench.planning.explanation import counting_wish
from kexbench.settings import Settings
from kexbench.wiring import Installation

ALL_FUNCTIONS = 5000
"""The most that the API returns of a side."""
MUCH = 0.2
UNNAMED_ADVICE = (
    "Packages of distributions name only exported functions. Builds from sources name all of them: compare versions of "
    "the catalogue, or git and tarball sources."
)
OTHER_CODE = (
    "Valgrind's CPU lacks features of this machine's, so a library may run other code here than it does natively: time "
    "decides. For counts and times of the same code, measure cases with the same cpuFeatures."
)
MATCHED_BY_NAME = (
    "Functions are matched by name, which does not prove that their code is the same: each library has changed its "
    "own, and compilers inline functions. Names also tell the part that a function belongs to."
)
DEFAULT_CASE = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"


def why(
    first: Annotated[
        str, typer.Argument(metavar="LIBRARY", help="Such as openssl, or openssl@3.5.5.", show_default=False)
    ],
    second: Annotated[
        str,
        typer.Argument(metavar="BEFORE", help="A version of the catalogue, or a source.", show_default=False),
    ],
    third: Annotated[
        str | None, typer.Argument(metavar="AFTER", help="The version to compare with it.", show_default=False)
    ] = None,
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
    instrument: OnlyCounting = Instrument.INSTRUCTIONS,
    start: Annotated[bool, typer.Option("--start", help="Count the start of a process too.")] = False,
    run: StoredRun = None,
    as_json: AsJson = False,
) -> None:
    """Count two versions, function by function, and show the functions that make the difference.

    Two libraries of common ancestry, such as OpenSSL and AWS-LC, are LIBRARY@VERSION each. Their functions are matched
    by name, and the difference is shown by parts, too.

    Instructions are counted by callgrind, so they do not depend on what else the machine does. Time stays the
    measure: Valgrind's CPU lacks some instructions, so a library may choose other code there. Allocations are bytes
    as programs ask for them, also those that an open connection holds and those that stay after it was freed. Atomics
    are atomic operations on memory that threads share, by the functions that take a lock or a reference: they show
    what a library loses with many threads.

    Examples:

        kexbench why openssl 3.0.8 3.5.5
        kexbench why openssl debian/bookworm debian/trixie --case '*rsa-2048*'
        kexbench why openssl 3.0.0 3.0.8 --spec articles/forward-secrecy-2011 --case '*_rsa_rsa-2048*'
        kexbench why openssl git:../openssl#master git:../openssl#my-branch
        kexbench why openssl 3.0.8 3.5.5 --instrument allocations
        kexbench why openssl 1.1.1w 3.0.8 --instrument atomics
        kexbench why openssl 3.0.8 3.5.5 --save profiles
        kexbench why openssl 3.0.8 3.5.5 --start
        kexbench why openssl@3.5.5 awslc@5.12.0 --case '*x25519_aes-128-gcm'
        kexbench why openssl 3.0.8 3.5.5 --run 20260101-120000-0123abcd
    """
    if not instrument.counts:
        raise typer.BadParameter("--instrument: time tells no functions: choose one that counts")
    installation = Installation(Settings())
    texts = _texts(first, second, third)
    before, after = (_reference(installation, library, text) for library, text in texts)
    pair = pair_of(before, after)
    if refused := not_explained(before.library, after.library):
        raise typer.BadParameter(f"{refused}: compare their times with kexbench compare {before} {after}")
    if start and instrument is not Instrument.INSTRUCTIONS:
        raise typer.BadParameter("--start counts instructions: leave out --instrument")
    if save:
        _prepare(save)
    if run is None:
        on_this_machine("kexbench why counts on this machine", "run it on a node")
        cases = cases_for(USUAL, case or ([] if spec else [DEFAULT_CASE]), spec)
        question = f"Which functions make {pair[1]} cost more or less than {pair[0]}?"
        done = run_wish(
            installation, counting_wish("why", pair, cases, question, instrument=instrument, starts=int(start))
        )
        run_id, status = stored_run(done, f"kexbench why {before} {after}"), done.exit_status
    elif case or spec or start:
        raise typer.BadParameter("--run shows a run as it was counted: leave out --case, --spec and --start")
    else:
        run_id, status = run, 0

    def asked(api: ApiClient) -> tuple[RunDetail, list[CaseExplanation], int]:
        detail = run_detail(api, run_id)
        names = names_in(detail, pair)
        ends = [End(*text, name) for text, name in zip(texts, names, strict=True)]
        counted = _counted(api, run_id, ends, detail.measure.instrument) if all(names) else []
        return detail, counted, _save(api, save, counted, ends, run_id) if save else 0

    detail, counted, saved = ask_api(asked)
    if as_json:
        print_json([row for explained in counted for row in _rows(explained, run_id)])
    else:
        row = INSTRUMENTS[detail.measure.instrument]
        out.print(f"{row.measure} of {pair[1]} compared with {pair[0]}, counted by {row.counted_by}\n", markup=False)
        _print(detail, counted, functions, (before.library, after.library))
    if save:
        err.print(f"{saved} profiles are in {save}", markup=False)
    raise typer.Exit(status or (0 if counted else 1))


class End(NamedTuple):
    """A version as it was typed, and its unique name in the store."""

    library: str
    text: str
    subject: str


def _texts(first: str, second: str, third: str | None) -> list[tuple[str, str]]:
    """Library and version of both ends. Raises BadParameter."""
    if third is not None:
        return [(first, second), (first, third)]
    ends = [text.partition("@") for text in (first, second)]
    if not all(library and version for library, _, version in ends):
        raise typer.BadParameter("name a library and two of its versions, or twice LIBRARY@VERSION")
    return [(library, version) for library, _, version in ends]


def _counted(api: ApiClient, run_id: str, ends: Sequence[End], instrument: Instrument) -> list[CaseExplanation]:
    """Empty where one of the versions could not be counted."""
    before, after = ends
    query = {
        "library": before.library,
        "before": before.subject,
        "after": after.subject,
        "after_library": after.library,
        "run_id": run_id,
        "functions": ALL_FUNCTIONS,
        "instrument": str(instrument),
    }
    return api.get(list[CaseExplanation], f"/upgrades/why?{urlencode(query)}")


def _rows(case: CaseExplanation, run_id: str) -> Iterator[dict[str, Any]]:
    """One for each side."""
    for side in case.sides:
        own = {"case_id": case.case_id, "other_code": case.other_code, "run_id": run_id}
        yield side.model_dump(mode="json") | own


def _reference(installation: Installation, library: str, text: str) -> SubjectRef:
    """A version of the catalogue, or a source as in other commands. Raises BadParameter."""
    entries = [entry for name, entry in tracked(installation.catalogue()) if name == library and entry.version == text]
    return SubjectRef(library=library, source=entries[0].source) if entries else typed_reference(f"{library}@{text}")


def _prepare(folder: Path) -> None:
    """Make the folder before minutes of counting. Raises BadParameter."""
    try:
        make_folder(folder.absolute())
    except OSError as error:
        raise typer.BadParameter(f"--save: the folder {folder} cannot be made: {error.strerror}") from None


def _save(api: ApiClient, folder: Path, counted: Sequence[CaseExplanation], ends: Sequence[End], run_id: str) -> int:
    """Both profiles of each side of each case, in each format, over those of an earlier run. Raises BadParameter."""
    files: dict[str, bytes] = {}
    for case in counted:
        for side, end, file_format in product(case.sides, ends, get_args(ProfileFormat)):
            query = {"library": end.library, "subject": end.subject, "case_id": case.case_id, "side": side.side}
            query["instrument"] = str(case.instrument)
            answer = api.send(
                "GET", f"/upgrades/why/profile?{urlencode(query | {'format': file_format, 'run_id': run_id})}"
            )
            build = "-".join([end.library, end.text, *([case.case_id] if len(counted) > 1 else [])])
            files[file_name(build, side.side, file_format)] = answer.content
    try:
        for name, content in files.items():
            write_whole(folder / name, content)
    except OSError as error:
        raise typer.BadParameter(f"--save: the folder {folder} cannot be written: {error.strerror}") from None
    return len(files)


def _print(detail: RunDetail, counted: Sequence[CaseExplanation], functions: int, libraries: tuple[str, str]) -> None:
    """A table for each side of each case, then what limits them, and why cases have no result."""
    for case in counted:
        for side in case.sides:
            title = _title(case, side)
            if side.parts:
                out.print(parts_table(title, side, libraries, INSTRUMENTS[case.instrument].amounts))
                title = f"{side_words(side.side)}, function by function"
            out.print(
                _table(title, side, functions, INSTRUMENTS[case.instrument].calls) if side.has_changed else Text(title)
            )
            out.print()
    if any(side.parts for case in counted for side in case.sides):
        out.print(MATCHED_BY_NAME, style="dim")
    if any(unnamed_share(side) > MUCH for case in counted for side in case.sides):
        out.print(UNNAMED_ADVICE, style="dim")
    if any(case.other_code for case in counted):
        out.print(OTHER_CODE, style="dim")
    for line in outcome_lines(detail):
        out.print(line, markup=False, soft_wrap=True)
    err.print(f"run {detail.summary.run_id}", markup=False)


def _name(changed: FunctionChange) -> str:
    return changed.name if changed.name == changed.later_name else f"{changed.name} → {changed.later_name}"


def unnamed_share(explanation: Explanation) -> float:
    """The share of all changes, up and down, that is in functions without names."""
    moved = sum(abs(changed.change) for changed in explanation.functions)
    unnamed = sum(abs(changed.change) for changed in explanation.functions if changed.name.startswith(UNNAMED))
    return unnamed / moved if moved else 0.0


def _title(case: CaseExplanation, explanation: Explanation) -> str:
    row = INSTRUMENTS[case.instrument]
    counts = f"{explanation.before:,.0f} → {explanation.after:,.0f} {row.amounts} {row.parts[explanation.side].per}"
    change = f" ({signed_words(explanation.ratio - 1, 2)})" if explanation.before else ""
    lines = [f"{case.title}, {side_words(explanation.side)}: {counts}{change}"]
    if not explanation.has_changed:
        lines.append(
            "no change" + (f": below the resolution of {explanation.resolution:.2%}" if explanation.before else "")
        )
    elif explanation.place:
        lines.append(f"most of the change is in {explanation.place.name}")
    if explanation.has_changed and explanation.spread > SMALLEST_SHARE:
        lines.append(f"two counts of one version differ by {explanation.spread:.3%}, as libraries draw random numbers")
    return "\n".join(lines)


def parts_table(title: str, explanation: Explanation, libraries: tuple[str, str], amounts: str) -> Table:
    """Each part of two libraries. All rows add up to both sides."""
    table = _empty_table(f"{title}\n{matched_words(explanation, libraries, amounts)}", "part")
    for column in (*(f"both: {name}" for name in libraries), *(f"only {name}" for name in libraries), "difference"):
        table.add_column(column, justify="right")
    for part in explanation.parts:
        table.add_row(Text(part.name), *_part_cells([part]), end_section=part is explanation.parts[-1])
    table.add_row(Text("total"), *_part_cells(explanation.parts))
    return table


def _part_cells(parts: Sequence[PartDifference]) -> list[str]:
    rows = [(part.matched_before, part.matched_after, part.only_before, part.only_after) for part in parts]
    counts = [sum(column) for column in zip(*rows, strict=True)]
    difference = sum(part.after - part.before for part in parts)
    return [*(f"{count:,.0f}" for count in counts), f"{difference:+,.0f}"]


def matched_words(explanation: Explanation, libraries: tuple[str, str], amounts: str) -> str:
    """`Names match for 45% of the instructions of openssl, for 60% of those of awslc.`"""
    before = sum(part.matched_before for part in explanation.parts) / (explanation.before or 1)
    after = sum(part.matched_after for part in explanation.parts) / (explanation.after or 1)
    return f"names match for {before:.0%} of {libraries[0]}'s {amounts} and {after:.0%} of {libraries[1]}'s"


def _empty_table(title: str, first_column: str) -> Table:
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column(first_column, overflow="fold")
    return table


def _table(title: str, explanation: Explanation, functions: int, calls_title: str) -> Table:
    table = _empty_table(title, "function")
    for column in ("before", "after", "share of change", calls_title):
        table.add_column(column, justify="right")
    for changed in explanation.functions[:functions]:
        calls = f"{changed.calls_before:,.1f} → {changed.calls_after:,.1f}"
        table.add_row(
            Text(_name(changed)), f"{changed.before:,.0f}", f"{changed.after:,.0f}", f"{changed.share:.1%}", calls
        )
    return table
