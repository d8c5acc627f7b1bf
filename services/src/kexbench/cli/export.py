"""`kexbench export`: samples with all their batch values."""

import sys
from typing import Annotated, Literal

import typer

from kexbench.client import ApiClient
from kexbench.domain.samples import Metric
from kexbench.service import reach_service
from kexbench.settings import Settings
from kexbench.wiring import Installation


def export(
    format: Annotated[Literal["csv", "json"], typer.Option(help="How to write them.")] = "csv",
    metric: Annotated[Metric, typer.Option(help="What is measured, per handshake.")] = Metric.CPU_NS,
    run: Annotated[str | None, typer.Option(help="Only this run.")] = None,
    case: Annotated[str | None, typer.Option(help="Only this case id.")] = None,
) -> None:
    """Write samples to standard output.

    Examples:

        kexbench export > samples.csv
        kexbench export --format json --metric server_cpu_ns --run 20260101-120000-0123abcd
    """
    with reach_service(Installation(Settings())) as address:
        for chunk in ApiClient(address).export(format=format, metric=str(metric), run_id=run, case_id=case):
            sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
