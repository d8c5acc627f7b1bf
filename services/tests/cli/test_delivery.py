"""kill -9 of the service while samples are being stored: nothing is lost, nothing is there twice."""

import json
import subprocess
import sys

import pytest

from tests.cli.conftest import TIMEOUT_S, Cli

STEADY = "1.0+noise=0"
DELIVER = """
import os, signal, sys
from kexbench.client import deliver_run
from kexbench.settings import Settings
from kexbench.wiring import Installation

installation = Installation(Settings())
(folder,) = installation.run_folders()
killed = []

def kill_half_way(done, total):
    if done == total // 2 and not killed:
        killed.append(done)
        os.kill(int(sys.argv[1]), signal.SIGKILL)

deliver_run(installation, folder, kill_half_way)
assert killed, "the service was never killed"
"""


@pytest.mark.thorough
def test_a_service_killed_while_storing_loses_nothing(cli: Cli) -> None:
    measured = cli("run", cli.spec("killed", STEADY, "1.1+noise=0", invocations=10))
    assert measured.status == 0, measured.err
    stored = sorted(cli("export").out.splitlines())

    # The same run again, into a store that has nothing yet.
    store = cli.folder / "home" / "store"
    store.rename(cli.folder / "first-store")
    with cli.serving() as (service, _):
        subprocess.run(
            [sys.executable, "-c", DELIVER, str(service.pid)],
            env=cli.environment,
            timeout=TIMEOUT_S,
            check=True,
        )
        service.wait(TIMEOUT_S)
    assert sorted(cli("export").out.splitlines()) == stored
    (run,) = json.loads(cli("runs", "list", "--json").out)["runs"]
    assert (run["state"], run["invocations_stored"]) == ("finished", 20)
