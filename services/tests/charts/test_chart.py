"""What the chart says of itself is true: generated files, the catalogue's copy, alerts and their runbooks."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kexbench.api.monitoring import Monitoring
from kexbench.dispatcher.health import Health
from kexbench.queue.troubles import Troubles
from kexbench.store.clickhouse import ClickHouseStore

ROOT = Path(__file__).parents[3]
CHART = ROOT / "charts" / "kexbench"
CATALOGUE = ROOT / "bench-specs" / "libraries.yaml"
ALERTS = sorted((CHART / "alerts").glob("*.yaml"))
RUNBOOKS = ROOT / "docs/operate/runbooks"


def alert_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def test_generated_files_are_those_that_make_generate_writes(tmp_path: Path) -> None:
    copy = shutil.copytree(CHART, tmp_path / "kexbench")
    subprocess.run([sys.executable, ROOT / "charts" / "tools" / "document.py", copy, CATALOGUE], check=True)
    for file in ("values.schema.json", "README.md", "files/libraries.yaml"):
        assert (CHART / file).read_text() == (copy / file).read_text(), "run make generate"


def test_every_value_says_what_it_is() -> None:
    table = (CHART / "README.md").read_text().split("| value | default | description |")[1].split("<!--")[0]
    silent = [line for line in table.splitlines() if line.endswith("|  |")]
    assert [line for line in silent if not re.search(r"(requests|limits)\.(cpu|memory)`", line)] == []


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    assert ALERTS
    assert {path.stem for path in ALERTS} == {path.stem for path in RUNBOOKS.glob("*.md")}


@pytest.mark.parametrize("path", ALERTS, ids=lambda path: path.stem)
def test_an_alert_is_named_like_its_file_and_says_what_is_wrong(path: Path) -> None:
    alert = alert_of(path)
    assert alert["alert"] == path.stem
    assert (RUNBOOKS / f"{path.stem}.md").read_text().startswith(f"# {path.stem}\n")
    assert alert["labels"]["severity"] in {"warning", "critical"}
    assert set(alert["annotations"]) == {"summary", "description"}


def exposed_metrics(store: ClickHouseStore) -> set[str]:
    """The names of all series of the API and the dispatcher."""
    troubles = Troubles()
    troubles.begin_rounds("watcher")
    texts = [Monitoring(store, troubles).text(), Health(troubles).answer("/metrics")[2]]
    names = re.findall(r"^(kexbench_\w+)[ {]", "\n".join(text.decode() for text in texts), flags=re.MULTILINE)
    return {name for name in names if not name.endswith("_created")}


def test_every_metric_of_alerts_and_of_the_dashboard_exists_and_every_one_is_documented(
    empty_store: ClickHouseStore,
) -> None:
    exposed = exposed_metrics(empty_store)
    texts = [path.read_text() for path in (*ALERTS, CHART / "files" / "dashboard.json")]
    read = {name for text in texts for name in re.findall(r"kexbench_\w+", text)}
    assert len(read) > 15
    assert read <= exposed
    documented = set(re.findall(r"^\| `(kexbench_\w+)` \|", (CHART / "README.md").read_text(), flags=re.MULTILINE))
    assert documented == {re.sub(r"_(bucket|sum|count)$", "", name) for name in exposed}


@pytest.mark.parametrize("path", ALERTS, ids=lambda path: path.stem)
def test_an_alert_reads_only_metrics_that_the_chart_documents_and_only_of_its_namespace(path: Path) -> None:
    documented = set(re.findall(r"^\| `(kexbench_\w+)` \|", (CHART / "README.md").read_text(), flags=re.MULTILINE))
    read = re.findall(r"(kexbench_\w+)(\{namespace=\"\$NAMESPACE\")?", alert_of(path)["expr"])
    assert read
    for metric, scoped in read:
        assert metric in documented
        assert scoped, metric
