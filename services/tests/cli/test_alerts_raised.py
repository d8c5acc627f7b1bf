"""From a run that `kexbench serve` measured to an alert and its end, through the queue, though the service is killed
amid it. A version of the fake library costs 4% more on the server's side."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import TIMEOUT_S, Cli, stock
from tests.cli.queueing import Serving, serving
from tests.conftest import FakeKit

pytestmark = pytest.mark.thorough

OLD, SLOW, MENDED, REBUILT = "1.0", "1.1+server_ns=312000+seed=2", "1.2+seed=3", "1.1+seed=4"
RULE = "alerts: {{ relevant: {relevant}, confirmInvocations: 10, notify: [crypto-team] }}\n"


@pytest.fixture
def cli(cli: Cli, fake_kit: FakeKit) -> Cli:
    """Whose kit store has the kits already."""
    stock(cli, fake_kit, OLD, SLOW, MENDED, REBUILT)
    return cli


def watched(cli: Cli, name: str, *versions: str, relevant: str = "1%") -> str:
    """A spec with a rule."""
    path = Path(cli.spec(name, *versions, invocations=5))
    path.write_text(path.read_text() + RULE.format(relevant=relevant))
    return str(path)


def judged(served: Serving, run_id: str) -> str:
    """The log line of a screened run, without its beginning."""
    (line,) = served.hears(f"run {run_id} is screened: ")
    return line.partition("is screened: ")[2]


@pytest.mark.long
def test_a_planted_step_is_one_alert_reported_once_and_fixed_when_a_later_version_goes_back(cli: Cli) -> None:
    with serving(cli) as served:
        run_id = served.submit(watched(cli, "watched", OLD, SLOW))
        says, begins = served.hears_all(f"run {run_id} is screened: ", "measuring run once-")
        found = re.search(r": fake 1\.0 → 1\.1 is suspected, confirmation run (once-[0-9a-f]{20})$", says)
        assert found, says
        assert begins.startswith(f"measuring run {found[1]} of confirm-watched")
        os.kill(served.process.pid, signal.SIGKILL)
        served.process.wait(TIMEOUT_S)
    with serving(cli) as served:
        served.hears(f"run {found[1]}: finished")
        says = judged(served, run_id)
        (alert,) = served.ask("GET", "/alerts")["alerts"]
        assert says == f"fake 1.0 → 1.1 is slower: alert {alert['alert_id']}"
        assert (alert["status"], alert["cause"]["before"], alert["cause"]["after"]) == ("open", "1.0", "1.1")
        assert re.search(r"[23]\.\d%.* server", alert["sentence"])
        shown = cli("alerts", "show", alert["alert_id"])
        assert (shown.status, alert["sentence"] in " ".join(shown.out.split())) == (0, True)

        again = served.submit(watched(cli, "watched", OLD, SLOW))
        assert judged(served, again) == says, "it is known"
        lenient = served.submit(watched(cli, "lenient", OLD, SLOW, relevant="8%"))
        assert judged(served, lenient) == "no suspicions"
        same = served.submit(watched(cli, "same", OLD, REBUILT))
        assert judged(served, same) == "no suspicions"

        later = served.submit(watched(cli, "watched", SLOW, MENDED))
        served.hears(f"alert {alert['alert_id']} is fixed in 1.2")
        assert judged(served, later) == "no suspicions"
        detail = served.ask("GET", f"/alerts/{alert['alert_id']}")
        assert [event["action"] for event in detail["events"]] == ["raised", "explained", "fixed"]
        culprits = detail["alert"]["culprits"]
        assert {(culprit["side"], culprit["function"]) for culprit in culprits} == {("server", "compute")}
        assert (detail["alert"]["status"], detail["alert"]["fixed_in"]) == ("fixed", "1.2")
        assert len(served.ask("GET", "/alerts")["alerts"]) == 1
        triggers = [run["trigger"] for run in served.ask("GET", "/runs")["runs"]]
        assert sorted(triggers) == ["api"] * 5 + ["confirmation", "explanation"]
    replayed = cli("alerts", "dry-run", watched(cli, "watched", OLD, SLOW))
    assert replayed.out.splitlines()[-1].startswith("1 suspected"), replayed
    (upgrade,) = cli("alerts", "dry-run", watched(cli, "watched", OLD, SLOW), "--json").json()["suspected"]
    assert (upgrade["before"]["version"], upgrade["after"]["version"], upgrade["outcome"]) == (
        "1.0",
        "1.1",
        "confirmed",
    )
    lenient = watched(cli, "watched", OLD, SLOW, relevant="8%")
    assert cli("alerts", "dry-run", lenient).out.startswith("0 suspected")
