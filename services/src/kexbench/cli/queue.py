"""`kexbench queue`: running and waiting runs, in the order of the queue."""

from datetime import UTC, datetime

from rich.table import Table
from rich.text import Text

from kexbench.answers.queued import QueueEntry, QueueView
from kexbench.cli.console import out, print_json
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import reach_api, warn_of_room
from kexbench.domain.numbers import duration_words
from kexbench.domain.runs import RunState, Trigger

ASKED_BY = {
    Trigger.PULL_REQUEST: "pull request",
    Trigger.COMMIT: "commit",
    Trigger.LIBRARY: "new version",
    Trigger.API: "request",
    Trigger.BISECTION: "bisection",
    Trigger.CONFIRMATION: "confirmation run",
    Trigger.EXPLANATION: "explanation of an alert",
    Trigger.SCHEDULE: "schedule",
    Trigger.BACKFILL: "backfill",
}


def queue(as_json: AsJson = False) -> None:
    """Show running and waiting runs in the order of the queue, with the reason and the expected start.

    The order: pull requests, commits, requests of people, schedules, backfills. Within a priority the spec is next
    whose last run began longest ago.

    Examples:

        kexbench queue
        kexbench queue --json | jq -r '.runs[0].run_id'
    """
    with reach_api() as api:
        warn_of_room(api)
        view = api.get(QueueView, "/queue")
    if as_json:
        print_json(view.model_dump(mode="json"))
    elif view.runs:
        out.print(queue_table(view, datetime.now(UTC)))
        for line in detail_lines(view):
            out.print(line, markup=False, soft_wrap=True)
    else:
        out.print("the queue is empty: kexbench submit SPEC")


def queue_table(view: QueueView, now: datetime) -> Table:
    """One row a run."""
    table = Table(box=None, header_style="bold")
    for column in ("run", "spec", "state", "duration", "starts", "reason"):
        table.add_column(column, no_wrap=column not in ("spec", "reason"), overflow="fold")
    for entry in view.runs:
        duration = duration_words(entry.left_s)
        row = (entry.run_id, entry.spec_name, str(entry.state), duration, begins(entry))
        table.add_row(*row, Text(why(entry, now)))
    return table


def detail_lines(view: QueueView) -> list[str]:
    """What each run waits for, after its id."""
    return [f"{entry.run_id}: {entry.detail}" for entry in view.runs if entry.detail]


def begins(entry: QueueEntry) -> str:
    """When a run will start."""
    if entry.state is RunState.BUILDING:
        return "being prepared"
    if entry.state is not RunState.QUEUED:
        return "started"
    if entry.wait_s is None:
        return "unknown"
    return f"in {duration_words(entry.wait_s)}" if entry.wait_s else "next"


def why(entry: QueueEntry, now: datetime) -> str:
    """Priority and trigger; for a waiting run also when its spec was last measured."""
    reason = f"{entry.priority}: {ASKED_BY[entry.trigger]}"
    if entry.state is not RunState.QUEUED:
        return reason
    if entry.spec_begun_at is None:
        return f"{reason}, never measured"
    return f"{reason}, last measured {_ago(now, entry.spec_begun_at)} ago"


def _ago(now: datetime, moment: datetime) -> str:
    seconds = max(0.0, (now - moment).total_seconds())
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return "a moment"
