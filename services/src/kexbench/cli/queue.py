"""`kexbench queue`: what runs, what waits, and in which order it will run."""

from datetime import UTC, datetime

from rich.table import Table
from rich.text import Text

from kexbench.api.run_models import QueueEntry, QueueView
from kexbench.cli.console import out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.cli.words import duration_words
from kexbench.domain.runs import RunState, Trigger

ASKED_BY = {
    Trigger.PULL_REQUEST: "pull request",
    Trigger.COMMIT: "commit",
    Trigger.LIBRARY: "a new version",
    Trigger.API: "somebody",
    Trigger.COMMAND_LINE: "a command",
    Trigger.BISECTION: "a bisection",
    Trigger.CONFIRMATION: "a suspicion",
    Trigger.SCHEDULE: "schedule",
    Trigger.BACKFILL: "backfill",
}


def queue(as_json: AsJson = False) -> None:
    """Show what is measured and what waits, in the order it will be measured, why, and what it waits for.

    Pull requests come first, then commits, what somebody asked for, schedules and backfills; among alike, specs take
    turns: next is the one whose last run began longest ago.

    Examples:

        kexbench queue
        kexbench queue --json | jq -r '.runs[0].run_id'
    """
    with reach_api() as api:
        view = api.get(QueueView, "/queue")
    if as_json:
        print_json(view.model_dump(mode="json"))
    elif view.runs:
        out.print(queue_table(view, datetime.now(UTC)))
    else:
        out.print("nothing is measured and nothing waits: kexbench submit SPEC")


def queue_table(view: QueueView, now: datetime) -> Table:
    """A line a run."""
    table = Table(box=None, header_style="bold")
    for column in ("run", "spec", "state", "takes", "begins", "why then"):
        table.add_column(column, no_wrap=column not in ("spec", "why then"), overflow="fold")
    for entry in view.runs:
        takes = duration_words(entry.left_s)
        told = "\n".join(filter(None, [why(entry, now), entry.detail]))
        table.add_row(entry.run_id, entry.spec_name, str(entry.state), takes, begins(entry), Text(told))
    return table


def begins(entry: QueueEntry) -> str:
    """When it is a run's turn."""
    if entry.state is RunState.BUILDING:
        return "being prepared"
    if entry.state is not RunState.QUEUED:
        return "begun"
    if entry.wait_s is None:
        return "in its turn"
    return f"in {duration_words(entry.wait_s)}" if entry.wait_s else "next"


def why(entry: QueueEntry, now: datetime) -> str:
    """Who asked, and of a run that waits when its spec had its last turn."""
    asked = f"{entry.priority}: {ASKED_BY[entry.trigger]}"
    if entry.state is not RunState.QUEUED:
        return asked
    return (
        f"{asked}, measured {_ago(now, entry.spec_begun_at)} ago" if entry.spec_begun_at else f"{asked}, never measured"
    )


def _ago(now: datetime, moment: datetime) -> str:
    seconds = max(0.0, (now - moment).total_seconds())
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return "a moment"
