"""The command line as a person uses it: a process of its own, with a home of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.cli.ready import ReadyCommands
from tests.conftest import FakeKit

TIMEOUT_S = 120
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: {name} }}
subjects:
  - fake: [{subjects}]
matrix:
  protocol: [TLSv1.2]
  keyExchange: [RSA, ECDHE-ECDSA]
measure: {{ invocations: {invocations}, batches: 4 }}
"""


ready = cache(ReadyCommands)


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Cli:
    """`kexbench` with its own home and no terminal."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "KEXBENCH_HOME": str(self.folder / "home"),
            "KEXBENCH_CACHE": str(self.folder / "cache"),
            "COLUMNS": "160",
        }

    def command(self, *arguments: str) -> list[str]:
        return [str(Path(sys.executable).with_name("kexbench")), *arguments]

    def __call__(self, *arguments: str) -> Result:
        return Result(*ready().run(self.command(*arguments), self.environment, TIMEOUT_S))

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Started in a process group of its own, so that a signal reaches it as Ctrl-C would."""
        return subprocess.Popen(
            self.command(*arguments),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )

    @contextmanager
    def serving(self, *options: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
        """A running service and its address, which it prints once it listens."""
        process = self.start("serve", "--port", "0", *options)
        try:
            assert process.stderr is not None
            line = next(line for line in process.stderr if "serving http" in line)
            yield process, next(word for word in line.split() if word.startswith("http"))
        finally:
            process.terminate()
            process.communicate(timeout=TIMEOUT_S)

    def spec(self, name: str, *subjects: str, invocations: int = 6) -> str:
        path = self.folder / f"{name}.yaml"
        path.write_text(SPEC.format(name=name, subjects=", ".join(subjects), invocations=invocations))
        return str(path)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def stock(cli: Cli, fake_kit: FakeKit, *sources: str) -> None:
    """Put kits in the kit store, which are made once a test process. Other tests have commands make theirs."""
    (kit_store,) = {fake_kit(f"fake@{source}")[0].parent for source in sources}
    shutil.copytree(kit_store, cli.folder / "home" / "kits")
