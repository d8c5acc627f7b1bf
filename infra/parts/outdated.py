"""`make outdated`: parts that kexbench names by a version, and that have a newer one.

What those parts need themselves is left out: `uv lock --upgrade`, `npm update` and `go get -u` bring it.
"""

import argparse
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from parts.files import (
    FRONTEND,
    GO_MODULES,
    ROOT,
    SERVICES,
    Findings,
    downloaded_modules,
    images,
    output,
    report,
    required_modules,
)

_LINES = {
    "clickhouse/clickhouse-server": r"\d+\.[38]",  # releases with long-term support, of March and August
}
"""Which tags of an image are considered. Of others, those that look like the one in use."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make outdated", description="Reports parts that have a newer version.")
    parser.add_argument("--uv", type=Path, required=True)
    parser.add_argument("--tools", type=Path, required=True, help="folder with crane")
    parser.add_argument(
        "--registry", default="", help="HOST of a mirror of the registry of images, with a / at its end"
    )
    asked = parser.parse_args()
    sources: list[Callable[[], Findings]] = [partial(of_python, asked.uv), of_npm]
    sources += [partial(of_go, folder) for folder in GO_MODULES]
    sources += [of_downloads, partial(of_images, asked.tools / "crane", asked.registry)]
    return report(sources, "outdated")


def of_python(uv: Path) -> Findings:
    project = tomllib.loads((SERVICES / "pyproject.toml").read_text())
    lists = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    lists += project["dependency-groups"].values()
    named = {re.split(r"[^\w.-]", each)[0].lower() for lines in lists for each in lines}
    python = SERVICES / ".venv" / "bin" / "python"
    command: list[str | Path] = [
        uv,
        "pip",
        "list",
        "--outdated",
        "--system-certs",
        "--quiet",
        "--format",
        "json",
        "--python",
        python,
    ]
    for each in json.loads(output(command, SERVICES)):
        if each["name"] in named:
            yield each["name"], f"{each['name']} {each['version']}: {each['latest_version']} (Python)"


def of_npm() -> Findings:
    """Asked with the Node of the dashboard: npm names no version that its own Node is too old for."""
    path = f"PATH={FRONTEND / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}"
    answer = json.loads(output(["env", path, "npm", "outdated", "--json"], FRONTEND, (0, 1)) or "{}")
    for name, each in answer.items():
        yield from _older(name, each.get("current") or each["wanted"], each["latest"], "npm")


def of_go(folder: Path) -> Findings:
    named = sorted(part.name for part in required_modules(folder, direct=True))
    if not named:
        return
    template = "{{.Path}} {{.Version}} {{with .Update}}{{.Version}}{{end}}"
    for line in output(["go", "list", "-m", "-u", "-f", template, *named], folder).splitlines():
        path, version, update = line.split(" ")
        if update:
            yield from _older(path, version, update, str(folder.relative_to(ROOT)))


def of_downloads() -> Findings:
    for part in sorted(downloaded_modules()):
        newest = output(["go", "list", "-m", "-f", "{{.Version}}", f"{part.name}@latest"], Path("/")).strip()
        yield from _older(part.name, part.version, newest, "charts/tools")


def of_images(crane: Path, registry: str) -> Findings:
    for part in sorted(images()):
        line = re.compile(_LINES.get(part.name) or re.sub(r"\d+", r"\\d+", re.escape(part.version)))
        tags = output([crane, "ls", f"{registry}{part.name}"], ROOT).split()
        newest = max(filter(line.fullmatch, tags), key=_numbers, default=part.version)
        yield from _older(part.name, part.version, newest, "image")


def _older(name: str, version: str, newest: str, where: str) -> Findings:
    if _numbers(newest) > _numbers(version):
        yield name, f"{name} {version}: {newest} ({where})"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


if __name__ == "__main__":
    sys.exit(main())
