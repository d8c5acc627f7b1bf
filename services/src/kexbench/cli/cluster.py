"""`kexbench submit`, `runs cancel`, `runs resume` and `token`: requests to the queue of a cluster or of this machine.
`migrate`: the first step of installing a cluster.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel

from kexbench.answers.queued import RunProgressView
from kexbench.answers.runs import RunSummary
from kexbench.api.run_models import CancelWanted, RunCancellation, RunsCancelled, RunWanted
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.options import AsJson, spec_argument
from kexbench.cli.reaching import follow, on_this_machine, reach_api
from kexbench.client import ApiClient, token_for
from kexbench.domain.numbers import duration_words
from kexbench.domain.runs import RunState
from kexbench.execution.measuring import INTERRUPTED
from kexbench.planning.documents import read_spec
from kexbench.service import ServiceUnavailable, lasting_service, own_store
from kexbench.settings import Settings
from kexbench.wiring import Installation

Wait = Annotated[bool, typer.Option("--wait", help="Report progress until the run has ended.")]
RunId = Annotated[str, typer.Argument(help="As `kexbench runs list` prints it.")]


def submit(
    spec: Annotated[Path, spec_argument("For a cluster it names pools.")],
    key: Annotated[str | None, typer.Option(help="Idempotency key: requests with the same key create one run.")] = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Queue a spec on this machine or on a cluster.

    Needs a `kexbench serve` on this machine, or a cluster: KEXBENCH_API_URL is its API, KEXBENCH_TOKEN_FILE a token.

    Examples:

        kexbench submit handshakes.yaml
        kexbench submit handshakes.yaml --key $(git rev-parse HEAD) --wait
    """
    text = read_spec(spec)
    with reach_api(lasting=True) as api:
        headers = {"Idempotency-Key": key} if key else {}
        summary = api.post(RunSummary, "/runs", RunWanted(spec_text=text, spec_file=str(spec)), headers)
        _print(api, summary, wait=wait, as_json=as_json)


def cancel(
    run_ids: Annotated[
        list[str] | None, typer.Argument(help="As `kexbench runs list` prints them.", show_default=False)
    ] = None,
    queued: Annotated[bool, typer.Option("--queued", help="All runs that have not begun.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Report progress until the runs have ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """Cancel runs. Invocations measured so far are kept.

    Repeating it changes nothing.

    Examples:

        kexbench runs cancel 20260101-120000-0123abcd --wait
        kexbench runs cancel --queued
        kexbench queue --json | jq -r '.runs[] | select(.trigger == "backfill").run_id' | xargs -r kexbench runs cancel
    """
    if bool(run_ids) == queued:
        raise typer.BadParameter("name runs, or give --queued for all that have not begun")
    with reach_api() as api:
        wanted = CancelWanted(run_ids=run_ids or [], queued=queued)
        runs = api.post(RunsCancelled, "/runs/cancel", wanted).runs
        ends = {run.run_id: run for run in runs if run.state and run.state.is_open and not _failed(run)}
        if wait:
            ends = {run_id: _once_ended(api, run) for run_id, run in ends.items()}
    _print_cancelled([ends.get(run.run_id, run) for run in runs], as_json=as_json)
    if wait and any(run.state and run.state.is_open for run in ends.values()):
        _say_not_continued()
    if any(map(_failed, runs)) or (wait and any(run.state is not RunState.CANCELLED for run in ends.values())):
        raise typer.Exit(1)


def _print_cancelled(runs: Sequence[RunCancellation], *, as_json: bool) -> None:
    if as_json:
        print_json(RunsCancelled(runs=list(runs)).model_dump(mode="json"))
    elif not runs:
        out.print("no run is queued")
    for run in runs:
        if _failed(run):
            err.print(run.detail, markup=False)
            err.print(f"  remedy: {run.remedy}", markup=False)
        elif not as_json:
            out.print(f"{run.run_id}  {run.state}  {run.detail}", markup=False)


def _failed(run: RunCancellation) -> bool:
    return run.outcome in ("refused", "unknown")


def _once_ended(api: ApiClient, run: RunCancellation) -> RunCancellation:
    summary = followed(api, run.run_id, seen_to=api.page is not None)
    return run.model_copy(update={"state": summary.state, "detail": summary.detail})


def resume(run_id: RunId, wait: Wait = False, as_json: AsJson = False) -> None:
    """Resume a run: queue its missing invocations.

    Examples:

        kexbench runs resume 20260101-120000-0123abcd
    """
    with reach_api() as api:
        summary = api.post(RunSummary, f"/runs/{run_id}/resume")
        _print(api, summary, wait=wait, as_json=as_json)


def migrate(
    summaries: Annotated[bool, typer.Option("--summaries", help="Also compute all summaries anew.")] = False,
    as_json: AsJson = False,
) -> None:
    """Update the store to the schema of this release. Does nothing if it is up to date.

    Pages read summaries of samples, which the store keeps up to date itself. `--summaries` computes all of them anew,
    for instance after rows were restored or deleted by hand. No service may run on this store meanwhile.

    Examples:

        kexbench migrate
        kexbench migrate --summaries --json
    """
    installation = Installation(Settings())
    with _alone(installation.settings):
        store = installation.open_store()
        engine, count = store.engine(), store.summarise() if summaries else None
        store.close()
    if as_json:
        print_json({"engine": engine, "summaries": count})
        return
    out.print(f"{engine}: the schema is up to date")
    if count is not None:
        out.print(f"{count:,} summaries were computed")


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """Without another process that has an embedded store open. Raises ServiceUnavailable."""
    lock = own_store(settings) if settings.store_is_embedded else None
    try:
        yield
    finally:
        if lock:
            lock.release()


def _print(api: ApiClient, summary: RunSummary, *, wait: bool, as_json: bool) -> None:
    """Print a run. With `wait`: report its progress, and exit with 1 if it does not finish. Does not wait if nothing
    serves the queue."""
    if wait:
        summary = followed(api, summary.run_id, seen_to=api.page is not None)
    if as_json:
        print_json(summary.model_dump(mode="json"))
    else:
        out.print(f"{summary.run_id}  {summary.state}  {summary.detail}".rstrip(), markup=False)
        if api.page:
            say(f"{api.page}{summary.run_id}")
    if wait and summary.state.is_open:
        _say_not_continued()
    if wait and summary.state is not RunState.FINISHED:
        raise typer.Exit(1)


def _say_not_continued() -> None:
    err.print("the run does not continue: no kexbench serve runs here")
    err.print("  remedy: start kexbench serve, which continues queued, running and cancelling runs")


class _Ended(BaseModel):
    """What is used of a run's answer, whose other parts take long to import."""

    summary: RunSummary


def followed(api: ApiClient, run_id: str, *, seen_to: bool) -> RunSummary:
    """Waits until the run has ended, or does not if nothing serves the queue. Ctrl-C only stops following it."""
    try:
        follow(
            api,
            lambda: api.get(RunProgressView, f"/runs/{run_id}/progress"),
            _Progress(),
            lambda progress: not (progress.state.is_open and seen_to),
        )
        return api.get(_Ended, f"/runs/{run_id}").summary
    except KeyboardInterrupt:
        if api.page is None:
            raise
        say(f"run {run_id} continues; to end it: kexbench runs cancel {run_id}")
        raise typer.Exit(INTERRUPTED) from None


class _Progress:
    """The line about a run's progress, which changes with its state and with each tenth of its invocations."""

    def __init__(self) -> None:
        self._key: tuple[RunState, str, int] | None = None
        self._lines: list[str] = []

    def __call__(self, run: RunProgressView) -> list[str]:
        """Callers print the detail of the end themselves."""
        key = run.state, run.detail, 10 * run.invocations_measured // max(1, run.invocations_planned)
        if key != self._key:
            self._key = key
            measured = f"{run.invocations_measured} of {run.invocations_planned} invocations"
            left_s = (run.expected_end_at - datetime.now(UTC)).total_seconds() if run.expected_end_at else 0.0
            left = f", about {duration_words(left_s)} left" if left_s > 0 else ""
            detail = f"; {run.detail}" if run.detail and run.state.is_open else ""
            self._lines = [f"{run.state}: {measured}{left}{detail}"]
        return self._lines


def token() -> None:
    """Print an access token for the pages of this machine's service, valid for an hour.

    With it the pages can do what the owner of the machine may: cancel and resume runs, handle alerts (acknowledge,
    ignore, assign, …), start, cancel and resume bisections, and set nodes aside.

    Examples:

        kexbench token
    """
    settings = on_this_machine(
        "kexbench token creates tokens for this machine's service",
        "create one for a cluster with kubectl create token ACCOUNT --audience kexbench",
    )
    address = lasting_service(settings)
    if address is None:
        raise ServiceUnavailable("no kexbench serve runs here: start it, then repeat this command")
    out.print(token_for(address, "admin")(), soft_wrap=True)
