"""`kexbench prune`: removes old batch values from the store."""

import time
from datetime import timedelta
from typing import Annotated
from urllib.parse import quote

import typer

from kexbench.api.models import PrunableView, PrunedView, PruneWanted, StoreView
from kexbench.cli.console import out, print_json, say
from kexbench.cli.options import AsJson, duration
from kexbench.cli.reaching import reach_api
from kexbench.domain.moments import moment_of


def prune(
    older_than: Annotated[
        timedelta,
        typer.Option(parser=duration, metavar="DURATION", help="Age of the results, such as 365d.", show_default=False),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report what would be removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove the batch values of old results, so that the store stays small.

    Medians, levels, percentiles and the ratios of all pairs of subjects stay for ever, so trends, verdicts, upgrade
    reports and alerts do not change. Exports and the page Batches lose the values, and say so. Batches of bisections
    stay. This cannot be undone, except from a backup.

    Works on this machine. A cluster removes them by the chart's value `store.keepBatchesDays`. After an interruption,
    the same command continues.

    Examples:

        kexbench prune --older-than 365d --dry-run
        kexbench prune --older-than 365d
        kexbench prune --older-than 90d --json | jq .freed_bytes
    """
    before = moment_of(int(time.time() - older_than.total_seconds()))
    with reach_api(role="dispatcher") as api:
        prunable = api.get(PrunableView, f"/store/prunable?before={quote(before.isoformat())}")
        first = api.get(StoreView, "/store")
        removed, last = 0, first
        if not dry_run:
            pruned = None
            while pruned is None or not pruned.is_last:
                pruned = api.post(PrunedView, "/store/prune", PruneWanted(before=before))
                removed += pruned.removed_values
                if pruned.removed_values:
                    say(f"removed {removed:,} of {removed + pruned.left_values:,} values")
            last = api.get(StoreView, "/store")
    freed_bytes = first.size_bytes - last.size_bytes
    if as_json:
        result = {"removed_values": removed, "freed_bytes": freed_bytes, "store": last.model_dump(mode="json")}
        print_json({"before": before.isoformat(), "prunable": prunable.model_dump(), **result})
        return
    if dry_run:
        out.print(
            f"would remove {prunable.values:,} values of {prunable.samples:,} samples in {prunable.runs:,} runs, "
            f"which take about {_megabytes(prunable.size_bytes)}; what is kept of them takes some of it again"
        )
    else:
        out.print(f"removed {removed:,} values and freed {_megabytes(freed_bytes)}")
    for table in last.tables:
        out.print(f"  {table.table:<20} {table.rows:>14,} rows {_megabytes(table.size_bytes):>12}")
    out.print(f"  {'the store':<20} {'':>14}      {_megabytes(last.size_bytes):>12}")


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"
