"""From a regression to an alert that says why: the run, its confirmation and the count are jobs of the cluster."""

from pathlib import Path
from typing import Any

import pytest
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from tests.cluster.kexbench import Kexbench

pytestmark = [pytest.mark.cluster, pytest.mark.long]
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: regressed }
subjects: [{ fake: ["1.0+noise=0.001", "1.1+noise=0.001+server_ns=330000"] }]
pools: [pool-b]
matrix: { protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], group: [X25519] }
measure: { invocations: 6, batches: 4 }
alerts: { relevant: 1%, confirmInvocations: 6 }
"""


def test_an_alert_of_the_cluster_names_the_function(kexbench: Kexbench, tmp_path: Path) -> None:
    spec = tmp_path / "regressed.yaml"
    spec.write_text(SPEC)
    kexbench.done(kexbench.command("submit", str(spec), "--wait", "--json"))
    detail = _explained(kexbench)
    assert [event["action"] for event in detail["events"]] == ["raised", "explained"]
    (culprit,) = detail["alert"]["culprits"]
    assert (culprit["side"], culprit["function"]) == ("server", "compute")
    before, after = culprit["amounts"]
    assert after / before == pytest.approx(1.1, abs=0.02)
    run = kexbench.get(f"/runs/{culprit['run_id']}")
    assert (run["summary"]["trigger"], run["summary"]["pools"]) == ("explanation", ["pool-b"])
    assert run["measure"]["instrument"] == "instructions"
    (case,) = kexbench.get("/upgrades/why?library=fake&before=1.0&after=1.1")
    assert [side["path"][-1]["name"] for side in case["sides"] if side["path"]] == ["compute"]
    shown, _ = kexbench.command("alerts", "show", detail["alert"]["alert_id"]).communicate(timeout=60)
    assert "compute adds" in shown


def _explained(kexbench: Kexbench) -> dict[str, Any]:
    """The alert, once its count has ended."""

    def newest() -> dict[str, Any] | None:
        for alert in kexbench.get("/alerts")["alerts"]:
            detail: dict[str, Any] = kexbench.get(f"/alerts/{alert['alert_id']}")
            if detail["events"][-1]["action"] == "explained":
                return detail
        return None

    again = Retrying(
        retry=retry_if_result(lambda detail: detail is None), wait=wait_fixed(1), stop=stop_after_delay(600)
    )
    explained: dict[str, Any] | None = again(newest)
    assert explained is not None
    return explained
