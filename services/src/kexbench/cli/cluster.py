"""`kexbench submit`, `runs cancel`, `runs resume` and `token`: what is asked of a queue, a cluster's or this machine's.
`migrate`, which a cluster's installation begins with.
"""

from pathlib import Path
from typing import Annotated

import typer

from kexbench.api.run_models import RunDetail, RunSummary, RunWanted
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import follow, on_this_machine, reach_api
from kexbench.client import ApiClient, token_for
from kexbench.domain.runs import RunState
from kexbench.pipeline import read_spec
from kexbench.service import ServiceUnavailable, lasting_service
from kexbench.settings import Settings
from kexbench.wiring import Installation

Wait = Annotated[bool, typer.Option("--wait", help="Tell each change until the run has ended.")]
RunId = Annotated[str, typer.Argument(help="As `kexbench submit` printed it.")]


def submit(
    spec: Annotated[Path, typer.Argument(help="On a cluster: a spec with its pools.", show_default=False)],
    key: Annotated[
        str | None, typer.Option(help="The same key asks for the same run, however often it is sent.")
    ] = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Queue a spec: at the `kexbench serve` of this machine, or on a cluster where KEXBENCH_API_URL says where it is
    and KEXBENCH_TOKEN_FILE who asks.

    Exit status: 0 it was queued, or with --wait has finished; 1 it was refused, or ended otherwise.

    Examples:

        kexbench submit handshakes.yaml
        kexbench submit handshakes.yaml --key $(git rev-parse HEAD) --wait
    """
    text = read_spec(spec)
    with reach_api(lasting=True) as api:
        headers = {"Idempotency-Key": key} if key else {}
        summary = api.post(RunSummary, "/runs", RunWanted(spec_text=text, spec_file=str(spec)), headers)
        _tell(api, summary, wait=wait, as_json=as_json)


def cancel(run_id: RunId, wait: Wait = False, as_json: AsJson = False) -> None:
    """End a run that was queued; what is measured by then is kept.

    Examples:

        kexbench runs cancel 20260101-120000-0123abcd --wait
    """
    with reach_api() as api:
        summary = api.post(RunSummary, f"/runs/{run_id}/cancel")
        _tell(api, summary, wait=wait, as_json=as_json, wanted="cancelled")


def resume(run_id: RunId, wait: Wait = False, as_json: AsJson = False) -> None:
    """Queue again what a run lacks.

    Examples:

        kexbench runs resume 20260101-120000-0123abcd
    """
    with reach_api() as api:
        summary = api.post(RunSummary, f"/runs/{run_id}/resume")
        _tell(api, summary, wait=wait, as_json=as_json)


def migrate() -> None:
    """Bring the store to this release's schema; a store that has it stays as it is."""
    store = Installation(Settings()).open_store()
    out.print(f"{store.engine()}: the schema is that of this release")
    store.close()


def _tell(
    api: ApiClient,
    summary: RunSummary,
    *,
    wait: bool,
    as_json: bool,
    wanted: RunState | str = RunState.FINISHED,
) -> None:
    """Print a run; with `wait` each change until it has ended, and whether it ended as it should. Where nobody sees to
    the queue, nothing is waited for."""
    if wait:
        summary = followed(api, summary.run_id, seen_to=api.page is not None)
    if as_json:
        print_json(summary.model_dump(mode="json"))
    else:
        out.print(f"{summary.run_id}  {summary.state}  {summary.detail}".rstrip(), markup=False)
        if api.page:
            say(f"{api.page}{summary.run_id}")
    if wait and summary.state.is_open:
        err.print("nothing more happens to it by itself: no kexbench serve runs here")
        err.print("  remedy: start kexbench serve, which sees to what is queued, running or being cancelled")
    if wait and summary.state != wanted:
        raise typer.Exit(1)


def followed(api: ApiClient, run_id: str, *, seen_to: bool) -> RunSummary:
    """The run once it has ended, or as it stays where nobody sees to it."""
    return follow(
        api,
        lambda: api.get(RunDetail, f"/runs/{run_id}").summary,
        lambda found: [_progress(found)],
        lambda found: not (found.state.is_open and seen_to),
    )


def _progress(summary: RunSummary) -> str:
    stored = f"{summary.invocations_stored} of {summary.invocations_planned} invocations"
    return f"{summary.state}: {stored} {summary.detail}".rstrip()


def token() -> None:
    """Print a token that lets the pages of this machine's service cancel and resume runs, for an hour.

    Examples:

        kexbench token
    """
    settings = on_this_machine(
        "kexbench token makes tokens of this machine's service",
        "on a cluster ask for one with kubectl create token ACCOUNT --audience kexbench",
    )
    address = lasting_service(settings)
    if address is None:
        raise ServiceUnavailable("no kexbench serve runs here: start it, then ask again")
    out.print(token_for(address, "submitter")(), soft_wrap=True)
