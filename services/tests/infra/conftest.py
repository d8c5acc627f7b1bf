"""What reads the files for users' clusters, built by Go once."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.infra.pools import ROOT


@dataclass(frozen=True)
class Tools:
    folder: Path

    def kustomized(self, folder: Path) -> str:
        return self._output("kustomize", "build", folder)

    def evaluated(self, folder: Path, variables: Mapping[str, object]) -> dict[str, Any]:
        """The outputs and resources of files for OpenTofu."""
        found: dict[str, Any] = json.loads(self._output("evaluate", folder, json.dumps(variables)))
        return found

    def _output(self, name: str, *words: str | Path) -> str:
        done = subprocess.run([self.folder / name, *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolError(done.stderr)
        return done.stdout


class ToolError(Exception):
    """What a tool said."""


@pytest.fixture(scope="session")
def tools() -> Tools:
    built = subprocess.run([ROOT / "infra" / "tools" / "build.sh"], check=True, stdout=subprocess.PIPE, text=True)
    return Tools(Path(built.stdout.strip()))
