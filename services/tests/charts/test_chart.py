"""What the chart says of itself is true: generated files, the catalogue's copy, alerts and their runbooks."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

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


@pytest.mark.parametrize("path", ALERTS, ids=lambda path: path.stem)
def test_an_alert_reads_only_metrics_that_the_chart_documents_and_only_of_its_namespace(path: Path) -> None:
    documented = set(re.findall(r"^\| `(kexbench_\w+)` \|", (CHART / "README.md").read_text(), flags=re.MULTILINE))
    read = re.findall(r"(kexbench_\w+)(\{namespace=\"\$NAMESPACE\")?", alert_of(path)["expr"])
    assert read
    for metric, scoped in read:
        assert metric in documented
        assert scoped, metric
