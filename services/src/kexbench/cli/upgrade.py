"""`kexbench upgrade`: the cost of upgrading a library, from stored results."""

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich.table import Table
from rich.text import Text

from kexbench.answers.comparison import Comparison
from kexbench.answers.filters import Filters
from kexbench.answers.upgrade import UpgradePage, UpgradeView
from kexbench.cli.change_tables import change_lines, change_tables, legend, missing_lines, wait_lines
from kexbench.cli.console import err, out, print_json
from kexbench.cli.options import RELEVANT_TEXT, AsJson, Relevant, share
from kexbench.cli.reaching import reach_api
from kexbench.cli.words import aside_lines
from kexbench.domain.kits import Library
from kexbench.domain.upgrades import NOT_JUDGED, UpgradeCell

REGRESSED = 3
End = Annotated[str | None, typer.Argument(help="A version, a source or a subject, such as 3.5.7.", show_default=False)]


def upgrade(
    library: Annotated[Library | None, typer.Argument(help="Such as openssl.", show_default=False)] = None,
    before: End = None,
    after: End = None,
    pool: Annotated[str | None, typer.Option(help="Only cells of this pool.", show_default=False)] = None,
    relevant: Relevant = RELEVANT_TEXT,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 3 if a case is slower.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Report the cost of upgrading a library, from all stored results. Without versions: list the measured upgrades.

    Shows the change of each case for both sides, the client and the server, and what the changes have in common.

    Examples:

        kexbench upgrade openssl 3.0.19 3.5.7
        kexbench upgrade openssl crate/3.4.1 crate/3.5.0 --relevant 1% --fail-on-regression
        kexbench upgrade openssl 3.4.1 3.5.0 --json | jq -r .upgrade.sentence
        kexbench upgrade openssl
    """
    if library and before and after:
        query: dict[str, str | float] = {"base": f"{library}@{before}", "other": f"{library}@{after}"}
        query |= {"relevant": share(relevant)} | ({"base_pool": pool, "other_pool": pool} if pool else {})
        with reach_api() as api:
            answer = api.get(Comparison, f"/compare?{urlencode(query)}")
        if answer.base and answer.other and answer.base.subject == answer.other.subject:
            raise typer.BadParameter(f"{before} and {after} are the same: {answer.base.subject.name}")
        if as_json:
            print_json(answer.model_dump(mode="json"))
        else:
            _print(answer)
        if fail_on_regression:
            raise typer.Exit(_status(answer.cells))
    elif before:
        raise typer.BadParameter("name two versions, or none to list the measured upgrades")
    elif pool or fail_on_regression or relevant != RELEVANT_TEXT:
        raise typer.BadParameter("--pool, --relevant and --fail-on-regression judge an upgrade: name two versions")
    else:
        _list(library, as_json=as_json)


def _status(cells: Sequence[UpgradeCell]) -> int:
    if any(cell.verdict == "more" for cell in cells):
        return REGRESSED
    if any(cell.move and cell.verdict not in NOT_JUDGED for cell in cells):
        return 0
    err.print("nothing could be compared, so regressions are unknown", markup=False)
    return 1


def _print(answer: Comparison) -> None:
    upgrade = answer.upgrade
    if upgrade:
        out.print(upgrade.sentence, markup=False, soft_wrap=True)
    for table in change_tables(answer.cells):
        out.print(table)
    if words := legend(answer.cells):
        out.print(words, style="dim")
    lines = change_lines(answer.cells)
    if upgrade:
        lines += wait_lines(upgrade.waits)
        lines += missing_lines(upgrade.missing)
        lines += [f"changed default, {note}" for note in upgrade.defaults]
        lines += [f"security fix, {note}" for note in upgrade.security]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def _list(library: Library | None, *, as_json: bool) -> None:
    with reach_api() as api:
        page = api.get(UpgradePage, f"/upgrades?{urlencode({'library': library} if library else {})}")
        aside = None if as_json else api.get(Filters, "/filters").aside
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.upgrades:
        out.print(_upgrades_table(page.upgrades))
    else:
        of_what = f" of {library}" if library else ""
        out.print(f"no two versions{of_what} are in the history yet: kexbench run history", markup=False)
    for line in aside_lines(aside) if aside else ():
        out.print(line, markup=False, soft_wrap=True)


def _upgrades_table(listed: Sequence[UpgradeView]) -> Table:
    table = Table(box=None, header_style="bold")
    for column in ("library", "before", "after", "cells", "measured"):
        table.add_column(column, justify="right" if column == "cells" else "left", overflow="fold")
    for view in listed:
        ends = (f"{end.version}\n{end.source}" for end in (view.before, view.after))
        table.add_row(*map(Text, (view.library, *ends, f"{view.cells:,}", f"{view.measured_at:%Y-%m-%d %H:%M}")))
    return table
