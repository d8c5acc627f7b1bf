"""A release from a tag: what can be made without a registry is made, and the workflow is linted."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from kexbench import __version__
from parts import files
from tests.infra.conftest import Tools
from tests.infra.pools import CHART, ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
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
