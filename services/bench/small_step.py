"""`python -m bench.small_step`: a planted slowdown of a thousandth, and the function that `kexbench why` names.

It makes a repository of OpenSSL's sources whose second commit hashes a few bytes more in each handshake, counts both
and prints the result in one line. Exit status 0 if the planted function is named for both sides, otherwise 1.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import BenchError
from bench.planted import MORE, fetch_sources, plant_small_step
from kexbench.domain.numbers import signed_words
from kexbench.kits.errors import StepFailed
from kexbench.settings import Settings


def main() -> int:
    folder = Settings().cache / "planted" / "small-step"
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(dir=folder.parent) as scratch:
            sources = fetch_sources(Path(scratch), lambda text: print(text, file=sys.stderr))
            ends = plant_small_step(shutil.copytree(sources, folder))
        sides = _why(folder, ends)
    except (BenchError, StepFailed) as error:
        print(f"not counted: {error}", file=sys.stderr)
        return 1
    print("; ".join(line_of(side) for side in sides))
    return 0 if named_in(sides) == {"client", "server"} else 1


def _why(folder: Path, ends: tuple[str, str]) -> list[dict[str, Any]]:
    """Both sides of the default case. Raises BenchError."""
    sources = [f"git:{folder}#{commit}" for commit in ends]
    command = [sys.executable, "-m", "kexbench.cli", "why", "openssl", *sources, "--json"]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if process.returncode:
        raise BenchError(f"kexbench why ended with status {process.returncode}")
    sides: list[dict[str, Any]] = json.loads(process.stdout)
    return sides


def named_in(sides: Iterable[dict[str, Any]]) -> set[str]:
    """The sides for which the planted function is named. Objects are made without it."""
    return {side["side"] for side in sides if MORE in functions_of(side)}


def functions_of(side: dict[str, Any]) -> list[str]:
    """From the outermost to the one that most of the change is in."""
    return [step["name"] for step in side["path"]]


def line_of(side: dict[str, Any]) -> str:
    change = side["after"] / side["before"] - 1
    path = " > ".join(functions_of(side)) or "no function"
    return f"{side['side']} {signed_words(change, 3)} ({side['after'] - side['before']:+,.0f} instructions), {path}"


if __name__ == "__main__":
    sys.exit(main())
