"""kill -9 of the service while samples are being stored: nothing is lost, nothing is there twice."""

import json

import pytest

from tests.cli.conftest import TIMEOUT_S, Cli

STEADY = "1.0+noise=0"


@pytest.mark.thorough
def test_a_service_killed_while_storing_loses_nothing(cli: Cli) -> None:
    measured = cli("run", cli.spec("killed", STEADY, "1.1+noise=0", invocations=10))
    assert measured.status == 0, measured.err
    stored = sorted(cli("export").out.splitlines())

    # The same run again, into a store that has nothing yet: a service begins with what is on the disk.
    store = cli.folder / "home" / "store"
    store.rename(cli.folder / "first-store")
    with cli.serving() as (service, _):
        service.kill()
        service.wait(TIMEOUT_S)
    assert sorted(cli("export").out.splitlines()) == stored
    (run,) = json.loads(cli("runs", "list", "--json").out)["runs"]
    assert (run["state"], run["invocations_stored"]) == ("finished", 20)
