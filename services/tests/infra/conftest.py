"""What reads the files for users' clusters: kustomize, OpenTofu and its linter, built by Go once."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.infra.pools import ROOT

LINTING = ROOT / "infra" / "node-pools" / ".tflint.hcl"


@dataclass(frozen=True)
class Tools:
    folder: Path

    def kustomized(self, folder: Path) -> str:
        return self._output("kustomize", "build", folder)

    def tofu(self, folder: Path, *words: str) -> str:
        return self._output("tofu", f"-chdir={folder}", *words)

    def linted(self, folder: Path) -> list[str]:
        """The rules that the folder breaks."""
        command: list[str | Path] = [
            self.folder / "tflint",
            f"--chdir={folder}",
            f"--config={LINTING}",
            "--format=json",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout)
        if found["errors"]:
            raise ToolError(done.stdout)
        return [issue["rule"]["name"] for issue in found["issues"]]

    def _output(self, name: str, *words: str | Path) -> str:
        done = subprocess.run([self.folder / name, *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolError(done.stdout + done.stderr)
        return done.stdout


class ToolError(Exception):
    """What a tool said."""


@pytest.fixture(scope="session")
def tools() -> Tools:
    built = subprocess.run([ROOT / "infra" / "tools" / "build.sh"], check=True, stdout=subprocess.PIPE, text=True)
    return Tools(Path(built.stdout.strip()))
