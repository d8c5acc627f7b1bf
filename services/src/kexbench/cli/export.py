"""`kexbench export`: samples with all their batch values."""

import sys
from typing import Annotated, Literal
from urllib.parse import urlencode

import typer

from kexbench.cli.reaching import reach_api
from kexbench.domain.samples import Metric


def export(
    format: Annotated[Literal["csv", "json", "parquet"], typer.Option(help="The output format.")] = "csv",
    metric: Annotated[Metric, typer.Option(help="The metric, per handshake.")] = Metric.CPU_NS,
    run: Annotated[str | None, typer.Option(help="Only this run.")] = None,
    case: Annotated[str | None, typer.Option(help="Only the case with this id.")] = None,
) -> None:
    """Write samples of this machine, or of the cluster that KEXBENCH_API_URL names, to standard output.

    Examples:

        kexbench export > samples.csv
        kexbench export --format parquet > samples.parquet
        kexbench export --format json --metric server_cpu_ns --run 20260101-120000-0123abcd
        KEXBENCH_API_URL=https://kexbench.example.com KEXBENCH_TOKEN_FILE=token kexbench export > samples.csv
    """
    filters = {"format": format, "metric": str(metric), "run_id": run, "case_id": case}
    query = urlencode({name: value for name, value in filters.items() if value})
    with reach_api() as api:
        for chunk in api.stream(f"/export?{query}"):
            sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
