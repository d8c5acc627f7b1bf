"""Each alert of the chart fires at the fault that it is for, and is quiet otherwise, by Prometheus' own engine."""

import json
import subprocess
from dataclasses import dataclass

import pytest
import yaml

from tests.charts.test_chart import ALERTS
from tests.infra.conftest import Tools

pytestmark = [pytest.mark.infra]
RULES = {path.stem: yaml.safe_load(path.read_text()) for path in ALERTS}
LAST = 400
"""Minutes of each series."""


@dataclass(frozen=True)
class Fault:
    """Series as Prometheus' tests write them, without and with the fault."""

    well: tuple[str, ...]
    badly: tuple[str, ...]


def steady(name: str, value: float) -> str:
    return f"{name} {value}x{LAST}"


def growing(name: str, by: float, start: float = 0) -> str:
    return f"{name} {start}+{by}x{LAST}"


def once(name: str) -> str:
    """A counter that grows by one, ten minutes before the end."""
    return f"{name} 0x{LAST - 10} 1x10"


RUNS = 'kexbench_runs{namespace="k", state="%s"}'
UPLOADS = 'kexbench_uploads_total{namespace="k", result="stored"}'
REFUSALS = 'kexbench_refusals_total{namespace="k", of="%s", reason="forbidden"}'
ROUNDS = 'kexbench_dispatcher_rounds_total{namespace="k", result="%s"}'
SUCCESS = 'kexbench_loop_last_success_timestamp_seconds{namespace="k", loop="watcher"}'
FAILURES = 'kexbench_loop_failures_total{namespace="k", loop="%s"}'
FREE, SIZE = (f'kexbench_store_disk_{what}_bytes{{namespace="k", disk="default"}}' for what in ("free", "size"))
STATE = 'kexbench_run_state_seconds{namespace="k", state="%s"}'
WAITING = 'kexbench_oldest_waiting_run_seconds{namespace="k"}'
FULL, TROUBLES = (f'kexbench_{what}{{namespace="k"}}' for what in ("store_full", "service_troubles"))
FAULTS = {
    "KexbenchApiAbsent": Fault((steady(RUNS % "queued", 0),), (steady("other_metric", 1),)),
    "KexbenchRunWaits": Fault(
        (growing(STATE % "running", 60), steady(STATE % "queued", 7000)), (growing(STATE % "queued", 60),)
    ),
    "KexbenchRunWaitsADay": Fault((steady(WAITING, 80_000),), (growing(WAITING, 60, start=80_000),)),
    "KexbenchRunWithoutUploads": Fault(
        (steady(RUNS % "running", 1), growing(UPLOADS, 1)), (steady(RUNS % "running", 1), steady(UPLOADS, 5))
    ),
    "KexbenchRunsFail": Fault((steady(RUNS % "failed", 3),), (once(RUNS % "failed"),)),
    "KexbenchUploadsRefused": Fault((growing(REFUSALS % "other", 1),), (once(REFUSALS % "upload"),)),
    "KexbenchServiceImpaired": Fault((steady(TROUBLES, 0),), (steady(TROUBLES, 1),)),
    "KexbenchStoreFull": Fault((steady(FULL, 0),), (steady(FULL, 1),)),
    "KexbenchStoreFills": Fault((steady(FREE, 11), steady(SIZE, 100)), (steady(FREE, 9), steady(SIZE, 100))),
    "KexbenchDispatcherStalls": Fault(
        (growing(ROUNDS % "answered", 10),), (steady(ROUNDS % "answered", 10), growing(ROUNDS % "failed", 1))
    ),
    "KexbenchLoopStalls": Fault((growing(SUCCESS, 60),), (steady(SUCCESS, 60),)),
    "KexbenchNotifierFails": Fault((growing(FAILURES % "watcher", 1),), (once(FAILURES % "notifier"),)),
}


def fires(tools: Tools, name: str, series: tuple[str, ...]) -> bool:
    """Whether the alert's expression has a result at each minute of its `for`, at the end of the series."""
    rule = RULES[name]
    minutes = int(rule["for"].removesuffix("m"))
    expression = rule["expr"].replace("$NAMESPACE", "k")
    command = [tools.folder / "rules", expression, str(LAST - minutes), str(LAST)]
    loaded = "\n".join(["load 1m", *(f"  {each}" for each in series)])
    done = subprocess.run(command, input=loaded, capture_output=True, text=True, check=False)
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
