"""`kexbench submit`, `runs cancel`, `runs resume` and `migrate`: what is asked of a cluster's API."""

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from kexbench.api.control_models import Submission
from kexbench.api.run_models import RunDetail, RunSummary
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.plan import AsJson
from kexbench.domain.runs import RunState
from kexbench.pipeline import read_spec
from kexbench.settings import Settings
from kexbench.uplink import Uplink
from kexbench.wiring import Installation

PATIENCE_S = 60.0
_POLL_S = 5.0
Wait = Annotated[bool, typer.Option("--wait", help="Tell each change until the run has ended.")]
RunId = Annotated[str, typer.Argument(help="As `kexbench submit` printed it.")]


def submit(
    spec: Annotated[Path, typer.Argument(help="A spec whose pools are the cluster's.", show_default=False)],
    key: Annotated[
        str | None, typer.Option(help="The same key asks for the same run, however often it is sent.")
    ] = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Ask a cluster to measure a spec. KEXBENCH_API_URL says where it is, KEXBENCH_TOKEN_FILE who asks.

    Exit status: 0 it was queued, or with --wait has finished; 1 it was refused, or ended otherwise.

    Examples:

        kexbench submit handshakes.yaml
        kexbench submit handshakes.yaml --key $(git rev-parse HEAD) --wait
    """
    text = read_spec(spec)
    with cluster_api() as api:
        headers = {"Idempotency-Key": key} if key else {}
        answer = api.send("POST", "/runs", Submission(spec_text=text, spec_file=str(spec)), headers)
        _tell(api, RunSummary.model_validate_json(answer.content), wait=wait, as_json=as_json)


def cancel(run_id: RunId, wait: Wait = False, as_json: AsJson = False) -> None:
    """End a run on a cluster; what is measured by then is kept.

    Examples:

        kexbench runs cancel 20260101-120000-0123abcd --wait
    """
    with cluster_api() as api:
        answer = api.send("POST", f"/runs/{run_id}/cancel")
        _tell(api, RunSummary.model_validate_json(answer.content), wait=wait, as_json=as_json, wanted="cancelled")


def resume(run_id: RunId, wait: Wait = False, as_json: AsJson = False) -> None:
    """Measure what a run on a cluster lacks.

    Examples:

        kexbench runs resume 20260101-120000-0123abcd
    """
    with cluster_api() as api:
        answer = api.send("POST", f"/runs/{run_id}/resume")
        _tell(api, RunSummary.model_validate_json(answer.content), wait=wait, as_json=as_json)


def migrate() -> None:
    """Bring the store to this release's schema; a store that has it stays as it is."""
    store = Installation(Settings()).open_store()
    out.print(f"{store.engine()}: the schema is that of this release")
    store.close()


def _tell(
    api: Uplink, summary: RunSummary, *, wait: bool, as_json: bool, wanted: RunState | str = RunState.FINISHED
) -> None:
    """Print a run; with `wait` each change until it has ended, and whether it ended as it should."""
    if wait:
        summary = _ended(api, summary)
    if as_json:
        print_json(summary.model_dump(mode="json"))
    else:
        out.print(f"{summary.run_id}  {summary.state}  {summary.detail}".rstrip(), markup=False)
    if wait and summary.state != wanted:
        raise typer.Exit(1)


def _ended(api: Uplink, summary: RunSummary) -> RunSummary:
    told = ""
    while True:
        stored = f"{summary.invocations_stored} of {summary.invocations_planned} invocations"
        if (line := f"{summary.state}: {stored} {summary.detail}".rstrip()) != told:
            say(line)
            told = line
        if not summary.state.is_open:
            return summary
        time.sleep(_POLL_S)
        summary = api.get(RunDetail, f"/runs/{summary.run_id}").summary


def cluster_api() -> "closing[Uplink]":
    """The API that the environment names; ends the command where it names none."""
    settings = Settings()
    if settings.api_url is None or settings.token_file is None:
        err.print("no cluster is named: set KEXBENCH_API_URL and KEXBENCH_TOKEN_FILE; kexbench run measures here")
        raise typer.Exit(2)
    return closing(Uplink(settings.api_url, settings.token_file, say, patience_s=PATIENCE_S))
