"""From a run of the fake library, whose newer version sends a larger ClientHello, to an alert in the terminal."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, stock
from tests.cli.queueing import serving
from tests.conftest import FakeKit

pytestmark = pytest.mark.thorough

SMALL, LARGE = "1.0+noise=0", "1.1+noise=0+client_hello_bytes=1416"


def watched(cli: Cli, *versions: str) -> str:
    path = Path(cli.spec("watched", *versions, invocations=3))
    path.write_text(path.read_text() + "alerts: {}\n")
    return str(path)


@pytest.mark.long
def test_a_larger_hello_is_one_alert_with_its_values_and_a_smaller_one_none(cli: Cli, fake_kit: FakeKit) -> None:
    stock(cli, fake_kit, SMALL, LARGE, "1.2+noise=0")
    with serving(cli) as served:
        run_id = served.submit(watched(cli, SMALL, LARGE, "1.2+noise=0"))
        served.hears(f"run {run_id} is screened: fake 1.0 → 1.1 has more client bytes")
        (alert,) = served.ask("GET", "/alerts")["alerts"]
        assert (alert["cause"]["metric"], alert["before"], alert["after"]) == ("client_bytes", 400, 1616)
        assert alert["sentence"].startswith("fake 1.0 → 1.1: client bytes 400 → 1,616 B (+304.0%)")
        assert (alert["status"], alert["fixed_in"]) == ("fixed", "1.2")
        assert [run["trigger"] for run in served.ask("GET", "/runs")["runs"]] == ["api"]
        listed = cli("alerts", "--metric", "client_bytes")
        assert "client bytes 400 → 1,616 B" in " ".join(listed.out.split())
        assert cli("alerts", "--metric", "server_bytes").out.startswith("no alerts")
        verdict = served.ask("GET", f"/runs/{run_id}/verdict")
        assert "more client bytes" in verdict["sentence"]
        assert [(change["more"] > 0, change["less"] > 0) for change in verdict["exact"]] == [
            (True, False),
            (False, True),
        ]
