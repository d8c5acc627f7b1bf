"""`kexbench runs add`: runs that were measured elsewhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from pydantic import BaseModel

from kexbench.cli.console import out, print_json, say
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import on_this_machine
from kexbench.service import reach_service
from kexbench.wiring import Installation

if TYPE_CHECKING:
    from kexbench.execution.folder import RunFolder


class _Added(BaseModel):
    run_id: str
    outcome: Literal["added", "already here", "refused"]
    is_stored: bool
    detail: str = ""
    """Why it is refused or not stored, with the remedy."""


def add(
    paths: Annotated[
        list[Path],
        typer.Argument(
            exists=True,
            metavar="PATH…",
            help="A run's folder, a folder of them, or a .tar or .tar.gz of either.",
            show_default=False,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Add runs that were measured elsewhere to the store of this machine.

    A run's folder is RUN in the folder runs of KEXBENCH_HOME, there and here. It is copied whole, then its results are
    stored. The run keeps its id, its machine and the facts of its kits, so every page shows it; only measuring again
    needs the kits themselves. Adding the same run again changes nothing, and neither does one that is here with other
    content, that has not ended, or whose files are damaged: it is refused. After an interruption, the same command
    continues.

    Examples:

        kexbench runs add /mnt/other/kexbench/runs/20260101-120000-0123abcd
        ssh other tar -cz -C .local/share/kexbench runs > runs.tar.gz && kexbench runs add runs.tar.gz
        kexbench runs add runs.tar.gz --json | jq -r '.runs[] | select(.outcome == "refused") | .detail'
    """
    instead = "set it on the machine whose store the run belongs to"
    installation = Installation(on_this_machine("kexbench runs add fills the store of this machine", instead))
    with reach_service(installation):
        added = list(_added(installation, paths))
    if as_json:
        print_json({"runs": [each.model_dump() for each in added]})
    else:
        for each in added:
            stored = "" if each.is_stored or each.outcome == "refused" else ", not stored yet"
            detail = f": {each.detail}" if each.detail else ""
            out.print(f"{each.run_id}  {each.outcome}{stored}{detail}", markup=False, soft_wrap=True)
    if not all(each.is_stored for each in added):
        raise typer.Exit(1)


def _added(installation: Installation, paths: list[Path]) -> Iterator[_Added]:
    from kexbench.execution.adding import NotAdded, adding, sources_in  # noqa: PLC0415 (other verbs need none of it)

    with adding(installation.settings.home, say) as scratch:
        for path in paths:
            try:
                sources = sources_in(path, scratch)
            except NotAdded as error:
                yield _refused(path.name, error, error.remedy)
                continue
            for source in sources:
                yield _one_added(installation, source, scratch)


def _one_added(installation: Installation, source: "RunFolder", scratch: Path) -> _Added:
    from kexbench.execution.adding import NotAdded, checked, copied  # noqa: PLC0415 (other verbs need none of it)
    from kexbench.pipeline import deliver_added, stored_otherwise  # noqa: PLC0415
    from kexbench.runner.results import DamagedFile  # noqa: PLC0415

    run_id = source.path.name
    try:
        run, target = checked(source), installation.run_folder(run_id)
        if stored_otherwise(installation, run):
            raise NotAdded("the store has another run with this id", "keep one of them")
        is_new = copied(source, target, scratch)
    except NotAdded as error:
        return _refused(run_id, error, error.remedy)
    except DamagedFile as error:
        return _Added(run_id=run_id, outcome="refused", is_stored=False, detail=str(error))
    undelivered = deliver_added(installation, target)
    outcome: Literal["added", "already here"] = "added" if is_new else "already here"
    return _Added(run_id=run_id, outcome=outcome, is_stored=undelivered is None, detail=undelivered or "")


def _refused(run_id: str, error: Exception, remedy: str) -> _Added:
    return _Added(run_id=run_id, outcome="refused", is_stored=False, detail=f"{error}\n  remedy: {remedy}")
