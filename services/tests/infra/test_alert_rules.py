"""Each alert of the chart fires at the fault that it is for, and is quiet otherwise, by Prometheus' own engine."""

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from tests.charts.test_chart import ALERTS
from tests.infra.conftest import Tools

pytestmark = [pytest.mark.infra]
RULES = {path.stem: yaml.safe_load(path.read_text()) for path in ALERTS}
LAST = 400
"""Minutes of each series."""


Series = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """Series without and with the fault."""

    well: tuple[Series, ...]
    badly: tuple[Series, ...]


def series(name: str, values: Iterable[float], **labels: str) -> Series:
    return {"labels": {"__name__": name, "namespace": "k", **labels}, "values": list(values)}


def steady(name: str, value: float, **labels: str) -> Series:
    return series(name, [value] * (LAST + 1), **labels)


def growing(name: str, by: float, start: float = 0, **labels: str) -> Series:
    return series(name, [start + by * minute for minute in range(LAST + 1)], **labels)


def once(name: str, **labels: str) -> Series:
    """Grows by one, ten minutes before the end."""
    return series(name, [float(minute > LAST - 10) for minute in range(LAST + 1)], **labels)


RUNS, UPLOADS, REFUSALS = "kexbench_runs", "kexbench_uploads_total", "kexbench_refusals_total"
ROUNDS, FAILURES = "kexbench_dispatcher_rounds_total", "kexbench_loop_failures_total"
SUCCESS = "kexbench_loop_last_success_timestamp_seconds"
FREE, SIZE = "kexbench_store_disk_free_bytes", "kexbench_store_disk_size_bytes"
STATE, WAITING = "kexbench_run_state_seconds", "kexbench_oldest_waiting_run_seconds"
FULL, TROUBLES = "kexbench_store_full", "kexbench_service_troubles"
NODES = "kexbench_differing_nodes"
FAULTS = {
    "KexbenchApiAbsent": Fault((steady(TROUBLES, 1),), (steady("other_metric", 1),)),
    "KexbenchRunWaits": Fault(
        (growing(STATE, 60, state="running"), steady(STATE, 7000, state="queued")),
        (growing(STATE, 60, state="queued"),),
    ),
    "KexbenchRunWaitsADay": Fault((steady(WAITING, 80_000),), (growing(WAITING, 60, start=80_000),)),
    "KexbenchRunWithoutUploads": Fault(
        (steady(RUNS, 1, state="running"), growing(UPLOADS, 1, result="stored")),
        (steady(RUNS, 1, state="running"), steady(UPLOADS, 5, result="stored")),
    ),
    "KexbenchRunsFail": Fault((steady(RUNS, 3, state="failed"),), (once(RUNS, state="failed"),)),
    "KexbenchUploadsRefused": Fault(
        (growing(REFUSALS, 1, of="other", reason="invalid"),), (once(REFUSALS, of="upload", reason="forbidden"),)
    ),
    "KexbenchServiceImpaired": Fault((steady(TROUBLES, 0),), (steady(TROUBLES, 1),)),
    "KexbenchNodeDiffers": Fault((steady(NODES, 0),), (steady(NODES, 1),)),
    "KexbenchStoreFull": Fault((steady(FULL, 0),), (steady(FULL, 1),)),
    "KexbenchStoreFills": Fault((steady(FREE, 11), steady(SIZE, 100)), (steady(FREE, 9), steady(SIZE, 100))),
    "KexbenchDispatcherStalls": Fault(
        (growing(ROUNDS, 10, result="answered"),),
        (steady(ROUNDS, 10, result="answered"), growing(ROUNDS, 1, result="failed")),
    ),
    "KexbenchLoopStalls": Fault((growing(SUCCESS, 60, loop="watcher"),), (steady(SUCCESS, 60, loop="watcher"),)),
    "KexbenchNotifierFails": Fault((growing(FAILURES, 1, loop="watcher"),), (once(FAILURES, loop="notifier"),)),
}


def fires(tools: Tools, name: str, shown: tuple[Series, ...]) -> bool:
    """Whether the alert's expression has a result at each minute of its `for`, at the end of the series."""
    rule = RULES[name]
    minutes = int(rule["for"].removesuffix("m"))
    expression = rule["expr"].replace("$NAMESPACE", "k")
    command = [tools.folder / "rules", expression, str(LAST - minutes), str(LAST)]
    done = subprocess.run(command, input=json.dumps(shown), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts: list[int] = json.loads(done.stdout)
    assert len(counts) == minutes + 1
    return all(counts)


def test_every_alert_has_its_fault() -> None:
    assert FAULTS.keys() == RULES.keys()


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_an_alert_fires_at_its_fault_and_is_quiet_without_it(tools: Tools, name: str) -> None:
    assert fires(tools, name, FAULTS[name].badly)
    assert not fires(tools, name, FAULTS[name].well)


def test_a_dispatcher_without_metrics_is_one_that_does_nothing(tools: Tools) -> None:
    assert fires(tools, "KexbenchDispatcherStalls", (steady("other_metric", 1),))


def test_a_loop_that_does_not_run_here_is_no_fault(tools: Tools) -> None:
    assert not fires(tools, "KexbenchLoopStalls", (steady("other_metric", 1),))
