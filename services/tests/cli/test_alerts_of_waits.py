"""From a run of the fake library over an emulated path, whose newer version sends more than the window holds, to an
alert in the terminal and news of the version after it."""

from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest

from kexbench.runner.doctor.path_probe import probe
from kexbench.runner.path import NOT_HELD
from tests.cli.conftest import Cli, stock
from tests.cli.queueing import serving
from tests.conftest import FakeKit

pytestmark = pytest.mark.thorough

VERSIONS = ("1.0+noise=0", "1.1+noise=0+server_hello_bytes=1416", "1.2+noise=0", "1.3+noise=0")
PATH = "50ms-mtu-576-window-2"
SPEC = f"""apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: waiting }}
subjects:
  - fake: [{", ".join(VERSIONS)}]
matrix: {{ protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], group: [X25519], path: ["{PATH}"] }}
measure: {{ invocations: 2, batches: 3, connections: 20, sentinel: false }}
alerts: {{}}
"""
TITLE = "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519"
OVER = f"over a path of 50 ms with MTU 576 and window of 2 for {TITLE}"
GREW = "since the server's first flight grew from 0.8 kB to 1.4 kB and the window is 1.0 kB"
SHRANK = "since the server's first flight shrank from 1.4 kB to 0.8 kB and the window is 1.0 kB"


@pytest.mark.skipif(probe().refused is not None, reason="this machine refuses emulated paths")
def test_a_flight_larger_than_the_window_is_one_alert_of_one_sentence_and_a_smaller_one_is_news(
    cli: Cli, fake_kit: FakeKit
) -> None:
    stock(cli, fake_kit, *VERSIONS)
    spec = Path(cli.folder / "waiting.yaml")
    spec.write_text(SPEC)
    with serving(cli) as served:
        run_id = served.submit(str(spec))
        served.hears(f"run {run_id} is screened: ")
        cells = served.ask("GET", f"/runs/{run_id}")["cells"]
        if any(NOT_HELD in cell["outcome"]["reason"] for cell in cells if cell["outcome"]):
            pytest.skip("this machine is too busy to hold a path")
        answers = [
            served.ask("GET", f"/compare?{urlencode({'base': f'fake@{before}', 'other': f'fake@{after}'})}")
            for before, after in pairwise(VERSIONS)
        ]
        waits = [answer["upgrade"]["waits"] for answer in answers]
        assert [wait["sentence"] for wait in waits] == [
            f"One round trip more {OVER}, {GREW}.",
            f"One round trip less {OVER}, {SHRANK}.",
            "The same round trips over 1 path.",
        ]
        alerts = served.ask("GET", "/alerts?metric=path_round_trips")["alerts"]
        (sentence,) = [alert["sentence"] for alert in alerts]
        assert sentence.startswith(
            f"fake 1.0 → 1.1: one round trip more from this version on, {GREW}: 2 → 3 round trips {OVER}, on "
        )
        others = {alert["cause"]["metric"] for alert in served.ask("GET", "/alerts")["alerts"]}
        assert others == {"path_round_trips", "server_bytes"}
        assert "One round trip less" in served.http.get(str(served.http.base_url.join("/feed.atom"))).text
        assert [run["trigger"] for run in served.ask("GET", "/runs")["runs"]] == ["api"]
    upgrade = cli("upgrade", "fake", VERSIONS[0], VERSIONS[1])
    assert f"One round trip more {OVER}, {GREW}." in upgrade.out
