"""`kexbench upgrade`: what the step from one version of a library to another cost, from stored numbers."""

from typing import Annotated
from urllib.parse import urlencode

import typer

from kexbench.api.models import UpgradePage
from kexbench.cli.console import err, out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.cli.upgrade_words import LEGEND, report_lines, report_tables, upgrades_table
from kexbench.domain.upgrades import UpgradeReport

REGRESSED = 3
End = Annotated[
    str | None, typer.Argument(help="A version, a source or a subject's name, such as 3.5.7.", show_default=False)
]


def share(text: str) -> float:
    """`1%` as 0.01."""
    try:
        found = float(text.removesuffix("%")) / 100
    except ValueError:
        found = -1
    if not text.endswith("%") or not 0 <= found <= 0.5:
        raise typer.BadParameter(f"{text!r} is no percentage from 0% to 50%, such as 1%")
    return found


def upgrade(
    library: Annotated[str | None, typer.Argument(help="Such as openssl.", show_default=False)] = None,
    before: End = None,
    after: End = None,
    pool: Annotated[str | None, typer.Option(help="Only cells of this pool.", show_default=False)] = None,
    relevant: Annotated[
        str, typer.Option(metavar="PERCENT", help="Smaller changes are not called moved, however sure they are.")
    ] = "0.5%",
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 3 where something costs more.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell what an upgrade of a library cost, by all that is stored: each case, client and server, and what the moves
    share. Without two versions: list the upgrades that are known.

    Exit status: 0; with --fail-on-regression 3 where something costs more, 1 where nothing could be compared.

    Examples:

        kexbench upgrade openssl 3.0.19 3.5.7
        kexbench upgrade openssl crate/3.4.1 crate/3.5.0 --relevant 1% --fail-on-regression
        kexbench upgrade openssl 3.4.1 3.5.0 --json | jq -r .sentence
        kexbench upgrade openssl
    """
    if library and before and after:
        asked: dict[str, str | float] = {"library": library, "before": before, "after": after}
        asked |= {"relevant": share(relevant)} | ({"pool": pool} if pool else {})
        with reach_api() as api:
            found = api.get(UpgradeReport, f"/upgrades/report?{urlencode(asked)}")
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            _print(found)
        if fail_on_regression:
            raise typer.Exit(_status(found))
    elif before:
        raise typer.BadParameter("name two versions, or none for a list of what can be compared")
    else:
        _list(library, as_json=as_json)


def _status(found: UpgradeReport) -> int:
    if found.regressed:
        return REGRESSED
    if any(cell.move for cell in found.cells):
        return 0
    err.print("nothing could be compared, so nothing is known of regressions", markup=False)
    return 1


def _print(found: UpgradeReport) -> None:
    out.print(found.sentence, markup=False, soft_wrap=True)
    for table in report_tables(found):
        out.print(table)
    if found.cells:
        out.print(LEGEND, style="dim")
    for line in report_lines(found):
        out.print(line, markup=False, soft_wrap=True)


def _list(library: str | None, *, as_json: bool) -> None:
    with reach_api() as api:
        page = api.get(UpgradePage, f"/upgrades?{urlencode({'library': library} if library else {})}")
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.upgrades:
        out.print(upgrades_table(page.upgrades))
    else:
        of_what = f" of {library}" if library else ""
        out.print(f"no two versions{of_what} were measured yet: kexbench run bench-specs/history.yaml", markup=False)
