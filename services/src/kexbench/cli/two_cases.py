"""`kexbench compare --with`: cases compared with the same cases but for some fields."""

from collections.abc import Callable, Sequence
from typing import NoReturn
from urllib.parse import urlencode

import typer
import yaml
from pydantic import ValidationError

from kexbench.answers.comparison import Comparison
from kexbench.answers.run import RunDetail
from kexbench.cli.change_tables import change_lines, change_tables
from kexbench.cli.compose import run_wish, stored_run
from kexbench.cli.console import err, out, print_json
from kexbench.cli.reaching import ask_api
from kexbench.cli.report import is_lost, run_detail
from kexbench.cli.step_tables import NO_RESULT
from kexbench.cli.tables import outcome_lines
from kexbench.client import ApiClient
from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import JOBS_PER_CELL
from kexbench.domain.upgrades import NOT_JUDGED
from kexbench.planning.compose import Wish, affordable_invocations, matrix_entry
from kexbench.planning.expand import expand
from kexbench.planning.spec import Matrix
from kexbench.wiring import Installation

MEASURING_S = 90
"""Of a comparison whose invocations are not given. With building and starting it takes about two minutes."""


def changed(case: Case, changes: Sequence[str]) -> Case:
    """The case with other values of some fields of a spec's matrix, such as `cipher=AES-128-CBC-SHA`. Raises
    BadParameter."""
    fields = matrix_entry(case)
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise typer.BadParameter(f"--with {change}: write FIELD=VALUE, such as --with cipher=AES-128-CBC-SHA")
        try:
            fields[name] = [yaml.safe_load(value)]
        except yaml.YAMLError:
            raise typer.BadParameter(f"--with {change}: the value is no YAML") from None
    try:
        cases, skipped = expand([Matrix.model_validate(fields)], {})
    except ValidationError as error:
        faults = "; ".join(f"{fault['loc'][0]}: {fault['msg']}" for fault in error.errors())
        raise typer.BadParameter(f"--with {' --with '.join(changes)}: {faults}") from None
    if not cases:
        raise typer.BadParameter(f"{skipped[0].combination} is impossible: {skipped[0].reason}")
    if cases[0] == case:
        raise typer.BadParameter(f"--with {' --with '.join(changes)} changes nothing in {case.case_id}")
    return cases[0]


def compare_with(
    installation: Installation,
    references: tuple[SubjectRef, SubjectRef],
    cases: Sequence[Case],
    changes: Sequence[str],
    invocations: int | None,
    names_in: Callable[[RunDetail, tuple[SubjectRef, SubjectRef]], tuple[str, str]],
    *,
    as_json: bool,
) -> NoReturn:
    """Measures both cases of each pair in turns, and prints what the page Compare says of them."""
    pairs = [(case, changed(case, changes)) for case in cases]
    measured = tuple({case.case_id: case for pair in pairs for case in pair}.values())
    subjects = tuple(dict.fromkeys(references))
    wish = Wish(
        name="compare",
        description=f"{references[1]} with {', '.join(changes)} compared with {references[0]}",
        subjects=subjects,
        cases=measured,
        invocations=invocations or affordable_invocations(measured, len(subjects), MEASURING_S, jobs=JOBS_PER_CELL),
    )
    done = run_wish(installation, wish)
    run_id = stored_run(done, f"kexbench compare --with {changes[0]}")

    def asked(api: ApiClient) -> tuple[RunDetail, list[Comparison | None]]:
        detail = run_detail(api, run_id)
        names = names_in(detail, references)
        return detail, [_answer(api, names, pair, run_id) if all(names) else None for pair in pairs]

    detail, comparisons = ask_api(asked)
    answers = [answer for answer in comparisons if answer]
    cells = [cell for answer in answers for cell in answer.cells]
    if as_json:
        print_json([answer.model_dump(mode="json", include={"cells", "differences"}) for answer in answers])
    else:
        for pair, answer in zip(pairs, comparisons, strict=True):
            _print(references, pair, answer)
        for line in outcome_lines(detail):
            out.print(line, markup=False, soft_wrap=True)
        err.print(f"run {run_id}", markup=False)
    verdicts = [cell.verdict for cell in cells if cell.verdict not in NOT_JUDGED]
    before, after = names_in(detail, references)
    is_worse = "more" in verdicts or any(
        is_lost(detail, (before, base.case_id), (after, other.case_id)) for base, other in pairs
    )
    raise typer.Exit(done.exit_status or (3 if is_worse else 0 if verdicts else 1))


def _answer(api: ApiClient, names: Sequence[str], pair: tuple[Case, Case], run_id: str) -> Comparison:
    asked = {"base": names[0], "other": names[1], "base_run_id": run_id, "other_run_id": run_id}
    query = urlencode({**asked, "base_case_id": pair[0].case_id, "other_case_id": pair[1].case_id})
    return api.get(Comparison, f"/compare?{query}")


def _print(references: tuple[SubjectRef, SubjectRef], pair: tuple[Case, Case], answer: Comparison | None) -> None:
    differences = ", ".join(f"{one.what}: {one.before} → {one.after}" for one in answer.differences) if answer else ""
    out.print(f"{references[0]}, {pair[0].label} → {references[1]}, {pair[1].label}", markup=False, soft_wrap=True)
    out.print(f"  {differences or NO_RESULT}", markup=False, soft_wrap=True)
    if answer:
        for table in change_tables(answer.cells):
            out.print(table)
        for line in change_lines(answer.cells):
            out.print(f"  {line}", markup=False, soft_wrap=True)
