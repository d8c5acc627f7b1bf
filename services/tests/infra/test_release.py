"""A release from a tag: what can be made without a registry is made, and the workflow is linted."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from kexbench import __version__
from parts import files
from tests.infra.conftest import Tools
from tests.infra.pools import CHART, ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
VERSIONED = {
    "services/pyproject.toml": 1,
    "services/uv.lock": 1,
    "services/src/kexbench/__init__.py": 1,
    "infra/ci/github/action.yml": 1,
    "infra/ci/gitlab/compare-builds.yml": 1,
    "infra/ci/examples/debian/tests/handshake-costs": 1,
    "charts/kexbench/Chart.yaml": 2,
    "frontend/package.json": 1,
    "frontend/package-lock.json": 2,
}
"""How often each file names the version."""
MAKE = ROOT / "infra" / "release" / "make.sh"


def test_all_parts_have_one_version() -> None:
    """`__version__` is what the package was installed as, the chart's image is the service of the same release."""
    project = re.search(r'^version = "(.+)"$', (ROOT / "services/pyproject.toml").read_text(), re.MULTILINE)
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    lock = json.loads((ROOT / "frontend/package-lock.json").read_text())
    versions = {
        "services/pyproject.toml": project and project[1],
        "chart": chart["version"],
        "chart's images": chart["appVersion"],
        "frontend/package.json": json.loads((ROOT / "frontend/package.json").read_text())["version"],
        "frontend/package-lock.json": lock["version"],
        "frontend/package-lock.json, package": lock["packages"][""]["version"],
    }
    assert versions == dict.fromkeys(versions, __version__)


def test_the_change_log_begins_with_what_is_unreleased_or_with_this_version() -> None:
    titles = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert __version__ in titles[:2]
    assert titles == [title for title in ("Unreleased",) if title in titles] + sorted(
        (title for title in titles if title != "Unreleased"),
        key=lambda title: [*map(int, title.split("."))],
        reverse=True,
    )


def test_a_version_is_cut_in_every_file_that_names_it(tmp_path: Path) -> None:
    script = tmp_path / "infra" / "release" / "cut.py"
    for path in (script.relative_to(tmp_path), *map(Path, VERSIONED)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    log = tmp_path / "CHANGELOG.md"
    log.write_text(f"# Changelog\n\n## Unreleased\n\nNews.\n\n## {__version__}\n")
    subprocess.run([sys.executable, script, "31.4.15"], check=True)
    assert re.search(r"^## 31\.4\.15 \(\d{4}-\d\d-\d\d\)\n\nNews", log.read_text(), re.MULTILINE)
    for name, times in VERSIONED.items():
        assert (tmp_path / name).read_text().count("31.4.15") == times, name


@pytest.mark.infra
@pytest.mark.parametrize("workflow", sorted(WORKFLOWS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_workflow_has_no_fault_that_a_linter_finds(tools: Tools, workflow: Path) -> None:
    done = subprocess.run([tools.folder / "actionlint", workflow], capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""


def test_a_job_of_the_release_has_only_the_rights_that_it_names() -> None:
    workflow = yaml.safe_load((WORKFLOWS / "release.yaml").read_text())
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert job["permissions"], name
        assert ("contents", "write") not in job["permissions"].items() or name == "publish"


@pytest.mark.infra
def test_a_release_has_its_files_its_notes_and_their_hashes(tmp_path: Path) -> None:
    subprocess.run([MAKE, f"v{__version__}", tmp_path], check=True, stdout=subprocess.DEVNULL)
    lines = [line.split() for line in (tmp_path / "SHA256SUMS").read_text().splitlines()]
    sums = {name: digest for digest, name in lines}
    assert set(sums) == {
        f"kexbench-{__version__}-py3-none-any.whl",
        f"kexbench-{__version__}.tar.gz",
        f"kexbench-chart-{__version__}.tgz",
        f"kexbench-{__version__}-python.cdx.json",
        f"kexbench-{__version__}-dashboard.cdx.json",
    }
    for name, digest in sums.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert (tmp_path / "notes.md").read_text().startswith(section(__version__)[:100])
    with tarfile.open(tmp_path / f"kexbench-chart-{__version__}.tgz") as chart:
        described: dict[str, Any] = yaml.safe_load(chart.extractfile("kexbench/Chart.yaml") or "")
    assert (described["version"], described["appVersion"]) == (__version__, __version__)
    for kind, part in {"python": "fastapi", "dashboard": "react"}.items():
        listed = json.loads((tmp_path / f"kexbench-{__version__}-{kind}.cdx.json").read_text())
        assert listed["bomFormat"] == "CycloneDX"
        assert part in {component["name"] for component in listed["components"]}


def section(version: str) -> str:
    text = (ROOT / "CHANGELOG.md").read_text().partition(f"\n## {version}")[2].partition("\n")[2]
    return text.partition("\n## ")[0].lstrip("\n")


def test_a_tag_of_another_version_makes_no_release(tmp_path: Path) -> None:
    done = subprocess.run([MAKE, "v9.9.9", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"release: the checkout is version {__version__}, not 9.9.9\n"


RENOVATE = json.loads((ROOT / ".github" / "renovate.json").read_text())


@pytest.mark.parametrize("manager", RENOVATE["customManagers"], ids=lambda manager: manager["managerFilePatterns"][0])
def test_renovate_finds_the_versions_that_its_patterns_are_for(manager: dict[str, Any]) -> None:
    (file,), (pattern,) = manager["managerFilePatterns"], manager["matchStrings"]
    assert re.search(pattern.replace("(?<", "(?P<"), (ROOT / file).read_text())


def test_renovate_leaves_alone_what_stays_as_it_is() -> None:
    held = {name for rule in RENOVATE["packageRules"] for name in rule["matchPackageNames"]}
    assert set(files.excepted("outdated")) <= held
